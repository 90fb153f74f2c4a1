"""The two endpoints of a ring agree on everything that either states."""

from xdsl.ir import Attribute, Operation

from pipelink.ir.diagnostics import Note
from pipelink.ir.locations import place_of
from pipelink.ir.pl import ClaimOp, RingOp
from pipelink.ir.suggest import nearest
from pipelink.ir.symbols import path_of, qualified, symbol_name
from pipelink.passes.rules import Checked

FIELDS = {
    "space": "memory space",
    "scope": "scope",
    "proxy": "proxy",
    "bytes": "transaction bytes",
    "full_count": "arrivals on full",
    "empty_count": "arrivals on empty",
}
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


def _differ(checked: Checked, what: str, ours: Operation, theirs: Operation, prop: str) -> None:
    a, b = ours.properties.get(prop), theirs.properties.get(prop)
    if a == b:
        return
    checked.errors.error(
        "L-PAIR",
        f"the endpoints of '{symbol_name(ours)}' disagree on {what}: {shown(b)} against {shown(a)}",
        place_of(theirs),
        Note(f"'{qualified(theirs)}' says {what} {shown(b)}", place_of(theirs)),
        Note(f"'{qualified(ours)}' says {what} {shown(a)}", place_of(ours)),
        hint=f"make {what} {shown(a)} in both, or {shown(b)}",
    )


def _check_buffers(checked: Checked, producer: RingOp, consumer: RingOp) -> None:
    mine = {path_of(r)[-1]: checked.symbols.get(r, producer, ClaimOp) for r in producer.buffers}
    theirs = {path_of(r)[-1]: checked.symbols.get(r, consumer, ClaimOp) for r in consumer.buffers}
    for name in sorted(mine.keys() ^ theirs.keys()):
        has, lacks, known = (producer, consumer, theirs) if name in mine else (consumer, producer, mine)
        message = (
            f"ring '{symbol_name(producer)}': '{qualified(has)}' has a buffer '{name}', '{qualified(lacks)}' has none"
        )
        note = Note(f"'{qualified(has)}' has it", place_of(has))
        checked.errors.error("L-PAIR", message, place_of(lacks), note, hint=nearest(name, known))
    for name in sorted(mine.keys() & theirs.keys()):
        for prop, what in BUFFER_FIELDS.items():
            _differ(checked, f"{what} of a stage" if prop != "size" else what, mine[name], theirs[name], prop)


def _check_depths(checked: Checked, producer: RingOp, consumer: RingOp) -> None:
    (a, b), (x, y) = producer.depths.get_values(), consumer.depths.get_values()
    if max(a, x) <= min(b, y):
        return
    checked.errors.error(
        "L-PAIR",
        f"no depth of ring '{symbol_name(producer)}' suits both endpoints: [{x}, {y}] against [{a}, {b}]",
        place_of(consumer),
        Note(f"'{qualified(producer)}' takes depths {a} to {b}", place_of(producer)),
        Note(f"'{qualified(consumer)}' takes depths {x} to {y}", place_of(consumer)),
    )


def check_rings(checked: Checked) -> None:
    for connect, producer, consumer in checked.reach.connected(RingOp, RingOp):
        if (producer.side.data, consumer.side.data) != ("producer", "consumer"):
            message = f"ring '{symbol_name(producer)}' connects a {producer.side.data} to a {consumer.side.data}"
            checked.errors.error("L-PAIR", message, place_of(connect), hint="connect a producer to a consumer")
            continue
        for prop, what in FIELDS.items():
            _differ(checked, what, producer, consumer, prop)
        _check_runs(checked, producer, consumer)
        _check_buffers(checked, producer, consumer)
        _check_depths(checked, producer, consumer)
        _check_initialiser(checked, producer, consumer)
        _check_bytes(checked, producer)


def _check_runs(checked: Checked, *rings: RingOp) -> None:
    """An endpoint that no role runs never arrives."""
    for ring in rings:
        code = checked.symbols.find(ring.on, ring)
        if code is not None and not checked.reach.roles_running(code):
            message = f"ring '{qualified(ring)}' acts in '{qualified(code)}', which no role runs"
            checked.errors.error(
                "L-SITE", message, place_of(ring), hint="call it from a role, or let a role be the endpoint"
            )


def _check_initialiser(checked: Checked, producer: RingOp, consumer: RingOp) -> None:
    """One endpoint initialises the mbarriers, and only one."""
    initialisers = [r for r in (producer, consumer) if r.init]
    if len(initialisers) == 1:
        return
    who = "both endpoints" if initialisers else "neither endpoint"
    checked.errors.error(
        "L-PAIR",
        f"{who} of ring '{symbol_name(producer)}' initialise its mbarriers",
        place_of(consumer),
        *(
            Note(f"'{qualified(r)}' {'initialises' if r.init else 'does not'}", place_of(r))
            for r in (producer, consumer)
        ),
        hint="let exactly one of them state PL_RING_INIT",
    )


def _check_bytes(checked: Checked, ring: RingOp) -> None:
    """Asynchronous copies complete by bytes: a stage's transaction is the sum of its buffers."""
    sizes = {path_of(r)[-1]: checked.symbols.get(r, ring, ClaimOp).size.value.data for r in ring.buffers}
    total, said = sum(sizes.values()), ring.bytes_.value.data
    if ring.proxy.data != "async" or total == said:
        return
    parts = " + ".join(f"{name} {size}" for name, size in sorted(sizes.items()))
    checked.errors.error(
        "L-PAIR",
        f"ring '{qualified(ring)}' expects {said} transaction bytes a stage, its buffers hold {total} ({parts})",
        place_of(ring),
        hint=f"state .bytes({total}), or the right size of each buffer",
    )
