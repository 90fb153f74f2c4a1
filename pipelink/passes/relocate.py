"""`pl-relocate`: one joint placement of everything that is claimed, solved and proven; see `passes/placement/`.

It also lays out the parameter block and freezes the facts, which are decided here for good.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Operation

from pipelink.ir.attributes import Kind, ValuesAttr
from pipelink.ir.diagnostics import Diagnostics, Note
from pipelink.ir.locations import place_of
from pipelink.ir.pl import (
    ClaimOp,
    FactOp,
    GroupOp,
    ParamOp,
    PipelineOp,
    RoleOp,
    UseFactOp,
    integer,
    integers,
)
from pipelink.ir.symbols import Symbols, path_of, qualified, reference
from pipelink.passes.base import LinkPass
from pipelink.passes.placement import (
    Certificate,
    Claim,
    Explanation,
    Infeasible,
    Placement,
    Problem,
    Ring,
    Role,
    check,
    solve,
)
from pipelink.passes.placement.multiprocessor import domains, of_target
from pipelink.passes.reach import Reach
from pipelink.passes.sharing import Sharing
from pipelink.passes.topology import Topology

MBARRIER_BYTES = 8  # PTX ISA, mbarrier: an opaque 64-bit object in shared memory
COUNTER_LINE = 32  # words: a cache line of 128 bytes, for those that poll it alone
ADDRESS = 8  # bytes of a device pointer
IDLE_BUDGET = 24  # the least that setmaxnreg takes (PTX ISA); the solver counts it for warpgroups without a role
DOMAINS = {
    Kind.smem: "smem",
    Kind.mbarrier: "smem",
    Kind.barrier: "barrier",
    Kind.tmem: "tmem",
    Kind.counter: "counter",
}
CLAUSES = {"warps": "L-WARPS", "registers": "L-REGS", "occupancy": "L-TOPOLOGY"}


def empty(claim: ClaimOp) -> bool:
    """Whether the claim needs no storage: the route that it was lent to needs none."""
    assert claim.live is not None
    first, last = claim.live.get_values()
    return first == last


def _aligned(claim: ClaimOp) -> int:
    """A swizzle repeats after 8 rows as wide as it is, so its tiles begin there (PTX ISA, tensor swizzling modes)."""
    rows = 8 * claim.swizzle.value.data if claim.swizzle is not None else 1
    return max(claim.align.value.data, rows)


@dataclass(frozen=True)
class Relocate(LinkPass):
    """Place shared memory, barriers, warps, registers and parameters, and choose ring depths."""

    name = "pl-relocate"
    work_limit: int = 200_000
    requires = ("pl.pipeline.events", "pl.claim.live")
    produces = ("pl.pipeline.threads", "pl.role.first_warp", "pl.ring.depth", "pl.param.offset", "pl.use_fact.value")

    def run(self, pipeline: PipelineOp, errors: Diagnostics) -> None:
        model = Model(pipeline)
        model.check_shares(errors)
        errors.check()
        try:
            placement = solve(model.problem(), self.work_limit)
        except Infeasible as failure:
            for explanation in failure.explanations:
                model.explain(explanation, errors)
            return
        model.write(placement)
        _lay_out_parameters(model.symbols, pipeline, errors)
        _freeze_facts(model.reach)


class Model:
    """The pipeline as a placement problem, and back."""

    def __init__(self, pipeline: PipelineOp):
        self.pipeline = pipeline
        self.symbols = Symbols(pipeline)
        self.reach = Reach(self.symbols)
        self.sharing = Sharing(self.reach)
        self.roles = {qualified(r): r for r in self.symbols.ops(RoleOp)}
        self.claims = {qualified(c): c for c in self.sharing.blocks if not empty(c)}
        self.rings = {qualified(r.producer): r for r in self.sharing.rings}
        self.measured = self._measured()

    def _measured(self) -> dict[str, int]:
        """Register needs that an earlier link measured: those of the groups that it left in the module."""
        groups = self.symbols.ops(GroupOp)
        return {".".join(path_of(r)): g.need.value.data for g in groups for r in g.roles}

    def _claim(self, name: str, claim: ClaimOp) -> Claim:
        ring = self.sharing.ring_of.get(claim)
        bytes_each = MBARRIER_BYTES if claim.kind.data is Kind.mbarrier else 1
        align = max([bytes_each, *(_aligned(c) for c in (claim, *self.sharing.twins.get(claim, ())))])
        owner = qualified(ring.producer) if ring else None
        line = COUNTER_LINE if claim.kind.data is Kind.counter else 1
        return Claim(name, DOMAINS[claim.kind.data], claim.size.value.data * bytes_each, align, owner, line=line)

    def _role(self, name: str, role: RoleOp) -> Role:
        low, high = role.registers.get_values()
        need = self.measured.get(name) or role.need.value.data or None
        return Role(name, role.warps.value.data, role.align.value.data, low, high, need)

    def problem(self) -> Problem:
        has = self.pipeline.capacities.integers
        shared = of_target(self.pipeline.target.data)
        rings: list[Ring] = []
        for name, ring in self.rings.items():
            low, high = zip(*(end.depths.get_values() for end in ring.endpoints), strict=True)
            rings.append(Ring(name, max(low), min(high), ring.producer.priority.value.data))
        shares = {
            (min(a, b), max(a, b))
            for a, claim in self.claims.items()
            for b in (".".join(path_of(s)) for s in claim.shares or ())
            if b in self.claims
        }
        return Problem(
            domains=domains(has, shared),
            claims=tuple(self._claim(n, c) for n, c in self.claims.items()),
            rings=tuple(rings),
            roles=tuple(self._role(n, r) for n, r in self.roles.items()),
            disjoint_lifetimes=frozenset(shares),
            max_warps=has["threads"] // 32,
            register_file=has["registers"],
            has_register_groups=bool(has["setmaxnreg"]),
            role_order=tuple(".".join(path_of(r)) for r in self.pipeline.role_order or ()),
            occupancy=Topology.of(self.reach).occupancy,
            multiprocessor_warps=shared.warps,
            max_blocks=shared.blocks,
        )

    def check_shares(self, errors: Diagnostics) -> None:
        """What may lie over what is a claim of the IR like any other: it holds only where an event orders the two."""
        blocks = {qualified(b): b for b in self.sharing.blocks}
        for name, claim in blocks.items():
            for old in (".".join(path_of(s)) for s in claim.shares or ()):
                if old in blocks and self.sharing.exclusive(blocks[old], claim):
                    continue
                event = self.sharing.event_between(blocks[old], claim) if old in blocks else ""
                if event:
                    self._check_order(name, old, event, errors)
                    continue
                place = place_of(blocks[old]) if old in blocks else None
                message = f"'{name}' may not lie over '{old}': no event orders all users of the one before the other's"
                errors.error("L-LIFETIME", message, place_of(claim), Note(f"'{old}' is used until its end", place))

    def _check_order(self, name: str, old: str, event: str, errors: Diagnostics) -> None:
        """The connection whose event lets `name` lie over `old` says that it orders storage: then code does."""
        tensor, _, moment = event.rpartition(".")
        import_ = self.sharing.events.imports[tensor]
        connect = self.reach.providers[import_][1]
        if moment not in [o.data for o in connect.orders or ()]:
            message = f"'{name}' may lie over '{old}' by '{event}', which the connection does not order"
            errors.error("L-LIFETIME", message, place_of(connect), hint=f'add "{moment}" to its orders')

    def read(self) -> Placement:
        """The placement that the IR states, whoever wrote it. Raises PipelinkError where it states none."""
        groups = {".".join(path_of(r)): g for g in self.symbols.ops(GroupOp) for r in g.roles}
        threads = self.pipeline.threads.value.data if self.pipeline.threads is not None else 0
        warps = {n: r.first_warp.value.data for n, r in self.roles.items() if r.first_warp is not None}
        owned = {w for n, first in warps.items() for w in range(first, first + self.roles[n].warps.value.data)}
        idle = [w for w in range(threads // 32) if w not in owned]
        return Placement(
            bases={n: c.base.value.data for n, c in self.claims.items() if c.base is not None},
            depths={n: r.producer.depth.value.data for n, r in self.rings.items() if r.producer.depth is not None},
            warps=warps,
            threads=threads,
            registers={n: g.budget.value.data for n, g in groups.items() if g.budget is not None},
            idle=tuple((w, w + 1) for w in idle),
            footprint=self.pipeline.footprint.integers if self.pipeline.footprint is not None else {},
            certificate=Certificate((), 0, 0, 0, 0),
        )

    def faults(self) -> list[str]:
        """What the stated placement breaks, by the independent checker; twins and endpoints must agree too."""
        apart = [
            f"'{qualified(twin)}' is not where '{qualified(claim)}' is"
            for twin, claim in self.sharing.block_of.items()
            if twin.base != claim.base
        ]
        ends = [
            f"the endpoints of ring '{name}' differ in depth or arrivals"
            for name, ring in self.rings.items()
            if len({(end.depth, end.arrivals) for end in ring.endpoints}) > 1
        ]
        return [
            *check(self.problem(), self.read()),
            *apart,
            *ends,
            *self._arrivals(),
            *self._parameters(),
            *self._facts(),
            *self._topology(),
        ]

    def _arrivals(self) -> Iterator[str]:
        for name, ring in self.rings.items():
            expected = integers(self.reach.ring_arrivals(ring.producers, ring.consumer))
            if ring.producer.arrivals != expected:
                yield f"ring '{name}' has arrivals {ring.producer.arrivals}, its contracts say {expected}"
        for counter in self.sharing.counters:
            total = integer(self.reach.counter_arrivals(counter.producers))
            for end in (e for e in counter.endpoints if e.total != total):
                yield f"counter '{qualified(end)}' has a total of {end.total}, its contracts say {total}"

    def _topology(self) -> Iterator[str]:
        topology, shape, blocks = Topology.of(self.reach), self.pipeline.shape, self.pipeline.blocks
        if shape not in topology.shapes:
            yield f"the kernel is launched in clusters of {shape}, which not all packages can live with"
        if not topology.least <= blocks <= topology.most:
            yield f"the kernel is bound to {blocks} blocks, packages ask for {topology.least} to {topology.most}"

    def _parameters(self) -> Iterator[str]:
        end = 0
        placed = [p for p in self.symbols.ops(ParamOp) if p.offset is not None]
        for param in sorted(placed, key=lambda p: p.offset.value.data if p.offset is not None else 0):
            start = param.offset.value.data if param.offset is not None else 0
            if start < end or start % param.align.value.data:
                yield f"parameters '{param.type_name.data}' at {start} overlap others or are not aligned"
            end = start + param.size.value.data

    def _facts(self) -> Iterator[str]:
        for _, fact, use in self.reach.connected(FactOp, UseFactOp):
            if use.value != fact.value:
                yield f"fact '{qualified(use)}' is written as {use.value}, its owner says {fact.value}"

    def explain(self, explanation: Explanation, errors: Diagnostics) -> None:
        notes: list[Note] = []
        for name, text in explanation.table({name: self._live(claim) for name, claim in self.claims.items()}):
            op: Operation | None = self.claims.get(name) or self.roles.get(name)
            notes.append(Note(text, place_of(op) if op is not None else place_of(self.pipeline)))
        first = next((n.place for n in notes), place_of(self.pipeline))
        notes += self._asked_blocks()
        clause = CLAUSES.get(explanation.domain, "L-OVERLAP")
        errors.error(clause, explanation.text, first, *notes, hint="; or ".join(explanation.suggestions))

    def _live(self, claim: ClaimOp) -> str:
        assert claim.live is not None
        if phase := claim.lifetime.phase.data:
            return f"in phase {phase}"
        names = [e.data for e in self.pipeline.events or ()]
        return "from {} to {}".format(*(names[index] for index in claim.live.get_values()))

    def _asked_blocks(self) -> Iterator[Note]:
        """Who asks for several blocks on a multiprocessor, which leaves each of them less."""
        topology = Topology.of(self.reach)
        for op in topology.stated if topology.occupancy > 1 else ():
            if (least := op.occupancy.get_values()[0]) == topology.occupancy:
                yield Note(f"{least} blocks on a multiprocessor are asked for here", place_of(op))

    def write(self, placement: Placement) -> None:
        for claim in self.symbols.ops(ClaimOp):
            claim.base = None
        for name, claim in self.claims.items():
            claim.base = integer(placement.bases[name])
            for twin in self.sharing.twins.get(claim, ()):
                twin.base = claim.base
        for name, ring in self.rings.items():
            arrivals = integers(self.reach.ring_arrivals(ring.producers, ring.consumer))
            for end in ring.endpoints:
                end.depth, end.arrivals = integer(placement.depths[name]), arrivals
        for counter in self.sharing.counters:
            for end in counter.endpoints:
                end.total = integer(self.reach.counter_arrivals(counter.producers))
        for name, role in self.roles.items():
            role.first_warp = integer(placement.warps[name])
        self._write_groups(placement)
        topology = Topology.of(self.reach)
        self.pipeline.threads = integer(placement.threads)
        self.pipeline.cluster = integers(topology.cluster)
        self.pipeline.occupancy = integer(topology.occupancy)
        self.pipeline.footprint = ValuesAttr.of(dict(placement.footprint))
        self.pipeline.proofs = ValuesAttr.of(proofs(placement))

    def _write_groups(self, placement: Placement) -> None:
        """Roles that share a warpgroup share a register budget, so they are one group."""
        for old in self.symbols.ops(GroupOp):
            old.detach()
            old.erase()
        groups: list[tuple[list[str], int, int]] = []
        for name in sorted(self.roles, key=lambda n: placement.warps[n]):
            first = placement.warps[name] // 4 * 4
            end = -(-(placement.warps[name] + self.roles[name].warps.value.data) // 4) * 4
            if groups and first < groups[-1][2]:
                names, start, stop = groups.pop()
                groups.append(([*names, name], start, max(stop, end)))
            else:
                groups.append(([name], first, end))
        if placement.registers:
            groups += [([], first, first + 4) for first in self._idle_warpgroups(groups, placement.threads // 32)]
        for names, first, end in sorted(groups, key=lambda g: g[1]):
            budget = placement.registers.get(names[0]) if names else IDLE_BUDGET
            need = max((self.measured.get(n, self.roles[n].need.value.data) for n in names), default=0)
            properties = {
                "roles": ArrayAttr([reference(self.roles[n]) for n in names]),
                "warps": integers((first, min(end, placement.threads // 32))),
                "need": integer(need),
                **({"budget": integer(budget)} if budget is not None else {}),
            }
            self.pipeline.body.block.add_op(GroupOp.create(properties=properties, location=self.pipeline.location))

    def _idle_warpgroups(self, groups: list[tuple[list[str], int, int]], warps: int) -> list[int]:
        """First warps of the warpgroups that no role touches; they give their registers up like any other."""
        return [w for w in range(0, warps, 4) if not any(first <= w < end for _, first, end in groups)]


def proofs(placement: Placement) -> dict[str, str | int]:
    """The certificate as the record shows it."""
    certificate = placement.certificate
    said: dict[str, str | int] = {}
    for proof in certificate.proofs:
        state = "proven" if proof.proven else f"not proven, bound {proof.bound}"
        said[proof.objective] = f"{proof.value}, {state}: {proof.how}"
    said["work"] = f"{certificate.nodes} of {certificate.node_limit} nodes, {certificate.rlimit} of rlimit"
    if certificate.z3:
        said["z3"] = certificate.z3
    return said


def _lay_out_parameters(symbols: Symbols, pipeline: PipelineOp, errors: Diagnostics) -> None:
    """Regions in order of package name, each at its own alignment (TMA descriptors need 64 bytes)."""
    offset = 0
    params = sorted(symbols.ops(ParamOp), key=qualified)
    for param in params:
        align = param.align.value.data
        offset = -(-offset // align) * align
        param.offset = integer(offset)
        offset += param.size.value.data
    limit = pipeline.capacities.integers["parameters"]
    if (counters := counter_field(symbols)) is not None:
        offset = counters + ADDRESS
    if offset > limit:
        notes = [Note(f"{p.type_name.data} holds {p.size.value.data} bytes", place_of(p)) for p in params]
        errors.error("L-OVERLAP", f"parameters need {offset} bytes, a kernel has {limit}", place_of(pipeline), *notes)


def counter_field(symbols: Symbols) -> int | None:
    """Where in the parameters the address of the counters goes: after all regions, where anything is counted."""
    if not any(c.kind.data is Kind.counter and c.base is not None for c in symbols.ops(ClaimOp)):
        return None
    placed = [(p.offset.value.data, p.size.value.data) for p in symbols.ops(ParamOp) if p.offset is not None]
    end = max((offset + size for offset, size in placed), default=0)
    return -(-end // ADDRESS) * ADDRESS


def _freeze_facts(reach: Reach) -> None:
    for _, fact, use in reach.connected(FactOp, UseFactOp):
        use.value = StringAttr(fact.value.data)
