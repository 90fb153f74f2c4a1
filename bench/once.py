"""Open an image, launch it once at each size, judge its output with NumPy; no framework, so that sanitizers see only
the kernel. The output of an image with a fault planted for a sanitizer is not judged.

python3 -m bench.once IMAGE MxNxK...
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bench import bf16, comparator, images, report, sizes
from bench.images import TOOLS
from bench.sizes import AUDIT_WORDS, Size

SEED = 1


def run(image: Path, size: Size) -> list[str]:
    """Launch once; returns the criteria that the output misses."""
    from bench.device import Device
    from bench.session import Opened

    report.progress("once", image.name, size)
    x = bf16.draw(SEED, size.m, size.k)
    w = bf16.draw(SEED + 1, size.n, size.k, 1.5 * size.k**-0.5)
    with Device() as device:
        out = device.put(np.full((size.m, size.n // 2), bf16.NAN, np.uint16))
        audit = device.put(np.full((size.blocks, AUDIT_WORDS), -1, np.int64))
        lent = {"x": device.put(x), "w": device.put(w), "out": out, "audit": audit}
        opened = Opened(image, {name: lent[name] for name in images.buffer_names(image)})
        opened.launch(device.stream)
        found, records = device.get(out), device.get(audit)
        opened.close()
        multiprocessors = device.multiprocessors
    ref = bf16.reference(x, w)
    faults = comparator.verdict(
        comparator.errors(bf16.to_float(found), ref), comparator.errors(bf16.baseline(x, w), ref)
    )
    if "audit" in images.buffer_names(image):
        faults += comparator.audit_faults(records, size.blocks, multiprocessors)
    return faults


def main(args: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser("bench.once", description=__doc__)
    parser.add_argument("image", type=Path)
    parser.add_argument("sizes", type=sizes.parse, nargs="+")
    given = parser.parse_args(args)
    judged = not any(f".{tool}-" in given.image.name for tool in TOOLS)
    wrong = {str(size): faults for size in given.sizes if (faults := run(given.image, size)) and judged}
    print(wrong or "all right")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
