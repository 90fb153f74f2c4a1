"""The placement problem and its answer as plain data: domains, claims, rings and roles in; bases, depths, warps out.

Sizes and addresses are in the unit of their domain (bytes, ids, columns, slots); warps and registers are counts.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

Kind = Literal["capacity", "alignment", "fragmentation", "warps", "registers", "occupancy"]

WARP = 32  # threads
NAMED = 8  # members that a text names
WARPGROUP = 4  # warps that share one register budget (PTX ISA, setmaxnreg)


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise ValueError(message)


@dataclass(frozen=True)
class Domain:
    """An address space: a claim of size s at a has base <= a and a + s <= capacity, a a multiple of `align`.

    `unit` only words messages ("bytes", "ids"). `multiprocessor` is what all blocks of a multiprocessor have together,
    each taking `reserved` more than it sees, in all a multiple of `grain`; 0: every block has the capacity to itself.
    Where `least_power` is set, a block allocates a power of two, at least so many (tcgen05.alloc).
    """

    name: str
    capacity: int
    align: int = 1
    base: int = 0
    unit: str = ""
    multiprocessor: int = 0
    reserved: int = 0
    grain: int = 1
    least_power: int = 0

    def __post_init__(self) -> None:
        _require(self.capacity >= 0, f"domain {self.name}: capacity {self.capacity} is negative")
        _require(0 <= self.base <= self.capacity, f"domain {self.name}: base {self.base} is not in its space")
        _require(self.align >= 1, f"domain {self.name}: alignment {self.align} is not positive")
        given = (self.multiprocessor, self.reserved, self.grain - 1, self.least_power)
        _require(min(given) >= 0, f"domain {self.name}: what blocks share of it is negative")

    def share(self, blocks: int) -> int:
        """The capacity of each of so many blocks on a multiprocessor."""
        most = self.capacity
        if self.multiprocessor and blocks > 1:
            most = min(most, self.multiprocessor // blocks // self.grain * self.grain - self.reserved)
        if self.least_power:
            most = 1 << most.bit_length() - 1 if most >= self.least_power else 0
        return max(most, self.base)

    def allocated(self, footprint: int) -> int:
        """What a block with this footprint takes of the domain."""
        if not self.least_power or not footprint:
            return footprint
        return max(self.least_power, 1 << (footprint - 1).bit_length())


@dataclass(frozen=True)
class Claim:
    """A block of one domain. Where `ring` is set, `size` is one stage and the block holds size * depth(ring).

    Where `role` is set, a stage grows with it: it holds size + per_warp * warps(role). Widths are inputs, so that
    they are put in before anything is solved (`Problem.resolved`). Where `line` is set, a stage holds whole lines of so
    many units that nothing else touches: a counter that many poll shares its cache line with none.
    """

    name: str
    domain: str
    size: int
    align: int = 1
    ring: str | None = None
    role: str | None = None
    per_warp: int = 0
    line: int = 1

    def __post_init__(self) -> None:
        _require(self.line >= 1, f"claim {self.name}: a line of {self.line} is not positive")
        _require(self.size >= 1, f"claim {self.name}: size {self.size} is not positive")
        _require(self.align >= 1, f"claim {self.name}: alignment {self.align} is not positive")
        grows = self.per_warp > 0 if self.role else self.per_warp == 0
        _require(grows, f"claim {self.name}: grows by {self.per_warp} a warp of role {self.role}")


@dataclass(frozen=True)
class Ring:
    """A ring whose depth is open between two bounds; the lower priority number is deepened first, then the name."""

    name: str
    min_depth: int
    max_depth: int
    priority: int = 0

    def __post_init__(self) -> None:
        _require(1 <= self.min_depth <= self.max_depth, f"ring {self.name}: no depth in its range")


@dataclass(frozen=True)
class Role:
    """A run of warps. `align` is in warps; registers are per thread; `need` defaults to `min_registers`."""

    name: str
    warps: int
    align: int = 1
    min_registers: int = 24
    max_registers: int = 240
    need: int | None = None

    def __post_init__(self) -> None:
        _require(self.warps >= 1 and self.align >= 1, f"role {self.name}: warps and alignment must be positive")
        _require(
            24 <= self.min_registers <= self.max_registers <= 256,
            f"role {self.name}: registers {self.min_registers}..{self.max_registers} are not a range in 24..256",
        )
        _require(self.need is None or 0 <= self.need <= 256, f"role {self.name}: need {self.need} is not in 0..256")


@dataclass(frozen=True)
class Problem:
    """One composition. Claims of a domain overlap only if their pair of names, sorted, is in `disjoint_lifetimes`.

    `role_order` and `claim_order` name who takes the lowest warps and addresses; those not named follow, by name.
    `occupancy` blocks are to fit one multiprocessor: they share its registers, its `multiprocessor_warps`, and what the
    domains say; it holds `max_blocks` at most. `max_warps` is the limit of one block.
    """

    domains: tuple[Domain, ...] = ()
    claims: tuple[Claim, ...] = ()
    rings: tuple[Ring, ...] = ()
    roles: tuple[Role, ...] = ()
    disjoint_lifetimes: frozenset[tuple[str, str]] = frozenset()
    max_warps: int = 32
    register_file: int = 65536
    has_register_groups: bool = True
    role_order: tuple[str, ...] = ()
    claim_order: tuple[str, ...] = ()
    occupancy: int = 1
    multiprocessor_warps: int = 64
    max_blocks: int = 32

    def __post_init__(self) -> None:
        domains = _distinct("domain", [d.name for d in self.domains])
        claims = _distinct("claim", [c.name for c in self.claims])
        rings = _distinct("ring", [r.name for r in self.rings])
        roles = _distinct("role", [r.name for r in self.roles])
        for claim in self.claims:
            _require(claim.domain in domains, f"claim {claim.name}: no domain {claim.domain}")
            _require(claim.ring is None or claim.ring in rings, f"claim {claim.name}: no ring {claim.ring}")
            _require(claim.role is None or claim.role in roles, f"claim {claim.name}: no role {claim.role}")
        for pair in sorted(self.disjoint_lifetimes):
            _require(pair[0] < pair[1], f"lifetimes {pair}: the pair is not sorted")
            _require(claims.issuperset(pair), f"lifetimes {pair}: no such claim")
        _require(roles.issuperset(_distinct("role", self.role_order)), "role_order names an unknown role")
        _require(claims.issuperset(_distinct("claim", self.claim_order)), "claim_order names an unknown claim")
        _require(self.max_warps >= 1 and self.register_file >= 1, "the block has no warps or registers")
        limits = (self.occupancy, self.multiprocessor_warps, self.max_blocks)
        _require(min(limits) >= 1, "a multiprocessor holds no block")

    def resolved(self) -> "Problem":
        """The same problem with what is given put in: widths of roles and whole lines into the sizes of claims, and a
        block's share of the multiprocessor into domains and warps."""
        warps = {role.name: role.warps for role in self.roles}

        def plain(claim: Claim) -> Claim:
            size = claim.size + (claim.per_warp * warps[claim.role] if claim.role is not None else 0)
            size, align = -(-size // claim.line) * claim.line, math.lcm(claim.align, claim.line)
            return replace(claim, size=size, align=align, role=None, per_warp=0, line=1)

        return replace(
            self,
            claims=tuple(plain(claim) for claim in self.claims),
            domains=tuple(replace(d, capacity=d.share(self.occupancy)) for d in self.domains),
            max_warps=max(1, min(self.max_warps, self.multiprocessor_warps // self.occupancy)),
        )


def _distinct(what: str, names: tuple[str, ...] | list[str]) -> frozenset[str]:
    distinct = frozenset(names)
    _require(len(distinct) == len(names), f"a {what} is named twice")
    return distinct


@dataclass(frozen=True)
class Proof:
    """What is known of one objective: its value, the best value not excluded, and how that is known."""

    objective: str
    value: int
    bound: int
    proven: bool
    how: str


@dataclass(frozen=True)
class Certificate:
    """The proofs, in order of the objectives, and the work used of its limits; `z3` is its version if it ran."""

    proofs: tuple[Proof, ...]
    nodes: int
    node_limit: int
    rlimit: int
    rlimit_limit: int
    z3: str = ""


@dataclass(frozen=True)
class Placement:
    """The answer: base of every claim, depth of every ring, first warp and register budget of every role.

    `threads` is padded to whole warpgroups where register budgets are given, else to whole warps. `registers` is empty
    where there is one register group or none can be set. `idle` holds half-open warp ranges below threads / 32; idle
    warps take the budget of their warpgroup, a wholly idle warpgroup 24. `footprint` is the first address above every
    claim of a domain (its base where there is none).
    """

    bases: dict[str, int]
    depths: dict[str, int]
    warps: dict[str, int]
    threads: int
    registers: dict[str, int]
    idle: tuple[tuple[int, int], ...]
    footprint: dict[str, int]
    certificate: Certificate


@dataclass(frozen=True)
class Explanation:
    """Why one domain (or "warps", "registers", "occupancy") cannot be placed: a minimal conflicting set and what would
    fit.

    `claims` holds (claim or role, its amount), `beside` what is live with them and would fit without them; `need`,
    `capacity` and `over` are in `unit`, that of the domain.
    """

    domain: str
    kind: Kind
    claims: tuple[tuple[str, int], ...]
    need: int
    capacity: int
    over: int
    text: str
    suggestions: tuple[str, ...] = ()
    beside: tuple[tuple[str, int], ...] = ()
    unit: str = ""

    def table(self, live: Mapping[str, str]) -> list[tuple[str, str]]:
        """(claim or role, what it takes and when), one for each of the set, then ("", what else is live and the sum).
        `live` says when a claim is live, such as "from begin to end"."""
        lines = [
            (name, f"'{name}' takes {self._amount(amount)}" + (f", live {live[name]}" if name in live else ""))
            for name, amount in self.claims
        ]
        if self.beside:
            count, total = len(self.beside), sum(amount for _, amount in self.beside)
            named = ", ".join(f"'{name}' {amount:,}" for name, amount in self.beside[:NAMED])
            more = f" and {count - NAMED} more" if count > NAMED else ""
            lines.append(("", f"live with them: {self._amount(total)} of {named}{more}"))
        return lines

    def _amount(self, amount: int) -> str:
        return f"{amount:,} {self.unit.removesuffix('s') if amount == 1 else self.unit}".rstrip()


class Infeasible(Exception):
    """No placement exists, or none was found within the work limit (the text says which). One explanation a domain."""

    def __init__(self, *explanations: Explanation) -> None:
        super().__init__("\n".join(e.text for e in explanations))
        self.explanations = explanations

    @property
    def explanation(self) -> Explanation:
        return self.explanations[0]
