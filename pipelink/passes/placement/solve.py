"""Solves one placement: deepest rings, then register budgets, then footprints; every answer is checked."""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace

from pipelink.passes.placement.check import check
from pipelink.passes.placement.conflict import Space
from pipelink.passes.placement.explain import TRIES_LIMIT, explain_domain, explain_occupancy, explain_team
from pipelink.passes.placement.model import WARP, Certificate, Explanation, Infeasible, Placement, Problem, Proof, Ring
from pipelink.passes.placement.packer import Layout, Packer
from pipelink.passes.placement.registers import need_of
from pipelink.passes.placement.warps import Team, arrange
from pipelink.passes.placement.work import Work

WORK_LIMIT = 200_000  # search nodes
NEAR = 8  # depths that are asked one by one; of more the middle one


class InternalError(RuntimeError):
    """The solver broke a rule of its own problem; its message lists the violations."""


def solve(problem: Problem, work_limit: int = WORK_LIMIT, smallest: bool = True) -> Placement:
    """The placement that `problem` asks for, the same for the same problem whatever the order of its parts.

    Without `smallest` any footprint within capacity will do; depths and budgets are sought all the same.
    Raises Infeasible with an explanation for each domain that cannot be placed even at the least depths.
    """
    stated, problem = problem, problem.resolved()
    if (crowd := explain_occupancy(stated)) is not None:
        raise Infeasible(crowd)
    work = Work(work_limit)
    packer = Packer(work)
    spaces = [Space(problem, domain) for domain in sorted(problem.domains, key=lambda d: d.name)]
    team, team_proven = arrange(problem, work)
    _require_feasible(stated, packer, spaces, team, team_proven)
    assert team is not None
    depths, proofs = _deepen(problem, packer, spaces)
    if problem.roles:
        proofs.append(_team_proof(problem, team, team_proven))
    layouts = {space.domain.name: packer.smallest(space, depths, smallest) for space in spaces}
    proofs += [_footprint_proof(name, layout) for name, layout in layouts.items()]
    placement = Placement(
        bases={name: base for layout in layouts.values() for name, base in sorted(layout.bases.items())},
        depths=dict(sorted(depths.items())),
        warps=dict(sorted(team.warps.items())),
        threads=team.threads,
        registers=dict(sorted(team.registers.items())),
        idle=_idle(problem, team),
        footprint={name: layout.footprint for name, layout in layouts.items()},
        certificate=Certificate(tuple(proofs), work.nodes, work.limit, work.rlimit, work.rlimit_limit, work.z3),
    )
    if faults := check(stated, placement):
        raise InternalError("; ".join(faults))
    return placement


def _require_feasible(
    stated: Problem, packer: Packer, spaces: list[Space], team: Team | None, team_proven: bool
) -> None:
    problem = stated.resolved()
    least = {ring.name: ring.min_depth for ring in problem.rings}
    explanations: list[Explanation] = []
    for space in spaces:
        verdict = packer.fits(space, least)
        if verdict.status != "fits":
            explanations.append(explain_domain(space, packer, verdict))
    if team is None:
        explanations.append(explain_team(problem, team_proven))
    if explanations:
        raise Infeasible(*(replace(e, suggestions=(*e.suggestions, *_fewer_blocks(stated, e))) for e in explanations))


def _fewer_blocks(stated: Problem, explanation: Explanation) -> Iterator[str]:
    """The most blocks below those asked for with which what is explained would fit."""
    work = Work(TRIES_LIMIT)
    for blocks in range(stated.occupancy - 1, 0, -1):
        problem = replace(stated, occupancy=blocks).resolved()
        spaces = [Space(problem, d) for d in problem.domains if d.name == explanation.domain]
        least = {ring.name: ring.min_depth for ring in problem.rings}
        fits = [Packer(work).fits(space, least).status == "fits" for space in spaces]
        if all(fits) if spaces else arrange(problem, work)[0] is not None:
            yield f"{blocks} block{'s' * (blocks > 1)} a multiprocessor"
            return


def _deepen(problem: Problem, packer: Packer, spaces: list[Space]) -> tuple[dict[str, int], list[Proof]]:
    """Ring by ring in priority order the greatest depth at which all domains fit, the later rings at their least."""
    depths = {ring.name: ring.min_depth for ring in problem.rings}
    proofs: list[Proof] = []
    for ring in sorted(problem.rings, key=lambda r: (r.priority, r.name)):
        affected = [s for s in spaces if any(c.ring == ring.name for c in s.claims)]
        depths[ring.name], proof = _deepest(ring, packer, affected, depths)
        proofs.append(proof)
    return depths, proofs


def _deepest(ring: Ring, packer: Packer, spaces: list[Space], depths: dict[str, int]) -> tuple[int, Proof]:
    """Deeper is only harder, so that one refuted depth refutes all above it."""

    def refuted(depth: int) -> bool:
        return any(_over(space, depths | {ring.name: depth}) for space in spaces)

    stages = [
        (space.domain.capacity - space.domain.base) // c.size
        for space in spaces
        for c in space.claims
        if c.ring == ring.name
    ]
    most = max(ring.min_depth, min([ring.max_depth, *stages]))  # whatever its contract says, no deeper ring could hold
    bound = bisect_left(range(ring.min_depth + 1, most + 1), True, key=refuted) + ring.min_depth
    why = "the ring's greatest depth"
    if bound < ring.max_depth:
        why = f"depth {bound + 1} refuted: {_against(packer, spaces, depths | {ring.name: bound + 1})[1]}"
    depth, most = ring.min_depth, bound  # what fits, and what may
    probe = most
    while depth < most:
        status, how = _against(packer, spaces, depths | {ring.name: probe})
        if status == "fits":
            depth = probe
        else:
            most = probe - 1
        if status == "refuted":
            bound, why = probe - 1, f"depth {probe} refuted: {how}"
        if status == "undecided":
            why += f"; depth {probe} not proven: {how}"
        probe = most if most - depth <= NEAR else (depth + most + 1) // 2
    return depth, Proof(f"depth of ring {ring.name}", depth, bound, depth == bound, why)


def _over(space: Space, depths: dict[str, int]) -> bool:
    capacity = space.domain.capacity // space.unit(depths)
    return any(part.bound > capacity for part in space.components(depths))


def _against(packer: Packer, spaces: list[Space], depths: dict[str, int]) -> tuple[str, str]:
    """The worst of the domains' verdicts: a refutation, else an undecided one, else that all fit."""
    verdicts = [packer.fits(space, depths) for space in spaces]
    for status in ("refuted", "undecided"):
        for verdict in verdicts:
            if verdict.status == status:
                return status, verdict.how
    return "fits", ""


def _team_proof(problem: Problem, team: Team, proven: bool) -> Proof:
    top = min(role.max_registers - need_of(role) for role in problem.roles)
    how = "exhausted" if proven else "not proven: work limit reached"
    how = f"fewest warpgroups ({team.warpgroups}), all teams over them {how}"
    return Proof("least register surplus", team.surplus, team.surplus if proven else top, proven, how)


def _footprint_proof(name: str, layout: Layout) -> Proof:
    proven = layout.footprint == layout.bound
    return Proof(f"footprint of {name}", layout.footprint, layout.bound, proven, layout.how)


def _idle(problem: Problem, team: Team) -> tuple[tuple[int, int], ...]:
    ranges: list[tuple[int, int]] = []
    end = 0
    taken = sorted((team.warps[r.name], team.warps[r.name] + r.warps) for r in problem.roles)
    for first, after in [*taken, (team.threads // WARP, 0)]:
        if first > end:
            ranges.append((end, first))
        end = after
    return tuple(ranges)
