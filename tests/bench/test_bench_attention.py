"""The attention pipelines: one packed core in all of them, and each is what one source file would give."""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from packing import pack_into
from samples import command

from bench import report
from pipelink.backend import image
from pipelink.frontends import package
from pipelink.tools import pl_link

ROOT = Path(__file__).parents[2]
CASE = ROOT / "components" / "attention"
IMAGES = ROOT / "build" / "attention_images"
PIPELINES = sorted(path.stem for path in CASE.glob("*.toml"))


@pytest.fixture(scope="session")
def attention(shared: Path) -> Path:
    """A folder with the packages of `components/attention`, and its manifests."""
    folder = shared / "attention"
    pack_into(folder, [(source, f"{source.stem}.plpkg", ()) for source in sorted(CASE.glob("*.cu"))])
    for manifest in CASE.glob("*.toml"):
        (folder / manifest.name).write_bytes(manifest.read_bytes())
    return folder


def record_of(path: Path) -> dict[str, Any]:
    return json.loads(image.read(path)[image.RECORD])


@pytest.mark.parametrize("name", PIPELINES)
def test_a_pipeline_is_what_one_source_gives(name: str, attention: Path, tmp_path: Path) -> None:
    """Without stack, spills and calls, around the core as it was packed."""
    made = tmp_path / f"{name}.plimg"
    result = command(pl_link.main, str(attention / f"{name}.toml"), "-o", str(made), "--control")
    assert (result.status, result.err) == (0, "")
    assert result.out.splitlines()[0] == "control: identical"
    record = record_of(made)
    digests = {entry["name"]: entry["digest"] for entry in record["packages"]}
    assert digests["core"] == package.read(attention / "core.plpkg").digest
    assert (record["code"]["stack"], record["code"]["spill_stores"]) == (0, 0)


def test_pipelines_differ_from_causal_in_two_packages_at_most() -> None:
    def packages(name: str) -> set[str]:
        text = (CASE / f"{name}.toml").read_text()
        return set(text.partition("[packages]")[2].split("\n"))

    assert len(PIPELINES) >= 6
    assert all(len(packages(name) - packages("causal")) <= 2 for name in PIPELINES)


@pytest.mark.gpu
@pytest.mark.skipif(not report.card(), reason="needs an NVIDIA GPU")
@pytest.mark.skipif(find_spec("torch") is None, reason="needs torch")
@pytest.mark.skipif(not IMAGES.is_dir(), reason="needs the images of bench.attention_prepare in build/attention_images")
def test_images_are_right() -> None:
    from bench import attention_correct

    assert attention_correct.main([str(IMAGES), "--replays", "10"]) == 0
