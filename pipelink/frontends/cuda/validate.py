"""What the entries of one contract owe each other: every name that an entry gives is declared, and no two disagree."""

from collections.abc import Iterable
from typing import Protocol

from pipelink.frontends.contract import (
    Claim,
    Contract,
    Import,
    Location,
    Ring,
    Site,
    Stream,
    counter_handles,
    ring_handles,
)
from pipelink.ir.diagnostics import Diagnostics, Note, Place
from pipelink.ir.suggest import nearest


class Named(Protocol):
    """An entry of a contract."""

    @property
    def name(self) -> str: ...
    @property
    def at(self) -> Location: ...


def place(at: Location) -> Place:
    return Place(at.file, at.line, at.column)


def validate(contract: Contract, errors: Diagnostics) -> None:
    """Collect in `errors` what contradicts itself or names what is not declared (L-ANNOTATION)."""
    _check_names(contract, errors)
    code = {entry.name for entries in (contract.roles, contract.callables, contract.exports) for entry in entries}
    sites = {site.name for site in contract.sites}
    _check_endpoints(contract, code, errors)
    _check_counts(contract, errors)
    for stream in contract.streams:
        _check_stream(errors, stream, {role.name for role in contract.roles})
    rings = {ring.name for ring in contract.rings}
    for claim in contract.claims:
        if claim.ring:
            _known(errors, f"buffer {claim.name}", claim.ring, rings, "ring", claim.at)
    for handle in contract.warp_handles:
        _known(errors, f"warp handle {handle.name}", handle.of, code, "role, callable or export", handle.at)
    for call in contract.calls:
        if call.site:
            _known(errors, f"call {call.name}", call.site, sites, "site", call.at)
    for site in contract.sites:
        _check_site(contract, site, errors)
    for tensor in contract.imports:
        _known(errors, f"import {tensor.name}", tensor.site, sites, "site", tensor.at)
        _check_lent(contract, tensor, errors)
    _check_views(contract, errors)


def _check_names(contract: Contract, errors: Diagnostics) -> None:
    """Within a package a name stands for one thing, as symbols of `pl.package` do; what the caller gives is apart."""
    rings = [(f"ring {r.name}", name, r.at) for r in contract.rings for name in ring_handles(r.name)]
    counters = [(f"counter {c.name}", name, c.at) for c in contract.counters for name in counter_handles(c.name)]
    spaces: list[list[tuple[str, str, Location]]] = [
        [
            *_named("claim", contract.claims),
            *_named("warp handle", contract.warp_handles),
            *rings,
            *_named("ring", contract.rings),
            *counters,
            *_named("counter", contract.counters),
            *_named("stream", contract.streams),
            *_named("role", contract.roles),
            *_named("callable", contract.callables),
            *_named("export", contract.exports),
            *_named("call", contract.calls),
            *_named("import", contract.imports),
            *_named("site", contract.sites),
            *_named("fact", contract.facts),
            *_named("use of fact", contract.fact_uses),
            *_named("domain", contract.domains),
            *_named("view", contract.views),
        ],
        [*_named("buffer", contract.buffers), *_named("argument", contract.arguments)],
    ]
    for space in spaces:
        seen: dict[str, tuple[str, Location]] = {}
        for title, name, at in space:
            if name in seen:
                first, where = seen[name]
                note = Note(f"{first} is here", place(where))
                errors.error("L-ANNOTATION", f"{title}: `{name}` is declared already", place(at), note)
            seen.setdefault(name, (title, at))


def _named(kind: str, entries: Iterable[Named]) -> list[tuple[str, str, Location]]:
    return [(f"{kind} {entry.name}", entry.name, entry.at) for entry in entries]


def _known(errors: Diagnostics, what: str, name: str, known: set[str], kind: str, at: Location) -> None:
    if name not in known:
        hint = nearest(name, known)
        errors.error("L-ANNOTATION", f"{what}: no {kind} `{name}` is declared here", place(at), hint=hint)


def _check_endpoints(contract: Contract, code: set[str], errors: Diagnostics) -> None:
    for ring in contract.rings:
        _known(errors, f"ring {ring.name}", ring.on, code, "role, callable or export", ring.at)
        _check_bytes(contract, ring, errors)
        if ring.producers != 1 and (ring.side == "producer" or ring.producers < 1):
            text = f"ring {ring.name}: a {ring.side} says producers {ring.producers}"
            hint = "the consumer says how many fill a stage"
            errors.error("L-ANNOTATION", text, place(ring.at), hint=hint)
    for counter in contract.counters:
        _known(errors, f"counter {counter.name}", counter.on, code, "role, callable or export", counter.at)


def _check_counts(contract: Contract, errors: Diagnostics) -> None:
    """What is counted is at least one, and what counts says how it starts."""
    counts = [
        (f"ring {r.name}: {w}", c, r.at) for r in contract.rings for w, c in (("full", r.full), ("empty", r.empty))
    ]
    counts += [(f"counter {c.name}: arrivals", c.arrivals, c.at) for c in contract.counters if c.arrivals]
    for what, count, at in counts:
        if not 1 <= count.times < 1 << 20:  # PTX ISA, mbarrier.init
            errors.error("L-ANNOTATION", f"{what} counts {count.times} arrivals", place(at))
    for counter in contract.counters:
        if counter.side == "producer" and counter.arrivals is None:
            text = f"counter {counter.name}: its producer says by how much it raises a word"
            errors.error("L-ANNOTATION", text, place(counter.at), hint=".arrivals(pl::once(n))")
    for claim in contract.claims:
        if claim.kind == "counter" and not claim.restart:
            text = f"claim {claim.name}: a counter says how it starts each launch"
            errors.error("L-ANNOTATION", text, place(claim.at), hint='.restart("launch"), "self" or "epoch"')


def _check_bytes(contract: Contract, ring: Ring, errors: Diagnostics) -> None:
    buffers = [claim for claim in contract.claims if claim.ring == ring.name]
    room = sum(claim.size for claim in buffers)
    if buffers and ring.bytes > room:
        notes = [Note(f"buffer {claim.name} has {claim.size} bytes", place(claim.at)) for claim in buffers]
        text = f"ring {ring.name}: {ring.bytes} bytes arrive a stage, its buffers have {room}"
        errors.error("L-ANNOTATION", text, place(ring.at), *notes)


def _check_stream(errors: Diagnostics, stream: Stream, roles: set[str]) -> None:
    what = f"stream {stream.name}"
    for name in stream.roles:
        _known(errors, what, name, roles, "role", stream.at)
    for name in (name for phases in stream.exclusive for name in phases):
        if name not in stream.phases:
            hint = nearest(name, stream.phases)
            errors.error("L-ANNOTATION", f"{what}: no phase `{name}` is declared in it", place(stream.at), hint=hint)


def _check_site(contract: Contract, site: Site, errors: Diagnostics) -> None:
    role = next((role for role in contract.roles if role.name == site.role), None)
    if role is None:
        return _known(errors, f"site {site.name}", site.role, {r.name for r in contract.roles}, "role", site.at)
    last = site.first_thread + site.threads
    if "full warps" in site.guarantees and (site.first_thread % 32 or last % 32):
        text = f"site {site.name}: threads {site.first_thread}..{last - 1} are no full warps, which it guarantees"
        errors.error("L-ANNOTATION", text, place(site.at))
    if 0 < 32 * role.warps < last:
        text = f"site {site.name}: threads {site.first_thread}..{last - 1} of a role of {32 * role.warps}"
        errors.error("L-ANNOTATION", text, place(site.at), Note(f"role {role.name} is here", place(role.at)))
    return None


def _check_lent(contract: Contract, tensor: Import, errors: Diagnostics) -> None:
    for name, kind, what in ((tensor.scratch, "smem", "shared memory"), (tensor.barrier, "barrier", "barrier")):
        claims: dict[str, Claim] = {claim.name: claim for claim in contract.claims if claim.kind == kind}
        if name:
            _known(errors, f"import {tensor.name}", name, set(claims), f"claim of {what}", tensor.at)
    threads = _threads(tensor)
    site = next((site for site in contract.sites if site.name == tensor.site), None)
    if site is not None and threads not in (None, site.threads):
        text = f"import {tensor.name}: its map has {threads} threads, its site {site.threads}"
        errors.error("L-ANNOTATION", text, place(tensor.at), Note(f"site {site.name} is here", place(site.at)))


def _threads(tensor: Import) -> int | None:
    from pipelink.ir.maps import parse

    return parse(tensor.demand).domain[0][1] if tensor.demand else None


def _check_views(contract: Contract, errors: Diagnostics) -> None:
    fields = {field.name for field in contract.parameters.fields} if contract.parameters else set[str]()
    domains = {domain.name for domain in contract.domains}
    for domain in contract.domains:
        for field in filter(None, (domain.rank_field, domain.ranks_field)):
            _known(errors, f"domain {domain.name}", field, fields, "field of PL_PARAMS", domain.at)
    for view in contract.views:
        _known(errors, f"view {view.name}", view.domain, domains, "domain", view.at)
        _known(errors, f"view {view.name}", view.field, fields, "field of PL_PARAMS", view.at)
