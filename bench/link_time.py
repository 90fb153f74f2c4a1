"""How long a link takes, as ratios in one run: `pl-link` of a pipeline against nvJitLink alone for the same objects.

    python bench/link_time.py components/gemm_swiglu/h200.toml [--runs 5] [--json FILE]

Both are whole processes on the same machine, alternating, without the cache; medians are compared with the bound that
the project sets itself: twice nvJitLink's time plus 1.5 s. An unchanged link (bound 0.5 s) and `pl-opt --help` (bound
0.8 s) are timed beside them.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FACTOR, EXTRA, HELP_BOUND, UNCHANGED_BOUND = 2.0, 1.5, 0.8, 0.5

# The link alone: read the objects, one nvJitLink call. Imports and the library's load are not counted.
ALONE = """
import sys, time
from pathlib import Path
from pipelink.backend import nvjitlink
kinds = {".fatbin": "fatbin", ".ltoir": "ltoir"}
inputs = [nvjitlink.Input(Path(p).name, kinds[Path(p).suffix], Path(p).read_bytes()) for p in sys.argv[2:]]
nvjitlink.library()
start = time.perf_counter()
nvjitlink.link(inputs, sys.argv[1])
print(time.perf_counter() - start)
"""


def _timed(command: list[str], cache: str = "") -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, "PIPELINK_CACHE": cache})
    return time.perf_counter() - start


def _objects(manifest: Path, folder: Path) -> tuple[str, list[str]]:
    """Write the objects that the link consumes: the packages' and the generated code's."""
    from pipelink.backend.link import compile_generated, load_packages
    from pipelink.ir.symbols import pipeline_of
    from pipelink.tools.pl_link import finish, folders, load

    module = load(manifest, [])
    finish(module)
    files: list[str] = []
    for name, package in load_packages(module, folders(module, manifest, [])).items():
        (folder / f"{name}.fatbin").write_bytes(package.members["object.fatbin"])
        files.append(str(folder / f"{name}.fatbin"))
    from pipelink.backend.cuda import generate

    generated = folder / "generated.ltoir"
    generated.write_bytes(compile_generated(generate(module), pipeline_of(module)))
    return pipeline_of(module).target.data, [*files, str(generated)]


def measure(manifest: Path, runs: int) -> dict[str, object]:
    """Alternating runs; seconds."""
    tool = Path(sys.executable).with_name
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        target, files = _objects(manifest, folder)
        link = [str(tool("pl-link")), str(manifest), "-o", str(folder / "out.plimg")]
        alone = [sys.executable, "-c", ALONE, target, *files]
        times: dict[str, list[float]] = {"pl-link": [], "nvjitlink": [], "unchanged": [], "pl-opt --help": []}
        _timed(link, name)
        for _ in range(runs):
            times["unchanged"].append(_timed(link, name))
            times["pl-link"].append(_timed(link))
            done = subprocess.run(alone, check=True, capture_output=True, text=True)
            times["nvjitlink"].append(float(done.stdout))
            times["pl-opt --help"].append(_timed([str(tool("pl-opt")), "--help"]))
    medians = {k: statistics.median(v) for k, v in times.items()}
    bound = FACTOR * medians["nvjitlink"] + EXTRA
    return {
        "command": " ".join(["bench/link_time.py", str(manifest), "--runs", str(runs)]),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "seconds": times,
        "medians": medians,
        "bound": bound,
        "within": medians["pl-link"] <= bound
        and medians["unchanged"] <= UNCHANGED_BOUND
        and medians["pl-opt --help"] <= HELP_BOUND,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("manifest", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    result = measure(arguments.manifest, arguments.runs)
    for name, values in result["seconds"].items():  # type: ignore[union-attr]
        print(f"{name:14s} {statistics.median(values):6.2f} s   ({min(values):.2f} to {max(values):.2f})")
    print(f"bound for pl-link: {result['bound']:6.2f} s   (2 x nvjitlink + 1.5)")
    print("within the bounds" if result["within"] else "over a bound")
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
