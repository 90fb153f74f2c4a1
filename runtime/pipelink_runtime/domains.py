"""Communication domains: what the caller says of ranks and symmetric memory, and the parameters that hold it."""

import operator
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pipelink_runtime.errors import ArgumentError, nearest
from pipelink_runtime.record import DomainUse, Record, View

_ADDRESS = 1 << 64


@dataclass(frozen=True)
class Domain:
    """The caller's part in a communication domain: its rank of so many, and for each symmetric allocation its device
    address on every rank, in order of ranks, as this process sees them; one address for multicast where there is."""

    rank: int
    ranks: int
    peers: Mapping[str, Sequence[int]] = field(default_factory=dict[str, Sequence[int]])
    multicast: Mapping[str, int] = field(default_factory=dict[str, int])


Domains = Mapping[str, Domain]


def check(record: Record, given: Domains) -> None:
    """Raises ArgumentError with all that a kernel needs and the caller has not given, or has given otherwise."""
    needed = {use.name for use in record.domains}
    problems = [f"domain {name!r} is unknown{nearest(name, needed)}" for name in given if name not in needed]
    problems += [f"domain {n!r} is missing: give domains={{{n!r}: Domain(...)}}" for n in sorted(needed - set(given))]
    for name in sorted(needed & set(given)):
        problems += _misfits(record, name, given[name])
    if problems:
        raise ArgumentError("\n".join(problems))


def _misfits(record: Record, name: str, given: Domain) -> Iterator[str]:
    if not 0 <= given.rank < given.ranks:
        yield f"domain {name!r}: rank {given.rank} of {given.ranks} ranks"
    for use in (u for u in record.domains if u.name == name and u.ranks not in (0, given.ranks)):
        yield f"domain {name!r} has {given.ranks} ranks, {use.package} needs {use.ranks}"
    for view in (v for v in record.views if v.domain == name):
        yield from _unseen(record, view, given)


def _unseen(record: Record, view: View, given: Domain) -> Iterator[str]:
    subject = f"domain {view.domain!r}: allocation {view.allocation!r}"
    if view.kind == "multicast":
        if not 0 < _number(given.multicast.get(view.allocation, 0)) < _ADDRESS:
            yield f"{subject} has no multicast address, which {view.package} needs"
        return
    addresses = [_number(a) for a in given.peers.get(view.allocation, ())]
    if len(addresses) != given.ranks or not all(0 < a < _ADDRESS for a in addresses):
        yield f"{subject} needs a device address for each of the {given.ranks} ranks: {view.package} views it"
    region = record.region(view.package)
    room = region.fields[view.field][1] // 8 if region else 0
    if view.kind == "peer" and room < given.ranks:
        yield f"{subject}: {view.package} has room for {room} ranks, not {given.ranks}"


def _number(value: object) -> int:
    try:
        return operator.index(value)  # pyright: ignore[reportArgumentType]
    except TypeError:
        return -1


def written(record: Record, package: str, given: Domains) -> Iterator[tuple[str, bytes]]:
    """(field, its bytes) of each field of the package's parameters that is sourced from a domain."""
    for use in (u for u in record.domains if u.package == package):
        yield from _ranks(use, given[use.name])
    for view in (v for v in record.views if v.package == package):
        domain = given[view.domain]
        if view.kind == "multicast":
            yield view.field, struct.pack("<Q", domain.multicast[view.allocation])
            continue
        peers = domain.peers[view.allocation]
        addresses = [peers[domain.rank]] if view.kind == "local" else peers
        yield view.field, struct.pack(f"<{len(addresses)}Q", *addresses)


def _ranks(use: DomainUse, domain: Domain) -> Iterator[tuple[str, bytes]]:
    for name, value in ((use.rank_field, domain.rank), (use.ranks_field, domain.ranks)):
        if name:
            yield name, struct.pack("<I", value)
