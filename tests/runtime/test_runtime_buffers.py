"""What is lent: DLPack of both versions, array interfaces, and all that can be wrong with them."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pipelink_runtime as plrt
import pytest
from pipelink_runtime.buffers import Lent, accept, lend
from pipelink_runtime.record import Buffer
from runtime_samples import Exporter, Interface, aligned

ADDRESS = 0x10_0000


def need(**changes: Any) -> Buffer:
    values: dict[str, Any] = {"name": "x", "package": "load", "dtype": "bf16", "rank": 2, "access": "read", "align": 16}
    return Buffer(**{**values, **changes})


def take(owner: object, *needs: Buffer) -> Lent:
    return accept(needs or (need(),), {"x": owner})["x"]


def refusal(owner: object, *needs: Buffer) -> str:
    with pytest.raises(plrt.BufferError) as raised:
        take(owner, *needs)
    return str(raised.value)


@pytest.mark.parametrize("version", [0, 1])
def test_dlpack(version: int) -> None:
    owner = Exporter(ADDRESS, (64, 32), (40, 1), version=version, byte_offset=32, device=(2, 3))
    lent = take(owner)
    assert (lent.address, lent.dtype, lent.shape, lent.stride) == (ADDRESS + 32, "bf16", (64, 32), (40, 1))
    assert (lent.device, lent.read_only, owner.freed) == (3, False, 0)
    del lent
    assert owner.freed == 1


def test_dlpack_without_strides_is_dense() -> None:
    assert take(Exporter(ADDRESS, (64, 32), None, version=0)).stride == (32, 1)


def test_dlpack_managed_memory() -> None:
    assert take(Exporter(ADDRESS, (64, 32), None, device=(13, 0))).device == 0


@pytest.mark.parametrize(
    ("code", "dtype"),
    [
        *((((0, b, 1)), f"i{b}") for b in (8, 16, 32, 64)),
        *((((1, b, 1)), f"u{b}") for b in (8, 16, 32, 64)),
        *((((2, b, 1)), f"f{b}") for b in (16, 32, 64)),
        *(((c, 8, 1), name) for c, name in ((10, "e4m3"), (12, "e5m2"), (14, "e8m0"))),
    ],
)
def test_dlpack_types(code: tuple[int, int, int], dtype: str) -> None:
    assert take(Exporter(ADDRESS, (64, 32), None, type=code), need(dtype=dtype)).dtype == dtype


def test_a_dlpack_of_another_major_version() -> None:
    assert "it comes as DLPack 2" in refusal(Exporter(ADDRESS, (64, 32), None, version=2))


def test_a_used_capsule() -> None:
    owner = SimpleNamespace(__dlpack_device__=lambda: (2, 0))
    cls = type("Used", (), {"__dlpack__": lambda *_, **__: owner, "__dlpack_device__": lambda _: (2, 0)})
    assert "gives no fresh capsule" in refusal(cls())


def test_a_producer_that_refuses() -> None:
    def refuse(*_: Any, **__: Any) -> object:
        raise RuntimeError("it requires grad")

    cls = type("Tensor", (), {"__dlpack__": refuse, "__dlpack_device__": lambda _: (2, 0)})
    assert refusal(cls()) == "buffer 'x': Tensor refuses to share it: it requires grad"


def test_host_memory() -> None:
    assert "not on a CUDA device (DLPack device type 1); move it" in refusal(np.zeros((4, 4), np.float32))
    assert "list shows no device memory; give an object with __dlpack__" in refusal([1, 2])
    lying = type("Lying", (Exporter,), {"__dlpack_device__": lambda _: (2, 0)})
    assert "holds no tensor of a CUDA device" in refusal(lying(ADDRESS, (64, 32), None, device=(1, 0)))


@pytest.mark.parametrize(
    ("dtype", "name"),
    [("f2", "f16"), ("f4", "f32"), ("f8", "f64"), ("i8", "i64"), ("u1", "u8"), ("i4", "i32"), ("V2", "bf16")],
)
def test_array_interface(dtype: str, name: str) -> None:
    array = aligned((64, 32), dtype)
    lent = take(Interface(array), need(dtype=name))
    assert (lent.address, lent.shape, lent.stride) == (array.ctypes.data, (64, 32), (32, 1))
    assert lent.device is None


def test_array_interface_strides_are_bytes() -> None:
    assert take(Interface(aligned((64, 32), "f4")[::2, :16]), need(dtype="f32")).stride == (64, 1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"mask": 1}, "masked arrays are not supported"),
        ({"strides": (64, 3)}, "strides (64, 3) are not whole elements of 2 bytes"),
        ({"shape": None}, "is malformed"),
        ({"data": None}, "is malformed"),
        ({"typestr": ">f2"}, "it is >f2, load needs bf16"),
        ({"typestr": "<c8"}, "it is <c8, load needs bf16"),
    ],
)
def test_array_interfaces_that_will_not_do(changes: dict[str, Any], message: str) -> None:
    assert message in refusal(Interface(aligned((64, 32), "V2"), **changes))


@pytest.mark.parametrize(
    ("owner", "wanted", "message"),
    [
        (((64, 32), None, {"type": (2, 16, 1)}), {}, "it is f16, load needs bf16 of rank 2 to read; convert it"),
        (((64, 32), None, {"type": (6, 8, 1)}), {"dtype": "u8"}, "it is bool, load needs u8"),
        (((64, 32), None, {"type": (4, 16, 2)}), {}, "it is DLPack type 4 of 16 bits and 2 lanes, load needs"),
        (((64, 32, 1), None, {}), {}, "its shape is (64, 32, 1), load needs bf16 of rank 2 to read; reshape it"),
        (((0, 32), None, {}), {}, "its shape is (0, 32), every extent must be at least 1"),
        (((-1, 32), None, {}), {}, "its shape is (-1, 32), every extent must be at least 1"),
        (((64, 32), None, {"flags": 1}), {"access": "write"}, "it is read-only, load needs bf16 of rank 2 to write"),
        (((64, 32), None, {"flags": 1}), {"access": "update"}, "it is read-only"),
        (((64, 32), None, {"byte_offset": 8}), {}, "its address is 0x100008, load needs a multiple of 16"),
        (
            ((64, 32), (36, 1), {}),
            {},
            "its stride of dimension 0 is 72 bytes, load needs a multiple of 16; pad its rows",
        ),
        (((2, 64, 32), (2052, 32, 1), {}), {"rank": 3}, "its stride of dimension 0 is 4104 bytes"),
    ],
)
def test_buffers_that_will_not_do(owner: tuple[Any, Any, dict[str, Any]], wanted: dict[str, Any], message: str) -> None:
    shape, strides, about = owner
    assert f"buffer 'x': {message}" in refusal(Exporter(ADDRESS, shape, strides, **about), need(**wanted))


def test_read_only_memory_that_is_only_read() -> None:
    assert take(Exporter(ADDRESS, (64, 32), None, flags=1)).read_only


def test_no_memory() -> None:
    assert "its address is 0x0" in refusal(Exporter(0, (64, 32), None))


@pytest.mark.parametrize("dtype", ["e4m3", "e5m2", "e8m0"])
def test_bytes_pass_for_types_that_producers_lack(dtype: str) -> None:
    assert take(Exporter(ADDRESS, (64, 32), None, type=(1, 8, 1)), need(dtype=dtype)).shape == (64, 32)


def test_strides_of_extents_of_one_do_not_count() -> None:
    """Producers set them to anything, torch to 1: they are given as an aligned array would have them."""
    assert take(Exporter(ADDRESS, (1, 4096), (1, 1))).stride == (4096, 1)
    assert take(Exporter(ADDRESS, (1, 30), (1, 1))).stride == (32, 1)
    assert take(Exporter(ADDRESS, (64, 1), (8, 77))).stride == (8, 1)
    assert take(Exporter(ADDRESS, (3, 1, 32), (40, 1, 1)), need(rank=3)).stride == (40, 32, 1)
    assert take(Exporter(ADDRESS, (1, 3, 32), (1, 40, 1)), need(rank=3)).stride == (120, 40, 1)


def test_one_buffer_of_several_packages_is_as_the_strictest_needs_it() -> None:
    loose, strict = need(package="mainloop", align=2), need(package="load", align=64, access="write")
    assert take(Exporter(ADDRESS, (64, 32), None), loose, strict).stride == (32, 1)
    assert take(Exporter(ADDRESS, (1, 30), (1, 1)), loose, strict).stride == (32, 1)
    assert "load needs a multiple of 64" in refusal(Exporter(ADDRESS + 16, (64, 32), None), loose, strict)
    assert "it is read-only, load needs" in refusal(Exporter(ADDRESS, (64, 32), None, flags=1), loose, strict)


def test_all_that_is_wrong_is_said_at_once() -> None:
    needs = (need(), need(name="w", dtype="f32", package="mainloop"), need(name="out", access="write"))
    with pytest.raises(plrt.BufferError) as raised:
        accept(needs, {"x": np.zeros(3), "oot": 1})
    assert str(raised.value).splitlines() == [
        "buffer 'oot' is unknown (did you mean 'out'?)",
        "buffer 'out' is missing: load needs bf16 of rank 2 to write",
        "buffer 'w' is missing: mainloop needs f32 of rank 2 to read",
        "buffer 'x': its memory is not on a CUDA device (DLPack device type 1); move it",
    ]


def test_unknown_names() -> None:
    with pytest.raises(plrt.BufferError, match=r"buffer 'bias' is unknown \(known: x\)"):
        accept([need()], {"x": Exporter(ADDRESS, (64, 32), None), "bias": 1})
    with pytest.raises(plrt.BufferError, match=r"buffer 'bias' is unknown \(the image takes none\)"):
        accept([], {"bias": 1})


def test_errors_are_also_the_builtin_ones() -> None:
    with pytest.raises(BufferError):
        lend("x", 3)
