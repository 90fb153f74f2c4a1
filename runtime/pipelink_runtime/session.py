"""A session: one kernel with its buffers, arguments and grid, prepared whole so that a launch is one driver call."""

import operator
import sys
import weakref
from ctypes import byref, c_uint64, c_void_p
from types import TracebackType
from typing import Any, Self

from pipelink_runtime import driver
from pipelink_runtime.errors import ArgumentError, ClosedError, LaunchError
from pipelink_runtime.module import Module
from pipelink_runtime.parameters import Block
from pipelink_runtime.providers import Grid
from pipelink_runtime.record import Record

_MAX_CONFIGS = 64


class Session:
    """Made by `Image.open`. It keeps the lent buffers alive until it is closed; close it after its launches are done.

    Nothing is computed at launch, so launches can be captured in a CUDA graph. The graph holds its own copy of the
    parameters, but the buffers, and the counters of a kernel that has any, live only as long as the session is open.
    Launches of a kernel with counters must not overlap.
    """

    def __init__(self, record: Record, module: Module, block: Block, grid: Grid, owners: tuple[object, ...]):
        self.kernel = record.kernel
        self.grid = grid
        self.device = module.device
        self._module, self._block, self._owners = module, block, owners
        self._closed = False
        self._threads, self._shared, self._cluster = record.threads, record.dynamic_shared, record.cluster
        self._configs: dict[int, Any] = {}
        self._parameters = (c_void_p * 1)(block.address)
        self._attributes = (driver.Attribute * 1)(driver.Attribute(driver.ATTRIBUTE_CLUSTER, 0, record.cluster))
        self._launch = module.driver.untyped("cuLaunchKernelEx")
        self._get_current = module.driver.untyped("cuCtxGetCurrent", keep_gil=True)
        self._context, self._function = module.context.value, module.function
        self._restarts = [(c.base, c.words) for c in record.counters if c.restart == "launch"]
        self._counters = _allocate(module, record)
        self._free = weakref.finalize(self, _free, module, self._counters)
        self._free.atexit = False
        if self._counters and record.counter_field is not None:
            block.put_address(record.counter_field, self._counters)

    def launch(self, stream: Any = None) -> None:
        """Enqueue the kernel on `stream`: a handle, an object that has one (torch, cupy, `__cuda_stream__`), or None:
        torch's current stream where torch runs on CUDA, else the legacy default stream.

        Raises ClosedError, ArgumentError and LaunchError. What fails while the kernel runs shows in `check`, or in a
        later call of anything that uses the device.
        """
        if self._closed:
            raise ClosedError(f"the session of {self.kernel} is closed: open another")
        handle = stream if type(stream) is int else _handle(stream, self.device)
        config = self._configs.get(handle) or self._config(handle)
        current = c_void_p()
        self._get_current(byref(current))
        if current.value == self._context and not self._restarts:
            code = self._launch(config, self._function, self._parameters, None)
        else:
            with self._module.active():
                self._restart(handle)
                code = self._launch(config, self._function, self._parameters, None)
        if code:
            self._fail(code, "its launch failed")

    def check(self, stream: Any = None) -> None:
        """Wait for `stream` (as in `launch`). Raises LaunchError where a kernel on the device has failed."""
        if self._closed:
            raise ClosedError(f"the session of {self.kernel} is closed: open another")
        handle = stream if type(stream) is int else _handle(stream, self.device)
        with self._module.active():
            code = self._module.driver.function("cuStreamSynchronize")(handle)
        if code:
            self._fail(code, "work on its stream failed")

    def parameters(self) -> bytes:
        """A copy of the parameter block."""
        return bytes(self._block)

    def close(self) -> None:
        """Give back what the session holds. A second call does nothing."""
        self._closed = True
        self._free()
        self._owners = ()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "closed" if self._closed else f"grid {self.grid}, {self._threads} threads"
        return f"<Session of {self.kernel} on device {self.device}: {state}>"

    def _config(self, handle: int) -> Any:
        """The launch configuration of a stream, made once each: threads may launch on different streams at a time."""
        clustered = self._cluster != (1, 1, 1)
        config = driver.Config(
            grid=self.grid,
            block=(self._threads, 1, 1),
            shared=self._shared,
            stream=handle,
            attributes=self._attributes if clustered else None,
            attribute_count=int(clustered),
        )
        if len(self._configs) >= _MAX_CONFIGS:
            self._configs = {}
        return self._configs.setdefault(handle, byref(config))

    def _restart(self, handle: int) -> None:
        memset = self._module.driver.function("cuMemsetD32Async")
        for base, words in self._restarts:
            if code := memset(self._counters + 4 * base, 0, words, handle):
                self._fail(code, "its counters could not be reset")

    def _fail(self, code: int, what: str) -> None:
        reason = self._module.driver.explain(code)
        earlier = (
            "" if code in (driver.INVALID_VALUE, driver.INVALID_CONTEXT) else " (or earlier work on the device did)"
        )
        raise LaunchError(f"{self.kernel}: {what}: {reason}{earlier}")


def _allocate(module: Module, record: Record) -> int:
    """Zeroed counters in device memory, or 0 where the kernel has none."""
    if not record.counters:
        return 0
    words = max(c.base + c.words for c in record.counters)
    address = c_uint64()
    with module.active():
        module.driver.call("cuMemAlloc_v2", address, 4 * words)
        module.driver.call("cuMemsetD32_v2", address, 0, words)
    return address.value


def _free(module: Module, counters: int) -> None:
    if counters and not module.driver.function("cuCtxPushCurrent_v2")(module.context):
        module.driver.function("cuMemFree_v2")(counters)
        module.driver.function("cuCtxPopCurrent_v2")(c_void_p())


def _handle(stream: Any, device: int) -> int:
    """The CUstream of `stream`. Raises ArgumentError."""
    if stream is None:
        return _current(device)
    if hasattr(stream, "__cuda_stream__"):
        _, handle = stream.__cuda_stream__()
        return int(handle)
    for name in ("cuda_stream", "ptr"):  # torch, cupy
        if isinstance(handle := getattr(stream, name, None), int):
            return handle
    try:
        return operator.index(stream)
    except TypeError:
        needed = "a handle, a stream of torch or cupy, or an object with __cuda_stream__"
        raise ArgumentError(f"stream={stream!r}: needs {needed}") from None


def _current(device: int) -> int:
    """Torch's current stream where torch has been imported and uses CUDA."""
    torch: Any = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_initialized():
        return 0
    raw = getattr(torch._C, "_cuda_getCurrentRawStream", None)  # makes no object: a tenth of the time
    return raw(device) if raw else torch.cuda.current_stream(device).cuda_stream
