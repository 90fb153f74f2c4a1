"""Packing components into a folder that several workers share."""

import fcntl
from collections.abc import Iterable
from pathlib import Path


def pack_into(folder: Path, sources: Iterable[tuple[Path, str, tuple[str, ...]]]) -> None:
    """Pack each (source, name of the package file, flags) that `folder` lacks."""
    from pipelink.frontends import package
    from pipelink.frontends.cuda.pack import Request, pack

    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for source, name, flags in sources:
            if not (folder / name).exists():
                packed = pack(Request(source, flags=flags))
                package.write(folder / name, packed.contract, packed.members)
