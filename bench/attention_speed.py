"""Time attention images beside cuDNN's attention and FlexAttention, pair by pair, and a product of matrices.

python3 -m bench.attention_speed FOLDER [--lengths N...] [--only NAME...] [--others NAME...] [--seconds S] [--out FILE]

32 query heads, 8 of keys, batch 1, as many queries as keys. NAME-LABEL.plimg, if there are such, are held against
NAME.plimg too, and each image against itself. A pair is one launch of each side; sides take turns at going first, and
images are loaded again halfway. The ratio is time of the other over time of the image.
"""
# pyright: basic, reportMissingImports=false

import argparse
import statistics
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bench import attention, images, problem, report, stats
from bench.attention import Shape, Tensors, Variant

VARIANTS = {
    "causal": Variant("causal", "causal"),
    "full": Variant("full", "full"),
    "window": Variant("window", "window", span=4096),
    "chunked": Variant("chunked", "chunked", span=8192),
    "softcap": Variant("softcap", "causal", softcap=50),
    "blocksparse": Variant("blocksparse", "blocksparse", span=16, stride=8),
    "selected": Variant("selected", "selected", span=16),
    "window_softcap": Variant("window_softcap", "window", span=4096, softcap=50),
}
LENGTHS = (8192, 16384, 32768)
YARDSTICK = 8192
CLOSE = 1e-2  # |other - ours| / |other|: both compute the same function


class Ours:
    """An image loaded by itself on the tensors of a problem."""

    def __init__(self, image: Path, variant: Variant, made: Tensors):
        from bench.session import load

        self.session = load(image).open(made.buffers(), variant.arguments())
        self.stream = problem.current_stream()

    def __call__(self) -> None:
        self.session.launch(self.stream)

    def close(self) -> None:
        self.session.close()


class Other:
    """What torch runs."""

    def __init__(self, run: Callable[[], Any]):
        self.run = run

    def __call__(self) -> None:
        self.run()

    def close(self) -> None:
        """Nothing is held."""


def yardstick() -> dict[str, float]:
    """The card's yardstick, a product of 8192^3 in bf16: median milliseconds and TFLOP/s."""
    t = problem.torch()
    a, b = (t.randn(YARDSTICK, YARDSTICK, device="cuda", dtype=t.bfloat16) for _ in range(2))
    problem.time_each([lambda: a @ b] * 5)
    milliseconds = statistics.median(problem.time_each([lambda: a @ b] * 20))
    return {"ms": milliseconds, "tflops": 2e-9 * YARDSTICK**3 / milliseconds}


def rivals(
    image: Path, variant: Variant, made: Tensors, wanted: Sequence[str]
) -> dict[str, tuple[stats.Open, Callable[[], Any]]]:
    """By name, what the image is held against: how to open it, and how to get its output."""
    found: dict[str, tuple[stats.Open, Callable[[], Any]]] = {}
    if "cudnn" in wanted and variant.mask in ("causal", "full") and not variant.softcap:
        run = attention.cudnn(variant, made)
        found["cudnn"] = lambda: Other(run), run
    if "flex" in wanted and variant.mask != "full":
        compiled = attention.flex(variant, made)
        found["flex"] = lambda: Other(compiled), compiled
    for path in [*sorted(image.parent.glob(f"{image.stem}-*.plimg")), image]:
        label = path.stem.removeprefix(image.stem).strip("-") or "null"
        found[label] = lambda path=path: Ours(path, variant, made), lambda path=path: output(path, variant, made)
    return found


def output(image: Path, variant: Variant, made: Tensors) -> Any:
    """What an image makes of the inputs, poisoned before."""
    made.poison()
    opened = Ours(image, variant, made)
    opened()
    problem.synchronize()
    opened.close()
    return made.out.clone()


def compare(image: Path, variant: Variant, length: int, given: argparse.Namespace) -> list[dict[str, Any]]:
    """The image against each of its rivals on one draw of inputs."""
    made = Tensors(Shape(1, length, length), problem.fresh_seed(), given.kind)
    if variant.mask == "selected":
        made.choose(variant.span)
    operations = attention.operations(variant, made)
    ours = output(image, variant, made).float()
    results: list[dict[str, Any]] = []
    for name, (opened, run) in rivals(image, variant, made, given.others).items():
        report.progress("speed", image.name, variant, length, name)
        theirs = run().float()
        apart = float((ours - theirs).norm() / theirs.norm())
        side = opened()
        pairs = max(12, min(200, int(given.seconds * 1000 / (2.5 * max(problem.time_each([side] * 3)[1:]))) // 4 * 4))
        side.close()
        card = report.card()
        raw = stats.alternate(lambda: Ours(image, variant, made), opened, pairs, problem.time_each)
        milliseconds = statistics.median(p.a for p in raw)
        low, ratio, high = stats.quartiles([p.b / p.a for p in raw])
        results.append({
            "pipeline": image.stem, "variant": str(variant), "length": length, "kind": given.kind, "against": name,
            "pairs": pairs, "ms": milliseconds, "other_ms": statistics.median(p.b for p in raw),
            "tflops": operations / milliseconds * 1e-9, "speed_q1": low, "speed": ratio, "speed_q3": high,
            "apart": apart, "wrong": not apart <= CLOSE, "card": card, "raw": [p.json() for p in raw],
        })  # fmt: skip
        print(row(results[-1]), flush=True)
    return results


def row(r: dict[str, Any]) -> str:
    wrong = " WRONG" if r["wrong"] else ""
    spread = f"[{r['speed_q1']:.4f}, {r['speed_q3']:.4f}]"
    what = f"{r['pipeline']:16} {r['length']:6} {r['against']:6}"
    return f"{what} {r['speed']:.4f} {spread} {r['ms']:.4f} ms {r['tflops']:.0f} TF/s{wrong}"


def main(args: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser("bench.attention_speed", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--lengths", type=int, nargs="+", default=list(LENGTHS))
    parser.add_argument("--only", nargs="+", help="pipelines; all by default")
    parser.add_argument("--others", nargs="*", default=["cudnn", "flex"], choices=["cudnn", "flex"])
    parser.add_argument("--kind", default="normal", help="of inputs, as bench.attention draws them")
    parser.add_argument("--seconds", type=float, default=1.0, help="of launches, about, for each comparison")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args(args)
    paths = [p for p in sorted(given.folder.glob("*.plimg")) if p.stem in (given.only or VARIANTS)]
    before = yardstick()
    results: list[dict[str, Any]] = []
    for path in paths:
        for length in given.lengths:
            results += compare(path, VARIANTS[path.stem], length, given)
    body = {
        "images": [images.identity(p) for p in sorted(given.folder.glob("*.plimg"))],
        "yardstick": {"before": before, "after": yardstick()},
        "columns": ["half", "order", "ms", "other_ms"],
        "results": results,
    }
    report.finish("bench.attention_speed", given.out, body, args)
    print(f"yardstick {before['tflops']:.0f} TF/s before, {body['yardstick']['after']['tflops']:.0f} after")
    return int(any(r["wrong"] for r in results))


if __name__ == "__main__":
    raise SystemExit(main())
