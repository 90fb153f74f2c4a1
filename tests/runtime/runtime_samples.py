"""Images, arrays and DLPack capsules for the tests of the runtime."""

import ctypes
import hashlib
import json
import zipfile
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
HEADERS = ROOT / "runtime" / "pipelink_runtime" / "include"
CUBIN = b"\x7fELF, as far as the tests' driver looks"
Json = dict[str, Any]

# struct args of providers.c
FIELDS = {
    "tile": [0, 4],
    "rank": [4, 4],
    "total": [8, 8],
    "addresses": [16, 16],
    "shape": [32, 16],
    "stride": [48, 16],
    "scale": [64, 8],
    "multiprocessors": [72, 4],
    "dtype": [76, 4],
}


def digest(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


def tile_fact(value: str = "48") -> Json:
    return {"fact": "tile", "field": "tile", "type": "i32", "value": value, "offset": 0, "size": 4}


def region(
    package: str, offset: int, size: int, fields: Mapping[str, list[int]], facts: list[Json], align: int = 8
) -> Json:
    named = {"package": package, "type": f"{package}_args", "fields": dict(fields), "facts": facts}
    return {**named, "offset": offset, "size": size, "align": align}


def buffer(name: str, package: str, access: str = "read", dtype: str = "f32", rank: int = 2, align: int = 16) -> Json:
    return {"name": name, "package": package, "access": access, "dtype": dtype, "rank": rank, "align": align}


def argument(name: str, package: str, type_name: str) -> Json:
    return {"name": name, "package": package, "type": type_name}


def record(**changes: Any) -> Json:
    """A record of one package without a provider: x and out, n of them, a factor, and a tile size that is a fact."""
    fields = {"x": [0, 8], "out": [8, 8], "n": [16, 8], "alpha": [24, 4], "tile": [28, 4]}
    fact = {**tile_fact(), "offset": 28}
    return {
        "schema": 1,
        "pipeline": "scaled",
        "kernel": "pl_scaled",
        "target": "sm_90a",
        "threads": 256,
        "dynamic_shared": 4096,
        "cluster": [1, 1, 1],
        "parameters": {"size": 128, "regions": [region("scale", 0, 32, fields, [fact])]},
        "buffers": [buffer("x", "scale"), buffer("out", "scale", "write")],
        "arguments": [argument("n", "scale", "i64"), argument("alpha", "scale", "f32")],
        "providers": [],
        "claims": [],
        "packages": [{"name": "scale", "version": "1.2.3", "digest": "0" * 64, "toolkit": "13.5.37"}],
        "roles": [{"name": "scale.main", "first_warp": 0, "warps": 8}],
        "groups": [{"roles": ["scale.main"], "warps": [0, 8], "budget": None, "need": 32}],
        "connections": [],
        "facts": [{"name": "scale.tile", "type": "i32", "value": "48"}],
        "capacities": {"registers": 65536, "smem": 232448},
        "code": {"registers": 40, "stack": 0, "spill_stores": 0, "spill_loads": 0},
        "tools": {"toolkit": "13.5.37"},
        **changes,
    }


def provided(symbol: str = "reads_all", **changes: Any) -> Json:
    """The same, its region filled by a function of `providers.c`."""
    regions = [region("scale", 64, 80, FIELDS, [tile_fact()], 64)]
    return record(
        parameters={"size": 256, "regions": regions},
        providers=[{"package": "scale", "symbol": symbol, "abi": 1}],
        **changes,
    )


def counted(restart: str = "launch", scope: str = "gpu", size: int = 6) -> Json:
    """The first, with a counter of some words behind two others that are not reset."""
    counter = {"kind": "counter", "align": 1, "live": [], "shares": []}
    claims = [
        {**counter, "name": "scale.ticket", "base": 0, "size": 2, "scope": "gpu", "restart": "self"},
        {**counter, "name": "scale.done", "base": 2, "size": size, "scope": scope, "restart": restart},
        {"kind": "smem", "name": "scale.tile", "base": 0, "size": 4096, "align": 16, "live": [], "shares": []},
    ]
    parameters = record()["parameters"]
    return record(claims=claims, parameters={**parameters, "counters": 64})


def write(path: Path, stated: Json, providers: Mapping[str, bytes] | None = None, cubin: bytes = CUBIN) -> Path:
    """An image of `stated`, with the digests of its members."""
    members = {"kernel.cubin": cubin, **{f"providers/{n}.so": code for n, code in (providers or {}).items()}}
    stated = {**stated, "members": {name: digest(data) for name, data in members.items()}}
    return write_members(path, {"record.json": json.dumps(stated).encode(), **members})


def write_members(path: Path, members: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data, method)
    return path


# ---- arrays that pass for device memory: the tests' driver has the host's ----


def aligned(shape: tuple[int, ...], dtype: Any, align: int = 256) -> "np.ndarray[Any, Any]":
    """Zeros at an aligned address."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    raw = np.zeros(size + align, np.uint8)
    start = -raw.ctypes.data % align
    return raw[start : start + size].view(dtype).reshape(shape)


class Interface:
    """An array that shows itself through `__cuda_array_interface__`."""

    def __init__(self, array: "np.ndarray[Any, Any]", **changes: Any):
        self.array = array
        strides = None if array.flags.c_contiguous else array.strides
        shown = {"shape": array.shape, "typestr": array.dtype.str, "data": (array.ctypes.data, False), "version": 3}
        self.__cuda_array_interface__ = {**shown, "strides": strides, **changes}


class Tensor(ctypes.Structure):
    """DLTensor, written down a second time from the specification."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
DESTRUCTOR = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)


class Managed(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", DELETER)]


class Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", DELETER),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    ]


_new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, DESTRUCTOR)(
    ("PyCapsule_New", ctypes.pythonapi)
)


class Exporter:
    """A producer of DLPack: `version` 0 makes plain capsules. `freed` counts the capsules whose destructor ran."""

    def __init__(self, address: int, shape: tuple[int, ...], strides: tuple[int, ...] | None, **about: Any):
        self.address, self.shape, self.strides = address, shape, strides
        self.type: tuple[int, int, int] = about.get("type", (4, 16, 1))
        self.device: tuple[int, int] = about.get("device", (2, 0))
        self.flags, self.version = about.get("flags", 0), about.get("version", 1)
        self.byte_offset = about.get("byte_offset", 0)
        self.freed = 0
        self.keep: list[Any] = []
        self.streams: list[Any] = []

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device

    def __dlpack__(self, *, stream: Any = None, **options: Any) -> object:
        if options and self.version == 0:
            raise TypeError("unexpected keyword argument 'max_version'")
        self.streams.append(stream)
        return self.capsule()

    def capsule(self) -> object:
        rank = len(self.shape)
        shape = (ctypes.c_int64 * rank)(*self.shape)
        strides = (ctypes.c_int64 * rank)(*self.strides) if self.strides is not None else None
        tensor = Tensor(self.address, *self.device, rank, *self.type, shape, strides, self.byte_offset)
        managed = Versioned(self.version, 3, None, DELETER(), self.flags, tensor) if self.version else Managed(tensor)
        destructor = DESTRUCTOR(self._destroyed)
        self.keep += [shape, strides, managed, destructor]
        name = b"dltensor_versioned" if self.version else b"dltensor"
        return _new_capsule(ctypes.addressof(managed), name, destructor)

    def _destroyed(self, _capsule: int) -> None:
        self.freed += 1


def cuda_include() -> Path:
    """The folder of `cuda.h` in the toolkit's wheels."""
    spec = find_spec("nvidia")
    places = [Path(p) / "cu13" / "include" for p in (spec.submodule_search_locations or ())] if spec else []
    for place in places:
        if (place / "cuda.h").exists():
            return place
    pytest.skip("no cuda.h: install the development requirements")


class Fake:
    """The tests' driver, and what tests set and read of it."""

    def __init__(self, path: Path):
        self.path = path
        self.library = ctypes.CDLL(str(path))
        self.library.fake_log.restype = ctypes.c_char_p

    def set(self, **values: int) -> None:
        for name, value in values.items():
            ctypes.c_int.in_dll(self.library, f"fake_{name}").value = value

    def get(self, name: str) -> int:
        return ctypes.c_int.in_dll(self.library, f"fake_{name}").value

    def fail(self, function: str, code: int = 719) -> None:
        """From now on `function` returns `code`."""
        (ctypes.c_char * 64).in_dll(self.library, "fake_failing").value = function.encode()
        self.set(code=code)

    def calls(self) -> list[str]:
        """The log since the last time."""
        lines = self.library.fake_log().decode().splitlines()
        self.library.fake_clear()
        return lines

    def parameters(self, size: int) -> bytes:
        """What the last launch was given, of a kernel with `size` bytes of parameters."""
        return bytes((ctypes.c_ubyte * size).in_dll(self.library, "fake_parameters"))


Build = Callable[..., Path]
