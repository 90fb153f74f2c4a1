"""What the packer captured, read again: from the object, and where the package ships its source, from that too."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import msgspec

from pipelink.backend import cubin
from pipelink.frontends.classes import VALUES, classify
from pipelink.frontends.contract import Contract
from pipelink.frontends.cuda import capture
from pipelink.frontends.cuda.compile import Build, annotations
from pipelink.frontends.cuda.declare import declare
from pipelink.frontends.cuda.notes import decode
from pipelink.frontends.cuda.pack import headers
from pipelink.frontends.cuda.sources import Sources
from pipelink.frontends.cuda.validate import place
from pipelink.frontends.package import OBJECT, SOURCE, Package
from pipelink.ir.diagnostics import Diagnostics


@dataclass(frozen=True)
class Evidence:
    """What an object shows, and the contract that packing its source again gives, if the source is there."""

    facts: capture.Facts
    again: Contract | None


def gather(package: Package) -> Evidence:
    """Raises PipelinkError where the object is none of the contract's target, or its source does not pack."""
    contract = package.contract
    facts = capture.read(package.members[OBJECT], contract.target, place(contract.at))
    if not contract.main:
        return Evidence(facts, None)
    return Evidence(facts, capture.complete(_declared(package), facts, contract.target))


def _declared(package: Package) -> Contract:
    """What the annotations of the shipped source say."""
    contract = package.contract
    with TemporaryDirectory(prefix="pipelink-") as name:
        folder = Path(name)
        for member, data in package.members.items():
            if member.startswith(SOURCE):
                path = folder / member.removeprefix(SOURCE)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
        sources = Sources(folder, contract.main, {}, ())
        annotated = annotations(sources, Build(contract.target, (headers(),), contract.flags))
        errors = Diagnostics()
        declared = declare(decode(cubin.read(annotated).data, folder), errors)
        errors.check()
        return declared


def recheck(contract: Contract, evidence: Evidence, errors: Diagnostics) -> None:
    """Collect in `errors` (L-PACKAGE) each captured field that is not what the evidence shows, by its path."""
    capture.check(contract, evidence.facts, Sources(Path(), contract.main or contract.at.file, {}, ()), errors)
    shown = [capture.complete(contract, evidence.facts, contract.target)]
    shown += [evidence.again] if evidence.again else []
    for found in shown:
        for path, stated, real in _differences(contract, found, ""):
            message = f"{path}: the contract says {stated}, packing its object or source again gives {real}"
            errors.error("L-PACKAGE", message, place(contract.at), hint="pack it again")


def _differences(stated: msgspec.Struct, found: msgspec.Struct, where: str) -> Iterator[tuple[str, str, str]]:
    """(path, stated, found) of captured fields that differ; members are what the package itself checks."""
    for field in stated.__struct_fields__:
        path = f"{where}.{field}" if where else field
        a, b = getattr(stated, field), getattr(found, field)
        if path == "members":
            continue
        if isinstance(a, msgspec.Struct) and isinstance(b, msgspec.Struct) and not isinstance(a, VALUES):
            yield from _differences(a, b, path)
        elif (mine := _entries(a)) and (theirs := _entries(b)) and len(mine) == len(theirs):
            for index, pair in enumerate(zip(mine, theirs, strict=True)):
                yield from _differences(*pair, f"{path}[{index}]")
        elif a != b and classify(stated, field) == "captured":
            yield path, _short(a), _short(b)


def _entries(value: Any) -> list[msgspec.Struct]:
    """The entries of a field that holds several."""
    items = cast(tuple[Any, ...], value) if isinstance(value, tuple) else ()
    return [item for item in items if isinstance(item, msgspec.Struct)]


def _short(value: Any) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= 60 else text[:57] + "..."
