"""Prove images right: against a float32 reference, against their controls bit for bit, and in replays of a CUDA graph.

python3 -m bench.correct FOLDER [--sizes MxNxK...] [--replays N] [--out FILE]

FOLDER is one that bench.prepare filled. Seeds are fresh and printed, outputs poisoned. Planted wrong kernels are judged
by the same comparator and must be rejected. Exit status 1 says that something is wrong.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench import comparator, images, problem, report, sizes
from bench.images import Case
from bench.problem import Problem
from bench.sizes import Size

PLANTED = Size(512, 1024, 1024)  # large enough that each planted fault shows, in the audit too
REPLAYED = Size(1000, 2048, 1024)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("bench.correct", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sizes", type=sizes.parse, nargs="+", default=list(sizes.CORRECT))
    parser.add_argument("--replays", type=int, default=100)
    parser.add_argument("--out", type=Path)
    return parser


def launch(image: Path, made: Problem) -> None:
    """Poison the outputs and run the image once."""
    from bench.session import Opened

    made.poison()
    opened = Opened(image, made.buffers(image))
    opened.launch(problem.current_stream())
    problem.synchronize()
    opened.close()


def judge(image: Path, made: Problem, ref: Any, base: comparator.Errors) -> dict[str, Any]:
    """What the comparator says of the output that is there now, and of the audit's records if the image keeps any."""
    found = comparator.errors(made.out.float(), ref)
    faults = comparator.verdict(found, base)
    if "audit" in images.buffer_names(image):
        records = comparator.audit_faults(made.audit, made.size.blocks, problem.multiprocessors())
        faults += [f"audit: {fault}" for fault in records]
    return {**found.json(), "faults": faults}


def check_variants(case: Case, made: Problem, ref: Any, base: comparator.Errors) -> list[dict[str, Any]]:
    """The image and its controls: each right, and all the same bits."""
    results: list[dict[str, Any]] = []
    linked: Any = None
    for label, image in case.variants().items():
        report.progress("correct", image.name, made.size)
        launch(image, made)
        judged = judge(image, made, ref, base)
        if linked is None:
            linked = made.out.clone()
        elif not problem.same_bits(made.out, linked):
            judged["faults"].append("bits differ from the linked kernel's")
        results.append({"case": case.name, "variant": label, "size": str(made.size), **judged})
    return results


def check_size(cases: Sequence[Case], size: Size) -> dict[str, Any]:
    seed = problem.fresh_seed()
    report.progress("reference", size, "seed", seed)
    made = Problem(size, seed)
    ref = made.reference()
    base = comparator.errors(made.baseline(), ref)
    results = [r for case in cases for r in check_variants(case, made, ref, base)]
    return {"size": str(size), "seed": seed, "baseline": base.json(), "results": results}


def check_plants(cases: Sequence[Case]) -> dict[str, Any]:
    """Each planted wrong kernel must have faults, where the right kernel has none on the same inputs."""
    seed = problem.fresh_seed()
    made = Problem(PLANTED, seed)
    ref = made.reference()
    base = comparator.errors(made.baseline(), ref)
    results: list[dict[str, Any]] = []
    for case in cases:
        for label, image in {"linked": case.image, **case.plants}.items():
            report.progress("planted", image.name, PLANTED, "seed", seed)
            launch(image, made)
            judged = judge(image, made, ref, base)
            missed = bool(judged["faults"]) == (label == "linked")
            results.append({"case": case.name, "plant": label, "missed": missed, **judged})
    return {"size": str(PLANTED), "seed": seed, "results": results}


def check_replays(case: Case, replays: int) -> dict[str, Any]:
    """One session captured once; before each replay the inputs change and the outputs are poisoned."""
    from bench.session import Opened

    seed = problem.fresh_seed()
    report.progress("replay", case.image.name, REPLAYED, "seed", seed)
    made = Problem(REPLAYED, seed)
    opened = Opened(case.image, made.buffers(case.image))
    opened.launch(problem.current_stream())
    problem.synchronize()
    replay = problem.capture(opened.launch)
    wrong: list[dict[str, Any]] = []
    for index in range(replays):
        made.draw()
        made.poison()
        replay()
        ref = made.reference()
        judged = judge(case.image, made, ref, comparator.errors(made.baseline(), ref))
        if judged["faults"]:
            wrong.append({"replay": index, **judged})
    opened.close()
    return {"case": case.name, "size": str(REPLAYED), "seed": seed, "replays": replays, "wrong": wrong}


def failures(result: dict[str, Any]) -> list[str]:
    """What a result says is wrong, a line each."""
    lines = [
        f"{r['case']} {r['variant']} {r['size']}: {', '.join(r['faults'])}"
        for checked in result["sizes"]
        for r in checked["results"]
        if r["faults"]
    ]
    for r in result["plants"]["results"]:
        if r["missed"]:
            found = "right kernel rejected" if r["plant"] == "linked" else "planted fault not found"
            lines.append(f"{r['case']} {r['plant']}: {found}")
    lines += [
        f"{r['case']}: {len(r['wrong'])} of {r['replays']} replays wrong" for r in result["replays"] if r["wrong"]
    ]
    return lines


def run(folder: Path, checked: Sequence[Size], replays: int) -> dict[str, Any]:
    cases = images.discover(folder)
    every = [p for c in cases for p in (c.image, *c.controls.values(), *c.plants.values())]
    return {
        "images": [images.identity(p) for p in every],
        "criteria": {"norm": comparator.NORM, "element": comparator.ELEMENT, "baseline": comparator.BASELINE},
        "plants": check_plants(cases),
        "replays": [check_replays(case, replays) for case in cases],
        "sizes": [check_size(cases, size) for size in checked],
    }


def main(args: Sequence[str] | None = None) -> int:
    given = _parser().parse_args(args)
    result = run(given.folder, given.sizes, given.replays)
    wrong = failures(result)
    report.finish("bench.correct", given.out, {**result, "failures": wrong}, args)
    print("\n".join(wrong) if wrong else "all right")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
