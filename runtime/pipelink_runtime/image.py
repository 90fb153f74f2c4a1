"""An image: the file that pl-link writes, checked whole when it is loaded."""

import threading
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from pipelink_runtime import archive, driver, parameters, providers
from pipelink_runtime.buffers import Lent, accept
from pipelink_runtime.describe import Description
from pipelink_runtime.domains import Domain, check
from pipelink_runtime.errors import BufferError, ConsentError, DeviceError
from pipelink_runtime.module import Module
from pipelink_runtime.record import Record
from pipelink_runtime.session import Session


class Image:
    """A linked kernel, with the record of how it was linked in `record`. Made by `Image.load`."""

    def __init__(self, path: Path, record: Record, members: Mapping[str, bytes], native: bool):
        self.path = path
        self.native = native
        self.record: Mapping[str, Any] = record.raw
        self._record, self._members = record, members
        self._modules: dict[int, Module] = {}
        self._lock = threading.Lock()

    @classmethod
    def load(cls, path: str | PathLike[str], native: bool = False) -> "Image":
        """Read and check an image; neither driver nor GPU is needed.

        `native=True` is the caller's consent that `open` loads the host providers in the image, which are native code:
        give it for images whose origin you trust. Raises ImageError.
        """
        record, members = archive.read(Path(path))
        return cls(Path(path), record, members, native)

    def open(
        self,
        buffers: Mapping[str, object],
        args: Mapping[str, int | float] | None = None,
        *,
        device: int | None = None,
        grid: tuple[int, ...] | None = None,
        domains: Mapping[str, Domain] | None = None,
    ) -> Session:
        """Prepare the kernel for `buffers` (objects with `__dlpack__` or `__cuda_array_interface__`) and `args`, on
        `device`: that of the buffers by default. `grid` is needed only where no provider of the image decides it, and
        `domains` where the kernel joins communication domains.

        Raises ConsentError, BufferError, ArgumentError, DeviceError and ProviderError.
        """
        record = self._record
        if record.providers and not self.native:
            names = ", ".join(p.package for p in record.providers)
            raise ConsentError(
                f"{self.path} holds native host code of {names}: load it with native=True if you trust its origin"
            )
        arguments = parameters.check_arguments(record, args or {})
        wanted = parameters.given_grid(grid)
        check(record, domains or {})
        lent = accept(record.buffers, buffers)
        module = self._module(_device(lent, device))
        inputs = parameters.Inputs(lent, arguments, module.multiprocessors, domains or {})
        services = providers.services(module.driver.address("cuTensorMapEncodeTiled"))
        with module.active():
            block, chosen = parameters.build(record, inputs, self._functions(), services, wanted)
        return Session(record, module, block, chosen, tuple(b.owner for b in lent.values()))

    def describe(self, device: int = 0) -> Description:
        """What the linker decided, printable as a table. Occupancy is asked of `device` where it can run the image, and
        else derived from the record."""
        try:
            blocks = self._module(device).blocks
        except DeviceError:
            blocks = None
        return Description(self._record, blocks)

    def unpack(self, folder: Path) -> None:
        """Write the members as files."""
        for name, data in self._members.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)

    def __repr__(self) -> str:
        return f"<Image {self._record.pipeline} for {self._record.target}, {self.path}>"

    def _functions(self) -> dict[str, Any]:
        return {p.package: providers.load(self._members[p.member], p.symbol) for p in self._record.providers}

    def _module(self, device: int) -> Module:
        with self._lock:
            if device not in self._modules:
                self._modules[device] = Module(self._record, self._members[archive.CUBIN], device)
            return self._modules[device]


def _device(lent: Mapping[str, Lent], wanted: int | None) -> int:
    """The device that all buffers are on: `wanted`, or that of the first. Raises BufferError."""
    where = {name: driver.device_of(b.address) if b.device is None else b.device for name, b in sorted(lent.items())}
    known = [device for device in where.values() if device is not None]
    device = wanted if wanted is not None else known[0] if known else driver.current_device()
    for name, other in where.items():
        if other is None:
            raise BufferError(
                f"buffer {name!r}: the driver knows no memory at its address: is it freed, or the host's?"
            )
        if other != device:
            raise BufferError(f"buffer {name!r} is on device {other}, the session is on {device}: move it there")
    return device
