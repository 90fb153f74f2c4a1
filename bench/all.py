"""Run every measurement, each in a process of its own under a watchdog, and print a short table last.

python3 -m bench.all FOLDER --out RESULTS [--quick]

FOLDER is one that bench.prepare filled. Needs a GPU, torch, and nothing of the compiler. Exit status 1 says that
something failed or hung; the others run all the same.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import images, watchdog

QUICK_SIZES = ("128x256x64", "1x256x64", "300x1008x40", "200x512x320", "77x2576x1032")


@dataclass(frozen=True)
class Step:
    """One measurement."""

    name: str
    module: str
    arguments: tuple[str, ...]


def steps(folder: Path, quick: bool) -> list[Step]:
    """Correctness first: the rest means nothing without it."""
    small = ("--sizes", *QUICK_SIZES, "--replays", "10") if quick else ()
    made = [Step("correct", "bench.correct", (str(folder), *small))]
    if quick:
        return made
    for case in images.discover(folder):
        files = tuple(str(p) for p in (case.image, *case.controls.values()))
        made.append(Step(f"compare-{case.name}", "bench.compare", files))
    made.append(Step("host_cost", "bench.host_cost", (str(folder),)))
    made.append(Step("sanitize", "bench.sanitize", (str(folder),)))
    return made


def line(result: dict[str, Any]) -> list[str]:
    """What a result comes to, in a few lines."""
    if "plants" in result:
        right = sum(not r["faults"] for s in result["sizes"] for r in s["results"])
        found = sum(not r["missed"] for r in result["plants"]["results"])
        return [f"{right} right, {found} judged as planted, failures: {result['failures'] or 'none'}"]
    if "failures" in result:
        states = [r["status"] for r in result["results"]]
        counts = ", ".join(f"{states.count(s)} {s}" for s in sorted(set(states)))
        return [f"{counts}; failures: {result['failures'] or 'none'}"]
    return [_row(r) for r in result["results"]]


def _row(r: dict[str, Any]) -> str:
    if "ratio" in r:
        low, ratio, high = (f"{r[k]:.5f}" for k in ("ratio_q1", "ratio", "ratio_q3"))
        return (
            f"{r['size']:18} {r['label']:6} {ratio} [{low}, {high}] {r['median_a_ms']:.4f} ms {r['tflops_a']:.0f} TF/s"
        )
    costs = "  ".join(f"{k} {r[k]['median']:.1f} us" for k in ("open", "launch", "bare"))
    return f"{r['image']:18} {costs}"


def main(args: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser("bench.all", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, required=True, help="a folder for the results")
    parser.add_argument("--quick", action="store_true", help="correctness at small sizes only")
    parser.add_argument("--limit", type=float, default=300, help="seconds for each measurement")
    given = parser.parse_args(args)
    outcomes: dict[str, watchdog.Outcome] = {}
    for step in steps(given.folder, given.quick):
        out = given.out / f"{step.name}.json"
        out.unlink(missing_ok=True)
        outcomes[step.name] = watchdog.run(step.module, [*step.arguments, "--out", str(out)], given.limit)
    print()
    for name, outcome in outcomes.items():
        path = given.out / f"{name}.json"
        print(f"{name}: {outcome}")
        for text in line(json.loads(path.read_text())) if path.exists() else []:
            print(f"  {text}")
    return int(any(o.status != watchdog.OK for o in outcomes.values()))


if __name__ == "__main__":
    raise SystemExit(main())
