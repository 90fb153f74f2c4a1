"""The CUDA driver through ctypes: loaded at first use, so that importing the runtime needs neither driver nor GPU.
Layouts and symbols are those of `cuda.h`; nothing newer than CUDA 12.0 is called."""

import ctypes
from ctypes import POINTER, c_char_p, c_int, c_size_t, c_uint, c_uint64, c_void_p
from functools import cache
from typing import Any

from pipelink_runtime.errors import DeviceError

LIBRARY = "libcuda.so.1"

# CUdevice_attribute, CUfunction_attribute, CUpointer_attribute, CUlaunchAttributeID, CUresult
MULTIPROCESSOR_COUNT = 16
CAPABILITY_MAJOR, CAPABILITY_MINOR = 75, 76
MAX_SHARED_OPTIN = 97
MAX_DYNAMIC_SHARED = 8
NON_PORTABLE_CLUSTER = 14
POINTER_DEVICE = 9
ATTRIBUTE_CLUSTER = 4
INVALID_VALUE, INVALID_CONTEXT = 1, 201
BAD_IMAGE = (200, 209, 218, 222, 223)  # no such image, no binary for this GPU, unsupported or unreadable code


class Attribute(ctypes.Structure):
    """CUlaunchAttribute, of which only the cluster's extents are used."""

    _fields_ = [("id", c_int), ("pad", c_int), ("cluster", c_uint * 3), ("unused", c_uint * 13)]


class Config(ctypes.Structure):
    """CUlaunchConfig."""

    _fields_ = [
        ("grid", c_uint * 3),
        ("block", c_uint * 3),
        ("shared", c_uint),
        ("stream", c_void_p),
        ("attributes", POINTER(Attribute)),
        ("attribute_count", c_uint),
    ]


_SIGNATURES: dict[str, tuple[Any, ...]] = {
    "cuInit": (c_uint,),
    "cuDriverGetVersion": (POINTER(c_int),),
    "cuGetErrorName": (c_int, POINTER(c_char_p)),
    "cuGetErrorString": (c_int, POINTER(c_char_p)),
    "cuDeviceGetCount": (POINTER(c_int),),
    "cuDeviceGet": (POINTER(c_int), c_int),
    "cuDeviceGetAttribute": (POINTER(c_int), c_int, c_int),
    "cuDevicePrimaryCtxRetain": (POINTER(c_void_p), c_int),
    "cuDevicePrimaryCtxRelease_v2": (c_int,),
    "cuCtxGetCurrent": (POINTER(c_void_p),),
    "cuCtxGetDevice": (POINTER(c_int),),
    "cuCtxPushCurrent_v2": (c_void_p,),
    "cuCtxPopCurrent_v2": (POINTER(c_void_p),),
    "cuModuleLoadData": (POINTER(c_void_p), c_void_p),
    "cuModuleUnload": (c_void_p,),
    "cuModuleGetFunction": (POINTER(c_void_p), c_void_p, c_char_p),
    "cuFuncSetAttribute": (c_void_p, c_int, c_int),
    "cuOccupancyMaxActiveBlocksPerMultiprocessor": (POINTER(c_int), c_void_p, c_int, c_size_t),
    "cuPointerGetAttribute": (c_void_p, c_int, c_uint64),
    "cuMemAlloc_v2": (POINTER(c_uint64), c_size_t),
    "cuMemFree_v2": (c_uint64,),
    "cuMemsetD32_v2": (c_uint64, c_uint, c_size_t),
    "cuMemsetD32Async": (c_uint64, c_uint, c_size_t, c_void_p),
    "cuStreamSynchronize": (c_void_p,),
    "cuLaunchKernelEx": (POINTER(Config), c_void_p, c_void_p, c_void_p),
    "cuTensorMapEncodeTiled": (),  # called by providers, through its address
}


class Driver:
    """The loaded driver. Functions return CUresult, as in C."""

    def __init__(self, library: str):
        try:
            self._library = ctypes.CDLL(library)
        except OSError as error:
            raise DeviceError(f"no NVIDIA driver: {error}; install one, or open the image on a GPU machine") from None
        self._functions = {name: self._bind(name, types) for name, types in _SIGNATURES.items()}
        self.call("cuInit", 0)
        version = c_int()
        self.call("cuDriverGetVersion", version)
        self.version = divmod(version.value // 10, 100)

    def _bind(self, name: str, types: tuple[Any, ...]) -> Any:
        try:
            function = getattr(self._library, name)
        except AttributeError:
            raise DeviceError(f"the driver has no {name}: CUDA 12.0 or later is needed; update the driver") from None
        function.argtypes = types
        function.restype = c_int
        return function

    def function(self, name: str) -> Any:
        """The C function itself, for callers that look at its CUresult."""
        return self._functions[name]

    def untyped(self, name: str, keep_gil: bool = False) -> Any:
        """The C function without conversions, which take half the time of a call: arguments must be ctypes objects or
        None. `keep_gil` saves more, and is for what neither blocks nor calls back."""
        if keep_gil:
            return ctypes.PYFUNCTYPE(c_int)((name, self._library))
        return self._library[name]

    def address(self, name: str) -> int:
        return ctypes.cast(self._functions[name], c_void_p).value or 0

    def call(self, name: str, *arguments: Any) -> None:
        """Raises DeviceError where the driver refuses."""
        if code := self._functions[name](*arguments):
            raise DeviceError(f"{name}: {self.explain(code)}")

    def explain(self, code: int) -> str:
        """`CUDA_ERROR_X: what that means`."""
        name, text = c_char_p(), c_char_p()
        self._functions["cuGetErrorName"](code, name)
        self._functions["cuGetErrorString"](code, text)
        known = [value.decode() for value in (name.value, text.value) if value]
        return ": ".join(known) or f"error {code}"


@cache
def load() -> Driver:
    """The driver, loaded and initialised once. Raises DeviceError."""
    return Driver(LIBRARY)


def device_count() -> int:
    count = c_int()
    load().call("cuDeviceGetCount", count)
    return count.value


def current_device() -> int:
    """The device of the current context, or 0 where there is none."""
    context, device = c_void_p(), c_int()
    load().call("cuCtxGetCurrent", context)
    if context.value:
        load().call("cuCtxGetDevice", device)
    return device.value


def attribute(device: int, which: int) -> int:
    value = c_int()
    load().call("cuDeviceGetAttribute", value, which, device)
    return value.value


def device_of(address: int) -> int | None:
    """The device on which `address` was allocated, or None where the driver does not know it."""
    value = c_int()
    code = load().function("cuPointerGetAttribute")(ctypes.addressof(value), POINTER_DEVICE, address)
    return None if code or value.value < 0 else value.value
