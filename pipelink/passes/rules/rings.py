"""The two endpoints of a ring agree on everything that either states."""

from xdsl.ir import Attribute, Operation

from pipelink.ir.diagnostics import Note
from pipelink.ir.locations import place_of
from pipelink.ir.pl import ClaimOp, ConnectOp, CounterOp, RingOp
from pipelink.ir.suggest import nearest
from pipelink.ir.symbols import path_of, qualified, symbol_name
from pipelink.passes.rules import Checked

FIELDS = {
    "space": "memory space",
    "scope": "scope",
    "proxy": "proxy",
    "empty_count": "arrivals on empty",
}
SUMS = {"bytes": "transaction bytes", "full_count": "arrivals on full"}
CLAUSES = {"bytes": "L-BYTES", "full_count": "L-ARRIVALS", "empty_count": "L-ARRIVALS"}
"""Of the fields whose disagreement hangs a kernel; that of any other is L-PAIR."""
Endpoint = RingOp | CounterOp
BUFFER_FIELDS = {
    "kind": "kind",
    "size": "bytes a stage",
    "dtype": "element type",
    "tile": "tile",
    "swizzle": "swizzle",
}


def shown(value: Attribute | None) -> str:
    """A property as the IR prints it, without its dialect's prefix."""
    text = "nothing" if value is None else str(value)
    return text.split(" : ")[0].removeprefix("array<i64: ").rstrip(">") if value is not None else text


def differ(
    checked: Checked,
    what: str,
    ours: Operation,
    theirs: Operation,
    prop: str,
    ends: tuple[Operation, Operation] | None = None,
) -> None:
    """Refuse a property that differs; `ends` are what users call the two, where that is not what has the property."""
    a, b = ours.properties.get(prop), theirs.properties.get(prop)
    if a == b:
        return
    mine, other = ends or (ours, theirs)
    checked.errors.error(
        CLAUSES.get(prop, "L-PAIR"),
        f"the endpoints of '{symbol_name(mine)}' disagree on {what}: {shown(b)} against {shown(a)}",
        place_of(theirs),
        Note(f"'{qualified(other)}' says {what} {shown(b)}", place_of(theirs)),
        Note(f"'{qualified(mine)}' says {what} {shown(a)}", place_of(ours)),
        hint=f"make {what} {shown(a)} in both, or {shown(b)}",
    )


def check_rings(checked: Checked) -> None:
    ends: dict[RingOp, list[RingOp]] = {}
    for connect, producer, consumer in checked.reach.connected(RingOp, RingOp):
        if check_sides(checked, connect, producer, consumer):
            ends.setdefault(consumer, []).append(producer)
    for consumer, producers in ends.items():
        for producer in producers:
            for prop, what in FIELDS.items():
                differ(checked, what, producer, consumer, prop)
            _check_bytes(checked, producer)
        check_runs(checked, *producers, consumer)
        _check_filled(checked, producers, consumer)
        _check_buffers(checked, producers, consumer)
        _check_depths(checked, producers, consumer)
        _check_initialiser(checked, [*producers, consumer])


def check_sides(checked: Checked, connect: ConnectOp, producer: Endpoint, consumer: Endpoint) -> bool:
    if (producer.side.data, consumer.side.data) == ("producer", "consumer"):
        return True
    what = "ring" if isinstance(producer, RingOp) else "counter"
    message = f"{what} '{symbol_name(producer)}' connects a {producer.side.data} to a {consumer.side.data}"
    checked.errors.error("L-PAIR", message, place_of(connect), hint="connect a producer to a consumer")
    return False


def check_runs(checked: Checked, *endpoints: Endpoint) -> None:
    """An endpoint that no role runs never arrives."""
    for end in endpoints:
        code = checked.symbols.find(end.on, end)
        if code is not None and not checked.reach.roles_running(code):
            what = "ring" if isinstance(end, RingOp) else "counter"
            message = f"{what} '{qualified(end)}' acts in '{qualified(code)}', which no role runs"
            hint = "call it from a role, or let a role be the endpoint"
            checked.errors.error("L-SITE", message, place_of(end), hint=hint)


def _check_filled(checked: Checked, producers: list[RingOp], consumer: RingOp) -> None:
    """What the producers together arrive with on a stage is what the consumer counts on; it knows how many they are."""
    if (wanted := consumer.producers.value.data if consumer.producers else 1) != len(producers):
        message = f"ring '{qualified(consumer)}' is filled by {wanted} producers, {len(producers)} are connected"
        notes = (Note(f"'{qualified(p)}' is one", place_of(p)) for p in producers)
        checked.errors.error("L-PAIR", message, place_of(consumer), *notes, hint="list them all under [connect]")
        return
    if len(producers) == 1:
        for prop, what in SUMS.items():
            differ(checked, what, producers[0], consumer, prop)
        return
    arrive = [checked.reach.ring_arrivals([p], consumer)[0] for p in producers]
    awaited = consumer.full_count.arrivals(0)  # a number: whose warps would it count?
    _check_sum(checked, "full_count", producers, arrive, consumer, awaited)
    sizes = [p.bytes_.value.data for p in producers]
    _check_sum(checked, "bytes", producers, sizes, consumer, consumer.bytes_.value.data)


def _check_sum(
    checked: Checked, prop: str, producers: list[RingOp], parts: list[int], consumer: RingOp, awaited: int
) -> None:
    if sum(parts) == awaited:
        return
    said = " + ".join(str(part) for part in parts)
    message = f"ring '{symbol_name(consumer)}': {SUMS[prop]} are {said} by its producers, {awaited} for its consumer"
    notes = [Note(f"'{qualified(p)}' says {part}", place_of(p)) for p, part in zip(producers, parts, strict=True)]
    hint = f"let the consumer count {sum(parts)}"
    checked.errors.error(CLAUSES[prop], message, place_of(consumer), *notes, hint=hint)


def _check_buffers(checked: Checked, producers: list[RingOp], consumer: RingOp) -> None:
    """Each buffer of the consumer is one of exactly one producer."""
    theirs = {path_of(r)[-1]: checked.symbols.get(r, consumer, ClaimOp) for r in consumer.buffers}
    filled: dict[str, tuple[RingOp, ClaimOp]] = {}
    for producer in producers:
        for ref in producer.buffers:
            name = path_of(ref)[-1]
            if name in filled:
                message = f"ring '{symbol_name(consumer)}': two producers fill the buffer '{name}'"
                note = Note(f"'{qualified(filled[name][0])}' fills it too", place_of(filled[name][0]))
                checked.errors.error("L-PAIR", message, place_of(producer), note)
            filled[name] = producer, checked.symbols.get(ref, producer, ClaimOp)
    for name in sorted(filled.keys() ^ theirs.keys()):
        has, lacks = (filled[name][0], consumer) if name in filled else (consumer, producers[0])
        known = theirs if name in filled else filled
        message = (
            f"ring '{symbol_name(consumer)}': '{qualified(has)}' has a buffer '{name}', '{qualified(lacks)}' has none"
        )
        note = Note(f"'{qualified(has)}' has it", place_of(has))
        checked.errors.error("L-PAIR", message, place_of(lacks), note, hint=nearest(name, known))
    for name in sorted(filled.keys() & theirs.keys()):
        for prop, what in BUFFER_FIELDS.items():
            differ(checked, f"{what} of a stage" if prop != "size" else what, filled[name][1], theirs[name], prop)


def _check_depths(checked: Checked, producers: list[RingOp], consumer: RingOp) -> None:
    ends = [*producers, consumer]
    low, high = zip(*(end.depths.get_values() for end in ends), strict=True)
    if max(low) <= min(high):
        return
    ranges = " against ".join(str(list(end.depths.get_values())) for end in (consumer, *producers))
    notes = [
        Note(f"'{qualified(e)}' takes depths {a} to {b}", place_of(e)) for e, a, b in zip(ends, low, high, strict=True)
    ]
    message = f"no depth of ring '{symbol_name(producers[0])}' suits {_all(ends)} endpoints: {ranges}"
    checked.errors.error("L-DEPTH", message, place_of(consumer), *notes)


def _check_initialiser(checked: Checked, ends: list[RingOp]) -> None:
    """One endpoint initialises the mbarriers, and only one."""
    initialisers = [r for r in ends if r.init]
    if len(initialisers) == 1:
        return
    who = f"{_all(initialisers)} endpoints" if initialisers else "neither endpoint" if len(ends) == 2 else "no endpoint"
    checked.errors.error(
        "L-INIT",
        f"{who} of ring '{symbol_name(ends[0])}' initialise its mbarriers",
        place_of(ends[-1]),
        *(Note(f"'{qualified(r)}' {'initialises' if r.init else 'does not'}", place_of(r)) for r in ends),
        hint="let exactly one of them state PL_RING_INIT",
    )


def _all(ends: list[RingOp]) -> str:
    return "both" if len(ends) == 2 else f"all {len(ends)}"


def _check_bytes(checked: Checked, ring: RingOp) -> None:
    """Asynchronous copies complete by bytes: a stage's transaction is the sum of its buffers."""
    sizes = {path_of(r)[-1]: checked.symbols.get(r, ring, ClaimOp).size.value.data for r in ring.buffers}
    total, said = sum(sizes.values()), ring.bytes_.value.data
    if ring.proxy.data != "async" or total == said:
        return
    parts = " + ".join(f"{name} {size}" for name, size in sorted(sizes.items()))
    checked.errors.error(
        "L-BYTES",
        f"ring '{qualified(ring)}' expects {said} transaction bytes a stage, its buffers hold {total} ({parts})",
        place_of(ring),
        hint=f"state .bytes({total}), or the right size of each buffer",
    )
