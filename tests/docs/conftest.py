"""A copy of what a reader of the documentation has: the components, and their packages from `make packages`."""

import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("attention", "facts", "gemm_swiglu")


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The copy from which each page gets its own."""
    folder = tmp_path_factory.mktemp("docs") / "project"
    shutil.copytree(ROOT / "components", folder / "components")
    for name in FOLDERS:
        (folder / "build" / name).mkdir(parents=True)
        packages = sorted((ROOT / "build" / name).glob("*.plpkg"))
        assert packages, f"no packages of {name}: run make packages"
        for package in packages:
            shutil.copy(package, folder / "build" / name)
    return folder
