"""How long a large module takes to parse, to verify and to print, beside a profile of the largest.

    python bench/ir_scale.py [--operations 500 10000] [--runs 5] [--json FILE]

The module is many small packages in one pipeline: roles, claims, rings and calls in the proportions of a real one.
Times are of the process, in seconds: the median, and the least and most of the runs.
"""

import argparse
import cProfile
import json
import platform
import pstats
import statistics
import time
from collections.abc import Callable
from importlib.metadata import version
from io import StringIO
from pathlib import Path
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.printer import Printer

from pipelink.ir.diagnostics import Diagnostics
from pipelink.ir.locations import parse_module
from pipelink.ir.pl import PL, PipelineOp
from pipelink.passes.pipeline import verify
from pipelink.passes.verify_contracts import VerifyContracts

PACKAGE = """\
  pl.package @p{0} version "1" digest "d" path "p{0}" target "sm_90a" toolkit "13.5.37" fp <> defines ["p{0}_r"] {{
    pl.param "p{0}_args" size 64 align 64 fields <a = [0, 8], tile = [8, 4]>
    pl.role @r entry "p{0}_r" <() -> "void", args> warps 1 align 1 registers [24, 240] need 0 uses [@ring, @f, @s, @b]
    pl.claim @t smem size 64 align 16 ring @ring lifetime <kernel> dtype "bf16" tile [4, 8]
    pl.ring @ring {1} on @r buffers [@t] full @full <1> empty @empty <1 per warp> depths [1, 2] bytes 64 space "smem"
      scope "cta" proxy "async" priority 0 {2}
    pl.claim @full mbarrier size 1 align 8 ring @ring lifetime <kernel>
    pl.claim @empty mbarrier size 1 align 8 ring @ring lifetime <kernel>
    pl.claim @s smem size 16 align 16 lifetime <kernel>
    pl.claim @b barrier size 1 align 1 lifetime <kernel>
    pl.callable @g symbol "p{0}_g" <("int *") -> "void"> uses [@s]
    pl.call @f symbol "p{0}_f" <("int *") -> "void">
    pl.fact @size : "i32" = "{0}"
    pl.use_fact @tile : "i32" field "tile"
    pl.buffer "x" dtype "bf16" rank 2 access "read" align 16
    pl.argument "rows" : "i64"
  }}
"""
OPERATIONS = 18  # of a package and its connections


def module(operations: int) -> str:
    count = max(2, operations // OPERATIONS // 2 * 2)
    capacities = "barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 232448, threads = 1024"
    lines = [f'pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <{capacities}, tmem = 0> fp <> {{']
    sides = (("producer", 'init "i" <() -> "void">'), ("consumer", ""))
    lines += [PACKAGE.format(i, *sides[i % 2]) for i in range(count)]
    for i in range(count):
        lines += [f"  pl.connect ring @p{i}::@ring to @p{i + 1}::@ring"] * (i % 2 == 0)
        lines.append(f"  pl.connect call @p{(i + 1) % count}::@g to @p{i}::@f")
        lines.append(f"  pl.connect fact @p{(i + 1) % count}::@size to @p{i}::@tile")
    return "\n".join([*lines, "}"])


def _parse(text: str) -> ModuleOp:
    context = Context()
    context.load_dialect(Builtin)
    context.load_dialect(PL)
    return parse_module(context, text, "scale.mlir")


def _print(made: ModuleOp) -> None:
    Printer(StringIO()).print_op(made)


def _contracts(made: ModuleOp) -> None:
    (pipeline,) = (op for op in made.walk() if isinstance(op, PipelineOp))
    errors = Diagnostics()
    VerifyContracts().run(pipeline, errors)
    errors.check()


def measure(step: Callable[[], object], runs: int) -> dict[str, float]:
    taken: list[float] = []
    for _ in range(runs):
        start = time.process_time()
        step()
        taken.append(time.process_time() - start)
    return {"median": statistics.median(taken), "least": min(taken), "most": max(taken)}


def steps(text: str) -> dict[str, Callable[[], object]]:
    made = _parse(text)
    return {
        "parse": lambda: _parse(text),
        "verify": lambda: verify(made),
        "print": lambda: _print(made),
        "verify contracts": lambda: _contracts(made),
    }


def profile(text: str, lines: int = 12) -> list[str]:
    """The functions in which parsing, verifying and printing spend most of their own time."""
    profiler = cProfile.Profile()
    profiler.enable()
    for step in steps(text).values():
        step()
    profiler.disable()
    out = StringIO()
    pstats.Stats(profiler, stream=out).strip_dirs().sort_stats("tottime").print_stats(lines)
    return [line for line in out.getvalue().splitlines() if "(" in line][-lines:]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--operations", type=int, nargs="+", default=[500, 10000])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    found: list[dict[str, Any]] = []
    for operations in arguments.operations:
        text = module(operations)
        count = sum(1 for _ in _parse(text).walk()) - 1
        timed = {name: measure(step, arguments.runs) for name, step in steps(text).items()}
        found.append({"operations": count, "seconds": timed})
        for name, seconds in timed.items():
            print(f"{count:6} operations: {name}: {seconds['median']:.3f} s")
    hot = profile(module(arguments.operations[-1]))
    print(*hot, sep="\n")
    versions = {"python": platform.python_version(), "xdsl": version("xdsl")}
    result = {"runs": arguments.runs, "versions": versions, "modules": found, "profile": hot}
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
