"""The runtime as the measurements use it, and the bare driver call that a launch of it is held against."""
# pyright: basic, reportMissingImports=false

import ctypes
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pipelink_runtime import Image, driver

Launch = Callable[[int], None]
PARAMETER_ALIGN = 128


class Opened:
    """A session of an image that was loaded for it alone: its module goes when this is closed."""

    def __init__(self, path: Path, buffers: Mapping[str, object]):
        self.session: Any = Image.load(path, native=True).open(buffers)
        self.launch: Launch = self.session.launch

    def close(self) -> None:
        """After all launches have ended."""
        self.session.close()
        del self.session, self.launch


def load(path: Path) -> Any:
    """The runtime's image."""
    return Image.load(path, native=True)


def bare_launch(path: Path, session: Any, stream: int) -> Callable[[], None]:
    """The kernel of an image, loaded anew, with the parameters and the grid of `session`, as one prepared call of the
    driver. Raises RuntimeError where the first launch fails; later ones are not checked."""
    with zipfile.ZipFile(path) as archive:
        cubin = archive.read("kernel.cubin")
    record: Mapping[str, Any] = load(path).record
    shared = record["dynamic_shared"]
    library = driver.load()
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    library.call("cuModuleLoadData", module, cubin)
    library.call("cuModuleGetFunction", function, module, record["kernel"].encode())
    library.call("cuFuncSetAttribute", function, driver.MAX_DYNAMIC_SHARED, shared)
    parameters = session.parameters()
    memory = ctypes.create_string_buffer(len(parameters) + PARAMETER_ALIGN)
    address = -(-ctypes.addressof(memory) // PARAMETER_ALIGN) * PARAMETER_ALIGN
    ctypes.memmove(address, parameters, len(parameters))
    pointers = (ctypes.c_void_p * 1)(address)
    config = driver.Config(grid=session.grid, block=(record["threads"], 1, 1), shared=shared, stream=stream)
    pointer = ctypes.pointer(config)
    call = library.function("cuLaunchKernelEx")

    def launch(_keep: object = memory) -> None:
        call(pointer, function, pointers, None)

    if code := call(pointer, function, pointers, None):
        raise RuntimeError(f"cuLaunchKernelEx: CUresult {code}")
    return launch
