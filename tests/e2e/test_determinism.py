"""The same inputs give the same bytes: in any folder, with any hash seed."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from shutil import copyfile

import pytest
from linking import Image

from pipelink.passes import LINK

TOOLS = Path(sys.executable).parent


def run(folder: Path, seed: int, tool: str, *arguments: object) -> str:
    """A command in `folder`, in a process of its own with a hash seed."""
    result = subprocess.run(
        [TOOLS / tool, *map(str, arguments)],
        cwd=folder,
        env={**os.environ, "PYTHONHASHSEED": str(seed)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout


@pytest.fixture(scope="module")
def elsewhere(packages: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packages and manifests again, in a folder at another depth."""
    folder = tmp_path_factory.mktemp("elsewhere") / "a" / "copy with spaces"
    folder.mkdir(parents=True)
    for file in [*packages.glob("*.plpkg"), *packages.glob("*.toml")]:
        copyfile(file, folder / file.name)
    return folder


def test_ir_and_cuda_do_not_depend_on_the_hash_seed_or_the_folder(packages: Path, elsewhere: Path) -> None:
    texts: set[tuple[str, str]] = set()
    for seed in range(4):
        ir = run((packages, elsewhere)[seed % 2], seed, "pl-opt", "h200_shifted.toml", "-p", ",".join(LINK))
        (elsewhere / "final.mlir").write_text(ir)
        texts.add((ir, run(elsewhere, 3 - seed, "pl-opt", "final.mlir", "-t", "cuda")))
    assert len(texts) == 1


def test_an_image_does_not_depend_on_the_hash_seed_or_the_folder(
    image: Callable[[str], Image], elsewhere: Path
) -> None:
    run(elsewhere, 7, "pl-link", "h200.toml", "-o", "out/h200.plimg")
    assert (elsewhere / "out" / "h200.plimg").read_bytes() == image("h200").data
    assert sorted(p.name for p in (elsewhere / "out").iterdir()) == ["h200.plimg"]
