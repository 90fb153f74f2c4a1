"""Host providers: the structs of `pipelink/provider.h`, loading a package's native code, and calling it under guard."""

import ctypes
import os
from collections.abc import Sequence
from ctypes import POINTER, c_char, c_char_p, c_double, c_int32, c_int64, c_uint32, c_uint64, c_void_p
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pipelink_runtime.buffers import Lent
from pipelink_runtime.errors import ProviderError
from pipelink_runtime.record import MAX_RANK, PROVIDER_ABI, Argument, Buffer, Provider, Region

# enum pl_dtype. A type without a number of its own has that of an unsigned integer, or tf32 that of f32, of its width.
DTYPES = {
    **{"u8": 0, "u16": 1, "u32": 2, "i32": 3, "u64": 4, "i64": 5, "f16": 6, "f32": 7, "f64": 8, "bf16": 9},
    **{"i8": 0, "i16": 1, "tf32": 7, "e4m3": 0, "e5m2": 0, "e8m0": 0},
}
_GUARD = bytes(range(0xA0, 0xA0 + 64))
_ALIGN = 128  # tensor maps need 64


class PlBuffer(ctypes.Structure):
    _fields_ = [
        ("name", c_char_p),
        ("address", c_uint64),
        ("dtype", c_int32),
        ("rank", c_int32),
        ("shape", c_int64 * MAX_RANK),
        ("stride", c_int64 * MAX_RANK),
    ]


class PlValue(ctypes.Union):
    _fields_ = [("integer", c_int64), ("real", c_double)]


class PlArgument(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("value", PlValue)]


class PlServices(ctypes.Structure):
    _fields_ = [("abi", c_uint32), ("encode_tiled", c_void_p)]


class PlRequest(ctypes.Structure):
    _fields_ = [
        ("region", c_void_p),
        ("region_size", c_uint64),
        ("buffers", POINTER(PlBuffer)),
        ("buffer_count", c_uint32),
        ("arguments", POINTER(PlArgument)),
        ("argument_count", c_uint32),
        ("multiprocessors", c_uint32),
        ("grid", c_uint32 * 3),
        ("message", c_char * 256),
    ]


_PROVIDER = ctypes.CFUNCTYPE(c_int32, POINTER(PlServices), POINTER(PlRequest))
Grid = tuple[int, int, int]


def services(encode_tiled: int) -> PlServices:
    """What providers may call. `encode_tiled` is the address of cuTensorMapEncodeTiled, whose C signature is that of
    the service."""
    return PlServices(PROVIDER_ABI, encode_tiled)


@dataclass(frozen=True)
class Request:
    """What one provider is asked: the buffers and arguments that its package declares, and its region, prefilled:
    `sourced` are the (field, offset, end) that are not its to change."""

    provider: Provider
    region: Region | None
    prefilled: bytes
    sourced: tuple[tuple[str, int, int], ...]
    buffers: Sequence[tuple[Buffer, Lent]]
    arguments: Sequence[tuple[Argument, int | float]]
    multiprocessors: int


@cache
def load(code: bytes, symbol: str) -> Any:
    """The provider's function. One load a process: native code has no safe way back. Raises ProviderError."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="pipelink-") as folder:
        path = Path(folder) / "provider.so"
        try:
            path.write_bytes(code)
            library = ctypes.CDLL(str(path), mode=os.RTLD_NOW | os.RTLD_LOCAL)
        except OSError as error:
            raise ProviderError(f"{symbol}: its native code cannot be loaded: {error}") from None
    try:
        return _PROVIDER((symbol, library))
    except AttributeError:
        raise ProviderError(f"{symbol}: the native code exports no such function; pack the package again") from None


def call(function: Any, lent_services: PlServices, asked: Request) -> tuple[bytes, Grid]:
    """The region as the provider filled it, and the grid that it set (zeros where it set none).

    Raises ProviderError where it refuses, writes outside of its region, or changes a fact.
    """
    package, size = asked.provider.package, len(asked.prefilled)
    memory = ctypes.create_string_buffer(2 * len(_GUARD) + size + _ALIGN)
    start = -(-(ctypes.addressof(memory) + len(_GUARD)) // _ALIGN) * _ALIGN
    ctypes.memmove(start - len(_GUARD), _GUARD + asked.prefilled + _GUARD, size + 2 * len(_GUARD))
    request = _request(asked, start)
    if function(lent_services, request):
        reason = request.message.decode("utf-8", "replace") or "it gave no reason"
        raise ProviderError(f"the host provider of {package} refuses: {reason}")
    around = ctypes.string_at(start - len(_GUARD), size + 2 * len(_GUARD))
    if around[: len(_GUARD)] != _GUARD or around[len(_GUARD) + size :] != _GUARD:
        raise ProviderError(
            f"the host provider of {package} wrote outside of its {size} bytes: report it to its author"
        )
    filled = around[len(_GUARD) : len(_GUARD) + size]
    for name, offset, end in asked.sourced:
        if filled[offset:end] != asked.prefilled[offset:end]:
            raise ProviderError(
                f"the host provider of {package} changed {name!r}, which comes from a fact or a domain:"
                " report it to its author"
            )
    x, y, z = request.grid
    return filled, (x, y, z)


def _request(asked: Request, region: int) -> PlRequest:
    buffers = (PlBuffer * len(asked.buffers))(*(_buffer(need, lent) for need, lent in asked.buffers))
    arguments = (PlArgument * len(asked.arguments))(*(_argument(need, value) for need, value in asked.arguments))
    return PlRequest(
        region=region if asked.region else None,
        region_size=len(asked.prefilled),
        buffers=buffers,
        buffer_count=len(buffers),
        arguments=arguments,
        argument_count=len(arguments),
        multiprocessors=asked.multiprocessors,
    )


def _buffer(need: Buffer, lent: Lent) -> PlBuffer:
    rest = (0,) * (MAX_RANK - need.rank)
    return PlBuffer(
        name=need.name.encode(),
        address=lent.address,
        dtype=DTYPES[need.dtype],
        rank=need.rank,
        shape=lent.shape + rest,
        stride=lent.stride + rest,
    )


def _argument(need: Argument, value: int | float) -> PlArgument:
    if need.type == "f32":
        return PlArgument(need.name.encode(), PlValue(real=value))
    return PlArgument(need.name.encode(), PlValue(integer=_signed(int(value))))


def _signed(value: int) -> int:
    """The 64 bits of `value` as a signed integer: u64 arguments arrive so."""
    return value - (1 << 64) if value >= 1 << 63 else value
