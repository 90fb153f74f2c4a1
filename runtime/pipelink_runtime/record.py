"""The record of an image, read with every value checked. What only people read stays plain data in `Record.raw`."""

import json
import re
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, TypeVar, cast

from pipelink_runtime.errors import ImageError

SCHEMA = 1
PROVIDER_ABI = 1
MAX_RANK = 5

DTYPE_BITS = {
    **{f"{sign}{bits}": bits for sign in "iu" for bits in (8, 16, 32, 64)},
    **{"f64": 64, "f32": 32, "tf32": 32, "f16": 16, "bf16": 16, "e4m3": 8, "e5m2": 8, "e8m0": 8},
}
# Types of facts and arguments as `struct` formats.
FORMATS = {"i32": "<i", "u32": "<I", "i64": "<q", "u64": "<Q", "f32": "<f"}

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_MAYBE = re.compile(r"([A-Za-z_][A-Za-z0-9_]{0,127})?")
_QUALIFIED = re.compile(r"[A-Za-z_][A-Za-z0-9_.]{0,255}")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_TARGET = re.compile(r"sm_(\d+)(\d)([af]?)")
_VERSION = re.compile(r"\d+(\.\d+)*")
_MEMBER = re.compile(r"kernel\.cubin|providers/[A-Za-z_][A-Za-z0-9_]{0,127}\.so")
_ANY = re.compile(r"[ -~]{0,256}")
PROSE = re.compile(r"[^\x00-\x1f\x7f]*")
_WORD = 2**31 - 1
_MISSING = object()

T = TypeVar("T")


@dataclass(frozen=True)
class Buffer:
    """Memory lent at open, as one package wants it; `align` is bytes of its address and outer strides."""

    name: str
    package: str
    dtype: str
    rank: int
    access: str
    align: int

    @property
    def written(self) -> bool:
        return self.access != "read"

    @property
    def itemsize(self) -> int:
        return DTYPE_BITS[self.dtype] // 8


@dataclass(frozen=True)
class Argument:
    name: str
    package: str
    type: str


@dataclass(frozen=True)
class Fact:
    """A fact's value, packed for a field of a region; `offset` is from the region's start."""

    field: str
    offset: int
    packed: bytes


@dataclass(frozen=True)
class Region:
    """One package's part of the parameter block. `fields` gives (offset, size) from the region's start."""

    package: str
    offset: int
    size: int
    align: int
    fields: Mapping[str, tuple[int, int]]
    facts: tuple[Fact, ...]


@dataclass(frozen=True)
class Provider:
    package: str
    symbol: str

    @property
    def member(self) -> str:
        return f"providers/{self.package}.so"


@dataclass(frozen=True)
class Counter:
    """Words of device memory from word `base` of the counter block; `restart` says how they start each launch."""

    name: str
    base: int
    words: int
    scope: str
    restart: str


@dataclass(frozen=True)
class DomainUse:
    """A communication domain as one package joins it: its ranks (0: any), the fields for rank and number of ranks."""

    name: str
    package: str
    ranks: int
    rank_field: str
    ranks_field: str


@dataclass(frozen=True)
class View:
    """A symmetric allocation of a domain, as one package sees it in a field of its parameters."""

    package: str
    domain: str
    kind: str
    field: str
    allocation: str


@dataclass(frozen=True)
class Record:
    """`block` is the size of the parameter block in bytes, `counter_field` where in it the address of the counter block
    goes. `toolkit` is the version of the linker that wrote the cubin."""

    pipeline: str
    kernel: str
    target: str
    toolkit: str
    threads: int
    dynamic_shared: int
    cluster: tuple[int, int, int]
    block: int
    counter_field: int | None
    regions: tuple[Region, ...]
    buffers: tuple[Buffer, ...]
    arguments: tuple[Argument, ...]
    providers: tuple[Provider, ...]
    counters: tuple[Counter, ...]
    domains: tuple[DomainUse, ...]
    views: tuple[View, ...]
    members: Mapping[str, str]
    raw: Mapping[str, Any] = field(repr=False)

    def region(self, package: str) -> Region | None:
        return next((r for r in self.regions if r.package == package), None)


@dataclass(frozen=True)
class Node:
    """A value of the record and where it stands. What reads it raises ImageError where it is another."""

    value: object
    where: str

    def fail(self, needed: str) -> ImageError:
        given = repr(self.value)
        given = given if len(given) <= 60 else given[:57] + "..."
        return ImageError(f"record.json: {self.where}: needs {needed}, not {given}")

    def __getitem__(self, key: str) -> "Node":
        value = self.entries().get(key, _MISSING)
        if value is _MISSING:
            raise ImageError(
                f"record.json: {self.where} has no {key!r}: the image is of another version; link it again"
            )
        return Node(value, f"{self.where}.{key}" if self.where != "record" else key)

    def has(self, key: str) -> bool:
        return key in self.entries()

    def entries(self) -> dict[str, Any]:
        value = self.value
        if not isinstance(value, dict):
            raise self.fail("an object")
        return cast(dict[str, Any], value)

    def each(self, read: "Callable[[Node], T]") -> tuple[T, ...]:
        values = self.value
        if not isinstance(values, list):
            raise self.fail("an array")
        nodes = (Node(v, f"{self.where}[{i}]") for i, v in enumerate(cast(list[Any], values)))
        return tuple(read(node) for node in nodes)

    def number(self, low: int = 0, high: int = _WORD) -> int:
        if type(self.value) is not int or not low <= self.value <= high:
            raise self.fail(f"an integer within {low} and {high}")
        return self.value

    def align(self) -> int:
        if (value := self.number(1, 1 << 20)) & (value - 1):
            raise self.fail("a power of two")
        return value

    def text(self, grammar: re.Pattern[str] = _ANY) -> str:
        if not isinstance(self.value, str) or not grammar.fullmatch(self.value):
            raise self.fail(f"text like {grammar.pattern}")
        return self.value

    def among(self, *known: str) -> str:
        for name in known:
            if self.value == name:
                return name
        raise self.fail(f"one of {', '.join(known)}")


def parse(data: bytes) -> Record:
    """The record in `data`. Raises ImageError where it is damaged, of another version, or contradicts itself."""
    try:
        raw: Any = json.loads(data)
    except (ValueError, RecursionError):
        raise ImageError("record.json is no JSON: the image is damaged") from None
    root = Node(raw, "record")
    if (schema := root["schema"].number()) != SCHEMA:
        raise ImageError(
            f"the image has schema {schema}, this runtime reads {SCHEMA}: link it again, or install another"
        )
    parameters = root["parameters"]
    providers = root["providers"].each(_provider)
    record = Record(
        pipeline=root["pipeline"].text(_QUALIFIED),
        kernel=root["kernel"].text(_NAME),
        target=root["target"].text(_TARGET),
        toolkit=root["tools"]["toolkit"].text(_VERSION),
        threads=root["threads"].number(1, 1024),
        dynamic_shared=root["dynamic_shared"].number(0, 1 << 20),
        cluster=_cluster(root["cluster"]),
        block=parameters["size"].number(1, 32764),
        counter_field=parameters["counters"].number() if parameters.has("counters") else None,
        regions=parameters["regions"].each(_region),
        buffers=root["buffers"].each(_buffer),
        arguments=root["arguments"].each(_argument),
        providers=providers,
        counters=tuple(c for c in root["claims"].each(_counter) if c),
        domains=root["domains"].each(_domain) if root.has("domains") else (),
        views=root["views"].each(_view) if root.has("views") else (),
        members=_members(root["members"]),
        raw=root.entries(),
    )
    _check(record)
    return record


def capability(target: str) -> tuple[int, int, str]:
    """`sm_90a` -> (9, 0, "a"): the compute capability, and whether code is for it alone (a) or for its family (f)."""
    match = _TARGET.fullmatch(target)
    assert match, target  # the record's grammar
    return int(match[1]), int(match[2]), match[3]


def _provider(node: Node) -> Provider:
    node["abi"].number(PROVIDER_ABI, PROVIDER_ABI)
    return Provider(node["package"].text(_NAME), node["symbol"].text(_NAME))


def _cluster(node: Node) -> tuple[int, int, int]:
    extents = node.each(lambda extent: extent.number(1, 16))
    if len(extents) != 3:
        raise node.fail("three extents")
    return extents


def _region(node: Node) -> Region:
    fields: dict[str, tuple[int, int]] = {}
    for name in node["fields"].entries():
        span = node["fields"][name].each(lambda n: n.number())
        if len(span) != 2:
            raise node["fields"][name].fail("an offset and a size")
        fields[name] = span
    return Region(
        package=node["package"].text(_NAME),
        offset=node["offset"].number(),
        size=node["size"].number(1),
        align=node["align"].align(),
        fields=fields,
        facts=node["facts"].each(_fact),
    )


def _fact(node: Node) -> Fact:
    return Fact(
        field=node["field"].text(_NAME),
        offset=node["offset"].number(),
        packed=_packed(node["value"], node["type"].among(*FORMATS)),
    )


def _packed(node: Node, type_name: str) -> bytes:
    text = node.text()
    try:
        return struct.pack(FORMATS[type_name], float(text) if type_name == "f32" else int(text))
    except (ValueError, OverflowError, struct.error):
        raise node.fail(f"a value of type {type_name}") from None


def _buffer(node: Node) -> Buffer:
    return Buffer(
        name=node["name"].text(_NAME),
        package=node["package"].text(_NAME),
        dtype=node["dtype"].among(*DTYPE_BITS),
        rank=node["rank"].number(0, MAX_RANK),
        access=node["access"].among("read", "write", "update"),
        align=node["align"].align(),
    )


def _argument(node: Node) -> Argument:
    return Argument(node["name"].text(_NAME), node["package"].text(_NAME), node["type"].among(*FORMATS))


def _counter(node: Node) -> Counter | None:
    if node["kind"].value != "counter" or node["base"].value is None:
        return None
    return Counter(
        name=node["name"].text(_QUALIFIED),
        base=node["base"].number(),
        words=node["size"].number(1),
        scope=node["scope"].among("cta", "cluster", "gpu", "system"),
        restart=node["restart"].among("launch", "self", "epoch"),
    )


def _domain(node: Node) -> DomainUse:
    fields = [node[key].text(_MAYBE) for key in ("rank_field", "ranks_field")]
    return DomainUse(node["name"].text(_NAME), node["package"].text(_NAME), node["ranks"].number(), *fields)


def _view(node: Node) -> View:
    return View(
        package=node["package"].text(_NAME),
        domain=node["domain"].text(_NAME),
        kind=node["kind"].among("local", "peer", "multicast"),
        field=node["field"].text(_NAME),
        allocation=node["allocation"].text(_NAME),
    )


def _members(node: Node) -> Mapping[str, str]:
    for name in node.entries():
        Node(name, "members").text(_MEMBER)
    return {name: node[name].text(_DIGEST) for name in node.entries()}


def _check(record: Record) -> None:
    """What parts of the record say of each other."""
    packages = [p.package for p in record.providers]
    if len(set(packages)) != len(packages):
        raise ImageError("record.json: a package has two providers")
    if {"kernel.cubin", *(p.member for p in record.providers)} != set(record.members):
        raise ImageError("record.json: its members differ from a cubin and the providers that it names")
    _check_domains(record)
    _check_regions(record)
    _check_counters(record)
    _check_buffers(record)


def _check_regions(record: Record) -> None:
    regions = sorted(record.regions, key=lambda r: r.offset)
    for region in regions:
        where = f"record.json: the parameters of {region.package}"
        if region.offset % region.align or region.offset + region.size > record.block:
            raise ImageError(f"{where} are misaligned or outside of the block of {record.block} bytes")
        if any(offset + size > region.size for offset, size in region.fields.values()):
            raise ImageError(f"{where} have a field outside of their {region.size} bytes")
        for fact in region.facts:
            if region.fields.get(fact.field) != (fact.offset, len(fact.packed)):
                raise ImageError(f"{where} have no field {fact.field!r} for a fact of {len(fact.packed)} bytes")
        if region.package not in {p.package for p in record.providers}:
            own_fields(record, region)
    for before, after in pairwise(regions):
        if before.offset + before.size > after.offset or before.package == after.package:
            raise ImageError(f"record.json: the parameters of {before.package} and {after.package} overlap")


def _check_counters(record: Record) -> None:
    for counter in record.counters:
        if counter.scope == "system" and counter.restart == "launch":
            raise ImageError(
                f"record.json: counter {counter.name} of scope system cannot restart by launch: a fast peer's next push"
                " would race the reset; restart it by self or epoch"
            )
    if not record.counters:
        return
    if record.counter_field is None:
        raise ImageError(
            "record.json: it places counters, but not their address in the parameters; link the image again"
        )
    end = record.counter_field + 8
    inside = any(r.offset < end and record.counter_field < r.offset + r.size for r in record.regions)
    if record.counter_field % 8 or end > record.block or inside:
        raise ImageError("record.json: the address of the counters is misaligned, outside of the block, or in a region")


def _check_domains(record: Record) -> None:
    """What goes to a field has one, of its size."""
    for use in record.domains:
        for name in filter(None, (use.rank_field, use.ranks_field)):
            _check_field(record, use.package, name, 4)
    names = {(use.package, use.name) for use in record.domains}
    for view in record.views:
        if (view.package, view.domain) not in names:
            raise ImageError(f"record.json: {view.package} views domain {view.domain!r} and does not join it")
        _check_field(record, view.package, view.field, 8, several=view.kind == "peer")


def _check_field(record: Record, package: str, name: str, size: int, several: bool = False) -> None:
    region = record.region(package)
    length = region.fields.get(name, (0, 0))[1] if region else 0
    if not length or (length % size if several else length != size):
        raise ImageError(f"record.json: {package} has no field {name!r} of {size} bytes")


def _check_buffers(record: Record) -> None:
    """One name is one buffer: all that name it agree on its type and rank."""
    first: dict[str, Buffer] = {}
    for buffer in record.buffers:
        other = first.setdefault(buffer.name, buffer)
        if (buffer.dtype, buffer.rank) != (other.dtype, other.rank):
            raise ImageError(
                f"record.json: buffer {buffer.name!r} is {other.dtype} of rank {other.rank} for {other.package},"
                f" {buffer.dtype} of rank {buffer.rank} for {buffer.package}"
            )


def domain_fields(record: Record, package: str) -> set[str]:
    """The fields of a package's parameters that are sourced from communication domains."""
    names = {name for use in record.domains if use.package == package for name in (use.rank_field, use.ranks_field)}
    return (names | {view.field for view in record.views if view.package == package}) - {""}


def own_fields(record: Record, region: Region) -> dict[str, str]:
    """The `struct` formats of the fields that the runtime fills itself, for a package without a provider: what comes
    from no fact and no domain is named like a buffer or an argument of the package. Raises ImageError where nothing has
    the name or the size.
    """
    package = region.package
    known = {b.name: "<Q" for b in record.buffers if b.package == package}
    known |= {a.name: FORMATS[a.type] for a in record.arguments if a.package == package}
    sourced = {fact.field for fact in region.facts} | domain_fields(record, package)
    fields = {name: known.get(name, "") for name in region.fields if name not in sourced}
    for name, encoding in fields.items():
        if not encoding:
            raise ImageError(f"record.json: {package} has no provider, and no buffer or argument for field {name!r}")
        if struct.calcsize(encoding) != region.fields[name][1]:
            size = region.fields[name][1]
            raise ImageError(
                f"record.json: field {name!r} of {package} has {size} bytes, what it is named after has not"
            )
    return fields
