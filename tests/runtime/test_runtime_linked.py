"""An image that the linker writes: the runtime reads it, opens it without a GPU, and runs it where there is one."""

import ctypes
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pipelink_runtime as plrt
import pytest
from pipelink_runtime import driver
from runtime_samples import ROOT, Fake, Interface, aligned

MANIFEST = ROOT / "components" / "gemm_swiglu" / "h200.toml"
PACKAGES = ROOT / "build" / "gemm_swiglu"
Array = np.ndarray[Any, Any]


@pytest.fixture(scope="module")
def linked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not (PACKAGES / "load.plpkg").exists():
        pytest.skip("no packages: run make packages")
    output = tmp_path_factory.mktemp("linked") / "h200.plimg"
    command = [sys.executable, "-m", "pipelink.tools.pl_link", str(MANIFEST), "-o", str(output)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return output


def test_it_opens(fake: Fake, linked: Path) -> None:
    x, w, out = (aligned(shape, "V2") for shape in ((300, 512), (1024, 512), (300, 512)))
    image = plrt.Image.load(linked, native=True)
    with image.open({"x": Interface(x), "w": Interface(w), "out": Interface(out)}) as session:
        assert session.grid == (12, 1, 1)
        content = session.parameters()
    offsets = {region["package"]: region["offset"] for region in image.record["parameters"]["regions"]}
    assert struct.unpack_from("<7i", content, offsets["load"] + 256) == (8, 3, 4, 3, 128, 256, 64)
    assert struct.unpack_from("<i", content, offsets["mainloop"]) == (8,)
    assert struct.unpack_from("<2i", content, offsets["swiglu"] + 128) == (128, 256)
    maps = [
        struct.unpack_from("<Q2Q", content, at + 8)
        for at in (offsets["load"], offsets["load"] + 128, offsets["swiglu"])
    ]
    assert maps == [(x.ctypes.data, 512, 300), (w.ctypes.data, 512, 1024), (out.ctypes.data, 512, 300)]


def test_what_its_providers_refuse(fake: Fake, linked: Path) -> None:
    image = plrt.Image.load(linked, native=True)
    shapes = {"x": (300, 512), "w": (1024, 512), "out": (300, 504)}
    with pytest.raises(
        plrt.ProviderError, match="of swiglu refuses: out: its second extent must be half the rows of w"
    ):
        image.open({name: Interface(aligned(shape, "V2")) for name, shape in shapes.items()})


# ---- on a GPU ----


class Memory:
    """A bf16 matrix in device memory, with the bits of a host array."""

    def __init__(self, bits: Array):
        self.bits = np.ascontiguousarray(bits, np.uint16)
        self.address = ctypes.c_uint64()
        driver.load().call("cuMemAlloc_v2", self.address, self.bits.nbytes)
        native("cuMemcpyHtoD_v2", self.address, self.bits.ctypes.data, self.bits.nbytes)
        shown = {"shape": self.bits.shape, "typestr": "<V2", "data": (self.address.value, False)}
        self.__cuda_array_interface__ = {**shown, "version": 3, "strides": None}

    def read(self) -> Array:
        native("cuMemcpyDtoH_v2", self.bits.ctypes.data, self.address, self.bits.nbytes)
        return self.bits

    def free(self) -> None:
        driver.load().call("cuMemFree_v2", self.address)


def native(name: str, *arguments: Any) -> None:
    """A driver call that the runtime itself does not need."""
    library = ctypes.CDLL(driver.LIBRARY)
    wide = [ctypes.c_uint64(a) if isinstance(a, int) else a for a in arguments]
    assert getattr(library, name)(*wide) == 0, name


def to_bits(values: Array) -> Array:
    bits = values.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def to_floats(bits: Array) -> Array:
    return (bits.astype(np.uint32) << 16).view(np.float32)


@pytest.fixture
def context() -> Iterator[ctypes.c_void_p]:
    """The primary context of a Hopper GPU, current."""
    driver.load.cache_clear()
    try:
        capability = driver.attribute(0, driver.CAPABILITY_MAJOR) if driver.device_count() else 0
    except plrt.DeviceError as error:
        pytest.skip(str(error))
    if capability != 9:
        pytest.skip("no GPU of compute capability 9.0")
    primary = ctypes.c_void_p()
    driver.load().call("cuDevicePrimaryCtxRetain", primary, 0)
    driver.load().call("cuCtxPushCurrent_v2", primary)
    yield primary
    driver.load().call("cuCtxPopCurrent_v2", ctypes.c_void_p())
    driver.load().call("cuDevicePrimaryCtxRelease_v2", 0)


@contextmanager
def gemm(seed: int) -> Iterator[tuple[dict[str, Memory], Array]]:
    """Buffers of a ragged problem, the output poisoned, and the reference."""
    m, n, k = 300, 1024, 520
    print(f"seed {seed}")
    rng = np.random.default_rng(seed)
    x, w = (to_bits(rng.standard_normal(shape)) for shape in ((m, k), (n, k)))
    product = (to_floats(x) @ to_floats(w).T).astype(np.float64)
    gate, up = product[:, 0::2], product[:, 1::2]
    buffers = {"x": Memory(x), "w": Memory(w), "out": Memory(np.full((m, n // 2), 0x7FC0))}
    yield buffers, gate / (1 + np.exp(-gate)) * up
    for buffer in buffers.values():
        buffer.free()


def check(out: Memory, wanted: Array) -> None:
    found = to_floats(out.read())
    assert np.isfinite(found).all()
    assert np.abs(found - wanted).max() <= 0.01 * np.abs(wanted).max()


@pytest.mark.gpu
def test_it_runs(context: ctypes.c_void_p, linked: Path) -> None:
    with gemm(np.random.SeedSequence().entropy % 2**32) as (buffers, wanted):  # type: ignore[operator]
        with plrt.Image.load(linked, native=True).open(buffers) as session:
            session.launch()
            session.check()
        check(buffers["out"], wanted)


@pytest.mark.gpu
def test_it_runs_in_a_graph(context: ctypes.c_void_p, linked: Path) -> None:
    """A captured launch runs at replay, not before, and replays after the output was poisoned again."""
    stream, graph, runnable = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    native("cuStreamCreate", ctypes.byref(stream), 0)
    with gemm(7) as (buffers, wanted), plrt.Image.load(linked, native=True).open(buffers) as session:
        native("cuStreamBeginCapture_v2", stream, 0)
        session.launch(stream.value)
        native("cuStreamEndCapture", stream, ctypes.byref(graph))
        assert np.isnan(to_floats(buffers["out"].read())).all()
        native("cuGraphInstantiateWithFlags", ctypes.byref(runnable), graph, 0)
        for _ in range(2):
            native("cuMemsetD16_v2", buffers["out"].address, 0x7FC0, buffers["out"].bits.size)
            native("cuGraphLaunch", runnable, stream)
            session.check(stream.value)
            check(buffers["out"], wanted)
        native("cuGraphExecDestroy", runnable)
        native("cuGraphDestroy", graph)
    native("cuStreamDestroy_v2", stream)


@pytest.mark.gpu
def test_its_occupancy(context: ctypes.c_void_p, linked: Path) -> None:
    assert plrt.Image.load(linked).describe().json()["occupancy"] == {"blocks": 1, "source": "device"}
