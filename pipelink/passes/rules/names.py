"""Every name resolves: inside packages to a thing of the right kind, across packages to a provider."""

from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.ir import Operation

from pipelink.ir.attributes import Kind, Link
from pipelink.ir.diagnostics import Note
from pipelink.ir.locations import place_of
from pipelink.ir.pl import (
    CallableOp,
    CallOp,
    ClaimOp,
    ConnectOp,
    CounterOp,
    DispatchOp,
    DomainOp,
    ExportOp,
    FactOp,
    GroupOp,
    ImportOp,
    PipelineOp,
    RingOp,
    RoleOp,
    SiteOp,
    StreamOp,
    StubOp,
    TrampolineOp,
    UseFactOp,
    ViewOp,
    WarpOp,
)
from pipelink.ir.suggest import close, nearest
from pipelink.ir.symbols import package_of, path_of, qualified, references_in, symbol_name
from pipelink.passes.rules import Checked

CODE = (RoleOp, CallableOp, ExportOp)
KINDS: dict[tuple[type[Operation], str], tuple[type[Operation], ...]] = {
    (SiteOp, "role"): (RoleOp,),
    (CallOp, "site"): (SiteOp,),
    (ClaimOp, "ring"): (RingOp,),
    (ClaimOp, "shares"): (ClaimOp,),
    (RingOp, "on"): CODE,
    (RingOp, "buffers"): (ClaimOp,),
    (RingOp, "full"): (ClaimOp,),
    (RingOp, "empty"): (ClaimOp,),
    (CounterOp, "on"): CODE,
    (CounterOp, "slots"): (ClaimOp,),
    (StreamOp, "on"): (RoleOp,),
    (ViewOp, "domain"): (DomainOp,),
    (WarpOp, "of"): CODE,
    (ImportOp, "site"): (SiteOp,),
    (ImportOp, "scratch"): (ClaimOp,),
    (ImportOp, "barrier"): (ClaimOp,),
    **{(kind, "uses"): (ClaimOp, RingOp, CounterOp, WarpOp, CallOp, ImportOp) for kind in CODE},
    (PipelineOp, "role_order"): (RoleOp,),
    (GroupOp, "roles"): (RoleOp,),
    (StubOp, "reads"): (ClaimOp, RingOp, CounterOp, WarpOp),
    (TrampolineOp, "user"): (CallOp, ImportOp),
    (TrampolineOp, "provider"): (CallableOp, ExportOp),
    (DispatchOp, "inits"): (RingOp,),
    (DispatchOp, "roles"): (RoleOp,),
}
"""What each reference of an operation may name."""

PROVIDER: dict[Link, tuple[type[Operation], type[Operation]]] = {
    Link.call: (CallableOp, CallOp),
    Link.tensor: (ExportOp, ImportOp),
    Link.ring: (RingOp, RingOp),
    Link.counter: (CounterOp, CounterOp),
    Link.fact: (FactOp, UseFactOp),
}
"""The kinds of the two sides of a connection."""


USERS: dict[type[Operation], tuple[type[Operation], str]] = {
    CallOp: (CallableOp, "calls"),
    ImportOp: (ExportOp, "imports"),
    UseFactOp: (FactOp, "schedules against"),
}


def written(ref: SymbolRefAttr) -> str:
    return "::".join(f"@{part}" for part in path_of(ref))


def check_references(checked: Checked) -> None:
    """What is named is there and of its kind. Inside packages that is, but for `shares`, the package's own."""
    for op in checked.pipeline.walk():
        for (kind, prop), wanted in KINDS.items():
            if not isinstance(op, kind) or prop not in op.properties:
                continue
            for ref in references_in(op.properties[prop]):
                _check_reference(checked, op, prop, ref, wanted)


def _check_reference(
    checked: Checked, op: Operation, prop: str, ref: SymbolRefAttr, wanted: tuple[type[Operation], ...]
) -> None:
    own = package_of(op) if prop != "shares" else None
    found = checked.symbols.find(ref, op) if own is None or len(path_of(ref)) == 1 else None
    if isinstance(found, wanted):
        return
    here = own or checked.pipeline
    known = [symbol_name(o) if own else qualified(o) for o in here.walk() if isinstance(o, wanted)]
    what = f"is no {' or '.join(k.name for k in wanted)}" if found else "is not declared"
    message = f"'{prop}' of '{qualified(op) or op.name}' names {written(ref)}, which {what}"
    hint = nearest(".".join(path_of(ref)), known)
    checked.errors.error("L-UNRESOLVED", message, place_of(op), hint=hint)


def check_role_order(checked: Checked) -> None:
    order = [written(ref) for ref in checked.pipeline.role_order or ()]
    for name in sorted({name for name in order if order.count(name) > 1}):
        checked.errors.error("L-DUPLICATE", f"'role_order' names {name} twice", place_of(checked.pipeline))


def check_ring_claims(checked: Checked) -> None:
    """A ring and its claims name each other, and the claims are of the right kinds: they are placed stage by stage."""
    listed: dict[Operation, RingOp] = {}
    for ring in checked.symbols.ops(RingOp):
        for ref, kind in (
            *((r, Kind.smem) for r in ring.buffers),
            (ring.full, Kind.mbarrier),
            (ring.empty, Kind.mbarrier),
        ):
            claim = checked.symbols.get(ref, ring, ClaimOp)
            listed[claim] = ring
            if claim.kind.data is not kind:
                message = (
                    f"'{qualified(claim)}' of ring '{symbol_name(ring)}' is a claim of {claim.kind.data}, not {kind}"
                )
                checked.errors.error("L-ANNOTATION", message, place_of(claim), Note("the ring is here", place_of(ring)))
    for claim in checked.symbols.ops(ClaimOp):
        ring = checked.symbols.find(claim.ring, claim) if claim.ring is not None else None
        if ring is not listed.get(claim):
            owner = ring or listed[claim]
            message = f"'{qualified(claim)}' and ring '{symbol_name(owner)}' do not name each other"
            hint = "a buffer says which ring it belongs to, and the ring lists it"
            checked.errors.error(
                "L-ANNOTATION", message, place_of(claim), Note("the ring is here", place_of(owner)), hint=hint
            )


def check_counter_claims(checked: Checked) -> None:
    """The words of a counter are a claim of words, of that counter alone."""
    owner: dict[Operation, CounterOp] = {}
    for counter in checked.symbols.ops(CounterOp):
        claim = checked.symbols.get(counter.slots, counter, ClaimOp)
        first = owner.setdefault(claim, counter)
        if claim.kind.data is Kind.counter and first is counter:
            continue
        wrong = "of another counter" if first is not counter else f"of {claim.kind.data}, not counter"
        message = f"'{qualified(claim)}' of counter '{symbol_name(counter)}' is a claim {wrong}"
        note = Note("the counter is here", place_of(first))
        checked.errors.error("L-ANNOTATION", message, place_of(claim), note)


def check_connections(checked: Checked) -> None:
    """The two sides of each `pl.connect`. A user has one provider, but that rings and counters may have several; a ring
    has one consumer."""
    taken: dict[object, ConnectOp] = {}
    for connect in checked.symbols.ops(ConnectOp):
        for ref, wanted in zip((connect.provider, connect.user), PROVIDER[connect.link.data], strict=True):
            found = checked.symbols.find(ref, connect)
            if not isinstance(found, wanted):
                message = f"a {connect.link.data} connection needs a {wanted.name}, and {written(ref)} is none"
                checked.errors.error("L-UNRESOLVED", message, place_of(connect))
        user, provider = (checked.symbols.find(ref, connect) for ref in (connect.user, connect.provider))
        side = provider if connect.link.data is Link.ring else user
        once = (user, provider) if connect.link.data is Link.counter else side
        if side is None:
            continue
        if once in taken:
            note = Note("it is connected here too", place_of(taken[once]))
            checked.errors.error("L-DUPLICATE", f"'{qualified(side)}' is connected twice", place_of(connect), note)
        taken.setdefault(once, connect)


def check_providers(checked: Checked) -> None:
    """What is used is provided. Code that nothing reaches may lack its providers: it is dropped."""
    for kind, (provider, verb) in USERS.items():
        offered = [symbol_name(op) for op in checked.symbols.ops(provider)]
        for user in checked.symbols.ops(kind):
            if user not in checked.reach.live or checked.reach.provider_of(user) is not None:
                continue
            package, name = qualified(user).split(".")
            callers = [Note(f"used by '{qualified(c)}'", place_of(c)) for c in checked.reach.users_of(user)]
            hint = "connect it" if name in offered else nearest(name, offered) or "add a package that provides it"
            message = f"nothing provides '{name}', which package '{package}' {verb}"
            cause = f"{kind.name} {name}"
            checked.errors.error("L-UNRESOLVED", message, place_of(user), *callers, hint=hint, cause=cause)


def check_two_ends(checked: Checked) -> None:
    """Each endpoint of a ring or counter that a role reaches has the other end."""
    for kind in (RingOp, CounterOp):
        joined = {op for _, p, u in checked.reach.connected(kind, kind) for op in (p, u)}
        for end in checked.symbols.ops(kind):
            if end not in checked.reach.live or end in joined:
                continue
            other = "consumer" if end.side.data == "producer" else "producer"
            what, name = kind.name.removeprefix("pl."), symbol_name(end)
            names = [symbol_name(e) for e in checked.symbols.ops(kind) if e.side.data == other]
            add = f"add a package whose {what} '{name}' is a {other}"
            hint = "connect it, and let a role reach it" if name in names else nearest(name, names) or add
            pair = sorted({name, *close(name, names)[:1]})  # two names that were meant to be one
            message, cause = f"{what} '{qualified(end)}' has no {other}", f"{what} {' '.join(pair)}"
            checked.errors.error("L-UNRESOLVED", message, place_of(end), hint=hint, cause=cause)
