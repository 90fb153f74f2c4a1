"""Results as JSON files: what ran, from which commit, on which card; and the progress lines that a watchdog reads."""

import json
import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, cast

PROGRESS = "progress: "
CARD = {
    "name": "name",
    "driver": "driver_version",
    "sm_clock_mhz": "clocks.sm",
    "memory_clock_mhz": "clocks.mem",
    "largest_sm_clock_mhz": "clocks.max.sm",
    "power_w": "power.draw",
    "power_limit_w": "power.limit",
    "temperature_c": "temperature.gpu",
}
WIDTH = 100
PACKAGES = ("torch", "cuda-bindings", "numpy")


def progress(*what: object) -> None:
    """Say what happens next. Flushed, so that the last line of a process that hangs says where."""
    print(PROGRESS + " ".join(str(w) for w in what), flush=True)


def card() -> dict[str, str]:
    """What nvidia-smi says of the first GPU now. Settings are read, never changed. Empty where it is missing."""
    command = ["nvidia-smi", "--id=0", f"--query-gpu={','.join(CARD.values())}", "--format=csv,noheader,nounits"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30)
    except (OSError, subprocess.SubprocessError):
        return {}
    return dict(zip(CARD, (v.strip() for v in answer.stdout.strip().split(",")), strict=True))


def commit() -> str:
    """`BENCH_COMMIT` where the sources travelled without their history, else what git says, else `unknown`."""
    given = os.environ.get("BENCH_COMMIT")
    if given:
        return given
    command = ["git", "describe", "--always", "--dirty"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parent)
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return answer.stdout.strip()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"


def provenance(module: str, arguments: Sequence[str]) -> dict[str, Any]:
    """What a result starts with."""
    return {
        "schema": 1,
        "command": ["python3", "-m", module, *arguments],
        "commit": commit(),
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "card": card(),
        "versions": {"python": platform.python_version(), **{p: _version(p) for p in PACKAGES}},
    }


def write(path: Path, result: dict[str, Any]) -> None:
    """Write a result. Raises ValueError for a number that JSON has not, such as NaN."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(encode(result))


def encode(result: dict[str, Any]) -> str:
    """JSON in which whatever fits has one line: raw pairs stay readable."""
    return _encode(result, 0) + "\n"


def _encode(value: Any, depth: int) -> str:
    flat = json.dumps(value, allow_nan=False)
    items: list[tuple[str, Any]] = []
    if isinstance(value, dict):
        items = [(f"{json.dumps(k)}: ", v) for k, v in cast("dict[str, Any]", value).items()]
    elif isinstance(value, list):
        items = [("", v) for v in cast("list[Any]", value)]
    if len(flat) <= WIDTH or not items:
        return flat
    margin = " " * (depth + 1)
    body = ",\n".join(f"{margin}{key}{_encode(v, depth + 1)}" for key, v in items)
    return f"{flat[0]}\n{body}\n{' ' * depth}{flat[-1]}"


def finish(module: str, out: Path | None, body: dict[str, Any], arguments: Sequence[str] | None = None) -> None:
    """Write a result to `out`, if given, with its provenance before it."""
    if out is not None:
        write(out, {**provenance(module, sys.argv[1:] if arguments is None else arguments), **body})
