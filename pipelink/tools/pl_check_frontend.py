"""pl-check-frontend: say whether packages, of whatever frontend, are well formed: what a link relies on, read again."""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from pipelink.ir.diagnostics import Diagnostic, Diagnostics, PipelinkError
from pipelink.tools.common import add_diagnostic_options, add_version, run

if TYPE_CHECKING:
    from pipelink.frontends.cuda.recheck import Evidence
    from pipelink.frontends.package import Package

ANNOTATED = b"pipelink/contract.cuh"
ABSENT = "No such file"  # a header that was found with -I is not shipped, which is no fault of the package


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("pl-check-frontend", description=__doc__)
    parser.add_argument("packages", type=Path, nargs="+", help="packages (.plpkg)")
    add_diagnostic_options(parser, "json: what was checked as one object a package, and errors one a line")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    add_version(parser)
    return parser


def checks(path: Path) -> Iterator[tuple[str, str]]:
    """(what, how) for each thing that holds of a package, as it is checked.

    Raises PipelinkError: at once for what makes the rest meaningless, at the end for all others."""
    from pipelink.frontends import package

    found = package.read(path)
    contract = found.contract
    count, size = len(found.members), sum(member.size for member in contract.members)
    yield "members", f"{count} of {size} bytes in all, each with the digest that the contract lists"
    _check_alone(found)
    yield "contract", f"{contract.name} {contract.version}, schema {contract.schema}; its names and numbers are legal"
    evidence, source = _evidence(found)
    errors = _unlike(found, evidence)
    inline, inlined = _inlining(found, evidence)
    if not errors.errors:
        yield "object", f"LTO IR for {contract.target}; it is what the contract says of it"
        yield "source", source
    if not inlined.errors:
        yield "exports", inline
    errors.errors += inlined.errors
    errors.check()


def _check_alone(package: "Package") -> None:
    """The rules of a link, but for those that ask who else is there. Raises PipelinkError."""
    from pipelink.ir.builder import PipelineBuilder
    from pipelink.ir.symbols import Symbols, pipeline_of
    from pipelink.passes.pipeline import verify
    from pipelink.passes.reach import Reach
    from pipelink.passes.rules import Checked, lifetimes, names
    from pipelink.passes.verify_contracts import STAGES

    contract, errors = package.contract, Diagnostics()
    builder = PipelineBuilder(contract.name, contract.target, contract.toolkit)
    builder.package(contract, package.digest, "")
    module = builder.module()
    verify(module)
    symbols = Symbols(pipeline_of(module))
    checked = Checked(symbols.pipeline, symbols, Reach(symbols), errors)
    others = (names.check_providers, names.check_two_ends, lifetimes.check_lifetimes)
    for rules in STAGES:
        for rule in (rule for rule in rules if rule not in others):
            rule(checked)
        errors.check()


def _evidence(package: "Package") -> "tuple[Evidence, str]":
    """What the object shows, and the source where it can be packed again; then what to say of the source."""
    from pipelink.frontends.cuda.compile import Build
    from pipelink.frontends.cuda.recheck import gather
    from pipelink.frontends.package import Package

    contract = package.contract
    alone = Package(replace(contract, main=""), package.members, package.digest)
    if not contract.main:
        return gather(alone), "none is shipped"
    if not any(ANNOTATED in data for data in package.members.values()):
        return gather(alone), "not compared: it has no annotations"
    Build(contract.target, (), contract.flags).check()
    try:
        return gather(package), "its annotations say the same as the contract"
    except PipelinkError as error:
        if not all(d.clause == "L-COMPILE" and ABSENT in d.message for d in error.diagnostics):
            raise
        return gather(alone), f"not compared: {error.diagnostics[0].message}"


def _unlike(package: "Package", evidence: "Evidence") -> Diagnostics:
    """Where the contract is not what the object shows, or its annotations say."""
    from pipelink.frontends.cuda.recheck import recheck
    from pipelink.frontends.diff import differences

    stated, errors = package.contract, Diagnostics()
    recheck(stated, evidence, errors)
    if evidence.again and not errors.errors:
        kept = {name: getattr(stated, name) for name in ("members", "toolkit", "flags", "main", "provider")}
        for d in differences(stated, replace(evidence.again, **kept)):
            message = (
                f"{d.entry}: {d.field}: the contract says {d.old or 'nothing'}, its annotations {d.new or 'nothing'}"
            )
            message = "the contract places its entries where no annotation is" if d.field == "at" else message
            errors.error("L-PACKAGE", message, d.old_place or d.new_place, hint="pack it again")
    return errors


def _inlining(package: "Package", evidence: "Evidence") -> tuple[str, Diagnostics]:
    """What to say of the exported functions, and those that stay calls."""
    from pipelink.frontends.cuda.capture import exported
    from pipelink.frontends.cuda.probe import check_inlining
    from pipelink.frontends.cuda.validate import place
    from pipelink.frontends.package import OBJECT

    contract, data, errors = package.contract, package.members[OBJECT], Diagnostics()
    reason = check_inlining(contract, data, contract.target, errors)
    if reason:
        reason = check_inlining(contract, data, contract.target, errors, evidence.facts)
    if reason:
        errors.error("L-LINK", f"the exports cannot be linked alone: {reason}", place(contract.at))
    count = len(exported(contract))
    return f"{count} function{'s' * (count != 1)} of which none stays a call", errors


def check(arguments: argparse.Namespace) -> int:
    """The command. Raises PipelinkError with what is wrong with any of the packages."""
    wrong: list[Diagnostic] = []
    for path in arguments.packages:
        passed: list[tuple[str, str]] = []
        errors: tuple[Diagnostic, ...] = ()
        try:
            passed.extend(checks(path))
        except PipelinkError as error:
            errors = error.diagnostics
            if errors[0].clause == "L-TOOL":  # it says nothing of the package
                raise
        _report(path, passed, not errors, arguments.format)
        wrong += errors
    if wrong:
        raise PipelinkError(*wrong)
    return 0


def _report(path: Path, passed: Sequence[tuple[str, str]], good: bool, form: str) -> None:
    if form == "json":
        print(json.dumps({"package": str(path), "well_formed": good, "checked": dict(passed)}))
        return
    print(f"{path}: {'well formed' if good else 'not well formed'}")
    for what, how in passed:
        print(f"  {what:<9} {how}")


def main(args: Sequence[str] | None = None) -> None:
    arguments = _parser().parse_args(args)
    sys.exit(run("pl-check-frontend", lambda: check(arguments), arguments.debug, arguments.format))


if __name__ == "__main__":
    main()
