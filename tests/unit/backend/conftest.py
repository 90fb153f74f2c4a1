"""Small objects and linked kernels, compiled once for all tests of the backend."""

from pathlib import Path

import pytest
from backend_samples import COMPONENT, LOCAL_MEMORY, ltoir, two_groups

from pipelink.backend import nvjitlink, toolchain


@pytest.fixture(scope="session")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sources")
    (folder / "component.cu").write_text(COMPONENT)
    (folder / "tiny.cu").write_text('extern "C" __device__ float third(float x) { return x; }\n')
    return folder


@pytest.fixture(scope="session")
def component(sources: Path) -> bytes:
    return toolchain.compile_lto(sources, "component.cu")


@pytest.fixture(scope="session")
def linked() -> nvjitlink.LinkResult:
    return nvjitlink.link(two_groups(48))


@pytest.fixture(scope="session")
def local_memory() -> nvjitlink.LinkResult:
    """A kernel with all that the two-group kernel lacks: stack, static shared memory, a cluster, a call."""
    return nvjitlink.link([ltoir("k", LOCAL_MEMORY)])
