"""pl-diff: what changed between two packages, which pipelines that can break, and the version step it calls for."""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipelink.frontends.contract import Contract
from pipelink.frontends.diff import Difference, Step, declared, differences, needed
from pipelink.ir.diagnostics import Diagnostic, PipelinkError, Place
from pipelink.tools.common import add_diagnostic_options, add_version, run, say

_BREAKS = -1  # what is told apart from an error: the version step is too small, or a pipeline breaks


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "pl-diff",
        description=__doc__,
        epilog="exit status: 0 the version step suffices and no pipeline breaks, 1 it does not or one does, 2 an error",
    )
    parser.add_argument("old", type=Path, help="a package")
    parser.add_argument("new", type=Path, help="a later version of it")
    parser.add_argument(
        "--against",
        metavar="PIPELINE",
        nargs="+",
        type=Path,
        default=[],
        help="manifests: place each anew with NEW as its package, and say which of them break",
    )
    parser.add_argument(
        "-L", dest="search", metavar="DIR", type=Path, action="append", default=[], help="a folder with their packages"
    )
    add_diagnostic_options(parser, "json: the differences as one object, and errors one a line")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    add_version(parser)
    return parser


@dataclass(frozen=True)
class Relinked:
    """A pipeline with the new package. `errors` are none where it fits; `before`: it did not fit with the old one."""

    manifest: Path
    uses: bool = True
    errors: tuple[Diagnostic, ...] = ()
    before: bool = False

    @property
    def breaks(self) -> bool:
        return bool(self.errors) and not self.before

    def said(self) -> str:
        if not self.uses:
            return "does not use it"
        if not self.errors:
            return "fits"
        clauses = ", ".join(dict.fromkeys(error.clause for error in self.errors))
        return f"did not fit before, and does not now: {clauses}" if self.before else f"breaks: {clauses}"


def _relink(manifest: Path, name: str, package: Path, search: Sequence[Path]) -> tuple[Diagnostic, ...] | None:
    """What a link with `package` as the pipeline's `name` is refused for; None where it has no package of that name."""
    from pipelink.frontends.manifest import parse, to_module
    from pipelink.frontends.xdsl import linking_toolkit, read_text
    from pipelink.tools.pl_link import finish

    with manifest.open("rb") as stream:
        text = read_text(stream, str(manifest))
    if name not in parse(text, str(manifest))[0].packages:
        return None
    swapped = {name: str(package.resolve())}
    try:
        finish(to_module(text, str(manifest), manifest.parent, search, linking_toolkit(), swapped))
    except PipelinkError as error:
        return error.diagnostics
    return ()


def _against(manifest: Path, arguments: argparse.Namespace, name: str) -> Relinked:
    """`name` is the old package's: where the new one has another, its pipelines do not find it."""
    errors = _relink(manifest, name, arguments.new, arguments.search)
    if not errors:
        return Relinked(manifest, uses=errors is not None)
    return Relinked(manifest, errors=errors, before=bool(_relink(manifest, name, arguments.old, arguments.search)))


# ---- the report -----------------------------------------------------------------------------------------------------


def _verdict(old: Contract, new: Contract, need: Step) -> tuple[Step | None, str, bool]:
    """The declared step, what to say of it, and whether it suffices."""
    step = declared(old.version, new.version)
    versions = f"{old.version} -> {new.version}"
    if step is None:
        return (
            None,
            f"version {versions}: no semantic versions, so no step can be read off; {need.name} is needed",
            False,
        )
    what = "no step" if step is Step.none else f"a {step.name} step"
    if need is Step.none:
        return step, f"version {versions}: {what}; nothing differs", True
    return step, f"version {versions}: {what}; {need.name} is needed", step >= need


def _change(d: Difference) -> str:
    if d.field in ("added", "removed"):
        return f"{d.field}: {d.old or d.new}" if d.old or d.new else d.field
    return f"{d.field}: {d.old} -> {d.new}" if d.old else d.new


def _where(d: Difference) -> str:
    return " -> ".join(dict.fromkeys(str(p) for p in (d.old_place, d.new_place) if p))


def _breaks(d: Difference) -> str:
    return f"{d.effect.whom} ({', '.join(d.effect.clauses)})" if d.effect.clauses else d.effect.whom


def _lines(found: Iterable[Difference]) -> Iterator[str]:
    for d in found:
        yield f"{_where(d)}: {d.effect.step.name}: {d.entry}: {_change(d)}" + (
            f"; can break {_breaks(d)}" * bool(_breaks(d))
        )


def _print(found: Sequence[Difference]) -> None:
    """A table on a terminal, a line each in a pipe."""
    if not sys.stdout.isatty() or not found:
        print(*_lines(found), sep="\n", end="\n" * bool(found))
        return
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    colours = {Step.major: "red", Step.minor: "yellow", Step.patch: "green"}
    table = Table("step", "entry", "change", "can break", "where", box=SIMPLE_HEAD)
    for d in found:
        step = Text(d.effect.step.name, style=colours[d.effect.step])
        table.add_row(step, *map(Text, (d.entry, _change(d), _breaks(d), _where(d))))
    Console(highlight=False).print(table)


def _object(found: Iterable[Difference], need: Step, step: Step | None, relinked: Iterable[Relinked]) -> dict[str, Any]:
    def at(place: Place | None) -> dict[str, Any] | None:
        return {"file": place.file, "line": place.line, "column": place.column} if place else None

    return {
        "needed": need.name,
        "declared": step.name if step is not None else None,
        "differences": [
            {"step": d.effect.step.name, "entry": d.entry, "field": d.field, "old": d.old, "new": d.new}
            | {"old_place": at(d.old_place), "new_place": at(d.new_place)}
            | {"breaks": d.effect.whom, "clauses": d.effect.clauses}
            for d in found
        ],
        "pipelines": [
            {"manifest": str(r.manifest), "uses": r.uses, "breaks": r.breaks}
            | {"errors": [error.fields() for error in r.errors]}
            for r in relinked
        ],
    }


def compare(arguments: argparse.Namespace) -> int:
    """The command. Raises PipelinkError for packages and manifests that cannot be read."""
    from pipelink.frontends import package

    contracts = package.read(arguments.old).contract, package.read(arguments.new).contract
    found = differences(*contracts)
    need = needed(found)
    step, verdict, suffices = _verdict(*contracts, need)
    relinked = [_against(manifest, arguments, contracts[0].name) for manifest in arguments.against]
    if arguments.format == "json":
        print(json.dumps(_object(found, need, step, relinked), indent=1))
    else:
        _print(found)
        print(verdict if suffices else f"{verdict}: too small")
        for one in relinked:
            print(f"{one.manifest}: {one.said()}", flush=True)
            say("pl-diff", "text", *(one.errors if one.breaks else ()))
    return 0 if suffices and not any(one.breaks for one in relinked) else _BREAKS


def main(args: Sequence[str] | None = None) -> None:
    arguments = _parser().parse_args(args)
    status = run("pl-diff", lambda: compare(arguments), arguments.debug, arguments.format)
    sys.exit({_BREAKS: 1, 1: 2}.get(status, status))


if __name__ == "__main__":
    main()
