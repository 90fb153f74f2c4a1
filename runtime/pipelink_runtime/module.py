"""An image on one device: the device's primary context, the loaded cubin, and its kernel ready to launch."""

import ctypes
import weakref
from collections.abc import Generator
from contextlib import contextmanager
from ctypes import c_int, c_void_p

from pipelink_runtime import driver
from pipelink_runtime.errors import DeviceError
from pipelink_runtime.record import Record, capability


class Module:
    """Loads `cubin` on `device`. Raises DeviceError where the device or its driver cannot run it.

    `blocks` is how many blocks of the kernel one multiprocessor holds at a time, `multiprocessors` how many there are.
    """

    def __init__(self, record: Record, cubin: bytes, device: int):
        self.driver = driver.load()
        _check_device(record, device)
        self.device = device
        self.context = c_void_p()
        self.multiprocessors = driver.attribute(device, driver.MULTIPROCESSOR_COUNT)
        self._handle = c_void_p()
        self.function = c_void_p()
        self.driver.call("cuDevicePrimaryCtxRetain", self.context, device)
        release = weakref.finalize(self, _release, self.driver, self.context, self._handle, device)
        release.atexit = False  # the driver may be gone by then, and the process frees all the same
        with self.active():
            self._load(record, cubin)
            self.blocks = self._prepare(record)

    @contextmanager
    def active(self) -> Generator[None]:
        """Makes the context current, and restores what was."""
        self.driver.call("cuCtxPushCurrent_v2", self.context)
        try:
            yield
        finally:
            self.driver.call("cuCtxPopCurrent_v2", c_void_p())

    def _load(self, record: Record, cubin: bytes) -> None:
        if code := self.driver.function("cuModuleLoadData")(self._handle, cubin):
            major, minor = self.driver.version
            hint = f"; it was linked by CUDA {record.toolkit}, the driver has {major}.{minor}: update the driver"
            raise DeviceError(
                f"device {self.device} does not load {record.kernel}: {self.driver.explain(code)}"
                f"{hint if code in driver.BAD_IMAGE else ''}"
            )
        self.driver.call("cuModuleGetFunction", self.function, self._handle, record.kernel.encode())

    def _prepare(self, record: Record) -> int:
        """Set the kernel's attributes; how many of its blocks fit. Asking that also loads a lazily loaded kernel, which
        must not wait for the first launch: that may be captured in a graph."""
        self.driver.call("cuFuncSetAttribute", self.function, driver.MAX_DYNAMIC_SHARED, record.dynamic_shared)
        x, y, z = record.cluster
        if x * y * z > 8:  # the most that is portable
            self.driver.call("cuFuncSetAttribute", self.function, driver.NON_PORTABLE_CLUSTER, 1)
        blocks = c_int()
        occupancy = "cuOccupancyMaxActiveBlocksPerMultiprocessor"
        self.driver.call(occupancy, blocks, self.function, record.threads, record.dynamic_shared)
        if blocks.value < 1:
            raise DeviceError(
                f"device {self.device} has no room for a block of {record.kernel}: {record.threads} threads,"
                f" {record.dynamic_shared} bytes of shared memory"
            )
        return blocks.value


def _release(lib: driver.Driver, context: c_void_p, handle: c_void_p, device: int) -> None:
    """Without checks: a context that a failed kernel has ruined refuses everything."""
    if handle.value and not lib.function("cuCtxPushCurrent_v2")(context):
        lib.function("cuModuleUnload")(handle)
        lib.function("cuCtxPopCurrent_v2")(ctypes.byref(c_void_p()))
    lib.function("cuDevicePrimaryCtxRelease_v2")(device)


def _check_device(record: Record, device: int) -> None:
    count = driver.device_count()
    if not 0 <= device < count:
        raise DeviceError(f"there is no device {device}: the driver shows {count}; see CUDA_VISIBLE_DEVICES")
    has = driver.attribute(device, driver.CAPABILITY_MAJOR), driver.attribute(device, driver.CAPABILITY_MINOR)
    major, minor, kind = capability(record.target)
    runs = has == (major, minor) if kind == "a" else has[0] == major and has[1] >= minor
    if not runs:
        raise DeviceError(
            f"the image is for {record.target}, device {device} has compute capability {has[0]}.{has[1]}:"
            f" open it on a device of {major}.{minor}, or link it for this one"
        )
    toolkit = int(record.toolkit.split(".")[0])
    version = driver.load().version
    if version[0] < toolkit:
        raise DeviceError(
            f"the image was linked by CUDA {record.toolkit}, the driver supports CUDA {version[0]}.{version[1]}:"
            f" update the driver to one of CUDA {toolkit}.0 or later"
        )
    shared = driver.attribute(device, driver.MAX_SHARED_OPTIN)
    if record.dynamic_shared > shared:
        raise DeviceError(f"a block needs {record.dynamic_shared} bytes of shared memory, device {device} has {shared}")
