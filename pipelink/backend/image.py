"""The image `.plimg`: one zip of `record.json`, `kernel.cubin` and the packages' host providers."""

import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

from pipelink.backend.archive import pack
from pipelink.backend.link import Linked
from pipelink.backend.record import digest
from pipelink.frontends.contract import IDENTIFIER
from pipelink.ir.diagnostics import Place, fail

RECORD = "record.json"
CUBIN = "kernel.cubin"
MAX_BYTES = 256 << 20
MEMBER = re.compile(rf"{RECORD}|{CUBIN}|providers/{IDENTIFIER.pattern}\.so")


def encode(record: dict[str, Any]) -> bytes:
    return (json.dumps(record, indent=1, sort_keys=True) + "\n").encode()


def members(linked: Linked, record: dict[str, Any]) -> dict[str, bytes]:
    """The members in order. `record.json` states the digest of every other."""
    others = {CUBIN: linked.cubin}
    for name, package in sorted(linked.packages.items()):
        if "provider.so" in package.members:
            others[f"providers/{name}.so"] = package.members["provider.so"]
    stated = {**record, "members": {name: digest(data) for name, data in others.items()}}
    return {RECORD: encode(stated), **others}


def made(linked: Linked, record: dict[str, Any]) -> bytes:
    """The whole image."""
    return pack(members(linked, record))


def record(data: bytes) -> dict[str, Any]:
    """The record of an image's bytes, but for the digests of its members."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        found: dict[str, Any] = json.loads(archive.read(RECORD))
    found.pop("members")
    return found


def read(path: Path) -> dict[str, bytes]:
    """The members of an image, each as its record states it. Raises PipelinkError (L-PACKAGE), OSError.

    As `made` writes it and in no other form: nothing is compressed, encrypted or there twice."""
    place = Place(str(path))
    if path.stat().st_size > MAX_BYTES:
        raise fail("L-PACKAGE", f"larger than {MAX_BYTES >> 20} MiB", place)
    data = path.read_bytes()
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            plain = [i for i in archive.infolist() if i.compress_type == zipfile.ZIP_STORED and not i.flag_bits]
            found = {i.filename: archive.read(i) for i in plain}
        stated: dict[str, str] = json.loads(found[RECORD])["members"]
        sound = pack(found) == data and all(MEMBER.fullmatch(name) for name in found)
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError, EOFError, NotImplementedError, RecursionError):
        sound, found, stated = False, {}, {}
    if not sound:
        raise fail("L-PACKAGE", "damaged, or no image", place)
    if {n: digest(d) for n, d in found.items() if n != RECORD} != stated:
        raise fail("L-PACKAGE", "the members are not those that record.json states", place)
    return found
