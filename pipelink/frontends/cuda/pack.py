"""Packing: one source file compiled twice, its contract read from one result and checked against the other."""

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

import pipelink
from pipelink.backend import cubin, toolchain
from pipelink.frontends import package
from pipelink.frontends.contract import Contract, Provider
from pipelink.frontends.cuda import capture, probe, provider
from pipelink.frontends.cuda.compile import Build, annotations, explain, lto_object
from pipelink.frontends.cuda.declare import declare
from pipelink.frontends.cuda.notes import Note, decode
from pipelink.frontends.cuda.sources import Sources, check_name, collect, read
from pipelink.frontends.cuda.validate import place, validate
from pipelink.ir.diagnostics import Diagnostic, Diagnostics, PipelinkError, fail

_T = TypeVar("_T")


@dataclass(frozen=True)
class Request:
    """What to pack: the main file, how to compile it, a prebuilt LTO object to take instead, whether to ship source."""

    source: Path
    target: str = "sm_90a"
    includes: tuple[Path, ...] = ()
    flags: tuple[str, ...] = ()
    prebuilt: Path | None = None
    ship_source: bool = True


@dataclass(frozen=True)
class Packed:
    """A checked contract, the members that go with it, and all files that they were made from."""

    contract: Contract
    members: dict[str, bytes]
    dependencies: tuple[Path, ...]


def headers() -> Path:
    """The folder of <pipelink/contract.cuh>: of the installed runtime, or of the same source tree."""
    spec = find_spec("pipelink_runtime")
    installed = [Path(folder) for folder in (spec.submodule_search_locations or ())] if spec else []
    beside = Path(pipelink.__file__).parents[1] / "runtime" / "pipelink_runtime"
    for folder in (*installed, beside):
        if (folder / "include" / "pipelink" / "contract.cuh").is_file():
            return (folder / "include").resolve()
    raise fail("L-TOOL", "pipelink's headers are not installed", hint="install pipelink-runtime")


def pack(request: Request) -> Packed:
    """Compile, read and check one component. Raises PipelinkError with all errors that could be found."""
    own = headers()
    check_name(request.source.name, request.source)
    read(request.source)
    build = Build(request.target, (own, *request.includes), request.flags)
    build.check()
    sources, annotated, data = _compile(request, build, own)
    errors, inlining = Diagnostics(), Diagnostics()
    notes = decode(cubin.read(annotated).data, sources.folder)
    contract = declare(notes, errors)
    validate(contract, errors)
    with ThreadPoolExecutor() as pool:
        reading = pool.submit(capture.read, data, request.target, place(contract.at))
        building = pool.submit(_provider, contract, notes, sources, build)
        probing = pool.submit(probe.check_inlining, contract, data, request.target, inlining)
    facts, made = _gather(errors, reading), _gather(errors, building)
    if facts is not None:
        capture.check(contract, facts, sources, errors)
    reason = probing.result()
    if reason and facts is not None:
        reason = probe.check_inlining(contract, data, request.target, inlining, facts)
    errors.errors += inlining.errors
    if reason and not errors.errors:
        errors.error("L-LINK", f"the exports cannot be linked alone: {reason}", place(contract.at))
    errors.errors.sort(key=_position)
    errors.check()
    assert facts is not None
    contract = replace(
        capture.complete(contract, facts, request.target),
        toolkit=toolchain.toolkit().version,
        flags=request.flags,
        main=sources.main if request.ship_source else "",
    )
    members = {package.OBJECT: data}
    if made is not None:
        contract, members[package.PROVIDER] = replace(contract, provider=made.entry), made.library
    if request.ship_source:
        members |= {f"{package.SOURCE}{name}": text for name, text in sources.files.items()}
    extra = [*([request.prebuilt] if request.prebuilt else []), *(made.dependencies if made else ())]
    return Packed(contract, members, tuple(dict.fromkeys([*sources.dependencies, *extra])))


def _position(error: Diagnostic) -> tuple[str, int, int]:
    return (error.place.file, error.place.line, error.place.column) if error.place else ("", 0, 0)


@dataclass(frozen=True)
class _Provided:
    entry: Provider
    library: bytes
    dependencies: tuple[Path, ...]


def _provider(contract: Contract, notes: tuple[Note, ...], sources: Sources, build: Build) -> _Provided | None:
    if contract.provider is None:
        return None
    (note,) = (note for note in notes if note.kind == "provider")
    file = dict(note.entries)["file"][0]
    library, read_files = provider.build(sources.folder, file, contract.provider.symbol, build.includes, note.place)
    return _Provided(replace(contract.provider, abi=provider.abi(build.includes[0])), library, read_files)


def _compile(request: Request, build: Build, own: Path) -> tuple[Sources, bytes, bytes]:
    """Both compilations at once: sources, the annotated cubin, the LTO object. Raises the errors of both."""
    plain = Sources(request.source.parent, request.source.name, {request.source.name: read(request.source)}, ())
    with ThreadPoolExecutor() as pool:
        listing = pool.submit(_collect, request, own, plain)
        annotating = pool.submit(annotations, plain, build)
        making = None if request.prebuilt else pool.submit(lto_object, plain, build)
    errors = Diagnostics()
    sources, annotated = _gather(errors, listing), _gather(errors, annotating)
    data = _gather(errors, making) if making else read(request.prebuilt) if request.prebuilt else None
    errors.check()
    assert sources is not None
    assert annotated is not None
    assert data is not None
    return sources, annotated, data


def _collect(request: Request, own: Path, plain: Sources) -> Sources:
    try:
        return collect(request.source, own, request.includes, request.flags)
    except toolchain.ToolError as error:
        raise PipelinkError(*explain(error, plain, request.target)) from None


def _gather(errors: Diagnostics, future: Future[_T]) -> _T | None:
    """The result of a step, or its errors added to the others."""
    try:
        return future.result()
    except PipelinkError as error:
        errors.errors += [d for d in error.diagnostics if d not in errors.errors]
        return None
