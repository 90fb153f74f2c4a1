"""Processes under the watchdog: they end well, fail, or hang at a known place."""

import sys
import time
from pathlib import Path

import pytest

from bench import watchdog
from bench.report import PROGRESS

HANG = "import time; print('{p}one\\nnoise\\n{p}two 8x8', flush=True); time.sleep(60)"


def run(code: str, limit: float) -> watchdog.Outcome:
    return watchdog.watch([sys.executable, "-c", code], limit)


def test_a_process_that_ends_well(capfd: pytest.CaptureFixture[str]) -> None:
    outcome = run("import bench.stats, sys; print('out'); print('err', file=sys.stderr)", 60)
    assert (outcome.status, outcome.code, outcome.last) == ("ok", 0, "")
    assert {"out", "err"} <= set(capfd.readouterr().out.split())


def test_a_process_that_fails_keeps_its_code() -> None:
    outcome = run(f"print('{PROGRESS}here', flush=True); raise SystemExit(3)", 60)
    assert (outcome.status, outcome.code, outcome.last) == ("failed", 3, "here")
    assert "last: here" in str(outcome)


def test_a_process_that_hangs_is_ended_and_its_place_told() -> None:
    start = time.monotonic()
    outcome = run(HANG.format(p=PROGRESS), 2)
    assert (outcome.status, outcome.code, outcome.last) == ("hung", 124, "two 8x8")
    assert time.monotonic() - start < 30


def test_what_a_hung_process_started_is_ended_too(tmp_path: Path) -> None:
    alive = tmp_path / "alive"
    child = f"import time; time.sleep(2); open({str(alive)!r}, 'w')"
    outcome = run(f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])", 1)
    assert outcome.status == "hung"
    time.sleep(2)
    assert not alive.exists()


def test_the_command_passes_on_the_status(capfd: pytest.CaptureFixture[str]) -> None:
    assert watchdog.main(["--limit", "60", "bench.tables", "--help"]) == 0
    assert "bench.tables: ok" in capfd.readouterr().out
