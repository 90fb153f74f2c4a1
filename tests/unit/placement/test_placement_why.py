"""What is said of one decision: why a claim lies where it does, and why a ring is no deeper."""

from dataclasses import replace

import pytest
from placement_problems import gemm

from pipelink.passes.placement import Claim, Domain, Problem, Ring, solve, why_here, why_not_depth


def test_why_here_names_what_a_claim_stands_on_and_with_whom_it_shares() -> None:
    problem = gemm()
    placement = solve(problem)
    assert why_here(problem, placement, "a") == (
        "a: [0, 65,536) of smem, 65,536 bytes aligned to 1024, 4 stages of ring ab\n"
        "it stands at the first address of smem that is so aligned\n"
        "it shares storage with out, scratch, whose lifetimes are apart from its own\n"
        "smem takes 196,672 of 232,448 bytes, proven least: clique bound 196672 met"
    )
    assert "it stands on b, which is live with it and ends at 196,608" in why_here(problem, placement, "empty")


def test_why_here_tells_padding_and_a_lower_address_that_is_free() -> None:
    claims = (Claim("a", "m", 3), Claim("b", "m", 8, 8), Claim("c", "m", 2), Claim("tall", "m", 40))
    apart = frozenset({("a", "tall"), ("b", "tall"), ("c", "tall")})
    problem = Problem((Domain("m", 64),), claims, disjoint_lifetimes=apart, claim_order=("a", "b", "c"))
    placement = solve(problem)
    assert "it stands on c, which is live with it and ends at 5, 3 of padding between" in why_here(
        problem, placement, "b"
    )
    moved = replace(placement, bases={**placement.bases, "c": 16})
    text = why_here(problem, moved, "c")
    assert "with the others as they are it could stand at 3 too" in text


def test_an_unknown_claim_or_ring_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        why_here(gemm(), solve(gemm()), "other")
    with pytest.raises(KeyError):
        why_not_depth(gemm(), "other", 3)


def test_why_not_depth_gives_the_conflict_and_the_cost_of_a_stage() -> None:
    assert why_not_depth(gemm(), "ab", 5) == (
        "ring ab: depth 5 does not fit, it has 4\n"
        "smem: needs 245,840 bytes live at once, has 232,448, over by 13,392; minimal conflicting set (2 of 4 live): "
        "b 163,840 (ring ab at its least depth 5), a 81,920 (ring ab at its least depth 5)\n"
        "it would fit with ring ab at depth 4\n"
        "it would fit with claim b of 30,089 bytes a stage\n"
        "it would fit with claims b and a with disjoint lifetimes\n"
        "one more stage holds 49,168 bytes of smem (b 32,768, a 16,384, empty 8, full 8); "
        "35,776 are left above the claims"
    )


@pytest.mark.parametrize(
    ("depth", "text"),
    [
        (9, "ring ab: its contract allows 2 to 8 stages, not 9"),
        (4, "ring ab: depth 4 is what it has"),
        (3, "ring ab: depth 3 fits; it has 4, as deep as fits"),
    ],
)
def test_depths_that_need_no_conflict(depth: int, text: str) -> None:
    assert why_not_depth(gemm(), "ab", depth) == text


def test_a_ring_that_came_first_is_named_where_it_took_the_room() -> None:
    claims = (Claim("x", "m", 10, 1, "first"), Claim("y", "m", 10, 1, "second"))
    problem = Problem((Domain("m", 60),), claims, (Ring("first", 1, 4), Ring("second", 1, 4, priority=1)))
    assert solve(problem).depths == {"first": 4, "second": 2}
    text = why_not_depth(problem, "second", 3)
    assert "it would fit with ring first at 3 instead of 4, which come first by priority" in text
