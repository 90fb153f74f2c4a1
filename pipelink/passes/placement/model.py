"""The placement problem and its answer as plain data: domains, claims, rings and roles in; bases, depths, warps out.

Sizes and addresses are in the unit of their domain (bytes, ids, columns, slots); warps and registers are counts.
"""

from dataclasses import dataclass, replace
from typing import Literal

Kind = Literal["capacity", "alignment", "fragmentation", "warps", "registers"]

WARP = 32  # threads
WARPGROUP = 4  # warps that share one register budget (PTX ISA, setmaxnreg)


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise ValueError(message)


@dataclass(frozen=True)
class Domain:
    """An address space: a claim of size s at a has base <= a and a + s <= capacity, a a multiple of `align`.

    `unit` only words messages ("bytes", "ids").
    """

    name: str
    capacity: int
    align: int = 1
    base: int = 0
    unit: str = ""

    def __post_init__(self) -> None:
        _require(0 <= self.base <= self.capacity, f"domain {self.name}: base {self.base} is not in its space")
        _require(self.align >= 1, f"domain {self.name}: alignment {self.align} is not positive")


@dataclass(frozen=True)
class Claim:
    """A block of one domain. Where `ring` is set, `size` is one stage and the block holds size * depth(ring).

    Where `role` is set, a stage grows with it: it holds size + per_warp * warps(role). Widths are inputs, so that
    they are put in before anything is solved (`Problem.with_widths`).
    """

    name: str
    domain: str
    size: int
    align: int = 1
    ring: str | None = None
    role: str | None = None
    per_warp: int = 0

    def __post_init__(self) -> None:
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

    def with_widths(self) -> "Problem":
        """The same problem with the widths of roles put into the sizes of the claims that depend on them."""
        warps = {role.name: role.warps for role in self.roles}

        def plain(claim: Claim) -> Claim:
            if claim.role is None:
                return claim
            return replace(claim, size=claim.size + claim.per_warp * warps[claim.role], role=None, per_warp=0)

        return replace(self, claims=tuple(plain(claim) for claim in self.claims))


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
    """Why one domain (or "warps", "registers") cannot be placed: a minimal conflicting set and what would fit.

    `claims` holds (claim or role, its amount); `need`, `capacity` and `over` are in the domain's unit.
    """

    domain: str
    kind: Kind
    claims: tuple[tuple[str, int], ...]
    need: int
    capacity: int
    over: int
    text: str
    suggestions: tuple[str, ...] = ()


class Infeasible(Exception):
    """No placement exists, or none was found within the work limit (the text says which). One explanation a domain."""

    def __init__(self, *explanations: Explanation) -> None:
        super().__init__("\n".join(e.text for e in explanations))
        self.explanations = explanations

    @property
    def explanation(self) -> Explanation:
        return self.explanations[0]
