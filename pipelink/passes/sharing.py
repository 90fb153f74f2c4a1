"""Which claims may lie over each other: those between which an event orders every user of the older and the newer.

The event is a tensor's `ready`, at which the import's participants meet (its rendezvous) after the producer has run.
It orders nothing where the producer may run again: at a site that does not guarantee to be entered once, or for another
import of the same export.
"""

from collections import Counter
from dataclasses import dataclass

from xdsl.ir import Operation

from pipelink.ir.attributes import Kind
from pipelink.ir.pl import ClaimOp, ExportOp, ImportOp, RingOp, RoleOp
from pipelink.ir.symbols import path_of
from pipelink.passes.lifetimes import Events
from pipelink.passes.reach import Code, Reach


@dataclass(frozen=True)
class Ring:
    """A connected ring: its endpoints, and the consumer's claim for each of the producer's."""

    producer: RingOp
    consumer: RingOp
    claims: dict[ClaimOp, ClaimOp]


def rings(reach: Reach) -> list[Ring]:
    """The connected rings. Buffers are paired by name, mbarriers by what they are."""
    found: list[Ring] = []
    for _, producer, consumer in reach.connected(RingOp, RingOp):
        sides: list[dict[str, ClaimOp]] = []
        for ring in (producer, consumer):
            named = {path_of(r)[-1]: reach.symbols.get(r, ring, ClaimOp) for r in ring.buffers}
            for which, slot in (("<full>", ring.full), ("<empty>", ring.empty)):
                named[which] = reach.symbols.get(slot, ring, ClaimOp)
            sides.append(named)
        found.append(Ring(producer, consumer, {sides[0][k]: sides[1][k] for k in sides[0]}))
    return found


class Sharing:
    """The blocks of storage of a pipeline and the order of their lifetimes."""

    def __init__(self, reach: Reach):
        self.reach = reach
        self.events = Events.of(reach)
        self.rings = rings(reach)
        self.ring_of = {p: r for r in self.rings for p in r.claims}
        self.twin = {p: c for r in self.rings for p, c in r.claims.items()}
        aliases = set(self.twin.values())
        live = [c for c in reach.symbols.ops(ClaimOp) if c in reach.live]
        self.blocks = [c for c in live if c not in aliases]
        self.producers = Counter[Operation](export for _, export, _ in reach.connected(ExportOp, ImportOp))

    def lifetime(self, claim: ClaimOp) -> tuple[str, str]:
        """The events between which the block of `claim` is used; a draining producer stops when its consumer does."""
        twin, ring = self.twin.get(claim), self.ring_of.get(claim)
        if twin is None or ring is None:
            return self._events(claim)
        return self._events(twin) if ring.producer.drains is not None else ("begin", "end")

    def _events(self, claim: ClaimOp) -> tuple[str, str]:
        """The first and last event of a claim; all of the kernel where it names none that exists."""
        start, end = (self.events.resolve(claim, e.data) for e in (claim.lifetime.start, claim.lifetime.end))
        return start or "begin", end or "end"

    def _roles(self, code: Code) -> list[RoleOp]:
        return self.reach.roles_running(code)

    def _stops_by(self, claim: ClaimOp, role: RoleOp) -> bool:
        """Whether every user of the block is ordered by a rendezvous of `role` at its end: it runs on that role, or it
        is a ring's producer that drains."""
        ring = self.ring_of.get(claim)
        if ring is None:
            return all(self._roles(user) == [role] for user in self.reach.users_of(claim))
        producer = self.reach.symbols.find(ring.producer.on, ring.producer)
        others = [user for user in self.reach.users_of(claim) if user is not producer]
        consumers = self.reach.users_of(ring.claims[claim])
        return ring.producer.drains is not None and all(self._roles(user) == [role] for user in others + consumers)

    def event_between(self, old: ClaimOp, new: ClaimOp) -> str:
        """The `ready` event that orders all users of `old` before those of `new`; "" where there is none."""
        if old.lifetime.phase.data or new.lifetime.phase.data or old.kind.data is not new.kind.data:
            return ""
        if new.kind.data is Kind.mbarrier:  # nobody promises to invalidate and initialise it again under a fence
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
        starts_after = new not in self.twin and all(self._roles(u) == [role] for u in self.reach.users_of(new))
        return start if once and everyone and meets and starts_after and self._stops_by(old, role) else ""
