"""Memory of the first GPU through the driver alone, for processes without a framework."""
# pyright: basic

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np

MULTIPROCESSORS = 16  # CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT


@dataclass(frozen=True)
class Array:
    """A row-major array in device memory. Words of 16 bits are lent as bf16, for which the array interface has no name:
    two opaque bytes."""

    address: int
    shape: tuple[int, ...]
    dtype: Any

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        name = "<V2" if self.dtype == np.uint16 else np.dtype(self.dtype).str
        return {"shape": self.shape, "typestr": name, "data": (self.address, False), "version": 3}


class Device:
    """The primary context and memory in it, given back on exit."""

    stream = 0  # the default stream

    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        context, count = ctypes.c_void_p(), ctypes.c_int()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self.call("cuCtxSetCurrent", context)
        self.call("cuDeviceGetAttribute", ctypes.byref(count), MULTIPROCESSORS, 0)
        self.multiprocessors = count.value
        self.allocated: list[int] = []

    def __enter__(self) -> "Device":
        return self

    def __exit__(self, *_: object) -> None:
        """Without checks: a context that a failed kernel has ruined refuses everything, and the failure is known."""
        for address in self.allocated:
            self.library.cuMemFree_v2(ctypes.c_uint64(address))
        self.library.cuDevicePrimaryCtxRelease_v2(0)

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function of the driver. Raises RuntimeError with the CUresult."""
        code = getattr(self.library, name)(*arguments)
        if code:
            raise RuntimeError(f"{name}: CUresult {code}")

    def synchronize(self) -> None:
        self.call("cuCtxSynchronize")

    def put(self, values: np.ndarray) -> Array:
        """A copy in device memory."""
        values = np.ascontiguousarray(values)
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(values.nbytes))
        self.allocated.append(address.value)
        self.call("cuMemcpyHtoD_v2", address, ctypes.c_void_p(values.ctypes.data), ctypes.c_size_t(values.nbytes))
        return Array(address.value, values.shape, values.dtype)

    def get(self, array: Array) -> np.ndarray:
        """A copy of what all work so far has left there."""
        self.synchronize()
        values = np.empty(array.shape, array.dtype)
        pointer = ctypes.c_void_p(values.ctypes.data)
        self.call("cuMemcpyDtoH_v2", pointer, ctypes.c_uint64(array.address), ctypes.c_size_t(values.nbytes))
        return values
