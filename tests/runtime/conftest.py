"""The tests' driver and providers, compiled once a session, and images made of them."""

import ctypes
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pipelink_runtime as plrt
import pytest
from pipelink_runtime import driver
from runtime_samples import HEADERS, Build, Fake, Json, cuda_include, write

HERE = Path(__file__).parent


def compile_shared(output: Path, *arguments: str) -> Path:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler")
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC"]
    subprocess.run([compiler, *flags, *arguments, "-o", str(output)], check=True)
    return output


@pytest.fixture(scope="session")
def fake_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("driver") / "libcuda.so.1"
    return compile_shared(output, "-I", str(cuda_include()), str(HERE / "fake_driver.c"))


@pytest.fixture
def fake(fake_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Fake]:
    """The runtime on the tests' driver."""
    made = Fake(fake_path)
    made.set(version=13000, major=9, minor=0, shared=232448, blocks=1, devices=1, device_of_pointers=0)
    made.fail("")
    made.library.fake_no_current()
    ctypes.c_size_t.in_dll(made.library, "fake_parameter_size").value = 128
    monkeypatch.setattr(driver, "LIBRARY", str(fake_path))
    driver.load.cache_clear()
    made.calls()
    yield made
    driver.load.cache_clear()


@pytest.fixture(scope="session")
def provider_code(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The providers that the tests' packages ship."""
    output = tmp_path_factory.mktemp("providers") / "providers.so"
    return compile_shared(output, "-ffreestanding", "-I", str(HEADERS), str(HERE / "providers.c")).read_bytes()


@pytest.fixture
def build(tmp_path: Path, provider_code: bytes) -> Build:
    """Write an image of a record; each package with a provider gets the tests' one."""

    def written(stated: Json, **options: Any) -> Path:
        providers = {p["package"]: provider_code for p in stated["providers"]}
        return write(tmp_path / "sample.plimg", stated, providers, **options)

    return written


@pytest.fixture
def load(build: Build) -> Any:
    """Load an image of a record."""

    def loaded(stated: Json, native: bool = True) -> plrt.Image:
        return plrt.Image.load(build(stated), native)

    return loaded
