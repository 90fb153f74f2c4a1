"""Memory that the caller lends: described through DLPack or `__cuda_array_interface__`, and checked against what the
packages need. Nothing is copied, and no data is read."""

import ctypes
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from ctypes import POINTER, c_char_p, c_int32, c_int64, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p
from dataclasses import dataclass, field, replace
from typing import Any

from pipelink_runtime.errors import BufferError, nearest
from pipelink_runtime.record import DTYPE_BITS, Buffer

_CUDA, _CUDA_MANAGED = 2, 13  # DLDeviceType
_READ_ONLY = 1  # DLPACK_FLAG_BITMASK_READ_ONLY
_MAX_RANK = 64

# DLDataTypeCode and bits; codes from 10 on are the 8-bit floating-point types of DLPack 1.1.
_DLPACK = {
    **{(0, bits): f"i{bits}" for bits in (8, 16, 32, 64)},
    **{(1, bits): f"u{bits}" for bits in (8, 16, 32, 64)},
    **{(2, bits): f"f{bits}" for bits in (16, 32, 64)},
    **{(4, 16): "bf16", (6, 8): "bool", (10, 8): "e4m3", (12, 8): "e5m2", (14, 8): "e8m0"},
}
# An array interface has no name for bf16: frameworks give it as two opaque bytes.
_TYPESTR = re.compile(r"[<|=]([iuf])([1248])")
_OPAQUE = {"<V2": "bf16", "|V2": "bf16", "|b1": "bool"}
# Types that may also be lent under another that has the same bits, since DLPack or the producer may lack the first.
_SAME_BITS = {"tf32": ("f32",), "e4m3": ("u8",), "e5m2": ("u8",), "e8m0": ("u8",)}


@dataclass(frozen=True)
class Lent:
    """A buffer of the caller: outermost dimension first, `stride` in elements. `device` is None where the interface
    does not say. `owner` keeps the memory alive."""

    name: str
    address: int
    dtype: str
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    device: int | None
    read_only: bool
    owner: object = field(repr=False)


class _Tensor(ctypes.Structure):
    """DLTensor."""

    _fields_ = [
        ("data", c_void_p),
        ("device_type", c_int32),
        ("device_id", c_int32),
        ("rank", c_int32),
        ("code", c_uint8),
        ("bits", c_uint8),
        ("lanes", c_uint16),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
        ("byte_offset", c_uint64),
    ]


class _Managed(ctypes.Structure):
    """DLManagedTensor, without what the producer alone reads."""

    _fields_ = [("tensor", _Tensor)]


class _Versioned(ctypes.Structure):
    """DLManagedTensorVersioned."""

    _fields_ = [
        ("major", c_uint32),
        ("minor", c_uint32),
        ("context", c_void_p),
        ("deleter", c_void_p),
        ("flags", c_uint64),
        ("tensor", _Tensor),
    ]


def lend(name: str, owner: object) -> Lent:
    """Describe `owner`. Raises BufferError where it shows no device memory."""
    if hasattr(type(owner), "__dlpack__"):
        return _from_dlpack(name, owner)
    interface = getattr(owner, "__cuda_array_interface__", None)
    if isinstance(interface, Mapping):
        return _from_interface(name, owner, interface)  # pyright: ignore[reportUnknownArgumentType]
    kind = type(owner).__name__
    raise BufferError(
        f"buffer {name!r}: {kind} shows no device memory; give an object with __dlpack__ or __cuda_array_interface__"
    )


def _from_dlpack(name: str, owner: Any) -> Lent:
    kind, _ = owner.__dlpack_device__()
    if kind not in (_CUDA, _CUDA_MANAGED):
        raise BufferError(
            f"buffer {name!r}: its memory is not on a CUDA device (DLPack device type {int(kind)}); move it"
        )
    try:
        # Stream -1: nobody waits, since nothing is read here.
        try:
            capsule = owner.__dlpack__(stream=-1, max_version=(1, 0))
        except TypeError:
            capsule = owner.__dlpack__(stream=-1)
    except Exception as error:
        raise BufferError(f"buffer {name!r}: {type(owner).__name__} refuses to share it: {error}") from error
    return read_capsule(name, capsule)


def _capsule_api(name: str, result: Any, *arguments: Any) -> Callable[..., Any]:
    function = ctypes.PYFUNCTYPE(result, *arguments)
    return function((name, ctypes.pythonapi))


_is_valid = _capsule_api("PyCapsule_IsValid", ctypes.c_int, ctypes.py_object, c_char_p)
_get_pointer = _capsule_api("PyCapsule_GetPointer", c_void_p, ctypes.py_object, c_char_p)


def read_capsule(name: str, capsule: object) -> Lent:
    """Describe the tensor of a DLPack capsule, of version 0 or 1. The capsule is not consumed but kept as the owner:
    where it goes, its destructor gives the memory back, as the protocol demands of a producer."""
    flags = 0
    if _is_valid(capsule, b"dltensor_versioned"):
        versioned = _Versioned.from_address(_get_pointer(capsule, b"dltensor_versioned"))
        if versioned.major != 1:
            raise BufferError(f"buffer {name!r}: it comes as DLPack {versioned.major}, this runtime reads 0 and 1")
        tensor, flags = versioned.tensor, versioned.flags
    elif _is_valid(capsule, b"dltensor"):
        tensor = _Managed.from_address(_get_pointer(capsule, b"dltensor")).tensor
    else:
        raise BufferError(f"buffer {name!r}: its __dlpack__ gives no fresh capsule")
    if tensor.device_type not in (_CUDA, _CUDA_MANAGED) or not 0 <= tensor.rank <= _MAX_RANK:
        raise BufferError(f"buffer {name!r}: its DLPack capsule holds no tensor of a CUDA device")
    shape = tuple(tensor.shape[: tensor.rank])
    dtype = _DLPACK.get((tensor.code, tensor.bits)) if tensor.lanes == 1 else None
    return Lent(
        name=name,
        address=(tensor.data or 0) + tensor.byte_offset,
        dtype=dtype or f"DLPack type {tensor.code} of {tensor.bits} bits and {tensor.lanes} lanes",
        shape=shape,
        stride=tuple(tensor.strides[: tensor.rank]) if tensor.strides else dense(shape),
        device=tensor.device_id,
        read_only=bool(flags & _READ_ONLY),
        owner=capsule,
    )


def _from_interface(name: str, owner: object, interface: Mapping[str, Any]) -> Lent:
    """CUDA array interface, version 2 and 3."""
    if interface.get("mask") is not None:
        raise BufferError(f"buffer {name!r}: masked arrays are not supported; give the plain array")
    try:
        address, read_only = interface["data"]
        shape = tuple(int(extent) for extent in interface["shape"])
        typestr, strides = str(interface["typestr"]), interface.get("strides")
        dtype = _OPAQUE.get(typestr) or (_named(match) if (match := _TYPESTR.fullmatch(typestr)) else "")
        stride = dense(shape) if strides is None else _in_elements(name, strides, dtype)
        address = int(address or 0)
    except (KeyError, TypeError, ValueError) as error:
        raise BufferError(f"buffer {name!r}: its __cuda_array_interface__ is malformed: {error!r}") from None
    return Lent(name, address, dtype or typestr, shape, stride, None, bool(read_only), owner)


def _named(match: re.Match[str]) -> str:
    return f"{match[1]}{8 * int(match[2])}"


def _in_elements(name: str, strides: Iterable[int], dtype: str) -> tuple[int, ...]:
    itemsize = max(DTYPE_BITS.get(dtype, 8) // 8, 1)
    values = tuple(int(stride) for stride in strides)
    if any(stride % itemsize for stride in values):
        raise BufferError(f"buffer {name!r}: strides {values} are not whole elements of {itemsize} bytes")
    return tuple(stride // itemsize for stride in values)


def dense(shape: Sequence[int]) -> tuple[int, ...]:
    """Row-major strides in elements."""
    strides: list[int] = []
    step = 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


# ---- what the packages need -----------------------------------------------------------------------------------------


def accept(needs: Sequence[Buffer], given: Mapping[str, object]) -> dict[str, Lent]:
    """The buffers by name, each as every package that names it needs it. Raises BufferError with all that is wrong."""
    names = {need.name for need in needs}
    problems = [f"buffer {n!r} is unknown{nearest(n, names)}" for n in given if n not in names]
    missing = sorted(names - set(given))
    problems += [f"buffer {n!r} is missing: {_wanted(next(b for b in needs if b.name == n))}" for n in missing]
    lent: dict[str, Lent] = {}
    for name in sorted(names & set(given)):
        try:
            lent[name] = _fit(lend(name, given[name]), [need for need in needs if need.name == name])
        except BufferError as error:
            problems.append(str(error))
    if problems:
        raise BufferError("\n".join(problems))
    return lent


def _wanted(need: Buffer) -> str:
    return f"{need.package} needs {need.dtype} of rank {need.rank} to {need.access}"


def _fit(lent: Lent, needs: Sequence[Buffer]) -> Lent:
    problems = [problem for need in needs if (problem := _unfit(lent, need))]
    walks = [s for s, n in zip(lent.stride, lent.shape, strict=True) if n > 1]
    if any(stride <= 0 for stride in walks):
        problems.append(f"buffer {lent.name!r} has strides {lent.stride}; every element needs a place of its own")
    if problems:
        raise BufferError(problems[0])
    return _normal(lent, max(need.align for need in needs), needs[0].itemsize)


def _unfit(lent: Lent, need: Buffer) -> str:
    """Why `lent` will not do, or nothing."""
    subject = f"buffer {lent.name!r}: "
    if lent.dtype not in (need.dtype, *_SAME_BITS.get(need.dtype, ())):
        return f"{subject}it is {lent.dtype}, {_wanted(need)}; convert it"
    if len(lent.shape) != need.rank:
        return f"{subject}its shape is {lent.shape}, {_wanted(need)}; reshape it"
    if any(extent < 1 for extent in lent.shape):
        return f"{subject}its shape is {lent.shape}, every extent must be at least 1"
    if need.written and lent.read_only:
        return f"{subject}it is read-only, {_wanted(need)}; lend a writable one"
    if lent.address == 0 or lent.address % need.align:
        return f"{subject}its address is {lent.address:#x}, {need.package} needs a multiple of {need.align}"
    for dimension, (extent, stride) in enumerate(zip(lent.shape[:-1], lent.stride[:-1], strict=True)):
        if extent > 1 and stride * need.itemsize % need.align:
            found = f"its stride of dimension {dimension} is {stride * need.itemsize} bytes"
            return f"{subject}{found}, {need.package} needs a multiple of {need.align}; pad its rows"
    return ""


def _normal(lent: Lent, align: int, itemsize: int) -> Lent:
    """The same memory with the strides of extents of 1, which address nothing and which producers set to anything, as
    an aligned array would have them."""
    strides = list(lent.stride)
    span = 1
    for dimension in reversed(range(len(strides))):
        inner = dimension == len(strides) - 1
        if lent.shape[dimension] == 1:
            strides[dimension] = 1 if inner else -(-span * itemsize // align) * align // itemsize
        span = max(span, abs(strides[dimension]) * lent.shape[dimension])
    return replace(lent, stride=tuple(strides))
