"""What the host pays: for opening an image again, and for a launch against a bare cuLaunchKernelEx.

python3 -m bench.host_cost FOLDER [--out FILE]

Times are in microseconds. A launch is timed in batches, of the session and of the bare call in turn, too short to fill
the stream's queue; both go through ctypes.
"""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from bench import images, problem, report, stats
from bench.sizes import Size

SIZE = Size(128, 256, 64)
OPENS, BATCHES, BATCH = 50, 60, 100


def microseconds(values: Sequence[float]) -> dict[str, float]:
    low, median, high = (round(q * 1e6, 3) for q in stats.quartiles(values))
    return {"q1": low, "median": median, "q3": high}


def batch_time(launch: Callable[[], None]) -> float:
    """Seconds of the host for one launch."""
    problem.synchronize()
    start = perf_counter()
    for _ in range(BATCH):
        launch()
    seconds = (perf_counter() - start) / BATCH
    problem.synchronize()
    return seconds


def measure(path: Path) -> dict[str, Any]:
    """Costs of one image."""
    from bench.session import bare_launch, load

    report.progress("host cost", path.name, SIZE)
    made = problem.Problem(SIZE, problem.fresh_seed())
    image = load(path)
    buffers = made.buffers(path)
    stream = problem.current_stream()
    start = perf_counter()
    session = image.open(buffers)
    first = perf_counter() - start
    opens: list[float] = []
    for _ in range(OPENS):
        start = perf_counter()
        again = image.open(buffers)
        opens.append(perf_counter() - start)
        again.close()
    sides: dict[str, Callable[[], None]] = {
        "launch": lambda: session.launch(stream),
        "bare": bare_launch(path, session, stream),
    }
    times: dict[str, list[float]] = {name: [] for name in sides}
    for index in range(BATCHES):
        for name in sorted(sides, reverse=bool(index % 2)):
            times[name].append(batch_time(sides[name]))
    session.close()
    costs = {name: microseconds(values) for name, values in times.items()}
    return {"image": path.name, "first_open_us": round(first * 1e6, 3), "open": microseconds(opens), **costs}


def main(args: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser("bench.host_cost", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args(args)
    paths = [case.image for case in images.discover(given.folder)]
    results = [measure(path) for path in paths]
    result = {"images": [images.identity(p) for p in paths], "size": str(SIZE), "results": results}
    report.finish("bench.host_cost", given.out, result, args)
    for r in results:
        print(r["image"], *(f"{k} {r[k]['median']:.1f} us" for k in ("open", "launch", "bare")))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
