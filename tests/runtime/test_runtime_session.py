"""Opening, launching and closing, on a driver that has the host's memory and logs what it is asked."""

import ctypes
import gc
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pipelink_runtime as plrt
import pytest
from runtime_samples import Exporter, Fake, Interface, aligned, counted, provided, record

ARGS = {"n": 1024, "alpha": 0.5}


def lent(**changes: Any) -> dict[str, Any]:
    return {"x": Interface(aligned((32, 32), np.float32)), "out": Interface(aligned((32, 32), np.float32)), **changes}


def test_one_launch_is_one_call_with_the_parameters(fake: Fake, load: Any) -> None:
    buffers = lent()
    with load(record()).open(buffers, ARGS, grid=(3, 2)) as session:
        fake.calls()
        session.launch(0)
        assert fake.calls() == [
            "cuLaunchKernelEx",
            "  grid=3,2,1 block=256,1,1 shared=4096 stream=0 attributes=0",
        ]
        assert fake.parameters(128) == session.parameters()
        fields = np.frombuffer(
            session.parameters(), [("pointers", "<u8", 2), ("n", "<i8"), ("alpha", "<f4"), ("tile", "<i4")], 1
        )[0]
        assert list(fields["pointers"]) == [buffers[n].array.ctypes.data for n in ("x", "out")]
        assert (fields["n"], fields["alpha"], fields["tile"]) == (1024, 0.5, 48)


def test_opening_prepares_the_kernel_once(fake: Fake, load: Any) -> None:
    image = load(record())
    first = image.open(lent(), ARGS, grid=(1,))
    assert fake.calls() == [
        *("cuInit", "cuDevicePrimaryCtxRetain", "cuModuleLoadData", "cuModuleGetFunction", "  pl_scaled"),
        *("cuFuncSetAttribute", "  8=4096"),
        *("cuOccupancyMaxActiveBlocksPerMultiprocessor", "  threads=256 shared=4096"),
    ]
    second = image.open(lent(), ARGS, grid=(1,))
    assert fake.calls() == []
    first.close()
    second.close()


def test_clusters(fake: Fake, load: Any) -> None:
    image = load(record(cluster=[16, 1, 1]))
    with image.open(lent(), ARGS, grid=(32,)) as session:
        assert "  14=1" in fake.calls()
        session.launch()
        assert fake.calls()[-1] == "  cluster=16,1,1"
    with pytest.raises(plrt.ArgumentError, match=r"whole clusters of \(16, 1, 1\)"):
        image.open(lent(), ARGS, grid=(24,))


@pytest.mark.parametrize(
    ("stream", "handle"),
    [
        (None, 0),
        (7, 7),
        (np.int64(9), 9),
        (SimpleNamespace(cuda_stream=11), 11),
        (SimpleNamespace(ptr=12), 12),
        (SimpleNamespace(__cuda_stream__=lambda: (0, 13)), 13),
    ],
)
def test_streams(fake: Fake, load: Any, stream: Any, handle: int) -> None:
    with load(record()).open(lent(), ARGS, grid=(1,)) as session:
        for _ in range(2):
            session.launch(stream)
            assert f"stream={handle} " in fake.calls()[-1]


def test_many_streams(fake: Fake, load: Any) -> None:
    with load(record()).open(lent(), ARGS, grid=(1,)) as session:
        for handle in [*range(1, 200), 1]:
            session.launch(handle)
            assert f"stream={handle} " in fake.calls()[-1]


@pytest.mark.parametrize("public", [False, True])
def test_torch_current_stream(fake: Fake, load: Any, monkeypatch: pytest.MonkeyPatch, public: bool) -> None:
    started = [False]
    raw = SimpleNamespace() if public else SimpleNamespace(_cuda_getCurrentRawStream=lambda device: 40 + device)
    cuda = SimpleNamespace(
        is_initialized=lambda: started[0], current_stream=lambda device: SimpleNamespace(cuda_stream=40 + device)
    )
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda, _C=raw))
    with load(record()).open(lent(), ARGS, grid=(1,)) as session:
        session.launch()
        assert "stream=0 " in fake.calls()[-1]
        started[0] = True
        session.launch()
        assert "stream=40 " in fake.calls()[-1]


def test_what_is_no_stream(fake: Fake, load: Any) -> None:
    with load(record()).open(lent(), ARGS, grid=(1,)) as session, pytest.raises(plrt.ArgumentError, match="'main'"):
        session.launch("main")


def test_contexts_of_others_are_left_alone(fake: Fake, load: Any) -> None:
    fake.set(devices=2)
    fake.library.fake_make_current(1)
    with load(record()).open(lent(), ARGS, grid=(1,), device=0) as session:
        session.launch()
        session.check()
    fake.fail("cuLaunchKernelEx")
    with load(record()).open(lent(), ARGS, grid=(1,), device=0) as session, pytest.raises(plrt.LaunchError):
        session.launch()
    assert fake.library.fake_depth() == 1


def test_launch_failures_name_the_kernel(fake: Fake, load: Any) -> None:
    with load(record()).open(lent(), ARGS, grid=(1,)) as session:
        fake.fail("cuLaunchKernelEx")
        with pytest.raises(plrt.LaunchError, match=r"^pl_scaled: its launch failed: CUDA_ERROR_LAUNCH_FAILED: as the"):
            session.launch()
        fake.fail("cuStreamSynchronize")
        with pytest.raises(plrt.LaunchError, match=r"^pl_scaled: work on its stream failed: .* \(or earlier work"):
            session.check()


def test_closing(fake: Fake, load: Any) -> None:
    x = Exporter(aligned((32, 32), np.float32).ctypes.data, (32, 32), None, type=(2, 32, 1))
    session = load(record()).open(lent(x=x), ARGS, grid=(1,))
    assert x.freed == 0
    assert repr(session) == "<Session of pl_scaled on device 0: grid (1, 1, 1), 256 threads>"
    session.close()
    session.close()
    assert x.freed == 1
    assert x.streams == [-1]
    assert repr(session) == "<Session of pl_scaled on device 0: closed>"
    for use in (session.launch, session.check):
        with pytest.raises(plrt.ClosedError, match="pl_scaled is closed"):
            use()


def test_everything_goes_with_the_last_user(fake: Fake, load: Any) -> None:
    image = load(counted())
    session = image.open(lent(), ARGS, grid=(1,))
    del image
    gc.collect()
    assert (fake.get("modules"), fake.get("retained"), fake.get("allocated")) == (1, 1, 1)
    session.launch()
    del session
    gc.collect()
    assert (fake.get("modules"), fake.get("retained"), fake.get("allocated")) == (0, 0, 0)
    assert fake.library.fake_depth() == 0


# ---- counters ----


def words_of(session: plrt.Session) -> Any:
    address = int.from_bytes(session.parameters()[64:72], "little")
    return np.frombuffer((ctypes.c_uint32 * 8).from_address(address), np.uint32)


def test_counters_restart_by_their_rule(fake: Fake, load: Any) -> None:
    with load(counted()).open(lent(), ARGS, grid=(1,)) as session:
        assert fake.calls()[-3:] == ["cuMemAlloc", "  32", "cuMemsetD32"]
        words = words_of(session)
        assert not words.any()
        words[:] = 5
        session.launch(3)
        assert list(words) == [5, 5, 0, 0, 0, 0, 0, 0]
        assert fake.calls()[:3] == ["cuMemsetD32Async", "  count=6 stream=3", "cuLaunchKernelEx"]


@pytest.mark.parametrize("restart", ["self", "epoch"])
def test_counters_that_the_kernel_restarts(fake: Fake, load: Any, restart: str) -> None:
    with load(counted(restart, "system")).open(lent(), ARGS, grid=(1,)) as session:
        words_of(session)[:] = 5
        session.launch()
        assert (words_of(session) == 5).all()
        assert "cuMemsetD32Async" not in fake.calls()


def test_counters_that_cannot_be_reset(fake: Fake, load: Any) -> None:
    with load(counted()).open(lent(), ARGS, grid=(1,)) as session:
        fake.fail("cuMemsetD32Async")
        with pytest.raises(plrt.LaunchError, match="its counters could not be reset"):
            session.launch()
        assert "cuLaunchKernelEx" not in fake.calls()
        assert fake.library.fake_depth() == 0


# ---- devices ----


def opened(load: Any, **options: Any) -> None:
    load(record()).open(lent(), ARGS, grid=(1,), **options)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"major": 8}, r"the image is for sm_90a, device 0 has compute capability 8\.0"),
        ({"minor": 1}, r"compute capability 9\.1: open it on a device of 9\.0"),
        (
            {"version": 12080},
            r"linked by CUDA 13\.5\.37, the driver supports CUDA 12\.8: update the driver to .* 13\.0",
        ),
        ({"shared": 2048}, "needs 4096 bytes of shared memory, device 0 has 2048"),
        ({"blocks": 0}, "no room for a block of pl_scaled: 256 threads, 4096 bytes"),
        ({"devices": 0}, "there is no device 0: the driver shows 0"),
    ],
)
def test_devices_that_cannot(fake: Fake, load: Any, settings: dict[str, int], message: str) -> None:
    fake.set(**settings)
    with pytest.raises(plrt.DeviceError, match=message):
        opened(load)
    gc.collect()
    assert (fake.get("modules"), fake.get("retained"), fake.library.fake_depth()) == (0, 0, 0)


@pytest.mark.parametrize(
    ("target", "has", "runs"),
    [
        ("sm_90", (9, 0), True),
        ("sm_80", (8, 6), True),
        ("sm_86", (8, 0), False),
        ("sm_90", (10, 0), False),
        ("sm_100f", (10, 3), True),
        ("sm_103a", (10, 3), True),
        ("sm_100a", (10, 3), False),
        ("sm_120f", (10, 0), False),
    ],
)
def test_targets(fake: Fake, load: Any, target: str, has: tuple[int, int], runs: bool) -> None:
    fake.set(major=has[0], minor=has[1])
    image = load(record(target=target))
    if runs:
        image.open(lent(), ARGS, grid=(1,)).close()
    else:
        with pytest.raises(plrt.DeviceError, match=target):
            image.open(lent(), ARGS, grid=(1,))


def test_a_cubin_that_the_driver_refuses(fake: Fake, build: Any) -> None:
    image = plrt.Image.load(build(record(), cubin=b"no ELF"))
    with pytest.raises(plrt.DeviceError, match=r"does not load pl_scaled: .* the driver has 13\.0: update the driver"):
        image.open(lent(), ARGS, grid=(1,))


def test_no_driver(load: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from pipelink_runtime import driver

    monkeypatch.setattr(driver, "LIBRARY", "libno_such_driver.so.1")
    driver.load.cache_clear()
    with pytest.raises(plrt.DeviceError, match="no NVIDIA driver: libno_such_driver"):
        opened(load)


def test_an_old_driver(load: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from pipelink_runtime import driver

    monkeypatch.setattr(driver, "LIBRARY", "libc.so.6")
    driver.load.cache_clear()
    with pytest.raises(plrt.DeviceError, match=r"the driver has no cuInit: CUDA 12\.0 or later is needed"):
        opened(load)


def test_buffers_decide_the_device(fake: Fake, load: Any) -> None:
    fake.set(devices=2, device_of_pointers=1)
    with load(record()).open(lent(), ARGS, grid=(1,)) as session:
        assert session.device == 1
    on_0 = Exporter(aligned((32, 32), np.float32).ctypes.data, (32, 32), None, type=(2, 32, 1), device=(2, 0))
    with pytest.raises(plrt.BufferError, match="buffer 'x' is on device 0, the session is on 1"):
        load(record()).open(lent(x=on_0), ARGS, grid=(1,))
    with pytest.raises(plrt.BufferError, match="buffer 'out' is on device 1, the session is on 0"):
        load(record()).open(lent(), ARGS, grid=(1,), device=0)


def test_memory_that_the_driver_does_not_know(fake: Fake, load: Any) -> None:
    fake.set(device_of_pointers=-1)
    with pytest.raises(plrt.BufferError, match="the driver knows no memory at its address"):
        opened(load)


def test_native_code_needs_consent(fake: Fake, load: Any) -> None:
    image = load(provided(), native=False)
    with pytest.raises(plrt.ConsentError, match=r"native host code of scale: load it with native=True if you trust"):
        image.open(lent(), ARGS)
    assert fake.calls() == []


def test_the_provider_decides_the_grid(fake: Fake, load: Any) -> None:
    ctypes.c_size_t.in_dll(fake.library, "fake_parameter_size").value = 256
    with load(provided()).open(lent(), ARGS) as session:
        assert session.grid == (48, 2, 1)
        session.launch()
        assert fake.parameters(256) == session.parameters()
        assert int.from_bytes(session.parameters()[64 + 72 : 64 + 76], "little") == 132
