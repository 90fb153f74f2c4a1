"""Claims whose size grows with the warps of a role: widths are inputs, so they are put in before solving."""

import pytest

from pipelink.passes.placement import Claim, Domain, Infeasible, Placement, Problem, Ring, Role, check, dump_smt, solve


def reduction(warps: int, capacity: int = 4096) -> Problem:
    claims = (
        Claim("partial", "smem", 64, 16, role="core", per_warp=128),
        Claim("stage", "smem", 256, 16, "r", role="core", per_warp=16),
    )
    return Problem((Domain("smem", capacity),), claims, (Ring("r", 1, 8),), (Role("core", warps, 4),))


@pytest.mark.parametrize("warps", [4, 8, 16])
def test_sizes_and_depths_follow_the_width(warps: int) -> None:
    problem = reduction(warps)
    placement = solve(problem)
    partial, stage = 64 + 128 * warps, 256 + 16 * warps
    depth = min(8, (4096 - partial) // stage)
    assert placement.depths == {"r": depth}
    assert placement.footprint == {"smem": partial + depth * stage}
    assert check(problem, placement) == []
    assert f"{partial})" in dump_smt(problem, placement.depths)


def test_the_check_counts_the_warps_itself() -> None:
    placement = solve(reduction(4))
    wider = check(reduction(8), placement)
    assert any("overlap in smem" in fault for fault in wider)


def test_a_width_that_does_not_fit_is_explained() -> None:
    with pytest.raises(Infeasible) as failure:
        solve(reduction(16, 2048))
    assert "partial 2,112" in failure.value.explanation.text


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        (lambda: Claim("a", "m", 1, role="r"), "grows by 0 a warp of role r"),
        (lambda: Claim("a", "m", 1, per_warp=4), "grows by 4 a warp of role None"),
        (lambda: Problem((Domain("m", 9),), (Claim("a", "m", 1, role="r", per_warp=1),)), "claim a: no role r"),
    ],
)
def test_a_claim_that_grows_names_a_role_and_by_how_much(claim, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        claim()


def test_plain_problems_are_not_changed() -> None:
    problem = Problem((Domain("m", 9),), (Claim("a", "m", 1),))
    assert problem.resolved() == problem
    assert isinstance(solve(problem), Placement)
