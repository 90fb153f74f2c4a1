"""Run a measurement in a process of its own within a time limit, and say what hung: its last progress line.

python3 -m bench.watchdog --limit SECONDS MODULE [ARGUMENT...]
"""

import argparse
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from bench.report import PROGRESS

ROOT = Path(__file__).parent.parent
OK, FAILED, HUNG = "ok", "failed", "hung"
HUNG_CODE = 124  # as coreutils' timeout


@dataclass(frozen=True)
class Outcome:
    """How a process ended, after how many seconds, and its last progress line."""

    status: str
    code: int
    seconds: float
    last: str

    def __str__(self) -> str:
        where = f", last: {self.last}" if self.status != OK and self.last else ""
        return f"{self.status} ({self.code}) after {self.seconds:.0f} s{where}"


class Reader:
    """Passes the lines of a stream on and keeps the last that tells of progress."""

    def __init__(self, stream: IO[str]):
        self.last = ""
        self.thread = threading.Thread(target=self._read, args=(stream,), daemon=True)
        self.thread.start()

    def _read(self, stream: IO[str]) -> None:
        for line in stream:
            if line.startswith(PROGRESS):
                self.last = line.removeprefix(PROGRESS).strip()
            print(line, end="", flush=True)


def watch(command: Sequence[str], limit: float) -> Outcome:
    """Run `command`, both of its outputs passed on, and kill its process group after `limit` seconds."""
    paths = [str(ROOT), str(ROOT / "runtime"), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONUNBUFFERED": "1"}
    start = time.monotonic()
    child = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env=environment,
        start_new_session=True,
    )
    assert child.stdout is not None
    reader = Reader(child.stdout)
    try:
        code = child.wait(limit)
        status = OK if code == 0 else FAILED
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        status, code = HUNG, HUNG_CODE
    reader.thread.join(10)
    child.stdout.close()
    return Outcome(status, code, time.monotonic() - start, reader.last)


def run(module: str, arguments: Sequence[str], limit: float) -> Outcome:
    """Run `python3 -m module` so."""
    return watch([sys.executable, "-m", module, *arguments], limit)


def main(args: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser("bench.watchdog", description=__doc__)
    parser.add_argument("--limit", type=float, default=300, help="seconds")
    parser.add_argument("module")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    given = parser.parse_args(args)
    outcome = run(given.module, given.arguments, given.limit)
    print(f"{given.module}: {outcome}")
    return outcome.code


if __name__ == "__main__":
    raise SystemExit(main())
