"""Run compute-sanitizer over small sizes: bad accesses, races in shared memory, barriers used wrongly.

python3 -m bench.sanitize FOLDER [--sizes MxNxK...] [--out FILE]

FOLDER is one that bench.prepare filled; each tool must find the faults that were planted for it there. Where the
machine has no compute-sanitizer, or it cannot run there, the result says `not run` and why, and the exit status is 0.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import images, report, sizes
from bench.images import TOOLS

FOUND = 86  # exit status of the sanitizer where it found something
KEPT = 1200  # characters of the output, from its end
LIMIT = 60  # seconds a run may take
ERRORS_SUMMARY = re.compile(r"^=+ ERROR SUMMARY: (\d+) errors?", re.MULTILINE)
RACES_SUMMARY = re.compile(
    r"^=+ RACECHECK SUMMARY: \d+ hazards? displayed \((\d+) errors?, (\d+) warnings?\)", re.MULTILINE
)
SAID = re.compile(r"^=+ (?!COMPUTE-SANITIZER)(\S.*)$", re.MULTILINE)
REFUSED = re.compile(r"^=+ (Device not supported.*)$", re.MULTILINE)
CLEAN, ERRORS, BROKEN, NOT_RUN = "clean", "errors", "broken", "not run"


@dataclass(frozen=True)
class Finding:
    """What one run of the sanitizer said."""

    status: str
    count: int
    text: str  # why it did not run, or what it found


def read(code: int, output: str) -> Finding:
    """The finding in what a run printed. A run counts only with the sanitizer's own summary."""
    refused = REFUSED.search(output)
    if refused:
        return Finding(NOT_RUN, 0, refused[1])
    summary = ERRORS_SUMMARY.search(output) or RACES_SUMMARY.search(output)
    if summary is None:
        return Finding(BROKEN, 0, output[-KEPT:])
    count = sum(map(int, summary.groups()))
    if count or code == FOUND:
        return Finding(ERRORS, count, "; ".join(SAID.findall(output)[:2]))
    return Finding(CLEAN, 0, "") if code == 0 else Finding(BROKEN, 0, output[-KEPT:])


def find() -> str | None:
    """The sanitizer on the path, else where the toolkit has it."""
    places = [os.environ.get("PATH", ""), "/usr/local/cuda/bin"]
    return shutil.which("compute-sanitizer", path=os.pathsep.join(places))


def check(sanitizer: str, tool: str, image: Path, checked: Sequence[sizes.Size]) -> Finding:
    """One tool on one image: a process that opens, launches and judges it at each size."""
    report.progress("sanitize", tool, image.name)
    command = [sanitizer, "--tool", tool, "--error-exitcode", str(FOUND), "--print-limit", "10"]
    if tool == "memcheck":
        command += ["--report-api-errors", "no"]  # cuda-bindings asks for entry points that a driver may lack
    command += [sys.executable, "-m", "bench.once", str(image), *map(str, checked)]
    try:
        ran = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=LIMIT
        )
    except subprocess.TimeoutExpired:
        return Finding(BROKEN, 0, f"no end after {LIMIT} s")
    return read(ran.returncode, ran.stdout)


def failures(results: Sequence[dict[str, Any]]) -> list[str]:
    """Errors in images, and planted faults that were not found."""
    lines: list[str] = []
    for r in results:
        wanted = ERRORS if r["planted"] else CLEAN
        if r["status"] not in (wanted, NOT_RUN):
            lines.append(f"{r['tool']} {r['image']}: {r['status']}, not {wanted}")
    return lines


def run(folder: Path, checked: Sequence[sizes.Size]) -> dict[str, Any]:
    """Every tool on every image, and on the faults planted for it."""
    cases = images.discover(folder)
    jobs = [(tool, case.image, False) for tool in TOOLS for case in cases]
    jobs += [(tool, image, True) for case in cases for tool in TOOLS for image in case.traps[tool].values()]
    sanitizer = find()
    results: list[dict[str, Any]] = []
    for tool, image, planted in jobs:
        missing = Finding(NOT_RUN, 0, "compute-sanitizer is not installed")
        found = check(sanitizer, tool, image, checked) if sanitizer else missing
        print(tool, image.name, found.status, found.count or "", found.text, flush=True)
        results.append({"tool": tool, "image": image.name, "planted": planted, **vars(found)})
    files = list(dict.fromkeys(image for _, image, _ in jobs))
    return {"images": [images.identity(p) for p in files], "sizes": [str(s) for s in checked], "results": results}


def main(args: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser("bench.sanitize", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sizes", type=sizes.parse, nargs="+", default=list(sizes.SMALL))
    parser.add_argument("--out", type=Path)
    given = parser.parse_args(args)
    result = run(given.folder, given.sizes)
    wrong = failures(result["results"])
    report.finish("bench.sanitize", given.out, {**result, "failures": wrong}, args)
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
