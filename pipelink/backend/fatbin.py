"""Read the fatbin container that nvcc writes: which code it holds, for which architecture, in which FP mode."""

import struct
from dataclasses import dataclass

from pipelink.backend.toolchain import FpMode

MAGIC = 0xBA55ED50
PTX, ELF, NVVM = 1, 2, 8
KINDS = {PTX: "PTX", ELF: "machine code", NVVM: "LTO IR"}

# magic, version, header bytes, bytes of all entries
_HEADER = struct.Struct("<IHHQ")
# kind, version, header bytes, stored bytes, compressed bytes, offset of the options, code version (minor, major), arch,
# offset and length of the identifier, flags, hash, uncompressed bytes. Offsets count from the start of the entry.
# Checked field by field against cuobjdump 13.5.
_ENTRY = struct.Struct("<HHIQIIHHIIIQQQ")
_REFERENCE = struct.Struct("<II")
_DEBUG = 1 << 1
_SUFFIXES = {1 << 20: "a", 1 << 21: "f"}


class FatbinError(ValueError):
    """The bytes are not a fatbin, or are damaged."""


class NotLtoError(FatbinError):
    """A sound fatbin without LTO IR that a link could use."""


@dataclass(frozen=True)
class Entry:
    """One image of a fatbin. `arch` is like "90a", `version` that of the code format, `options` the compiler's own."""

    kind: int
    arch: str
    version: tuple[int, int]
    debug: bool
    options: str
    identifier: str
    payload: bytes


@dataclass(frozen=True)
class LtoObject:
    """What an LTO object says of itself: the architecture ("lto_90a"), the IR version, the FP mode."""

    arch: str
    version: tuple[int, int]
    fp: FpMode
    options: str

    @property
    def target(self) -> str:
        return self.arch.replace("lto_", "sm_")


def entries(data: bytes) -> tuple[Entry, ...]:
    """All images of a fatbin. Raises FatbinError for anything that is not a whole, well-formed container."""
    if len(data) < _HEADER.size:
        raise FatbinError("not a fatbin: too short")
    magic, version, header, size = _HEADER.unpack_from(data)
    if magic != MAGIC:
        raise FatbinError("not a fatbin: wrong magic number")
    if version != 1 or header != _HEADER.size:
        raise FatbinError(f"unknown fatbin version {version}")
    if header + size != len(data):
        raise FatbinError(f"damaged fatbin: {header + size} bytes stated, {len(data)} present")
    found: list[Entry] = []
    offset = header
    while offset < len(data):
        entry, offset = _entry(data, offset)
        found.append(entry)
    return tuple(found)


def _entry(data: bytes, start: int) -> tuple[Entry, int]:
    if start + _ENTRY.size > len(data):
        raise FatbinError("damaged fatbin: an entry is cut off")
    kind, _, header, size, compressed, options, minor, major, arch, name, name_size, flags, _, _ = _ENTRY.unpack_from(
        data, start
    )
    end = start + header + size
    if header < _ENTRY.size or end > len(data):
        raise FatbinError("damaged fatbin: an entry is larger than its file")
    if kind not in KINDS or compressed > size or not 50 <= arch <= 999:
        raise FatbinError("damaged fatbin: an entry makes no sense")
    head = data[start : start + header]
    text = ""
    if options:
        text = _string(head, *_REFERENCE.unpack(_slice(head, options, _REFERENCE.size)))
    suffix = "".join(letter for bit, letter in _SUFFIXES.items() if flags & bit)
    payload = data[start + header : end]
    identifier = _string(head, name, name_size)
    return Entry(kind, f"{arch}{suffix}", (major, minor), bool(flags & _DEBUG), text, identifier, payload), end


def _slice(head: bytes, offset: int, size: int) -> bytes:
    if offset + size > len(head):
        raise FatbinError("damaged fatbin: a string lies outside of its entry")
    return head[offset : offset + size]


def _string(head: bytes, offset: int, size: int) -> str:
    try:
        return _slice(head, offset, size).decode("ascii").rstrip("\0").strip()
    except UnicodeDecodeError:
        raise FatbinError("damaged fatbin: a string is not text") from None


def read_lto(data: bytes) -> LtoObject:
    """The one LTO image of an object.

    Raises FatbinError for junk, and NotLtoError where the object holds other code (nvJitLink would take it without a
    word and not inline it), several LTO images, or debug code.
    """
    found = entries(data)
    lto = [entry for entry in found if entry.kind == NVVM]
    others = sorted({KINDS[entry.kind] for entry in found if entry.kind != NVVM})
    if any(entry.debug or "-g" in entry.options.split() for entry in found):
        raise NotLtoError("built for the device debugger (-G): its code cannot be linked; build without -G")
    if not lto:
        raise NotLtoError(f"no LTO IR, only {' and '.join(others) or 'nothing'}: build with -gencode code=lto_XX")
    if others:
        raise NotLtoError(f"LTO IR beside {' and '.join(others)}: build for one code=lto_XX only")
    if len(lto) > 1:
        raise NotLtoError(f"LTO IR for {', '.join('lto_' + e.arch for e in lto)}: build for one architecture")
    try:
        fp = FpMode.parse(lto[0].options)
    except ValueError as error:
        raise FatbinError(f"damaged fatbin: {error}") from None
    return LtoObject(f"lto_{lto[0].arch}", lto[0].version, fp, lto[0].options)
