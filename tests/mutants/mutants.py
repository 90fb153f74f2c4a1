"""Contracts with one field changed, and what becomes of the pipeline that they are part of.

    python tests/mutants/mutants.py PIPELINE.toml ... [--sample N] [--seed N] [--json FILE]

Every field of every package is changed to several values. A package whose changed field is `paired` or `captured`
(see `pipelink/frontends/classes.py`) is refused, by what reads packages again or by the link, in words that name it;
where it is `inert`, the link gets the same inputs; promises are counted. Entries that no role reaches may be anything.
"""

import argparse
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import UnionType
from typing import Any, Literal, cast, get_args, get_origin, get_type_hints

import msgspec

from pipelink.backend import cuda
from pipelink.frontends import contract as c
from pipelink.frontends import package
from pipelink.frontends.classes import VALUES, Class, classify
from pipelink.frontends.cuda.recheck import Evidence, gather, recheck
from pipelink.frontends.manifest import parse
from pipelink.ir.diagnostics import Diagnostics, PipelinkError, Place
from pipelink.ir.pl import PackageOp
from pipelink.ir.symbols import Symbols, pipeline_of
from pipelink.tools.pl_link import finish, folders, load

Rebuild = Callable[[Any], c.Contract]
REFUSED, SAME, OTHER = "refused", "same kernel", "another kernel"
ALLOWED: dict[Class, tuple[str, ...]] = {
    "paired": (REFUSED,),
    "captured": (REFUSED,),
    "inert": (SAME, REFUSED),
    "promise": (REFUSED, SAME, OTHER),
}


@dataclass(frozen=True)
class Mutant:
    """`contract` is that of `package` with the field at `path` changed. `words` are those that name the field."""

    package: str
    path: str
    entry: str
    kind: Class
    change: str
    words: tuple[str, ...]
    contract: c.Contract

    def __str__(self) -> str:
        return f"{self.package}: {self.path}: {self.change}"


def mutants(contract: c.Contract) -> Iterator[Mutant]:
    """Every field changed, in order of the schema."""
    yield from _fields(contract, contract, "", contract.name, lambda new: cast(c.Contract, new))


def _fields(root: c.Contract, entry: msgspec.Struct, where: str, name: str, rebuild: Rebuild) -> Iterator[Mutant]:
    for field in entry.__struct_fields__:
        path = f"{where}.{field}" if where else field
        if path in ("members", "schema"):  # every write makes them anew
            continue
        value = getattr(entry, field)

        def put(new: Any, field: str = field) -> c.Contract:
            return rebuild(msgspec.structs.replace(entry, **{field: new}))

        kind = classify(entry, field)
        for change, new in _changes(value, get_type_hints(type(entry))[field]):
            subject = change.partition("'")[2][:-1] if change.startswith("without '") else name
            words = (subject, name, path, field, str(value))
            yield Mutant(root.name, path, subject, kind, change, words, put(new))
        yield from _within(root, value, path, put)


def _within(root: c.Contract, value: Any, path: str, put: Rebuild) -> Iterator[Mutant]:
    """The fields of entries inside a field."""
    if isinstance(value, msgspec.Struct) and not isinstance(value, VALUES):
        yield from _fields(root, value, path, getattr(value, "name", path), put)
    for index, item in enumerate(cast(tuple[Any, ...], value) if isinstance(value, tuple) else ()):
        if isinstance(item, msgspec.Struct):
            items = cast(tuple[Any, ...], value)

            def at(new: Any, index: int = index, items: tuple[Any, ...] = items) -> c.Contract:
                return put((*items[:index], new, *items[index + 1 :]))

            yield from _fields(root, item, f"{path}[{index}]", getattr(item, "name", path), at)


def _changes(value: Any, hint: Any) -> Iterator[tuple[str, Any]]:
    """Other values of a field's type, each with words for the change."""
    if get_origin(hint) is UnionType:
        hint = next(h for h in get_args(hint) if h is not type(None))
        if value is None:
            return
    if get_origin(hint) is Literal:
        yield from ((f"{value!r} -> {v!r}", v) for v in get_args(hint) if v != value)
    elif isinstance(value, bool):
        yield f"{value} -> {not value}", not value
    elif isinstance(value, int | float):
        yield from ((f"{value} -> {v}", v) for v in (value + 1, value * 2, value - 1) if v >= 0 and v != value)
    elif isinstance(value, str):
        new = f"{value}x" if value else "other"
        yield f"{value[:40]!r} -> {new[:40]!r}", new
    elif isinstance(value, msgspec.Struct):
        yield from _parts(value)
    elif isinstance(value, tuple):
        yield from _items(cast(tuple[Any, ...], value), hint)


def _parts(value: msgspec.Struct) -> Iterator[tuple[str, Any]]:
    if not isinstance(value, VALUES):
        return
    for field in value.__struct_fields__:
        for change, new in _changes(getattr(value, field), get_type_hints(type(value))[field]):
            yield f"{field} {change}", msgspec.structs.replace(value, **{field: new})


def _items(value: tuple[Any, ...], hint: Any) -> Iterator[tuple[str, Any]]:
    """Items left out; in a tuple of fixed length, changed."""
    kinds = get_args(hint)
    variable = len(kinds) == 2 and kinds[1] is Ellipsis
    for index, item in enumerate(value):
        rest = value[:index], value[index + 1 :]
        if variable:
            label = getattr(item, "name", item)
            yield f"without {label!r}", (*rest[0], *rest[1])
            continue
        for change, new in _changes(item, kinds[index]):
            yield f"[{index}] {change}", (*rest[0], new, *rest[1])
    if variable and kinds[0] is str:
        yield "with 'other'", (*value, "other")


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant; `right` where its class allows that, and the refusal names what was changed."""

    mutant: Mutant
    result: str
    text: str
    right: bool


class Pipeline:
    """A pipeline of packages, of which one at a time is exchanged for a mutant."""

    def __init__(self, path: Path):
        self.path = path
        module = load(path, ())
        where = folders(module, path, ())
        manifest, _ = parse(path.read_text(), str(path))
        self.files = {n: next(f / p for f in where if (f / p).is_file()) for n, p in manifest.packages.items()}
        self.packages = {name: package.read(file) for name, file in self.files.items()}
        finish(module)
        self.text = cuda.generate(module)
        kept = {op.sym_name.data for op in Symbols(pipeline_of(module)).ops(PackageOp)}
        dropped = [d.data.partition("'")[2].partition("'")[0] for d in pipeline_of(module).dropped or ()]
        self.dropped = {*dropped, *(f"{n}.{n}" for n in self.packages if n not in kept)}

    @cache  # noqa: B019 (one pipeline lives as long as its process)
    def evidence(self, name: str) -> Evidence:
        return gather(self.packages[name])

    def mutants(self) -> list[Mutant]:
        """All mutants of entries that some role reaches."""
        made = [m for p in self.packages.values() for m in mutants(p.contract)]
        return [m for m in made if f"{m.package}.{m.entry}" not in self.dropped]

    def judge(self, mutant: Mutant) -> Outcome:
        result, text = self._outcome(mutant)
        named = mutant.kind in ("inert", "promise") or any(word and word in text for word in mutant.words)
        return Outcome(mutant, result, text, result in ALLOWED[mutant.kind] and (result != REFUSED or named))

    def _outcome(self, mutant: Mutant) -> tuple[str, str]:
        errors = Diagnostics()
        try:
            package.decode(package.encode(mutant.contract), Place("contract.json"))
            recheck(mutant.contract, self.evidence(mutant.package), errors)
            errors.check()
            text = self._generated(mutant)
        except PipelinkError as error:
            return REFUSED, str(error)
        return (SAME, "") if text == self.text else (OTHER, "")

    def _generated(self, mutant: Mutant) -> str:
        with TemporaryDirectory(prefix="pipelink-") as name:
            folder = Path(name)
            for other, file in self.files.items():
                if other != mutant.package:
                    (folder / file.name).symlink_to(file.resolve())
            own = self.packages[mutant.package]
            package.write(folder / self.files[mutant.package].name, mutant.contract, own.members)
            (folder / "mutant.toml").write_text(self.path.read_text())
            module = load(folder / "mutant.toml", ())
            finish(module)
            return cuda.generate(module)


def report(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Counts by class and result, the promises by field, and what is wrong."""
    counts = Counter((o.mutant.kind, o.result) for o in outcomes)
    promised = Counter(_field(o.mutant) for o in outcomes if o.mutant.kind == "promise" and o.result != REFUSED)
    return {
        "mutants": len(outcomes),
        "outcomes": {f"{kind}: {result}": n for (kind, result), n in sorted(counts.items())},
        "promises": dict(sorted(promised.items())),
        "clauses": dict(
            sorted(Counter(re.findall(r"error\[(L-[A-Z-]+)\]", "".join(o.text for o in outcomes))).items())
        ),
        "wrong": [f"{o.mutant} [{o.mutant.kind}]: {o.result}: {o.text}" for o in outcomes if not o.right],
    }


def _field(mutant: Mutant) -> str:
    """`rings[0].depth` -> `rings.depth`."""
    return "".join(part.partition("]")[2] if i else part for i, part in enumerate(mutant.path.split("[")))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("pipelines", nargs="+", type=Path)
    parser.add_argument("--sample", type=int, default=0, help="so many of all, chosen by the seed (0: all)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    pipelines = [Pipeline(path) for path in arguments.pipelines]
    tasks = [(pipeline, mutant) for pipeline in pipelines for mutant in pipeline.mutants()]
    if arguments.sample:
        tasks = random.Random(arguments.seed).sample(tasks, arguments.sample)
    made = report([pipeline.judge(mutant) for pipeline, mutant in tasks])
    made = {"pipelines": [str(path) for path in arguments.pipelines], **made}
    text = json.dumps(made, indent=2)
    print(text)
    if arguments.json:
        arguments.json.write_text(text + "\n")
    return len(made["wrong"]) > 0


if __name__ == "__main__":
    sys.exit(main())
