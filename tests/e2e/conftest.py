"""What the end-to-end tests link: the pipelines of the case study, and one of two tiny components, each once a run."""

import fcntl
from collections.abc import Callable
from pathlib import Path

import pytest
from linking import TINY, Image, pl_link
from packing import pack_into

COMPONENTS = Path(__file__).parent / "components"


@pytest.fixture(scope="session")
def tiny(shared: Path) -> Path:
    """A folder with the tiny components, `callee` in three forms, and the manifest of those that fit."""
    folder = shared / "tiny"
    forms = [(COMPONENTS / "callee.cu", f"callee{n}.plpkg", (f"-DCALLEE_SIGNATURE={n}",)) for n in (2, 3)]
    whole = [(COMPONENTS / f"{name}.cu", f"{name}.plpkg", ()) for name in ("caller", "callee", "another")]
    pack_into(folder, [*whole, *forms])
    (folder / "tiny.toml").write_text(TINY)
    return folder


@pytest.fixture(scope="session")
def image(packages: Path) -> Callable[[str], Image]:
    """The image of a pipeline of the case study, by the name of its manifest."""

    def link(name: str) -> Image:
        path = packages / f"{name}.plimg"
        with (packages / f".{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not path.exists():
                result = pl_link(packages / f"{name}.toml")
                assert (result.status, result.out, result.err) == (0, "", "")
        return Image.read(path)

    return link
