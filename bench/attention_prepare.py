"""Make what the GPU machine measures, on a machine with the compiler: each pipeline's image, and its plain control's.

python3 -m bench.attention_prepare MANIFEST... -o FOLDER --keep FOLDER

For each manifest: NAME.plimg as pl-link makes it, and NAME-plain.plimg with the kernel that nvcc alone makes of one
source file. The time that the link takes, without controls and without a cache, is printed.
"""

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from bench import images, prepare


def link_seconds(manifest: Path, image: Path) -> float:
    """Seconds that pl-link takes from its start to its end."""
    start = time.monotonic()
    command = [sys.executable, "-m", "pipelink.tools.pl_link", str(manifest), "-o", str(image), "--no-cache"]
    subprocess.run(command, check=True)
    return time.monotonic() - start


def make(manifest: Path, folder: Path, keep: Path) -> list[str]:
    """The two images of one manifest; returns what to tell of them."""
    image = folder / f"{manifest.stem}.plimg"
    seconds = link_seconds(manifest, image)
    prepare.link(manifest, image, keep)
    plain = (keep / "control" / "plain.cubin").read_bytes()
    (folder / f"{manifest.stem}-plain.plimg").write_bytes(images.with_cubin(image.read_bytes(), plain))
    return [f"{image}: linked in {seconds:.1f} s"]


def main(args: Sequence[str] | None = None) -> int:
    return prepare.command("bench.attention_prepare", __doc__, make, args)


if __name__ == "__main__":
    raise SystemExit(main())
