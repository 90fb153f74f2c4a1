"""Run a linked GEMM + SwiGLU image once where there is a GPU that can, and say why not where there is none.

python3 -m bench.demo IMAGE
"""

import ctypes
import subprocess
import sys
from pathlib import Path

SIZE = "512x1024x512"
SECONDS = 120


def why_not() -> str:
    """Why no kernel can run here; "" where one can."""
    try:
        library = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return "there is no CUDA driver"
    count = ctypes.c_int()
    if library.cuInit(0) or library.cuDeviceGetCount(ctypes.byref(count)) or not count.value:
        return "the CUDA driver finds no GPU"
    major = ctypes.c_int()
    library.cuDeviceGetAttribute(ctypes.byref(major), 75, 0)  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
    return "" if major.value == 9 else f"the GPU has compute capability {major.value}, the kernel is for 9.0"


def main() -> int:
    image = Path(sys.argv[1])
    if reason := why_not():
        print(f"run: not run, {reason} (the kernel is linked and verified all the same)")
        return 0
    command = [sys.executable, "-m", "bench.watchdog", "--limit", str(SECONDS), "bench.once", str(image), SIZE]
    status = subprocess.run(command, check=False).returncode
    print(f"run: {SIZE} on the GPU, {'right against the reference' if status == 0 else 'WRONG'}")
    return status


if __name__ == "__main__":
    raise SystemExit(main())
