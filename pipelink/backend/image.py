"""The image `.plimg`: one zip of `record.json`, `kernel.cubin` and the packages' host providers."""

import json
from pathlib import Path
from typing import Any

from pipelink.backend.archive import pack, write_atomically
from pipelink.backend.link import Linked
from pipelink.backend.record import digest


def encode(record: dict[str, Any]) -> bytes:
    return (json.dumps(record, indent=1, sort_keys=True) + "\n").encode()


def members(linked: Linked, record: dict[str, Any]) -> dict[str, bytes]:
    """The members in order. `record.json` states the digest of every other."""
    others = {"kernel.cubin": linked.cubin}
    for name, package in sorted(linked.packages.items()):
        if "provider.so" in package.members:
            others[f"providers/{name}.so"] = package.members["provider.so"]
    stated = {**record, "members": {name: digest(data) for name, data in others.items()}}
    return {"record.json": encode(stated), **others}


def write(path: Path, linked: Linked, record: dict[str, Any]) -> None:
    """Write the image whole or not at all."""
    write_atomically(path, pack(members(linked, record)))
