"""Register groups that do not fit: measured once, placed again, or refused with the numbers."""

import json
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

GEMM = Path("components/gemm_swiglu")


def tool(name: str) -> str:
    return str(Path(sys.executable).with_name(name))


def compose(folder: Path, load: str, epilogue: str) -> subprocess.CompletedProcess[str]:
    """The GEMM pipeline with other register ranges in the contracts of its two roles."""
    for source in GEMM.iterdir():
        if source.suffix in (".cu", ".cuh", ".h", ".c"):
            shutil.copy(source, folder)
    for file, chain in (("load.cu", load), ("swiglu.cu", epilogue)):
        path = folder / file
        text, count = re.subn(r"\.registers\([^;]*?\)\)", chain + ")", path.read_text())
        assert count == 1
        path.write_text(text)
        subprocess.run([tool("pl-pack"), str(path), "-o", str(path.with_suffix(".plpkg"))], check=True)
    shutil.copy("build/gemm_swiglu/mainloop.plpkg", folder)
    shutil.copy(GEMM / "h200.toml", folder)
    return subprocess.run([tool("pl-link"), str(folder / "h200.toml")], capture_output=True, text=True, check=False)


def test_p28_a_measured_need_is_placed_again(tmp_path: Path) -> None:
    """The epilogue states no need, so the first link starves it beside a load role that wants much."""
    done = compose(tmp_path, ".registers(24, 240).need(120)", ".registers(24, 240)")
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(tmp_path / "h200.plimg") as image:
        groups = {g["roles"][0]: g for g in json.loads(image.read("record.json"))["groups"]}
    epilogue = groups["swiglu.epilogue"]
    assert epilogue["need"] >= 152
    assert epilogue["budget"] >= epilogue["need"]
    assert groups["load.tma"]["budget"] >= 120


@pytest.mark.parametrize("least", [200])
def test_p22_groups_that_cannot_fit_are_refused(tmp_path: Path, least: int) -> None:
    """A load role that takes at least 200 registers leaves too few for the epilogue."""
    done = compose(tmp_path, f".registers({least}, 240)", ".registers(24, 240)")
    assert done.returncode == 1
    assert "error[L-REGS]" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.glob("*.plimg"))
