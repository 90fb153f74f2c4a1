"""The launcher in C++ gives a kernel the same parameters as a session does."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pipelink_runtime as plrt
import pytest
from runtime_samples import (
    HEADERS,
    ROOT,
    Build,
    Fake,
    Interface,
    Json,
    aligned,
    counted,
    cuda_include,
    provided,
    record,
)

SOURCE = ROOT / "runtime" / "examples" / "launch.cpp"


@pytest.fixture(scope="module")
def launcher(tmp_path_factory: pytest.TempPathFactory, fake_path: Path) -> Path:
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    output = tmp_path_factory.mktemp("example") / "launch"
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-I", HEADERS, "-I", cuda_include()]
    subprocess.run([compiler, *flags, SOURCE, fake_path, "-ldl", "-o", output], check=True)
    return output


def start(launcher: Path, *words: Any, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [str(launcher), *(str(word) for word in words)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)


def without(content: bytes, spans: list[slice]) -> bytes:
    masked = bytearray(content)
    for span in spans:
        assert any(masked[span]), "an address"
        masked[span] = bytes(span.stop - span.start)
    return bytes(masked)


@pytest.mark.parametrize(
    ("stated", "addresses"),
    [
        (record(), [slice(0, 8), slice(8, 16)]),
        (provided(), [slice(80, 88), slice(88, 96)]),
        (counted(), [slice(0, 8), slice(8, 16), slice(64, 72)]),
        (record(cluster=[2, 2, 1]), [slice(0, 8), slice(8, 16)]),
    ],
)
def test_it_launches_as_a_session_does(
    fake: Fake, build: Build, launcher: Path, tmp_path: Path, stated: Json, addresses: list[slice]
) -> None:
    image = plrt.Image.load(build(stated), native=True)
    image.unpack(tmp_path / "image")
    buffers = {name: Interface(aligned((64, 32), np.float32)) for name in ("x", "out")}
    grid = () if stated["providers"] else (4, 2, 1)
    with image.open(buffers, {"n": -7, "alpha": 0.75}, grid=grid or None) as session:
        wanted = session.parameters()
        blocks = session.grid
    written = tmp_path / "parameters"
    options = ["--grid", ",".join(map(str, grid))] if grid else []
    done = start(
        launcher,
        *(tmp_path / "image", "x=64x32", f"out=64x32:{tmp_path / 'out'}", "n=-7", "alpha=0.75", *options),
        FAKE_DRIVER_PARAMETERS=str(written),
        FAKE_DRIVER_PARAMETER_SIZE=str(len(wanted)),
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"pl_scaled: launched {blocks[0]} x {blocks[1]} x {blocks[2]} blocks\n"
    assert without(written.read_bytes(), addresses) == without(wanted, addresses)
    assert (tmp_path / "out").stat().st_size == 64 * 32 * 4


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("x=64x32", "out=64x32", "alpha=1", "n=1"), "no provider sets the grid: give --grid X,Y,Z"),
        (("x=64x32", "alpha=1", "n=1"), "buffer out is missing"),
        (("x=64", "out=64x32", "alpha=1", "n=1"), "x: its rank must be 2"),
        (("x=64x0", "out=64x32", "alpha=1", "n=1"), "x: its extents must be at least 1"),
        (("x=64x32", "out=64x32", "alpha=1"), "argument n is missing"),
        (("x=64x32:/no/such/file", "out=64x32"), "cannot read /no/such/file"),
        (("what",), "what is what?"),
    ],
)
def test_what_it_refuses(build: Build, launcher: Path, tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    plrt.Image.load(build(record())).unpack(tmp_path / "image")
    done = start(launcher, tmp_path / "image", *words)
    assert (done.returncode, done.stderr) == (1, f"error: {message}\n")
