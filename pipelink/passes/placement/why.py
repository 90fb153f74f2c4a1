"""Answers about one decision of a placement, in plain words: why a claim lies here, why a ring is no deeper."""

from collections.abc import Iterator
from dataclasses import replace

from pipelink.passes.placement.conflict import Space
from pipelink.passes.placement.model import WARP, Claim, Domain, Infeasible, Placement, Problem, Ring
from pipelink.passes.placement.registers import need_of
from pipelink.passes.placement.solve import WORK_LIMIT, solve

NAMED = 6  # claims that a sentence names


def why_here(problem: Problem, placement: Placement, claim: str) -> str:
    """Why `claim` has its address: what it stands on, why no lower address is free, with whom it shares bytes.

    Raises KeyError where the problem has no such claim.
    """
    problem = problem.resolved()
    found = {c.name: c for c in problem.claims}[claim]
    domain = next(d for d in problem.domains if d.name == found.domain)
    return "\n".join(_here(_Neighbourhood(problem, placement, domain, found)))


class _Neighbourhood:
    """One placed claim and the others of its domain."""

    def __init__(self, problem: Problem, placement: Placement, domain: Domain, claim: Claim) -> None:
        space = Space(problem, domain)
        self.placement = placement
        self.domain = domain
        self.claim = claim
        self.size = {c.name: space.size(c, placement.depths) for c in space.claims}
        self.align = space.align(claim)
        own = next(k for k, c in enumerate(space.claims) if c.name == claim.name)
        self.live = [space.claims[k].name for k in sorted(space.neighbours[own])]
        self.others = [c.name for c in space.claims if c.name not in self.live and c.name != claim.name]

    def extent(self, name: str) -> tuple[int, int]:
        base = self.placement.bases[name]
        return base, base + self.size[name]

    def lowest(self) -> int:
        """The lowest address at which the claim would stand free of all that is live with it."""
        address, size = -(-self.domain.base // self.align) * self.align, self.size[self.claim.name]
        for base, end in sorted(self.extent(name) for name in self.live):
            if base < address + size and end > address:
                address = -(-end // self.align) * self.align
        return address


def _here(at: _Neighbourhood) -> Iterator[str]:
    base, end = at.extent(at.claim.name)
    unit = f" {at.domain.unit}" if at.domain.unit else ""
    depth = f", {at.placement.depths[at.claim.ring]} stages of ring {at.claim.ring}" if at.claim.ring else ""
    yield f"{at.claim.name}: [{base:,}, {end:,}) of {at.domain.name}, {end - base:,}{unit} aligned to {at.align}{depth}"
    under = sorted((at.extent(name)[1], name) for name in at.live if at.extent(name)[1] <= base)
    if base == -(-at.domain.base // at.align) * at.align:
        yield f"it stands at the first address of {at.domain.name} that is so aligned"
    elif under and base - under[-1][0] < at.align:
        pad = base - under[-1][0]
        padded = f", {pad:,}{unit} of padding between" if pad else ""
        yield f"it stands on {under[-1][1]}, which is live with it and ends at {under[-1][0]:,}{padded}"
    lowest = at.lowest()
    if lowest < base:
        yield f"with the others as they are it could stand at {lowest:,} too; the footprint would be the same"
    elif under:
        yield f"no lower address is free: below it are live {_names([name for _, name in reversed(under)])}"
    shared = [name for name in at.others if at.extent(name)[0] < end and base < at.extent(name)[1]]
    if shared:
        yield f"it shares storage with {_names(shared)}, whose lifetimes are apart from its own"
    proof = next(p for p in at.placement.certificate.proofs if p.objective == f"footprint of {at.domain.name}")
    state = "proven least" if proof.proven else f"not proven least, bound {proof.bound:,}"
    yield f"{at.domain.name} takes {proof.value:,} of {at.domain.capacity:,}{unit}, {state}: {proof.how}"


def _names(names: list[str]) -> str:
    return ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")


def why_role(problem: Problem, placement: Placement, role: str) -> str:
    """Why `role` has its warps and registers. Raises KeyError where the problem has no such role."""
    found = {r.name: r for r in problem.roles}[role]
    first, after = placement.warps[role], placement.warps[role] + found.warps
    lines = [f"role {role}: warps [{first}, {after}) of {placement.threads // WARP}, aligned to {found.align}"]
    before = sorted(r.name for r in problem.roles if placement.warps[r.name] < first)
    lines += [f"below it are {_names(before)}"] if before else []
    budget = placement.registers.get(role)
    if budget is None:
        lines.append("it has no register budget of its own: the block is one group, or the target sets none")
    else:
        limits = f"of {found.min_registers} to {found.max_registers}"
        lines.append(f"it has {budget} registers a thread {limits}, {budget - need_of(found)} above its need")
    proof = next(p for p in placement.certificate.proofs if p.objective == "least register surplus")
    state = "proven greatest" if proof.proven else f"not proven greatest, bound {proof.bound}"
    lines.append(f"the least surplus of all roles is {proof.value}, {state}: {proof.how}")
    return "\n".join(lines)


def why_not_depth(problem: Problem, ring: str, depth: int, work_limit: int = WORK_LIMIT) -> str:
    """Why `ring` does not have `depth`: the conflict, what one more stage costs, and what would make room.

    Solves the problem at most a few times. Raises KeyError where there is no such ring.
    """
    problem = problem.resolved()
    rings = {r.name: r for r in problem.rings}
    own = rings[ring]
    if not own.min_depth <= depth <= own.max_depth:
        return f"ring {ring}: its contract allows {own.min_depth} to {own.max_depth} stages, not {depth}"
    try:
        placement = solve(problem, work_limit)
    except Infeasible as failure:
        head = f"ring {ring}: the pipeline does not fit, not even with all rings at their least depth"
        return "\n".join([head, *_told(failure), *_cost(problem, None, ring)])
    chosen = placement.depths[ring]
    if depth <= chosen:
        state = "is what it has" if depth == chosen else f"fits; it has {chosen}, as deep as fits"
        return f"ring {ring}: depth {depth} {state}"
    lines = [f"ring {ring}: depth {depth} does not fit, it has {chosen}"]
    lines += _conflict(problem, placement, own, depth, work_limit)
    lines += _cost(problem, placement, ring)
    return "\n".join(lines)


def _fixed(problem: Problem, depths: dict[str, int]) -> Problem:
    rings = tuple(
        replace(r, min_depth=depths.get(r.name, r.min_depth), max_depth=depths.get(r.name, r.max_depth))
        for r in problem.rings
    )
    return replace(problem, rings=rings)


def _conflict(problem: Problem, placement: Placement, ring: Ring, depth: int, work_limit: int) -> Iterator[str]:
    """What is over, with the rings that come first at the depths that they have; and whether they are what it takes."""
    before = [r for r in problem.rings if (r.priority, r.name) < (ring.priority, ring.name)]
    earlier = {r.name: placement.depths[r.name] for r in before}
    failure = _failure(_fixed(problem, earlier | {ring.name: depth}), work_limit)
    if failure is None:  # the first solve ran out of its work limit before it got here
        yield "with its work limit to itself it fits; raise the limit"
        return
    yield from _told(failure)
    at = _fixed(problem, {ring.name: depth})
    if any(earlier[r.name] > r.min_depth for r in before) and _failure(at, work_limit) is None:
        traded = solve(at, work_limit, smallest=False).depths
        less = [f"ring {n} at {traded[n]} instead of {earlier[n]}" for n in sorted(earlier) if traded[n] < earlier[n]]
        yield f"it would fit with {' and '.join(less)}, which come first by priority"


def _told(failure: Infeasible) -> Iterator[str]:
    for explanation in failure.explanations:
        yield explanation.text
        yield from (f"it would fit with {suggestion}" for suggestion in explanation.suggestions)


def _failure(problem: Problem, work_limit: int) -> Infeasible | None:
    try:
        solve(problem, work_limit, smallest=False)
    except Infeasible as failure:
        return failure
    return None


def _cost(problem: Problem, placement: Placement | None, ring: str) -> Iterator[str]:
    for domain in problem.domains:
        stages = [(c.name, c.size) for c in problem.claims if c.ring == ring and c.domain == domain.name]
        if not stages:
            continue
        unit = f" {domain.unit}" if domain.unit else ""
        listed = ", ".join(f"{name} {size:,}" for name, size in sorted(stages, key=lambda s: (-s[1], s[0])))
        cost = f"one more stage holds {sum(size for _, size in stages):,}{unit} of {domain.name} ({listed})"
        left = (
            f"; {domain.capacity - placement.footprint[domain.name]:,} are left above the claims" if placement else ""
        )
        yield cost + left
