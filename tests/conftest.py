"""What tests of every kind share: the packages of the case study, packed once a run, whatever the number of workers."""

import fcntl
from collections.abc import Iterable
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CASE = ROOT / "components" / "gemm_swiglu"


def pack_into(folder: Path, sources: Iterable[tuple[Path, str, tuple[str, ...]]]) -> None:
    """Pack each (source, name of the package file, flags) that `folder` lacks."""
    from pipelink.frontends import package
    from pipelink.frontends.cuda.pack import Request, pack

    folder.mkdir(exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for source, name, flags in sources:
            if not (folder / name).exists():
                packed = pack(Request(source, flags=flags))
                package.write(folder / name, packed.contract, packed.members)


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """A folder of this run that all workers share."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if hasattr(request.config, "workerinput") else base


@pytest.fixture(scope="session")
def packages(shared: Path) -> Path:
    """A folder with the packages of `components/gemm_swiglu`."""
    folder = shared / "gemm_swiglu"
    pack_into(folder, [(source, f"{source.stem}.plpkg", ()) for source in sorted(CASE.glob("*.cu"))])
    return folder
