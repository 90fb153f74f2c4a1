"""Prove attention images right: against float32 and the errors of others, bit for bit twice, in replays of a graph.

python3 -m bench.attention_correct FOLDER [--replays N] [--out FILE]

FOLDER holds NAME.plimg for each pipeline of components/attention. Largest and rms errors must be at most twice those
of others on the same inputs (`bench.attention.baseline`). Seeds are fresh and printed, outputs poisoned. Exit status 1
says that something is wrong.
"""
# pyright: basic, reportMissingImports=false

import argparse
import math
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bench import attention, images, problem, report
from bench.attention import Shape, Tensors, Variant

FACTOR = 2.0  # of the baseline's errors, and of half a unit in the last place of the largest output
TINY = 1e-6  # an error that is none: where a query sees one key, the output is a copy
LOGARITHM = 2e-3  # largest error of a logarithm; capped scores have an approximate tanh
SHAPES = (
    Shape(1, 1024, 1024),
    Shape(2, 1000, 1000, 16, 4),
    Shape(1, 333, 777, 8, 1),
    Shape(3, 130, 130, 4, 4),
    Shape(2, 1, 515, 8, 2),
    Shape(1, 1, 1, 8, 8),
    Shape(1, 129, 2049, 16, 2),
    Shape(1, 700, 300, 8, 8),
    Shape(1, 4096, 4096),
)
SPANS = {"window": (1, 17, 128, 300, 100000), "chunked": (1, 100, 256, 100000)}
SPARSE = {"blocksparse": ((16, 8), (2, 2), (4, 6)), "selected": ((1, 0), (5, 0), (100, 0))}
CAPS = (50.0, 5.0)
REPLAYED = Shape(1, 1000, 1000)
DRAWS = 3
KINDS = ("normal", "large", "rising", "jumping")


def variants(name: str) -> Iterator[Variant]:
    """What is checked of a pipeline: its mask with several arguments, its cap with several."""
    if name in SPARSE:
        yield from (Variant(name, name, span, stride=stride) for span, stride in SPARSE[name])
        return
    parts = name.split("_")
    mask = "causal" if parts[0] == "softcap" else parts[0]
    for span in SPANS.get(mask, (0,)):
        for cap in CAPS if "softcap" in parts else (0,):
            yield Variant(name, mask, span, cap)


def launch(opened: Any, made: Tensors) -> tuple[Any, Any]:
    made.poison()
    opened.launch(problem.current_stream())
    problem.synchronize()
    return made.out.clone(), made.lse.clone()


def measure(variant: Variant, made: Tensors, out: Any, lse: Any) -> dict[str, Any]:
    """Errors of one draw of inputs beside those of the baseline, and what is wrong whatever others do."""
    ref, logarithms = attention.reference(variant, made)
    seen = logarithms.isfinite()
    rows = seen.transpose(1, 2)
    base, way = attention.baseline(variant, made)
    # What is rounded to bf16 may be off by half a unit in the last place, whatever the kernel.
    rounding = 2.0 ** (math.floor(math.log2(float(ref.abs().max()))) - 8)
    logarithm = float((lse - logarithms)[seen].abs().max())
    checks = {
        "not finite": bool(out.isfinite().all()),
        "logarithm": logarithm <= LOGARITHM * max(1.0, float(logarithms[seen].abs().max())),
        "rows without a key": bool((out[~rows] == 0).all()) and bool((lse[~seen] == float("-inf")).all()),
        "memory beside the output": made.guarded(),
    }
    return {
        "ours": sizes((out.float() - ref)[rows]),
        "base": sizes((base - ref)[rows]),
        "rounding": rounding,
        "way": way,
        "logarithm": logarithm,
        "faults": [what for what, holds in checks.items() if not holds],
    }


def sizes(wrong: Any) -> tuple[float, float]:
    """The largest and the mean square of errors."""
    return float(wrong.abs().max()), float(wrong.square().mean())


def judge(draws: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Several draws of one problem together: the largest error of one draw alone is a matter of luck."""
    ours, base = (
        {"largest": max(d[side][0] for d in draws), "rms": statistics.fmean(d[side][1] for d in draws) ** 0.5}
        for side in ("ours", "base")
    )
    allowed = {"largest": max(base["largest"], *(d["rounding"] for d in draws)), "rms": base["rms"]}
    faults = sorted({fault for d in draws for fault in d["faults"]})
    faults += [what for what in ours if not ours[what] <= FACTOR * max(allowed[what], TINY)]
    logarithm = max(d["logarithm"] for d in draws)
    return {**ours, "baseline": base, "way": draws[0]["way"], "logarithm": logarithm, "faults": faults}


def check(image: Path, variant: Variant, shape: Shape, kind: str) -> dict[str, Any]:
    """Two runs on each of several draws."""
    from bench.session import load

    seed = problem.fresh_seed()
    report.progress("attention", image.name, variant, shape, kind, "seed", seed)
    made = Tensors(shape, seed, kind, transposed=shape.batch == 2)
    if variant.mask == "selected":
        made.choose(variant.span)
    draws: list[dict[str, Any]] = []
    with load(image).open(made.buffers(), variant.arguments()) as opened:
        for _ in range(DRAWS):
            made.draw()
            out, lse = launch(opened, made)
            again, lse_again = launch(opened, made)
            draws.append(measure(variant, made, out, lse))
            if not problem.same_bits(out, again) or not bool((lse == lse_again).all()):
                draws[-1]["faults"].append("two runs differ")
    said = {"pipeline": image.stem, "variant": str(variant), "shape": str(shape), "kind": kind, "seed": seed}
    return {**said, "draws": DRAWS, **judge(draws)}


def cases(image: Path) -> Iterator[tuple[Variant, Shape, str]]:
    """Every argument at every shape on normal inputs; the other inputs at one shape."""
    for variant in variants(image.stem):
        for shape in SHAPES:
            if variant.name not in SPARSE or (shape.keys >= shape.queries and (shape.keys - shape.queries) % 128 == 0):
                yield variant, shape, "normal"
    for kind in KINDS[1:]:
        yield list(variants(image.stem))[-1], Shape(1, 4096, 4096, 8, 2), kind


def check_replays(image: Path, replays: int) -> dict[str, Any]:
    """One session captured once; before each replay the inputs change and the outputs are poisoned."""
    from bench.session import load

    seed = problem.fresh_seed()
    report.progress("replay", image.name, REPLAYED, "seed", seed)
    variant = list(variants(image.stem))[-1]
    made = Tensors(REPLAYED, seed)
    if variant.mask == "selected":
        made.choose(variant.span)
    draws: list[dict[str, Any]] = []
    with load(image).open(made.buffers(), variant.arguments()) as opened:
        launch(opened, made)
        replay = problem.capture(opened.launch)
        for _ in range(replays):
            made.draw()
            made.poison()
            replay()
            problem.synchronize()
            draws.append(measure(variant, made, made.out, made.lse))
    said = {"pipeline": image.stem, "variant": str(variant), "shape": str(REPLAYED), "kind": "normal", "seed": seed}
    return {**said, "replays": replays, **judge(draws)}


def failures(results: Sequence[dict[str, Any]]) -> list[str]:
    """What results say is wrong, a line each."""
    return [
        f"{r['pipeline']} {r['variant']} {r['shape']} {r['kind']}: {', '.join(r['faults'])} "
        f"({r['largest']:.2e} {r['rms']:.2e}, baseline {r['baseline']['largest']:.2e} {r['baseline']['rms']:.2e}, "
        f"logarithm {r['logarithm']:.1e})"
        for r in results
        if r["faults"]
    ]


def main(args: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser("bench.attention_correct", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--replays", type=int, default=100)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args(args)
    paths = [p for p in sorted(given.folder.glob("*.plimg")) if "-" not in p.stem]
    if not paths:
        raise FileNotFoundError(f"no images in {given.folder}")
    results = [check(path, *case) for path in paths for case in cases(path)]
    replays = [check_replays(path, given.replays) for path in paths]
    wrong = failures([*results, *replays])
    body = {
        "images": [images.identity(p) for p in paths],
        "criteria": {"factor": FACTOR, "logarithm": LOGARITHM},
        "results": results,
        "replays": replays,
        "failures": wrong,
    }
    report.finish("bench.attention_correct", given.out, body, args)
    print("\n".join(wrong) if wrong else f"all right: {len(results)} cases, {len(replays)} graphs")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
