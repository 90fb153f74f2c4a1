"""The lit tests of `tests/filecheck`, as one test: its failure shows what lit says."""

import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent / "filecheck"


def test_filecheck(tmp_path: Path) -> None:
    lit = Path(sys.executable).with_name("lit")
    result = subprocess.run(
        [lit, "-v", "-j2", FOLDER],
        env={"PATH": "/usr/bin:/bin", "PIPELINK_LIT_OUTPUT": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
