"""Read the zip of an image: its members, bounded in size, and nothing that its record does not state."""

import hashlib
import io
import zipfile
import zlib
from pathlib import Path

from pipelink_runtime.errors import ImageError
from pipelink_runtime.record import Record, parse

RECORD = "record.json"
CUBIN = "kernel.cubin"
MAX_FILE = 256 << 20
MAX_RECORD = 16 << 20
MAX_MEMBER = 128 << 20
MAX_MEMBERS = 256


def read(path: Path) -> tuple[Record, dict[str, bytes]]:
    """The record, and all members by name. Raises ImageError where anything differs from what the record states."""
    try:
        if path.stat().st_size > MAX_FILE:
            raise ImageError(f"{path}: larger than {MAX_FILE >> 20} MiB: no image of pl-link")
        data = path.read_bytes()
    except OSError as error:
        raise ImageError(f"{path}: {error.strerror}; give the path of an image that pl-link wrote") from None
    try:
        members = _members(data)
        record = parse(members[RECORD])
        _check(record, members)
    except ImageError as error:
        raise ImageError(f"{path}: {error}") from None
    return record, members


def _members(data: bytes) -> dict[str, bytes]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            infos = archive.infolist()
            _check_list(infos)
            return {info.filename: archive.read(info) for info in infos}
    except (zipfile.BadZipFile, zlib.error, ValueError, NotImplementedError, RuntimeError, EOFError, OSError):
        raise ImageError("damaged, or no image: link it again") from None


def _check_list(infos: list[zipfile.ZipInfo]) -> None:
    """Before anything is unpacked."""
    names = [info.filename for info in infos]
    if len(names) > MAX_MEMBERS or len(set(names)) != len(names) or RECORD not in names:
        raise ImageError("no image: it needs one record.json, and each member once")
    for info in infos:
        limit = MAX_RECORD if info.filename == RECORD else MAX_MEMBER
        if info.file_size > limit:
            raise ImageError(f"member {info.filename!r} is larger than {limit >> 20} MiB")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ImageError(f"member {info.filename!r} is packed in a way that images are not")


def _check(record: Record, members: dict[str, bytes]) -> None:
    for name in sorted(set(members) ^ {RECORD, *record.members}):
        raise ImageError(f"member {name!r} is {'not stated in record.json' if name in members else 'missing'}")
    for name, stated in record.members.items():
        if "sha256:" + hashlib.sha256(members[name]).hexdigest() != stated:
            raise ImageError(f"member {name!r} is not what record.json states: the image is damaged or was changed")
