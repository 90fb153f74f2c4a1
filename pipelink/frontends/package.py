"""The package file (`.plpkg`): one zip, stored, with a fixed order of members, `contract.json` first.

The contract lists the SHA-256 of every other member; the SHA-256 of `contract.json` is the package's digest. One
content has one encoding, so a reader accepts a file only if writing what it read gives the same bytes.
"""

import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

import msgspec

from pipelink.backend.archive import pack, write_atomically
from pipelink.frontends.contract import IDENTIFIER, SCHEMA_VERSION, SYMBOL, Contract, Member
from pipelink.frontends.cuda.validate import validate
from pipelink.ir.diagnostics import Diagnostics, PipelinkError, Place, fail

CONTRACT = "contract.json"
OBJECT = "object.fatbin"
PROVIDER = "provider.so"
SOURCE = "source/"
MAX_BYTES = 64 << 20

_COMPONENT = r"[A-Za-z0-9_+-][A-Za-z0-9_.+-]*"
SOURCE_MEMBER = re.compile(rf"source/{_COMPONENT}(/{_COMPONENT})*")

# signature, version, flags, method, time, date, crc, stored and plain size, length of the name and of the extra field
_LOCAL = struct.Struct("<4sHHHHHIIIHH")


@dataclass(frozen=True)
class Package:
    """A checked package. `members` are the bytes of all members but `contract.json`; `digest` names the content."""

    contract: Contract
    members: Mapping[str, bytes]
    digest: str


def write(path: Path, contract: Contract, members: Mapping[str, bytes]) -> Package:
    """Write a package; the contract's list of members is made here. The file appears whole or not at all.

    Raises PipelinkError: L-PACKAGE for members or names that no reader would accept, L-FILE where it cannot be written.
    """
    names = sorted(members, key=_rank)
    listed = tuple(Member(name, sha256(members[name]).hexdigest(), len(members[name])) for name in names)
    text = encode(msgspec.structs.replace(contract, members=listed))
    data = pack({CONTRACT: text, **{name: members[name] for name in names}})
    package = _read(data, Place(str(path)))
    try:
        write_atomically(path, data)
    except OSError as error:
        raise fail("L-FILE", f"{path}: {error.strerror}") from None
    return package


def read(path: Path) -> Package:
    """Read a package and check all of it. Raises PipelinkError: L-FILE, or L-PACKAGE in one line."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise _broken(f"larger than {MAX_BYTES >> 20} MiB", Place(str(path)))
        data = path.read_bytes()
    except OSError as error:
        raise fail("L-FILE", f"{path}: {error.strerror}") from None
    return _read(data, Place(str(path)))


def encode(contract: Contract) -> bytes:
    """`contract.json`: the schema's version first, then every field, defaults too: it depends on the content only."""
    fields = {"schema": contract.schema, **_fields(contract)}
    return msgspec.json.format(msgspec.json.encode(fields), indent=1) + b"\n"


def _fields(entry: msgspec.Struct) -> dict[str, Any]:
    return {name: _plain(getattr(entry, name)) for name in entry.__struct_fields__}


def _plain(value: Any) -> Any:
    if isinstance(value, msgspec.Struct):
        return _fields(value)
    return [_plain(item) for item in cast(tuple[Any, ...], value)] if isinstance(value, tuple) else value


def decode(data: bytes, at: Place) -> Contract:
    """A contract of this schema whose names are all of their grammars. Raises PipelinkError (L-PACKAGE)."""
    try:
        schema = msgspec.json.decode(data, type=_Versioned).schema
        if schema != SCHEMA_VERSION:
            hint = "use the pipelink that packed it, or pack it again"
            raise _broken(f"contract of schema {schema}, this pipelink reads {SCHEMA_VERSION}", at, hint)
        contract = msgspec.json.decode(data, type=Contract)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise _broken(f"unreadable contract: {error}", at) from None
    for where, reason in _unfit(contract, ""):
        raise _broken(f"contract: {where.removeprefix('.')}: {reason}", at)
    errors = Diagnostics()
    validate(contract, errors)
    for error in errors.errors[:1]:
        raise _broken(f"contract: {error.place}: {error.message}", at)
    return contract


class _Versioned(msgspec.Struct):
    schema: int


def _broken(reason: str, at: Place, hint: str = "") -> PipelinkError:
    return fail("L-PACKAGE", reason, at, hint=hint)


# ---- the zip --------------------------------------------------------------------------------------------------------


def _rank(name: str) -> tuple[int, str]:
    return ((CONTRACT, OBJECT, PROVIDER).index(name) if name in (CONTRACT, OBJECT, PROVIDER) else 3, name)


def _unzip(data: bytes) -> dict[str, bytes]:
    """The members by their local headers. Raises ValueError where they are cut off; what they hold is not checked."""
    members: dict[str, bytes] = {}
    offset = 0
    while data[offset : offset + 4] == b"PK\3\4":
        if offset + _LOCAL.size > len(data):
            raise ValueError("cut off")
        *_, size, name_size, extra_size = _LOCAL.unpack_from(data, offset)
        start = offset + _LOCAL.size
        name = data[start : start + name_size].decode("ascii")
        start += name_size + extra_size
        if start + size > len(data) or name in members:
            raise ValueError("cut off, or a member twice")
        members[name] = data[start : start + size]
        offset = start + size
    return members


def _read(data: bytes, at: Place) -> Package:
    members = _members(data, at)
    text = members.pop(CONTRACT)
    contract = decode(text, at)
    listed = {member.name: member for member in contract.members}
    if [member.name for member in contract.members] != list(members):
        raise _broken("members differ from those that the contract lists", at)
    for name, content in members.items():
        if len(content) != listed[name].size or sha256(content).hexdigest() != listed[name].sha256:
            raise _broken(f"{name} is not what the contract lists", at)
    if OBJECT not in members or (PROVIDER in members) != (contract.provider is not None):
        raise _broken("the object or the provider is missing", at)
    if contract.main and SOURCE + contract.main not in members:
        raise _broken(f"{SOURCE}{contract.main} is missing", at)
    if encode(contract) != text:
        raise _broken(f"{CONTRACT} is not written as this version of pipelink writes it", at, hint="pack it again")
    return Package(contract, members, sha256(text).hexdigest())


def _members(data: bytes, at: Place) -> dict[str, bytes]:
    if len(data) > MAX_BYTES:
        raise _broken(f"larger than {MAX_BYTES >> 20} MiB", at)
    try:
        members = _unzip(data)
    except (ValueError, struct.error):
        raise _broken("damaged, or no package", at) from None
    if CONTRACT not in members or sorted(members, key=_rank) != list(members) or pack(members) != data:
        raise _broken("damaged, or no package", at)
    for name in members:
        if _rank(name)[0] == 3 and not SOURCE_MEMBER.fullmatch(name):
            raise _broken(f"unknown member `{name}`", at)
    return members


# ---- the grammars of a contract's strings ---------------------------------------------------------------------------

_DTYPE = re.compile(r"[a-z][a-z0-9]*")
_TYPE = re.compile(r"(const )?[a-z]+( [a-z]+)*( \*)?")
_PATH = re.compile(rf"({_COMPONENT}(/{_COMPONENT})*)?")
_EVENT = re.compile(rf"begin|end|{IDENTIFIER.pattern}\.(ready|done)")
_PROSE = re.compile(r"[ -~]{0,200}")
_OPTIONAL = re.compile(rf"({IDENTIFIER.pattern})?")

# By the name of the field; in a struct of its own where (struct, field) is listed.
_GRAMMARS: dict[str | tuple[str, str], re.Pattern[str]] = {
    **dict.fromkeys(("name", "role", "on", "of", "site", "field", "domain", "chunk", "uses", "calls"), IDENTIFIER),
    **dict.fromkeys(("roles", "phases", "exclusive"), IDENTIFIER),
    **dict.fromkeys(("ring", "scratch", "barrier", "phase", "allocation"), _OPTIONAL),
    **dict.fromkeys(("rank_field", "ranks_field"), re.compile(rf"({SYMBOL.pattern})?")),
    **dict.fromkeys(("entry", "symbol", "produce", "type"), SYMBOL),
    **dict.fromkeys(("defined", "undefined"), re.compile(r"[A-Za-z_][A-Za-z0-9_$.]*")),
    **dict.fromkeys(("result", "parameters"), _TYPE),
    **dict.fromkeys(("start", "end"), _EVENT),
    **dict.fromkeys(("guarantees", "requires", "completion", "flags", "file"), _PROSE),
    ("Kernel", "name"): re.compile(r"[A-Za-z_][A-Za-z0-9_$.]*"),
    ("Member", "name"): re.compile(rf"{OBJECT}|{PROVIDER}|{SOURCE_MEMBER.pattern}"),
    ("Claim", "restart"): re.compile(r"[a-z]*"),
    ("Claim", "dtype"): re.compile(rf"({_DTYPE.pattern})?"),
    ("Call", "site"): _OPTIONAL,
    ("Field", "name"): SYMBOL,
    ("FactUse", "field"): SYMBOL,
    ("View", "field"): SYMBOL,
    ("Ring", "init"): re.compile(rf"({SYMBOL.pattern})?"),
    ("Ring", "init_uses"): IDENTIFIER,
    "dtype": _DTYPE,
    "sha256": re.compile(r"[0-9a-f]{64}"),
    "main": _PATH,
    "version": re.compile(r"[A-Za-z0-9.+-]+"),
    "target": re.compile(r"sm_\d+[af]?"),
    "toolkit": re.compile(r"\d+(\.\d+)*"),
    "placement": re.compile(r".*", re.DOTALL),
    "demand": re.compile(r".*", re.DOTALL),
}


_SIGNED = ("value", "required", "priority")


def _unfit(entry: msgspec.Struct, where: str) -> Iterator[tuple[str, str]]:
    """Every string of the contract that is not of its grammar and every number out of range: (where, reason)."""
    for field in entry.__struct_fields__:
        value = getattr(entry, field)
        here = f"{where}.{field}"
        for item, place in _leaves(value, here):
            if isinstance(item, msgspec.Struct):
                yield from _unfit(item, place)
            elif isinstance(item, str):
                yield from _misspelled(type(entry).__name__, field, item, place)
            elif isinstance(item, int) and field not in _SIGNED and not 0 <= item < 1 << 48:
                yield place, f"{item} is out of range"


def _leaves(value: Any, where: str) -> Iterator[tuple[Any, str]]:
    """What a field holds, tuples within tuples taken apart, each with its place."""
    if not isinstance(value, tuple):
        yield value, where
        return
    for index, item in enumerate(cast(tuple[Any, ...], value)):
        yield from _leaves(item, f"{where}[{index}]")


def _misspelled(struct_name: str, field: str, value: str, where: str) -> Iterator[tuple[str, str]]:
    if field in ("placement", "demand"):
        yield from _unparsable(value, where)
        return
    grammar = _GRAMMARS.get((struct_name, field)) or _GRAMMARS.get(field) or _DTYPE
    if not grammar.fullmatch(value):
        yield where, f"`{value[:60]!a}` is not of its grammar"


def _unparsable(value: str, where: str) -> Iterator[tuple[str, str]]:
    from pipelink.ir.maps import MapError, parse

    try:
        parse(value)
    except (MapError, RecursionError) as error:
        yield where, str(error)
