"""Make what the GPU machine measures, on a machine with the compiler: each pipeline's image, and its plain control's.

python3 -m bench.attention_prepare MANIFEST... -o FOLDER --keep FOLDER

For each manifest: NAME.plimg as pl-link makes it, and NAME-plain.plimg with the kernel that nvcc alone makes of one
source file. The time that the link takes, without controls and without a cache, is printed.
"""

import argparse
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


def main(args: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser("bench.attention_prepare", description=__doc__)
    parser.add_argument("manifests", type=Path, nargs="+")
    parser.add_argument("-o", "--output", type=Path, required=True, help="a folder; images that it holds are removed")
    parser.add_argument("--keep", type=Path, required=True, help="a folder for sources and single units")
    given = parser.parse_args(args)
    given.output.mkdir(parents=True, exist_ok=True)
    for stale in given.output.glob("*.plimg"):
        stale.unlink()
    for manifest in given.manifests:
        image = given.output / f"{manifest.stem}.plimg"
        keep = given.keep / manifest.stem
        seconds = link_seconds(manifest, image)
        prepare.link(manifest, image, keep)
        plain = (keep / "control" / "plain.cubin").read_bytes()
        (given.output / f"{manifest.stem}-plain.plimg").write_bytes(images.with_cubin(image.read_bytes(), plain))
        print(f"{image}: linked in {seconds:.1f} s", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
