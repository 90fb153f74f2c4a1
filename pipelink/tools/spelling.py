"""MLIR's and xDSL's spellings of pl-opt's options, as pl-opt's own: what fingers know works."""

import re
from collections.abc import Iterable, Iterator

from pipelink.ir.diagnostics import fail

ALIASES = {
    "--print-between-passes": "--print-ir-after-all",
    "--time-passes": "--timing",
    "--mlir-disable-threading": "",  # nothing here runs in threads
    "--mlir-generate-reproducer": "--generate-reproducer",
    "--mlir-pass-pipeline-crash-reproducer": "--crash-reproducer",
    "--mlir-pass-pipeline-local-reproducer": "",  # ours always is: the IR before the pass that fails
    "--mlir-pass-statistics": "--statistics",
    "--mlir-print-debuginfo": "--print-debuginfo",
    "--mlir-print-ir-after": "--print-ir-after",
    "--mlir-print-ir-after-all": "--print-ir-after-all",
    "--mlir-print-ir-after-change": "--print-ir-after-change",
    "--mlir-print-ir-after-failure": "--print-ir-after-failure",
    "--mlir-print-ir-before": "--print-ir-before",
    "--mlir-print-ir-before-all": "--print-ir-before-all",
    "--mlir-print-ir-module-scope": "",  # passes run on modules only
    "--mlir-print-ir-tree-dir": "--print-ir-tree-dir",
    "--mlir-print-local-scope": "",
    "--mlir-print-op-generic": "--print-op-generic",
    "--mlir-timing": "--timing",
    "--pass-pipeline": "--passes",
}
ANCHOR = re.compile(r"\s*(?:builtin\.module|any|pl\.pipeline)\s*\((.*)\)\s*", re.DOTALL)


def translated(arguments: Iterable[str], known: Iterable[str], passes: Iterable[str]) -> Iterator[str]:
    """`arguments` in pl-opt's spelling: `-timing` as `--timing`, `--PASS='a=1'` as `--passes PASS{a=1}`.

    `known` are pl-opt's long options. Raises PipelinkError, L-USAGE."""
    longs, steps = {*known, *ALIASES}, set(passes)
    for argument in arguments:
        name, equals, value = argument.partition("=")
        dashed = "-" + name if not name.startswith("--") else name
        if name.startswith("-") and dashed.removeprefix("--") in steps:
            yield f"--passes={dashed.removeprefix('--')}" + (f"{{{value}}}" if value else "")
        elif name.startswith("-") and dashed in longs:
            ours = ALIASES.get(dashed, dashed)
            if ours:
                yield ours + equals + value
        else:
            yield argument


def unanchored(text: str) -> str:
    """A pass pipeline without MLIR's anchor and spaces: `builtin.module(a, b)` is `a,b`. Raises PipelinkError."""
    if found := ANCHOR.fullmatch(text):
        return unanchored(found[1])
    if "(" in re.sub(r'"[^"]*"', "", text):
        anchor = text.partition("(")[0].strip()
        raise fail("L-USAGE", f"passes run on a module, not on '{anchor}'", hint="name the passes alone")
    return re.sub(r'("[^"]*")|\s*(,)\s*', lambda m: m[1] or m[2], text.strip())
