"""The solver against exhaustive search on small random problems: the same optimum, or both find none."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from placement_brute import best_team, deepest, least_footprint

from pipelink.passes.placement import Claim, Domain, Infeasible, Problem, Ring, Role, check, solve

CHECKED = settings(max_examples=120, deadline=None, derandomize=True)


@st.composite
def packings(draw: st.DrawFn) -> Problem:
    count = draw(st.integers(1, 5))
    names = [f"c{i}" for i in range(count)]
    rings = tuple(Ring(f"r{i}", 1, draw(st.integers(1, 3)), draw(st.integers(0, 1))) for i in range(2))
    claims = tuple(
        Claim(
            name,
            draw(st.sampled_from(["x", "x", "x", "y"])),
            draw(st.integers(1, 6)),
            draw(st.sampled_from([1, 1, 2, 3, 4])),
            draw(st.sampled_from([None, None, None, "r0", "r1"])),
        )
        for name in names
    )
    pairs = [(a, b) for a in names for b in names if a < b]
    share = frozenset(p for p in pairs if draw(st.booleans()))
    base = draw(st.integers(0, 2))
    domains = (Domain("x", draw(st.integers(6, 18)), base=base), Domain("y", 8, align=2))
    return Problem(domains, claims, rings, disjoint_lifetimes=share, claim_order=tuple(draw(st.permutations(names))))


@given(packings())
@CHECKED
def test_depths_and_footprints_are_the_exhaustive_optimum(problem: Problem) -> None:
    depths = deepest(problem)
    if depths is None:
        with pytest.raises(Infeasible) as failure:
            solve(problem)
        assert all(e.over > 0 for e in failure.value.explanations)
        return
    placement = solve(problem)
    assert placement.depths == depths
    for domain in problem.domains:
        assert placement.footprint[domain.name] == least_footprint(problem, domain, depths)
    assert check(problem, placement) == []
    assert all(proof.proven for proof in placement.certificate.proofs)


@st.composite
def teams(draw: st.DrawFn) -> Problem:
    count = draw(st.integers(1, 3))
    roles: list[Role] = []
    for i in range(count):
        low = draw(st.sampled_from([24, 24, 30, 64, 96]))
        high = draw(st.sampled_from([low + 8, 128, 240]))
        need = draw(st.sampled_from([None, 24, 50, 90]))
        warps = draw(st.sampled_from([1, 1, 2, 3, 4, 5]))
        roles.append(Role(f"r{i}", warps, draw(st.sampled_from([1, 1, 2, 4])), low, high, need))
    return Problem(
        roles=tuple(roles),
        max_warps=draw(st.integers(6, 12)),
        register_file=draw(st.sampled_from([8192, 16384, 24576, 65536])),
        has_register_groups=draw(st.sampled_from([True, True, True, False])),
        role_order=tuple(draw(st.permutations([r.name for r in roles]))),
    )


@given(teams())
@CHECKED
def test_warps_and_budgets_are_the_exhaustive_optimum(problem: Problem) -> None:
    best = best_team(problem)
    if best is None:
        with pytest.raises(Infeasible) as failure:
            solve(problem)
        assert failure.value.explanation.kind in ("warps", "registers")
        return
    placement = solve(problem)
    assert (placement.warps, placement.threads, placement.registers) == best
    assert check(problem, placement) == []
