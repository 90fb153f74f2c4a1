"""Which claims may lie over each other: those between which something orders every user of the older and the newer.

That is a tensor's `ready`, at which the import's participants meet (its rendezvous) after the producer has run. It
orders nothing where the producer may run again: at a site that does not guarantee to be entered once, or for another
import of the same export. Or it is the stream of instructions that runs both claims' phases and declares them
exclusive: there all threads of its roles meet between the two.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from xdsl.ir import Operation

from pipelink.ir.attributes import Kind
from pipelink.ir.pl import ClaimOp, CounterOp, ExportOp, ImportOp, RingOp, RoleOp, StreamOp
from pipelink.ir.symbols import path_of
from pipelink.passes.lifetimes import Events
from pipelink.passes.reach import Code, Reach


@dataclass(frozen=True)
class Ring:
    """A connected ring. `claims` gives for each claim that is a block of storage its twins, the consumer's last."""

    producers: tuple[RingOp, ...]
    consumer: RingOp
    claims: dict[ClaimOp, tuple[ClaimOp, ...]]

    @property
    def producer(self) -> RingOp:
        """The first, after which the ring is named."""
        return self.producers[0]

    @property
    def endpoints(self) -> tuple[RingOp, ...]:
        return *self.producers, self.consumer

    @property
    def drains(self) -> bool:
        return all(p.drains is not None for p in self.producers)


@dataclass(frozen=True)
class SharedCounter:
    """Connected endpoints of counters: all that raise or wait on the same words."""

    endpoints: tuple[CounterOp, ...]
    claims: dict[ClaimOp, tuple[ClaimOp, ...]]

    @property
    def producers(self) -> list[CounterOp]:
        return [e for e in self.endpoints if e.side.data == "producer"]


def _named(reach: Reach, ring: RingOp) -> dict[str, ClaimOp]:
    """Buffers are paired by name, mbarriers by what they are."""
    named = {path_of(r)[-1]: reach.symbols.get(r, ring, ClaimOp) for r in ring.buffers}
    slots = {"<full>": ring.full, "<empty>": ring.empty}
    return named | {which: reach.symbols.get(slot, ring, ClaimOp) for which, slot in slots.items()}


def rings(reach: Reach) -> list[Ring]:
    """The connected rings."""
    ends: dict[RingOp, list[RingOp]] = {}
    for _, producer, consumer in reach.connected(RingOp, RingOp):
        ends.setdefault(consumer, []).append(producer)
    found: list[Ring] = []
    for consumer, producers in ends.items():
        sides = [*(_named(reach, p) for p in producers), _named(reach, consumer)]
        groups = {name: [side[name] for side in sides if name in side] for name in sides[-1]}
        claims = {first: tuple(twins) for first, *twins in groups.values()}
        found.append(Ring(tuple(producers), consumer, claims))
    return found


def counters(reach: Reach) -> list[SharedCounter]:
    """The counters that connected endpoints share, each group once."""
    groups: dict[CounterOp, set[CounterOp]] = {}
    for _, producer, consumer in reach.connected(CounterOp, CounterOp):
        joined = groups.get(producer, {producer}) | groups.get(consumer, {consumer})
        groups |= dict.fromkeys(joined, joined)
    found: list[SharedCounter] = []
    seen: set[CounterOp] = set()
    for endpoint in (e for e in reach.symbols.ops(CounterOp) if e in groups and e not in seen):
        ordered = tuple(e for e in reach.symbols.ops(CounterOp) if e in groups[endpoint])
        seen.update(ordered)
        first, *twins = (reach.symbols.get(e.slots, e, ClaimOp) for e in ordered)
        found.append(SharedCounter(ordered, {first: tuple(twins)}))
    return found


class Sharing:
    """The blocks of storage of a pipeline and the order of their lifetimes."""

    def __init__(self, reach: Reach):
        self.reach = reach
        self.events = Events.of(reach)
        self.rings = rings(reach)
        self.counters = counters(reach)
        self.ring_of = {block: ring for ring in self.rings for block in ring.claims}
        self.twins = {
            block: twins for shared in (*self.rings, *self.counters) for block, twins in shared.claims.items()
        }
        self.block_of = {twin: block for block, twins in self.twins.items() for twin in twins}
        live = [c for c in reach.symbols.ops(ClaimOp) if c in reach.live]
        self.blocks = [c for c in live if c not in self.block_of]
        self.producers = Counter[Operation](export for _, export, _ in reach.connected(ExportOp, ImportOp))
        streams = [s for p in reach.packages() for s in p.body.block.ops if isinstance(s, StreamOp)]
        self.stream_of = {phase.data: stream for stream in streams for phase in stream.phases}

    def lifetime(self, block: ClaimOp) -> tuple[str, str]:
        """The events between which `block` is used; a draining producer stops when its consumer does."""
        ring = self.ring_of.get(block)
        if ring is None:
            return self._events(block)
        return self._events(ring.claims[block][-1]) if ring.drains else ("begin", "end")

    def _events(self, claim: ClaimOp) -> tuple[str, str]:
        """The first and last event of a claim; all of the kernel where it names none that exists."""
        start, end = (self.events.resolve(claim, e.data) for e in (claim.lifetime.start, claim.lifetime.end))
        return start or "begin", end or "end"

    def _roles(self, code: Code) -> list[RoleOp]:
        return self.reach.roles_running(code)

    def _all_on(self, users: Iterable[Code], role: RoleOp) -> bool:
        return all(self._roles(user) == [role] for user in users)

    def _stops_by(self, block: ClaimOp, role: RoleOp) -> bool:
        """Whether every user of the block is ordered by a rendezvous of `role` at its end: it runs on that role, or it
        is a ring's producer that drains."""
        ring = self.ring_of.get(block)
        if ring is None:
            return self._all_on(self.reach.users_of(block), role)
        *producing, consuming = (self.reach.users_of(c) for c in (block, *ring.claims[block]))
        draining = [self.reach.symbols.find(p.on, p) for p in ring.producers]
        others = [user for users in producing for user in users if user not in draining]
        return ring.drains and self._all_on([*others, *consuming], role)

    def may_lie_over(self, new: ClaimOp, old: ClaimOp) -> bool:
        return self.exclusive(old, new) or bool(self.event_between(old, new))

    def event_between(self, old: ClaimOp, new: ClaimOp) -> str:
        """The `ready` event that orders all users of `old` before those of `new`; "" where there is none."""
        if old.lifetime.phase.data or new.lifetime.phase.data or not _same_storage(old, new):
            return ""
        start = self.lifetime(new)[0]
        tensor, _, event = start.rpartition(".")
        import_ = self.events.imports.get(tensor)
        if event != "ready" or import_ is None or not self.events.before(self.lifetime(old)[1], start):
            return ""
        site = self.reach.site_of(import_)
        role = site and self.reach.symbols.find(site.role, site)
        if site is None or not isinstance(role, RoleOp):
            return ""
        guaranteed = [g.data for g in site.guarantees]
        once = "entered once" in guaranteed and self.producers[self.reach.providers[import_][0]] == 1
        everyone = site.threads.get_values() == (0, 32 * role.warps.value.data)
        meets = "ready" in [r.data for r in import_.rendezvous]
        starts_after = new not in self.twins and self._all_on(self.reach.users_of(new), role)
        return start if once and everyone and meets and starts_after and self._stops_by(old, role) else ""

    def exclusive(self, a: ClaimOp, b: ClaimOp) -> bool:
        """Whether both claims live in phases of one stream that never overlap, and only roles of the stream use them;
        where the async proxy accesses one of them, the stream fences between its phases."""
        phases = {a.lifetime.phase.data, b.lifetime.phase.data}
        stream = self.stream_of.get(a.lifetime.phase.data)
        if stream is None or len(phases) < 2 or not _same_storage(a, b):
            return False
        apart = any(phases <= {p.data for p in group} for group in stream.exclusive)
        fenced = stream.fenced is not None or not (self._is_async(a) or self._is_async(b))
        return apart and fenced and self._within(stream, a) and self._within(stream, b)

    def _is_async(self, block: ClaimOp) -> bool:
        proxies = [c.proxy.data for c in (block, *self.twins.get(block, ())) if c.proxy is not None]
        return "async" in proxies or block in self.ring_of

    def _within(self, stream: StreamOp, block: ClaimOp) -> bool:
        """Whether only roles of the stream run what uses the block, in the phase that all its claims name."""
        claims = (block, *self.twins.get(block, ()))
        roles = [self.reach.symbols.find(ref, stream) for ref in stream.on]
        users = [user for claim in claims for user in self.reach.users_of(claim)]
        return len({c.lifetime.phase.data for c in claims}) == 1 and all(
            role in roles for user in users for role in self._roles(user)
        )


def _same_storage(a: ClaimOp, b: ClaimOp) -> bool:
    """mbarriers lie over nothing: nobody promises to invalidate and initialise them again under a fence."""
    return a.kind.data is b.kind.data and a.kind.data is not Kind.mbarrier
