"""From notes to a contract: each annotation becomes an entry of its kind, checked on its own.

What concerns several annotations is checked in `pipelink.frontends.cuda.validate`, what concerns the object in
`pipelink.frontends.cuda.capture`.
"""

from collections.abc import Callable, Sequence
from math import isfinite, prod
from typing import Any, cast

from pipelink.frontends.contract import (
    IDENTIFIER,
    RESTARTS,
    SCOPES,
    SYMBOL,
    Argument,
    Buffer,
    Call,
    Claim,
    Contract,
    Counter,
    Domain,
    Entry,
    Export,
    Fact,
    FactUse,
    Field,
    FpMode,
    Import,
    Parameters,
    Provider,
    Ring,
    Role,
    Signature,
    Site,
    Stream,
    Topology,
    View,
    WarpHandle,
)
from pipelink.frontends.contract import Callable as Exported
from pipelink.frontends.cuda.notes import MACROS, Note, Points
from pipelink.frontends.cuda.reader import BITS, GUARANTEES, Reader
from pipelink.frontends.cuda.signature import number_type, spelled
from pipelink.ir.diagnostics import Diagnostics, fail
from pipelink.ir.diagnostics import Note as Remark

_SIZES = {"smem": "bytes", "ring_buffer": "bytes", "mbarrier": "slots", "barrier": "ids", "tmem": "columns"}
_LIMITS = {"mbarrier": 1 << 15, "barrier": 15, "tmem": 512}
_SMEM_LIMIT = 1 << 20
_COUNTER_WORDS = 1 << 20
_OCCUPANCY = 32  # blocks a multiprocessor (CUDA programming guide, compute capabilities)
_CLUSTER = 16  # blocks a cluster, the non-portable sizes included
_MAX_RANK = 5
_INTEGERS = {"i32": (-(1 << 31), (1 << 31) - 1), "u32": (0, (1 << 32) - 1), "i64": (-(1 << 63), (1 << 63) - 1)}


def declare(notes: Sequence[Note], errors: Diagnostics) -> Contract:
    """The contract that the annotations state; what only the object knows is left empty.

    Raises PipelinkError (L-ANNOTATION) where there is no PL_STAGE; collects all other errors in `errors`.
    """
    stages = [note for note in notes if note.kind == "stage"]
    if not stages:
        raise fail("L-ANNOTATION", "no PL_STAGE names the package and its version", hint='add PL_STAGE("1.0.0")')
    params = next((note.name for note in notes if note.kind == "params"), "")
    readers = [Reader(note, errors, params) for note in notes]
    _check_single(notes, errors)
    found: dict[str, list[Any]] = {}
    for reader in readers:
        if not reader.missing and reader.note.kind in _BUILDERS:
            field, build = _BUILDERS[reader.note.kind]
            found.setdefault(field, []).append(build(reader))
    _attach_inits(readers, found)
    _attach_types(found, readers, errors)
    stage = readers[notes.index(stages[0])]
    return Contract(
        name=stages[0].name,
        version=_version(stage),
        target="",
        toolkit="",
        ir_version=(0, 0),
        fp=FpMode(),
        flags=(),
        members=(),
        at=stage.at,
        parameters=found.pop("parameters", [None])[0],
        provider=found.pop("provider", [None])[0],
        topology=found.pop("topology", [None])[0],
        **cast(Any, {field: tuple(entries) for field, entries in found.items()}),
    )


def _check_single(notes: Sequence[Note], errors: Diagnostics) -> None:
    for kind in ("stage", "params", "provider", "topology"):
        found = [note for note in notes if note.kind == kind]
        for note in found[1:]:
            where = Remark(f"{found[0].title} is here", found[0].place)
            errors.error("L-ANNOTATION", f"{note.title}: a package has one {MACROS[kind]}", note.place, where)


def _version(reader: Reader) -> str:
    version = reader.text("version")
    if not version or not all(c.isalnum() or c in ".+-" for c in version):
        reader.error(f"`{version}` is no version")
    return version


# ---- one entry from one note -----------------------------------------------------------------------------------------


def _params(reader: Reader) -> Parameters:
    size, align = reader.numbers("layout")
    fields = [values for key, values in reader.note.entries if key == "field"]
    return Parameters(
        reader.note.name,
        size,
        align,
        tuple(Field(name, int(offset), int(length)) for name, offset, length, _ in fields),
        reader.at,
    )


def _role(reader: Reader) -> Role:
    entry, signature = reader.function("entry")
    _only_supplied(reader, entry, signature)
    low, high = reader.numbers("registers", (24, 240))
    if not 24 <= low <= high <= 256 or low % 8 or high % 8:
        reader.error(f".registers({low}, {high}) is no range of multiples of 8 in 24..256")
    need = reader.number("need", 0, 0, 255)
    if need > high:
        reader.error(f".need({need}) is more than the largest budget it accepts, {high}")
    return Role(
        reader.note.name,
        entry,
        signature,
        warps=reader.number("warps", 0, 1, 32),
        at=reader.at,
        align=reader.power("align"),
        registers=(low, high),
        need=need,
    )


def _only_supplied(reader: Reader, symbol: str, signature: Signature) -> None:
    if signature.result != "void" or signature.parameters:
        reader.error(
            f"{symbol} takes or returns what the linker cannot supply",
            "L-SIGNATURE",
            hint="void f(), with the package's parameters and the context at most",
        )


def _callable(reader: Reader) -> Exported:
    return Exported(reader.note.name, *reader.function("symbol"), at=reader.at)


def _site(reader: Reader) -> Site:
    return Site(
        reader.note.name,
        reader.text("role"),
        reader.number("threads", 0, 1, 1024),
        reader.at,
        reader.number("first", 0, 0, 1023),
        reader.among("guarantees", GUARANTEES),
    )


def _call(reader: Reader) -> Call:
    return Call(reader.note.name, *reader.function("symbol"), at=reader.at, site=reader.text("site"))


def _ring(reader: Reader) -> Ring:
    low, high = reader.numbers("depth")
    if not 1 <= low <= high:
        reader.error(f".depth({low}, {high}) is no range of stages")
    side = reader.text("side")
    if reader.has("drains") and side != "producer":
        reader.error(".drains is a promise of the producer")
    return Ring(
        reader.note.name,
        cast(Any, side),
        reader.text("on"),
        (low, high),
        reader.count("full"),
        reader.count("empty"),
        reader.number("bytes", 0, 0, _SMEM_LIMIT - 1),
        reader.at,
        drains=reader.has("drains"),
        scope=cast(Any, reader.text("scope", "cta", ("cta", "cluster"))),
        proxy=cast(Any, reader.text("proxy", "async", ("async", "generic"))),
        priority=reader.number("priority", 0, -1000, 1000),
        producers=reader.number("producers", 1, 1, 32),
    )


def _claim(reader: Reader) -> Claim:
    kind = reader.note.kind
    unit = _SIZES.get(kind, "words")
    size = reader.number(unit, 0, 1, _LIMITS.get(kind, _SMEM_LIMIT))
    align = reader.power("align")
    claim = Claim(
        reader.note.name,
        cast(Any, "smem" if kind == "ring_buffer" else kind),
        size,
        reader.at,
        align,
        reader.text("ring"),
        reader.lifetime(),
        reader.dtype() if reader.has("dtype") else "",
        reader.numbers("tile"),
        reader.number("swizzle", 0, 0, 128),
        cast(Any, reader.text("proxy", "generic", ("generic", "async"))),
        cast(Any, reader.text("scope", "cta", SCOPES)),
        cast(Any, reader.text("restart", "", ("", *RESTARTS))),
    )
    _check_tile(reader, claim)
    _check_swizzle(reader, claim)
    _check_restart(reader, claim)
    return claim


def _check_restart(reader: Reader, counter: Claim | Counter) -> None:
    if counter.scope == "system" and counter.restart == "launch":
        reader.error(
            'a counter of scope "system" cannot restart by "launch": a fast peer\'s next push would race the reset',
            "L-RESTART",
            hint='restart by "self" or "epoch"',
        )


def _counter(reader: Reader) -> Counter:
    counter = Counter(
        reader.note.name,
        cast(Any, reader.text("side")),
        reader.text("on"),
        reader.number("words", 0, 1, _COUNTER_WORDS),
        reader.at,
        cast(Any, reader.text("scope", "gpu", SCOPES)),
        cast(Any, reader.text("restart", "launch", RESTARTS)),
        reader.count("arrivals") if reader.has("arrivals") else None,
    )
    _check_restart(reader, counter)
    return counter


def _stream(reader: Reader) -> Stream:
    for key in ("roles", "phases"):
        names = reader.values[key]
        for name in sorted({name for name in names if names.count(name) > 1}):
            reader.error(f".{key} names {name} twice")
    return Stream(
        reader.note.name,
        reader.values["roles"],
        reader.values["phases"],
        reader.at,
        tuple(reader.every("exclusive")),
        reader.has("fenced"),
    )


def _topology(reader: Reader) -> Topology:
    clusters = tuple(_cluster(reader, values) for values in reader.every("cluster"))
    least, most = reader.numbers("occupancy", (1, _OCCUPANCY))
    if not 1 <= least <= most <= _OCCUPANCY:
        reader.error(f".occupancy({least}, {most}) is no range of 1..{_OCCUPANCY} blocks")
    return Topology(reader.at, clusters, (least, most))


def _cluster(reader: Reader, values: tuple[str, ...]) -> tuple[int, int, int]:
    x, y, z = (int(value) for value in values)
    if min(x, y, z) < 1 or x * y * z > _CLUSTER:
        reader.error(f".cluster({x}, {y}, {z}) is no shape of 1..{_CLUSTER} blocks")
    return x, y, z


def _check_tile(reader: Reader, claim: Claim) -> None:
    if bool(claim.tile) != bool(claim.dtype):
        return reader.error("a tile has both extents and an element type: .tile(...).of(...)")
    if any(extent < 1 for extent in claim.tile):
        return reader.error(f"a tile of extents {claim.tile} is empty")
    bits = prod(claim.tile) * BITS.get(claim.dtype, 0)
    if claim.tile and bits > claim.size * 8:
        reader.error(f"the tile has {bits // 8} bytes, the claim {claim.size}")
    return None


def _check_swizzle(reader: Reader, claim: Claim) -> None:
    if claim.swizzle not in (0, 32, 64, 128):
        return reader.error(f".swizzle({claim.swizzle}) is none of 0, 32, 64, 128")
    if claim.align < 8 * claim.swizzle:
        reader.error(
            f".align({claim.align}) is below the {8 * claim.swizzle} bytes that a {claim.swizzle}-byte swizzle needs",
            "L-ALIGN",
            hint=f".align({8 * claim.swizzle})",
        )
    return None


def _warp(reader: Reader) -> WarpHandle:
    return WarpHandle(reader.note.name, reader.text("of"), reader.at)


def _export(reader: Reader) -> Export:
    symbol, signature = reader.function("symbol")
    threads, registers, _ = _points(reader).domain
    for key, measured in (("threads", threads), ("frame", registers)):
        if reader.numbers(key, (measured,))[0] != measured:
            reader.error(f".{key}({reader.text(key)}) contradicts its map, which has {measured}")
    dtype = reader.dtype()
    _check_frame(reader, symbol, signature, [(dtype, False)])
    return Export(
        reader.note.name,
        symbol,
        signature,
        dtype,
        _fit(reader, ("t", "r")),
        registers,
        threads,
        reader.at,
        reader.power("align"),
        reader.among("requires", GUARANTEES),
        reader.text("completion"),
    )


def _import(reader: Reader) -> Import:
    symbol, signature = reader.function("symbol")
    produce, produce_signature = reader.function("produce")
    dtype, chunk = reader.dtype(), reader.text("chunk")
    _check_frame(reader, symbol, signature, [(dtype, True), ("i32", False), (dtype, False)])
    _check_frame(reader, produce, produce_signature, [(dtype, False)])
    return Import(
        reader.note.name,
        symbol,
        signature,
        produce,
        produce_signature,
        dtype,
        _fit(reader, ("t", "p", chunk)),
        chunk,
        reader.text("site"),
        reader.number("frame", 0, 1, 4096),
        reader.at,
        reader.text("scratch"),
        reader.text("barrier"),
        reader.text("completion"),
    )


_ELEMENTS = {"f32": "float", "f64": "double", "i32": "int", "u32": "unsigned int"}


def _check_frame(reader: Reader, symbol: str, signature: Signature, expected: list[tuple[str, bool]]) -> None:
    """`expected` are (element type, const) of pointers; ("i32", False) in the middle is the chunk, by value.

    Element types that C++ has no builtin for may be passed as any pointer.
    """
    wanted: list[str] = []
    for index, (dtype, const) in enumerate(expected):
        element = _ELEMENTS.get(dtype, "T")
        wanted.append("int" if len(expected) == 3 and index == 1 else f"{'const ' * const}{element} *")
    fits = len(signature.parameters) == len(wanted) and all(
        have == want
        or ("T *" in want and have.endswith("*") and have.startswith("const ") == want.startswith("const "))
        for have, want in zip(signature.parameters, wanted, strict=True)
    )
    if not fits or signature.result != "void":
        reader.error(
            f"{symbol} has the type {show(signature)}",
            "L-SIGNATURE",
            hint=f"void ({', '.join(wanted)}) after what the linker supplies",
        )


def show(signature: Signature) -> str:
    """The type without what the linker supplies, as C++ spells it."""
    return f"{signature.result} ({', '.join(signature.parameters)})"


def _points(reader: Reader) -> Points:
    assert reader.note.points is not None
    return reader.note.points


def _fit(reader: Reader, names: tuple[str, ...]) -> str:
    """The closed form of the annotation's map; L-MAP where there is none."""
    from pipelink.ir.maps import MapError, fit

    points = _points(reader)
    extents = reader.numbers("extent")
    if len(set(names)) < len(names) or not IDENTIFIER.fullmatch(names[-1]):
        reader.error(f'.chunk("{names[-1]}") is no name for the chunk beside t and p')
        return ""
    if min(extents, default=0) < 1:
        reader.error(f"a tile of extents {extents} is empty")
        return ""
    domain = tuple(zip(names, points.domain, strict=False))
    try:
        return str(fit(domain, (("m", extents[0]), ("n", extents[1])), points.values))
    except MapError as error:
        reader.error(str(error), "L-MAP")
        return ""


def _fact(reader: Reader) -> Fact:
    kind, value = _value(reader, "value")
    return Fact(reader.note.name, cast(Any, kind), value, reader.at)


def _value(reader: Reader, key: str) -> tuple[str, int | float]:
    kind, *digits = reader.values[key]
    if kind != "f32":
        return kind, int(digits[0])
    if not isfinite(reader.note.real):
        reader.error("a fact is a finite number")
        return kind, 0.0
    return kind, reader.note.real


def _use_fact(reader: Reader) -> FactUse:
    required = _value(reader, "required")[1] if reader.has("required") else None
    return FactUse(reader.note.name, "i32", reader.text("field"), reader.at, required)


def _buffer(reader: Reader) -> Buffer:
    return Buffer(
        reader.note.name,
        reader.dtype(),
        reader.number("rank", 0, 1, _MAX_RANK),
        cast(Any, reader.text("access")),
        reader.at,
        reader.power("align", 16),
    )


def _argument(reader: Reader) -> Argument:
    return Argument(reader.note.name, cast(Any, reader.text("type", "", ("i32", "i64", "f32", "u64"))), reader.at)


def _domain(reader: Reader) -> Domain:
    return Domain(
        reader.note.name,
        reader.at,
        reader.number("ranks", 0, 0, 1 << 20),
        reader.text("rank_field"),
        reader.text("ranks_field"),
    )


def _view(reader: Reader) -> View:
    kind = reader.text("kind", "", ("local", "peer", "multicast"))
    allocation = reader.text("allocation", reader.note.name)
    return View(reader.note.name, reader.text("domain"), cast(Any, kind), reader.text("field"), reader.at, allocation)


def _provider(reader: Reader) -> Provider:
    if not SYMBOL.fullmatch(reader.note.name):
        reader.error(f"`{reader.note.name}` is no name of a function", "L-NAME")
    return Provider(reader.note.name, 0, reader.at)


_BUILDERS: dict[str, tuple[str, Callable[[Reader], Entry]]] = {
    "params": ("parameters", _params),
    "role": ("roles", _role),
    "callable": ("callables", _callable),
    "site": ("sites", _site),
    "call": ("calls", _call),
    "ring": ("rings", _ring),
    "ring_buffer": ("claims", _claim),
    "smem": ("claims", _claim),
    "mbarrier": ("claims", _claim),
    "barrier": ("claims", _claim),
    "tmem": ("claims", _claim),
    "counter": ("claims", _claim),
    "counter_end": ("counters", _counter),
    "stream": ("streams", _stream),
    "topology": ("topology", _topology),
    "warp": ("warp_handles", _warp),
    "export": ("exports", _export),
    "import": ("imports", _import),
    "fact": ("facts", _fact),
    "use_fact": ("fact_uses", _use_fact),
    "buffer": ("buffers", _buffer),
    "argument": ("arguments", _argument),
    "domain": ("domains", _domain),
    "view": ("views", _view),
    "provider": ("provider", _provider),
}


# ---- entries from several notes -------------------------------------------------------------------------------------


def _attach_inits(readers: Sequence[Reader], found: dict[str, list[Any]]) -> None:
    """Give each ring the function of its PL_RING_INIT."""
    from msgspec.structs import replace

    rings = found.get("rings", [])
    for reader in readers:
        if reader.note.kind != "ring_init":
            continue
        symbol, signature = reader.function("symbol")
        _only_supplied(reader, symbol, signature)
        index = next((i for i, ring in enumerate(rings) if ring.name == reader.note.name), None)
        if index is None:
            reader.error(f"no ring `{reader.note.name}`", hint=f"declare PL_RING({reader.note.name}, ...)")
            continue
        if rings[index].init:
            reader.error(f"ring `{reader.note.name}` is initialised by {rings[index].init} already")
        rings[index] = replace(rings[index], init=symbol, init_signature=signature)


def _attach_types(found: dict[str, list[Any]], readers: Sequence[Reader], errors: Diagnostics) -> None:
    """Give each use of a fact the type of its field."""
    from msgspec.structs import replace

    fields = {
        values[0]: number_type(spelled(values[3]))
        for reader in readers
        for key, values in reader.note.entries
        if reader.note.kind == "params" and key == "field"
    }
    uses = found.get("fact_uses", [])
    by_name = {reader.note.name: reader for reader in readers if reader.note.kind == "use_fact"}
    for index, use in enumerate(uses):
        reader = by_name[use.name]
        kind = fields.get(use.field)
        if use.field not in fields:
            reader.error(f"PL_PARAMS has no field `{use.field}`")
        elif kind is None:
            reader.error(f"field `{use.field}` has a type that no fact has", hint="int, unsigned, long long or float")
        else:
            uses[index] = replace(use, type=kind, required=_converted(reader, kind, use.required))


def _converted(reader: Reader, kind: str, value: int | float | None) -> int | float | None:
    """A required value in the type of its field."""
    if value is None:
        return None
    if isinstance(value, float) != (kind == "f32"):
        reader.error(f".requires_({value}) is not of its field's type, {kind}")
    elif kind != "f32" and not _INTEGERS[kind][0] <= value <= _INTEGERS[kind][1]:
        reader.error(f".requires_({value}) is outside of its field's type, {kind}")
    return value
