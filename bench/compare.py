"""Time an image against its controls, pair by pair, and against a copy of itself: what linking costs.

python3 -m bench.compare IMAGE [CONTROL...] [--sizes MxNxK...] [--pairs N] [--out FILE]

A pair is one launch of each side, timed by events of its own; sides take turns at going first, and both modules are
loaded again halfway, in the other order. The ratio is time of the image over time of the other.
"""

import argparse
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench import images, problem, report, sizes, stats
from bench.sizes import Size


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("bench.compare", description=__doc__)
    parser.add_argument("image", type=Path)
    parser.add_argument("controls", type=Path, nargs="*", help="images of the same pipeline with other kernels")
    parser.add_argument("--sizes", type=sizes.parse, nargs="+", default=list(sizes.TIMED))
    parser.add_argument("--pairs", type=int, default=200, help="pairs of launches for each comparison and size")
    parser.add_argument("--out", type=Path)
    return parser


class Side:
    """One image, loaded by itself, on the buffers of a problem."""

    def __init__(self, image: Path, made: problem.Problem):
        from bench.session import Opened

        self.opened = Opened(image, made.buffers(image))
        self.stream = problem.current_stream()

    def __call__(self) -> None:
        self.opened.launch(self.stream)

    def close(self) -> None:
        self.opened.close()


def compare(image: Path, other: Path, label: str, made: problem.Problem, pairs: int) -> dict[str, Any]:
    """One comparison at one size, with the card's clocks before and after."""
    report.progress("compare", image.name, made.size, label)
    before = report.card()
    raw = stats.alternate(lambda: Side(image, made), lambda: Side(other, made), pairs, problem.time_each)
    said = stats.summary(raw)
    rate = made.size.operations / statistics.median(p.a for p in raw) * 1e-9
    result = {"a": image.name, "b": other.name, "label": label, "size": str(made.size), **said, "tflops_a": rate}
    return {**result, "card_before": before, "card_after": report.card(), "raw": [p.json() for p in raw]}


def run(image: Path, controls: Sequence[Path], timed: Sequence[Size], pairs: int) -> dict[str, Any]:
    """All comparisons; the null pair is the image against its own copy, loaded by itself."""
    others = [(image, "null"), *((c, images.label_of(c)) for c in controls)]
    results: list[dict[str, Any]] = []
    seeds: dict[str, int] = {}
    for size in timed:
        seeds[str(size)] = problem.fresh_seed()
        made = problem.Problem(size, seeds[str(size)])
        results += [compare(image, other, label, made, pairs) for other, label in others]
    files = [images.identity(p) for p in (image, *controls)]
    return {"images": files, "seeds": seeds, "columns": ["half", "order", "a_ms", "b_ms"], "results": results}


def main(args: Sequence[str] | None = None) -> int:
    given = _parser().parse_args(args)
    result = run(given.image, given.controls, given.sizes, given.pairs)
    report.finish("bench.compare", given.out, result, args)
    for r in result["results"]:
        low, ratio, high = (f"{r[k]:.5f}" for k in ("ratio_q1", "ratio", "ratio_q3"))
        print(f"{r['a']} {r['size']} {r['label']}: {ratio} [{low}, {high}] {r['median_a_ms']:.4f} ms")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
