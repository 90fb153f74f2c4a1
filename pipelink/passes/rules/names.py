"""Every name resolves: inside packages to a thing of the right kind, across packages to a provider."""

from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.ir import Operation

from pipelink.ir.attributes import Link
from pipelink.ir.diagnostics import Note
from pipelink.ir.locations import place_of
from pipelink.ir.pl import (
    CallableOp,
    CallOp,
    ClaimOp,
    ConnectOp,
    ExportOp,
    FactOp,
    ImportOp,
    RingOp,
    RoleOp,
    SiteOp,
    UseFactOp,
    WarpOp,
)
from pipelink.ir.suggest import nearest
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
    (WarpOp, "of"): CODE,
    (ImportOp, "site"): (SiteOp,),
    (ImportOp, "scratch"): (ClaimOp,),
    (ImportOp, "barrier"): (ClaimOp,),
    **{(kind, "uses"): (ClaimOp, RingOp, WarpOp, CallOp, ImportOp) for kind in CODE},
}
"""What each reference of an operation may name."""

PROVIDER: dict[Link, tuple[type[Operation], type[Operation]]] = {
    Link.call: (CallableOp, CallOp),
    Link.tensor: (ExportOp, ImportOp),
    Link.ring: (RingOp, RingOp),
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
    """References inside packages."""
    for op in checked.pipeline.walk():
        package = package_of(op)
        for (kind, prop), wanted in KINDS.items():
            if not isinstance(op, kind) or package is None or prop not in op.properties:
                continue
            for ref in references_in(op.properties[prop]):
                found = checked.symbols.find(ref, op)
                if isinstance(found, wanted):
                    continue
                names = [symbol_name(o) for o in package.body.block.ops if isinstance(o, wanted)]
                what = f"is no {' or '.join(k.name for k in wanted)}" if found else "is not declared"
                message = f"'{prop}' of '{qualified(op)}' names {written(ref)}, which {what}"
                checked.errors.error("L-UNRESOLVED", message, place_of(op), hint=nearest(path_of(ref)[-1], names))


def check_connections(checked: Checked) -> None:
    """The two sides of each `pl.connect`; a user has one provider."""
    taken: dict[Operation, ConnectOp] = {}
    for connect in checked.symbols.ops(ConnectOp):
        for ref, wanted in zip((connect.provider, connect.user), PROVIDER[connect.link.data], strict=True):
            found = checked.symbols.find(ref, connect)
            if not isinstance(found, wanted):
                message = f"a {connect.link.data} connection needs a {wanted.name}, and {written(ref)} is none"
                checked.errors.error("L-UNRESOLVED", message, place_of(connect))
        user = checked.symbols.find(connect.user, connect)
        if user is not None and user in taken:
            checked.errors.error(
                "L-DUPLICATE",
                f"'{qualified(user)}' is connected twice",
                place_of(connect),
                Note("it is connected here too", place_of(taken[user])),
            )
        if user is not None:
            taken.setdefault(user, connect)


def check_providers(checked: Checked) -> None:
    """What is used is provided. Code that nothing reaches may lack its providers: it is dropped."""
    for kind, (provider, verb) in USERS.items():
        offered = [symbol_name(op) for op in checked.symbols.ops(provider)]
        for user in checked.symbols.ops(kind):
            if user not in checked.reach.live or checked.reach.provider_of(user) is not None:
                continue
            package, name = qualified(user).split(".")
            callers = [Note(f"used by '{qualified(c)}'", place_of(c)) for c in checked.reach.users_of(user)]
            hint = nearest(name, offered) or "add a package that provides it"
            message = f"nothing provides '{name}', which package '{package}' {verb}"
            checked.errors.error("L-UNRESOLVED", message, place_of(user), *callers, hint=hint)


def check_rings_have_two_ends(checked: Checked) -> None:
    joined = {op for _, p, u in checked.reach.connected(RingOp, RingOp) for op in (p, u)}
    for ring in checked.symbols.ops(RingOp):
        if ring in checked.reach.live and ring not in joined:
            other = "consumer" if ring.side.data == "producer" else "producer"
            names = [symbol_name(r) for r in checked.symbols.ops(RingOp) if r.side.data == other]
            message = f"ring '{qualified(ring)}' has no {other}"
            hint = nearest(symbol_name(ring), names) or f"add a package whose ring '{symbol_name(ring)}' is a {other}"
            checked.errors.error("L-UNRESOLVED", message, place_of(ring), hint=hint)
