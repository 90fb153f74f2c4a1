"""Claims files: what `pl-place` reads, JSON or MiniMalloc's CSV, as a problem with the lifetimes that it came from.

JSON is one object; everything but `claims` has a default:

    {"capacity": 232448,                      the capacity of the one domain, "memory"; or, for several:
     "domains": [{"name": "smem", "capacity": 232448, "align": 1, "base": 0, "unit": "bytes"}],
     "rings": [{"name": "kv", "min_depth": 2, "max_depth": 6, "priority": 0}],
     "roles": [{"name": "core", "warps": 8, "align": 4, "min_registers": 24, "max_registers": 240, "need": 200}],
     "claims": [{"name": "q", "size": 32768, "align": 1024, "domain": "smem", "ring": "kv",
                 "role": "core", "per_warp": 512,    its size grows by so much with each warp of the role
                 "lower": 0, "upper": 3}]}    live in [lower, upper); or "phases": [0, 2]; or neither: always live

Sizes are per stage where `ring` is set. CSV has the columns id, lower, upper, size and, at will, align.
"""

import csv
import io
import re
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from pipelink.ir.diagnostics import Place, fail
from pipelink.passes.placement.model import Claim, Domain, Problem, Ring, Role

CAPACITY_HELP = "name it with --capacity"
Span = tuple[int, int]  # live in [lower, upper)


class ClaimEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    size: int
    align: int = 1
    domain: str = ""
    ring: str | None = None
    role: str | None = None
    per_warp: int = 0
    lower: int | None = None
    upper: int | None = None
    phases: tuple[int, ...] | None = None


class DomainEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    capacity: int
    align: int = 1
    base: int = 0
    unit: str = ""


class RingEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    min_depth: int
    max_depth: int
    priority: int = 0


class RoleEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    warps: int
    align: int = 1
    min_registers: int = 24
    max_registers: int = 240
    need: int | None = None


class ClaimsFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    claims: tuple[ClaimEntry, ...]
    capacity: int | None = None
    domains: tuple[DomainEntry, ...] = ()
    rings: tuple[RingEntry, ...] = ()
    roles: tuple[RoleEntry, ...] = ()


@dataclass(frozen=True)
class Claims:
    """A problem, the spans in which each claim is live (none: always), and where each stands in the file."""

    problem: Problem
    live: dict[str, tuple[Span, ...]]
    places: dict[str, Place] = field(default_factory=dict[str, Place])


def read(path: Path, capacity: int | None = None) -> Claims:
    """The claims of a file; `capacity` is that of its one domain. Raises PipelinkError for what the schema refuses."""
    text = path.read_bytes()
    place = Place(str(path))
    places: dict[str, Place] = {}
    if path.suffix == ".csv":
        file, places = _csv(text, place)
    else:
        file = _json(text, place)
    try:
        return _claims(file, capacity, places)
    except ValueError as error:
        named = [at for name, at in places.items() if str(error).startswith(f"claim {name}:")]
        raise fail("L-SYNTAX", str(error), named[0] if named else place) from error


def _json(text: bytes, place: Place) -> ClaimsFile:
    try:
        return msgspec.json.decode(text, type=ClaimsFile)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        if found := re.search(r"\(byte (\d+)\)", str(error)):
            place = Place(place.file, text.count(b"\n", 0, int(found[1])) + 1)
        raise fail("L-SYNTAX", str(error), place, hint="docs/placement.md has the schema") from error


def _csv(text: bytes, place: Place) -> tuple[ClaimsFile, dict[str, Place]]:
    try:
        rows = list(csv.DictReader(io.StringIO(text.decode()), restkey="more", strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        raise fail("L-SYNTAX", str(error), place) from error
    entries: list[ClaimEntry] = []
    places: dict[str, Place] = {}
    for line, row in enumerate(rows, 2):
        here = Place(place.file, line)
        entries.append(_row(row, here))
        if entries[-1].name in places:
            raise fail("L-SYNTAX", f"claim {entries[-1].name} is named twice", here)
        places.setdefault(entries[-1].name, here)
    return ClaimsFile(tuple(entries)), places


def _row(row: dict[str, str], here: Place) -> ClaimEntry:
    columns = {"name" if name == "id" else name: value for name, value in row.items()}
    try:
        if missing := {"name", "lower", "upper", "size"} - set(columns):
            raise fail("L-SYNTAX", f"no column {', '.join(sorted(missing))}", Place(here.file, 1))
        return msgspec.convert(columns, ClaimEntry, strict=False)
    except msgspec.ValidationError as error:
        raise fail("L-SYNTAX", str(error), here) from error


def _claims(file: ClaimsFile, capacity: int | None, places: dict[str, Place]) -> Claims:
    for name in [e.name for e in (*file.claims, *file.domains, *file.rings, *file.roles)]:
        if not name or not name.isprintable():
            raise ValueError(f"a name that cannot be printed: {name!r}")
    domains = _domains(file, capacity)
    claims = tuple(_claim(entry, domains[0].name) for entry in file.claims)
    live = {entry.name: _live(entry) for entry in file.claims}
    names = sorted(live)
    apart = {(a, b) for k, a in enumerate(names) for b in names[k + 1 :] if not _meet(live[a], live[b])}
    rings = tuple(Ring(r.name, r.min_depth, r.max_depth, r.priority) for r in file.rings)
    roles = tuple(Role(r.name, r.warps, r.align, r.min_registers, r.max_registers, r.need) for r in file.roles)
    return Claims(Problem(domains, claims, rings, roles, frozenset(apart)), live, places)


def _domains(file: ClaimsFile, capacity: int | None) -> tuple[Domain, ...]:
    own = tuple(Domain(d.name, d.capacity, d.align, d.base, d.unit) for d in file.domains)
    if own and file.capacity is not None:
        raise ValueError("capacity and domains: one of them says how much there is")
    if capacity is not None and len(own) > 1:
        raise ValueError("--capacity is for one domain, the file has several")
    if own:
        return own if capacity is None else (replace(own[0], capacity=capacity),)
    capacity = file.capacity if capacity is None else capacity
    if capacity is None:
        raise ValueError(f"no capacity: {CAPACITY_HELP}")
    return (Domain("memory", capacity),)


def _claim(entry: ClaimEntry, domain: str) -> Claim:
    owner = entry.domain or domain
    return Claim(entry.name, owner, entry.size, entry.align, entry.ring, entry.role, entry.per_warp)


def _live(entry: ClaimEntry) -> tuple[Span, ...]:
    span = entry.lower is not None or entry.upper is not None
    if span and entry.phases is not None:
        raise ValueError(f"claim {entry.name}: phases, or lower and upper, not both")
    if entry.phases is not None:
        return tuple((phase, phase + 1) for phase in sorted(set(entry.phases)))
    if not span:
        return ()
    if entry.lower is None or entry.upper is None or entry.lower >= entry.upper:
        raise ValueError(f"claim {entry.name}: live from {entry.lower} to {entry.upper}")
    return ((entry.lower, entry.upper),)


def _meet(a: tuple[Span, ...], b: tuple[Span, ...]) -> bool:
    return not a or not b or any(x[0] < y[1] and y[0] < x[1] for x in a for y in b)
