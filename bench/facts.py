"""What contracts carry that symbols do not: upgrades of one constant of one package, linked either way and run.

python -m bench.facts prepare -o FOLDER            packs `components/facts`, its upgrades and their links; no GPU
python3 -m bench.facts run FOLDER --out RESULTS    runs them on a GPU, each in a process of its own under a watchdog
python3 -m bench.facts once IMAGE MxNxK            one image, judged with NumPy

An upgrade repacks one package with another constant and links it with the unchanged packages of the others: with
contracts, which must give right results; and by symbols alone (`pl-link --no-contracts`), where the others keep the
constants of the older link, which hangs or leaves output unwritten. Exit status 1 says that one of them did otherwise.
"""

import argparse
import json
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench import bf16, images, report, sizes, watchdog
from bench.sizes import Size

ROOT = Path(__file__).parent.parent
COMPONENTS = ROOT / "components" / "facts"
PACKAGES = ("interpreter", "communication", "gemm", "activation")
BASE = "base"
UPGRADES = {
    "tile_m": ("gemm", "TILE_M", 64, 128),
    "pieces": ("communication", "PIECES", 4, 2),
    "depth": ("interpreter", "DEPTH", 4, 8),
    "chunk_rows": ("communication", "CHUNK_ROWS", 32, 16),
    "band_rows": ("activation", "BAND_ROWS", 64, 32),
}
"""By name: the owner, its constant, the value before and after."""

SIZES = (Size(512, 256, 256), Size(200, 320, 128), Size(64, 64, 64))
LAUNCHES = 3
LIMIT, HANGS = 60.0, 8.0  # seconds: of a run that ends, and until one that does not is ended
TOLERANCE = 2e-3  # |out - ref| / max(|ref|, rms(ref)): products of bf16 summed in f32, silu from the special units
CONTRACTS, SYMBOLS = "contracts", "symbols"


def symbols_name(upgrade: str) -> str:
    return f"{upgrade}.{SYMBOLS}.plimg"


# ---- packing and linking --------------------------------------------------------------------------------------------


def _tool(name: str, *arguments: object) -> str:
    command = [str(Path(sys.executable).with_name(name)), *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _manifest(folder: Path, search: Sequence[str]) -> Path:
    """The pipeline's manifest, which looks for packages in `search`."""
    folder.mkdir(parents=True, exist_ok=True)
    text = re.sub(r"(?m)^search = .*$", f"search = {json.dumps(list(search))}", (COMPONENTS / "facts.toml").read_text())
    (folder / "facts.toml").write_text(text)
    return folder / "facts.toml"


def prepare(folder: Path, names: Sequence[str] = tuple(UPGRADES)) -> dict[str, str]:
    """Pack and link all; what `pl-link --control` says of each link with contracts."""
    base = _manifest(folder / BASE, ["."])
    for name in PACKAGES:
        _tool("pl-pack", COMPONENTS / f"{name}.cu", "-o", folder / BASE / f"{name}.plpkg")
    said = {BASE: _tool("pl-link", base, "-o", folder / f"{BASE}.plimg", "--control")}
    for name in names:
        owner, constant, _, value = UPGRADES[name]
        upgraded = _manifest(folder / name, [".", f"../{BASE}"])
        flag = f"-D{constant}={value}"
        _tool("pl-pack", COMPONENTS / f"{owner}.cu", flag, "-o", folder / name / f"{owner}.plpkg")
        said[name] = _tool("pl-link", upgraded, "-o", folder / f"{name}.plimg", "--control")
        _tool("pl-link", upgraded, "--no-contracts", base, "-o", folder / symbols_name(name))
    return said


# ---- one run --------------------------------------------------------------------------------------------------------


def reference(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """silu(x w^T) in float32, of the bits of bf16."""
    product = bf16.to_float(x) @ bf16.to_float(w).T
    return product / (1 + np.exp(-product))


def judge(out: np.ndarray, ref: np.ndarray) -> dict[str, Any]:
    """`right`, `unwritten` where poison is left, or `wrong`; with the part of it and the largest error."""
    missing = float(np.isnan(out).mean())
    scale = np.maximum(abs(ref), np.sqrt((ref * ref).mean()))
    error = float(np.nanmax(abs(out - ref) / scale)) if missing < 1 else 0.0
    verdict = "unwritten" if missing else "right" if error <= TOLERANCE else "wrong"
    return {"verdict": verdict, "unwritten": missing, "error": error}


def once(image: Path, size: Size, seed: int) -> dict[str, Any]:
    """Open the image and launch it several times; its outputs and what passes between operators are poisoned first."""
    from bench.device import Device
    from bench.session import Opened

    x, w = bf16.draw(seed, size.m, size.k), bf16.draw(seed + 1, size.n, size.k, 1.5 * size.k**-0.5)
    nothing = np.full((size.m, size.n), np.nan, np.float32)
    results: list[np.ndarray] = []
    with Device() as device:
        given = {"x": device.put(x), "w": device.put(w)}
        given |= {"staged": device.put(np.full(x.shape, bf16.NAN, np.uint16))}
        given |= {"product": device.put(nothing), "out": device.put(nothing)}
        opened = Opened(image, given)
        for _ in range(LAUNCHES):
            report.progress("facts", image.name, size, "launched")
            opened.launch(device.stream)
            results.append(device.get(given["out"]))
        opened.close()
    judged = judge(results[0], reference(x, w))
    same = all(np.array_equal(results[0], other, equal_nan=True) for other in results)
    return {**judged, "launches": LAUNCHES, "same_bits": same, "seed": seed, "size": str(size)}


# ---- all runs -------------------------------------------------------------------------------------------------------


def _run(image: Path, size: Size, limit: float, seed: int, scratch: Path) -> dict[str, Any]:
    scratch.unlink(missing_ok=True)
    arguments = ["once", str(image), str(size), "--seed", str(seed), "--out", str(scratch)]
    outcome = watchdog.run("bench.facts", arguments, limit)
    found: dict[str, Any] = json.loads(scratch.read_text()) if scratch.exists() else {"size": str(size), "seed": seed}
    if outcome.status == watchdog.HUNG:
        found["verdict"] = "hangs"
    elif "verdict" not in found:
        found["verdict"] = "fails"
    return {**found, "seconds": round(outcome.seconds, 1), "last": outcome.last}


def run(folder: Path, out: Path) -> dict[str, Any]:
    out.mkdir(parents=True, exist_ok=True)
    seed = time.time_ns() % 1_000_000
    results: list[dict[str, Any]] = []
    for name in (BASE, *UPGRADES):
        image = folder / f"{name}.plimg"
        runs = [_run(image, size, LIMIT, seed, out / "run.json") for size in SIZES]
        results.append({"name": name, "link": CONTRACTS, **images.identity(image), "runs": runs})
    for name in UPGRADES:
        image = folder / symbols_name(name)
        stale = images.record_of(image)["stale"]
        runs = [_run(image, SIZES[0], HANGS, seed, out / "run.json")]
        results.append({"name": name, "link": SYMBOLS, **images.identity(image), "stale": stale, "runs": runs})
    (out / "run.json").unlink(missing_ok=True)
    return {"upgrades": _stated(), "results": results, "failures": failures(results)}


def _stated() -> dict[str, Any]:
    return {n: dict(zip(("owner", "constant", "before", "after"), u, strict=True)) for n, u in UPGRADES.items()}


def failures(results: Sequence[dict[str, Any]]) -> list[str]:
    """With contracts all is right, the same bits at every launch; by symbols alone nothing is."""
    wrong: list[str] = []
    for result in results:
        for found in result["runs"]:
            right = found["verdict"] == "right" and found.get("same_bits", False)
            if right != (result["link"] == CONTRACTS) or found["verdict"] == "fails":
                wrong.append(f"{result['name']} by {result['link']} at {found['size']}: {found['verdict']}")
    return wrong


def _once(given: argparse.Namespace) -> int:
    found = once(given.image, given.size, given.seed)
    print(json.dumps(found))
    if given.out:
        given.out.write_text(json.dumps(found))
    return 0


def _prepare(given: argparse.Namespace) -> int:
    for name, said in prepare(given.out).items():
        print(f"{name}: {said.splitlines()[0]}")
    return 0


def _all(given: argparse.Namespace) -> int:
    made = run(given.folder, given.out)
    report.finish("bench.facts", given.out / "facts.json", made)
    for result in made["results"]:
        print(result["name"], result["link"], *(f"{r['size']}: {r['verdict']}" for r in result["runs"]))
    print("failures:", made["failures"] or "none")
    return int(bool(made["failures"]))


def main(args: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser("bench.facts", description=__doc__)
    actions = parser.add_subparsers(required=True)
    action = actions.add_parser("prepare")
    action.add_argument("-o", "--out", type=Path, required=True)
    action.set_defaults(action=_prepare)
    action = actions.add_parser("run")
    action.add_argument("folder", type=Path)
    action.add_argument("--out", type=Path, required=True)
    action.set_defaults(action=_all)
    action = actions.add_parser("once")
    action.add_argument("image", type=Path)
    action.add_argument("size", type=sizes.parse)
    action.add_argument("--seed", type=int, default=1)
    action.add_argument("--out", type=Path)
    action.set_defaults(action=_once)
    given = parser.parse_args(args)
    return given.action(given)


if __name__ == "__main__":
    raise SystemExit(main())
