"""The measurements themselves, at small sizes, where there is a GPU and bench.prepare has filled build/bench."""

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from bench import all as every
from bench import report

IMAGES = Path(__file__).parents[2] / "build" / "bench"


@pytest.mark.gpu
@pytest.mark.skipif(not report.card(), reason="needs an NVIDIA GPU")
@pytest.mark.skipif(find_spec("torch") is None, reason="needs torch")
@pytest.mark.skipif(not IMAGES.is_dir(), reason="needs the images of bench.prepare in build/bench")
def test_images_are_right_and_planted_faults_are_found(tmp_path: Path) -> None:
    assert every.main([str(IMAGES), "--out", str(tmp_path), "--quick"]) == 0
    assert json.loads((tmp_path / "correct.json").read_text())["failures"] == []
