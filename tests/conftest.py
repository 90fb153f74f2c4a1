"""What tests of every kind share: the packages of the case study, packed once a run, whatever the number of workers."""

import os
from pathlib import Path

import pytest
from packing import pack_into

os.environ["PIPELINK_CACHE"] = ""  # a test of a link makes it

ROOT = Path(__file__).parent.parent
CASE = ROOT / "components" / "gemm_swiglu"


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """A folder of this run that all workers share."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if hasattr(request.config, "workerinput") else base


@pytest.fixture(scope="session")
def packages(shared: Path) -> Path:
    """A folder with the packages of `components/gemm_swiglu`, and its manifests."""
    folder = shared / "gemm_swiglu"
    pack_into(folder, [(source, f"{source.stem}.plpkg", ()) for source in sorted(CASE.glob("*.cu"))])
    for manifest in CASE.glob("*.toml"):
        (folder / manifest.name).write_bytes(manifest.read_bytes())
    return folder
