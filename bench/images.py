"""The files that are measured: images, their controls and their planted faults, each an image file of its own."""

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CONTROL, PLANT = "control", "plant"
TOOLS = ("memcheck", "racecheck", "synccheck")
"""Of compute-sanitizer; each is also the kind of the images in which it must find a planted fault."""


def digest(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


def with_cubin(image: bytes, cubin: bytes) -> bytes:
    """The image file again with another `kernel.cubin`. Of its record only the digests of that member change."""
    with zipfile.ZipFile(io.BytesIO(image)) as archive:
        infos = archive.infolist()
        members = {info.filename: archive.read(info) for info in infos}
    record: dict[str, Any] = json.loads(members["record.json"])
    record["cubin"] = record["members"]["kernel.cubin"] = digest(cubin)
    members["kernel.cubin"] = cubin
    members["record.json"] = (json.dumps(record, indent=1, sort_keys=True) + "\n").encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for info in infos:
            archive.writestr(info, members[info.filename], compresslevel=6)
    return out.getvalue()


def record_of(path: Path) -> dict[str, Any]:
    with zipfile.ZipFile(path) as archive:
        return json.loads(archive.read("record.json"))


def identity(path: Path) -> dict[str, str]:
    """What an image file is, for a result: its name, its digest, and that of its kernel."""
    return {"file": path.name, "image": digest(path.read_bytes()), "cubin": record_of(path)["cubin"]}


def buffer_names(path: Path) -> list[str]:
    return sorted({b["name"] for b in record_of(path)["buffers"]})


@dataclass(frozen=True)
class Case:
    """A linked image with its controls, its planted wrong kernels, and by tool the faults planted for a sanitizer; each
    by label."""

    name: str
    image: Path
    controls: Mapping[str, Path]
    plants: Mapping[str, Path]
    traps: Mapping[str, Mapping[str, Path]]

    def variants(self) -> dict[str, Path]:
        """What must be right and equal bit for bit: the image and its controls."""
        return {"linked": self.image, **self.controls}


def file_name(name: str, kind: str, label: str) -> str:
    return f"{name}.{kind}-{label}.plimg"


def _labelled(folder: Path, name: str, kind: str) -> dict[str, Path]:
    prefix = f"{name}.{kind}-"
    return {p.stem.removeprefix(prefix): p for p in sorted(folder.glob(f"{prefix}*.plimg"))}


def discover(folder: Path) -> Sequence[Case]:
    """The cases of a folder that `bench.prepare` filled. Raises FileNotFoundError if there are none."""
    names = sorted(p.stem for p in folder.glob("*.plimg") if "." not in p.stem)
    if not names:
        raise FileNotFoundError(f"no images in {folder}: make them with bench.prepare")
    return [
        Case(
            name,
            folder / f"{name}.plimg",
            controls=_labelled(folder, name, CONTROL),
            plants=_labelled(folder, name, PLANT),
            traps={tool: _labelled(folder, name, tool) for tool in TOOLS},
        )
        for name in names
    ]


def label_of(path: Path) -> str:
    """The label of a control or plant by its file name; the whole stem of another image."""
    _, _, rest = path.stem.partition(".")
    return rest.partition("-")[2] or path.stem
