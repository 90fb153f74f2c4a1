"""The runtime alone: what importing it pulls in, and what its wheel holds."""

import os
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest
from runtime_samples import ROOT, Build, counted, provided

FORBIDDEN = ("torch", "numpy", "cupy", "xdsl", "z3", "tilelang", "pipelink", "cuda", "msgspec")


def run(*command: str | Path, **options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, env={**os.environ, **options}
    )


def test_importing_and_loading_needs_nothing(build: Build) -> None:
    """Neither other packages nor the driver; loading and describing an image too."""
    code = (
        "import sys, pathlib, pipelink_runtime as plrt\n"
        f"plrt.Image.load({str(build(provided()))!r}, native=True)\n"
        f"print([m for m in {FORBIDDEN!r} if m in sys.modules])\n"
        "print('libcuda' in pathlib.Path('/proc/self/maps').read_text())\n"
    )
    done = run(sys.executable, "-W", "error", "-c", code)
    assert (done.stdout, done.stderr) == ("[]\nFalse\n", "")


LEAVE = """
import atexit, ctypes, sys
path, image = sys.argv[1:]
fake = ctypes.CDLL(path)
fake.fake_log.restype = ctypes.c_char_p
atexit.register(lambda: print(fake.fake_log().decode(), end=""))  # runs last
import numpy as np, pipelink_runtime as plrt
from pipelink_runtime import driver

class Array:
    def __init__(self):
        self.memory = np.zeros(4096 + 64, np.float32)
        start = -(-self.memory.ctypes.data // 64) * 64
        self.__cuda_array_interface__ = dict(shape=(64, 64), typestr="<f4", data=(start, False), version=3)

driver.LIBRARY = path
session = plrt.Image.load(image).open({"x": Array(), "out": Array()}, {"n": 1, "alpha": 1}, grid=(1,))
loop = [session]
loop.append(loop)
fake.fake_clear()
session.launch()
"""


def test_leaving_with_open_sessions_is_quiet(build: Build, fake_path: Path) -> None:
    """At interpreter exit the driver is not called any more, whatever is still open: it may be gone by then."""
    done = run(sys.executable, "-X", "dev", "-c", LEAVE, fake_path, build(counted("self")))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "cuLaunchKernelEx",
        "  grid=1,1,1 block=256,1,1 shared=4096 stream=0 attributes=0",
    ]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    ignored = shutil.ignore_patterns("build", "dist", "*.egg-info", "__pycache__")
    source = shutil.copytree(ROOT / "runtime", folder / "runtime", ignore=ignored)
    done = run(sys.executable, "-m", "pip", "wheel", "--no-deps", "-q", "-w", folder, source)
    if "No matching distribution found for setuptools" in done.stderr:
        pytest.skip("no package index to take setuptools from")
    assert done.returncode == 0, done.stderr
    (made,) = folder.glob("*.whl")
    return made


def test_the_wheel_holds_the_headers_and_the_modules(wheel: Path) -> None:
    package = ROOT / "runtime" / "pipelink_runtime"
    wanted = {
        str(p.relative_to(package.parent))
        for p in [*package.rglob("*.py"), *package.rglob("*.cuh"), *package.rglob("*.h")]
    }
    names = {n for n in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in n}
    assert names == wanted | {"pipelink_runtime/py.typed"}
    assert "pipelink_runtime/include/pipelink/provider.h" in names


def test_the_wheel_works_alone(wheel: Path, build: Build, tmp_path: Path) -> None:
    """In an environment with nothing else, without an index to take anything from."""
    venv.create(tmp_path / "venv", with_pip=False)
    python = tmp_path / "venv" / "bin" / "python"
    done = run(sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-index", wheel)
    assert done.returncode == 0, done.stderr
    done = run(python, "-I", "-m", "pipelink_runtime", "describe", build(provided()))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("pipeline:       scaled\n")
    done = run(
        python, "-I", "-c", "import pipelink_runtime as p; print((p.headers() / 'pipelink/provider.h').exists())"
    )
    assert done.stdout == "True\n"
