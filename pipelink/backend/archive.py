"""Files written whole or not at all, and zip archives that are the same bytes for the same members."""

import io
import os
import stat
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time that a zip can state


def write_atomically(path: Path, data: bytes) -> None:
    """Write to a temporary name beside `path`, then rename. Raises OSError, leaving nothing."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def pack(members: Mapping[str, bytes]) -> bytes:
    """A zip of `members` in their order, stored, with fixed times and modes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name, data in members.items():
            info = zipfile.ZipInfo(name, EPOCH)
            info.create_system = 3
            info.external_attr = (stat.S_IFREG | 0o644) << 16
            archive.writestr(info, data)
    return out.getvalue()
