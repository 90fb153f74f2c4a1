"""Packages fit the pipeline and each other: target, toolkit, floating-point mode, one definition of each symbol."""

import re

from pipelink.ir.attributes import ValuesAttr
from pipelink.ir.diagnostics import Note
from pipelink.ir.locations import place_of
from pipelink.ir.pl import PackageOp
from pipelink.passes.rules import Checked


def version(text: str) -> tuple[int, ...]:
    """`13.5.37` as numbers."""
    return tuple(int(part) for part in text.split(".") if part.isdigit())


def links_for(built: str, target: str) -> bool:
    """Whether LTO IR that is built for one target links for another: plain architectures for themselves and what is
    newer, those of a family within it, those with architecture-specific features for themselves alone."""
    (mine, suffix), (theirs, _) = _architecture(built), _architecture(target)
    same_family = suffix == "" or (suffix == "f" and mine // 10 == theirs // 10)
    return built == target or (same_family and mine <= theirs)


def _architecture(target: str) -> tuple[int, str]:
    """`sm_90a` is (90, "a")."""
    match = re.fullmatch(r"sm_(\d+)([af]?)", target)
    return (int(match[1]), match[2]) if match else (0, "a")


def check_targets(checked: Checked) -> None:
    target = checked.pipeline.target.data
    for package in checked.symbols.packages.values():
        if not links_for(package.target.data, target):
            checked.errors.error(
                "L-TARGET",
                f"package '{package.sym_name.data}' is built for {package.target.data}, the pipeline for {target}",
                place_of(package),
                Note(f"the pipeline's target is {target}", place_of(checked.pipeline)),
                hint=f"pack it with --target {target}",
            )


def check_toolkits(checked: Checked) -> None:
    """LTO IR is read by its own major version, at its own or a later minor one (nvJitLink's compatibility rule)."""
    ours = checked.pipeline.toolkit.data
    for package in checked.symbols.packages.values():
        theirs = package.toolkit.data
        if version(theirs)[:1] != version(ours)[:1] or version(theirs)[:2] > version(ours)[:2]:
            checked.errors.error(
                "L-TOOLKIT",
                f"package '{package.sym_name.data}' is built by toolkit {theirs}, this linker has {ours}",
                place_of(package),
                hint=f"pack it again with toolkit {ours}, or link with {theirs} or newer of the same major version",
            )


def check_fp_modes(checked: Checked) -> None:
    """All equal the pipeline's, which is the mode of the link and of the generated code."""
    first: PackageOp | None = None
    for package in checked.symbols.packages.values():
        first = first or package
        ours, theirs = first.fp.integers, package.fp.integers
        differing = [k for k in sorted(ours | theirs) if ours.get(k) != theirs.get(k)]
        if differing:
            checked.errors.error(
                "L-FPMODE",
                f"package '{package.sym_name.data}' is compiled with {_said(theirs, differing)}",
                place_of(package),
                Note(f"package '{first.sym_name.data}' is compiled with {_said(ours, differing)}", place_of(first)),
                hint="nvJitLink applies one floating-point mode to all: pack both with the same -use_fast_math options",
            )
    if first is not None and first.fp != checked.pipeline.fp and not checked.errors.errors:
        modes = _modes(checked.pipeline.fp, first.fp)
        message = f"the pipeline's floating-point mode is not that of its packages: {modes}"
        note = Note(f"package '{first.sym_name.data}' states its own", place_of(first))
        checked.errors.error("L-FPMODE", message, place_of(checked.pipeline), note)


def _modes(ours: ValuesAttr, theirs: ValuesAttr) -> str:
    a, b = ours.integers, theirs.integers
    keys = [k for k in sorted(a | b) if a.get(k) != b.get(k)]
    return f"{_said(a, keys)} against {_said(b, keys)}"


def _said(values: dict[str, int], keys: list[str]) -> str:
    return ", ".join(f"{k}={values.get(k)}" for k in keys)


def check_definitions(checked: Checked) -> None:
    owner: dict[str, PackageOp] = {}
    for package in checked.symbols.packages.values():
        for symbol in (s.data for s in package.defines):
            if symbol in owner:
                checked.errors.error(
                    "L-DUPLICATE",
                    f"'{symbol}' is defined by packages '{owner[symbol].sym_name.data}' and '{package.sym_name.data}'",
                    place_of(package),
                    Note(f"package '{owner[symbol].sym_name.data}' defines '{symbol}' too", place_of(owner[symbol])),
                    hint="make a private helper or variable static, or rename one of the exports",
                )
            owner.setdefault(symbol, package)
