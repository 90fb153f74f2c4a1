"""Annotations as the compiler left them: constant arrays of the annotation pass, decoded to notes with their places."""

import re
import struct
from array import array
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from pipelink.ir.diagnostics import Place, fail

MACROS = {
    "stage": "PL_STAGE",
    "params": "PL_PARAMS",
    "role": "PL_ROLE",
    "callable": "PL_CALLABLE",
    "site": "PL_SITE",
    "call": "PL_CALL",
    "ring": "PL_RING",
    "ring_init": "PL_RING_INIT",
    "ring_buffer": "PL_RING_BUFFER",
    "smem": "PL_CLAIM_SMEM",
    "mbarrier": "PL_CLAIM_MBARRIER",
    "barrier": "PL_CLAIM_BARRIER",
    "tmem": "PL_CLAIM_TMEM",
    "counter": "PL_CLAIM_COUNTER",
    "counter_end": "PL_COUNTER",
    "stream": "PL_STREAM",
    "topology": "PL_TOPOLOGY",
    "warp": "PL_WARP",
    "export": "PL_EXPORT_TENSOR",
    "import": "PL_IMPORT_TENSOR",
    "fact": "PL_FACT",
    "use_fact": "PL_USE_FACT",
    "buffer": "PL_BUFFER",
    "argument": "PL_ARGUMENT",
    "domain": "PL_DOMAIN",
    "view": "PL_VIEW",
    "provider": "PL_PROVIDER",
}

# struct notes of contract.cuh: the floating-point value, the length of the text, the text.
_HEAD = struct.Struct("<di")
_SYMBOL = re.compile(r"pl_note_(\d+)")


@dataclass(frozen=True)
class Points:
    """A map evaluated at every point: `domain` is (threads, positions, chunks), the last index fastest."""

    domain: tuple[int, int, int]
    values: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Note:
    """One annotation: `entries` are its chain's (key, values), `real` the value of a floating-point entry."""

    kind: str
    name: str
    place: Place
    entries: tuple[tuple[str, tuple[str, ...]], ...]
    real: float = 0.0
    points: Points | None = None

    @property
    def title(self) -> str:
        return f"{MACROS[self.kind]}({self.name})" if self.kind != "stage" else MACROS[self.kind]


def decode(constants: Mapping[str, bytes], folder: Path) -> tuple[Note, ...]:
    """The annotations among an object's constants, in the order of the source.

    `folder` is where the sources lie, read for the columns of the annotations. Raises PipelinkError (L-ANNOTATION)
    where a constant is not what <pipelink/contract.cuh> of this version emits.
    """
    numbers = sorted(int(match[1]) for symbol in constants if (match := _SYMBOL.fullmatch(symbol)))
    found = [_note(constants[f"pl_note_{n}"], constants.get(f"pl_map_{n}")) for n in numbers]
    sources = {file: _lines(folder / file) for file in {note.place.file for note in found}}
    return tuple(replace(note, place=_with_column(note, sources[note.place.file])) for note in found)


def _note(data: bytes, points: bytes | None) -> Note:
    try:
        real, size = _HEAD.unpack_from(data)
        lines = data[_HEAD.size : _HEAD.size + size].decode().split("\x1e")[:-1]
        (_, file, line), (_, kind, name), *entries = (entry.split("\x1f") for entry in lines)
        chain = tuple((key, tuple(values)) for key, *values in entries)
        if kind not in MACROS:
            raise ValueError(kind)
        return Note(kind, name, Place(file, int(line)), chain, real, None if points is None else _points(points))
    except (ValueError, struct.error):
        raise fail(
            "L-ANNOTATION",
            "an annotation of the object is unreadable",
            hint="include <pipelink/contract.cuh> of this version of pipelink",
        ) from None


def _points(data: bytes) -> Points:
    flat = array("i", data)
    threads, positions, chunks = flat[:3]
    values = tuple(zip(flat[3::2], flat[4::2], strict=True))
    if len(values) != threads * positions * chunks:
        raise ValueError("a map of the wrong length")
    return Points((threads, positions, chunks), values)


def _with_column(note: Note, lines: list[str]) -> Place:
    """The place of the annotation's macro: of the one with this name, should its line hold several."""
    line, macro = note.place.line, MACROS[note.kind]
    text = lines[line - 1] if line <= len(lines) else ""
    named = re.search(rf"\b{macro}\s*\(\s*(?:\w+\s*,\s*)?{re.escape(note.name)}\b", text)
    found = named or re.search(rf"\b{macro}\b", text)
    return Place(note.place.file, line, found.start() + 1 if found else 1)


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text(errors="replace").splitlines()
    except OSError:
        return []
