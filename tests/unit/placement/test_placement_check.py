"""The checker notices every way in which a placement can be wrong, and knows which register budgets hang."""

from dataclasses import replace

import pytest
from placement_problems import gemm

from pipelink.passes.placement import Infeasible, Placement, Problem, Role, check, solve


def change(placement: Placement, **fields: dict[str, int]) -> Placement:
    """`placement` with some entries of its dictionaries replaced."""
    merged = {name: getattr(placement, name) | entries for name, entries in fields.items()}
    return replace(placement, **merged)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"bases": {"a": 8}}, "claim a: 8 is not aligned to 1024 in smem"),
        ({"bases": {"b": 1024}}, "claims a [0, 65536) and b [1024, 132096) overlap in smem"),
        ({"bases": {"b": 131072}}, "claim b: [131072, 262144) is not in smem [0, 232448)"),
        ({"bases": {"empty": -8}}, "claim empty: [-8, 24) is not in smem [0, 232448)"),
        ({"bases": {"scratch": 0}}, "claims out [0, 32768) and scratch [0, 16384) overlap in smem"),
        ({"bases": {"other": 0}}, "claims: placed ['a', 'b', 'empty', 'full', 'other', 'out', 'scratch']"),
        ({"depths": {"ab": 9}}, "ring ab: depth 9 is not in 2..8"),
        ({"footprint": {"smem": 196608}}, "domain smem: footprint 196608, claims end at 196672"),
        ({"warps": {"epilogue": 2}}, "role epilogue: first warp 2 is not aligned to 4"),
        ({"warps": {"load": 5}}, "warp 5: shared by roles load, epilogue"),
        ({"warps": {"load": 3}}, "block: idle warps ((1, 4),) are not those without a role"),
        ({"warps": {"load": 32}}, "warp 32 of role load is outside the block's 32"),
        ({"registers": {"load": 76}}, "role load: budget 76 is not a multiple of 8 in 24..240"),
        ({"registers": {"load": 248}}, "role load: budget 248 is not a multiple of 8 in 24..240"),
        ({"registers": {"load": 80}}, "registers: budgets take 65536, the block starts with 64512"),
    ],
)
def test_a_broken_placement_is_noticed(fields: dict[str, dict[str, int]], expected: str) -> None:
    placement = change(solve(gemm()), **fields)
    assert any(fault.startswith(expected) for fault in check(gemm(), placement)), check(gemm(), placement)


def test_threads_and_missing_budgets_are_noticed() -> None:
    placement = solve(gemm())
    assert "block: 288 threads, roles need 384" in check(gemm(), replace(placement, threads=288))
    faults = check(gemm(), replace(placement, registers={}))
    assert "role load: budget 0 is not a multiple of 8 in 24..240" in faults
    single = gemm(has_register_groups=False)
    assert "registers: budgets where no warpgroup can set its own" in check(single, placement)


def test_roles_of_one_warpgroup_share_a_budget() -> None:
    problem = Problem(roles=(Role("a", 1), Role("b", 1), Role("c", 8, 4)))
    placement = solve(problem)
    assert placement.registers["a"] == placement.registers["b"]
    broken = change(placement, registers={"a": placement.registers["a"] - 8})
    assert check(problem, broken) == ["warpgroup 0: roles a, b have different budgets [160, 168]"]


def fixed(budgets: tuple[int, ...]) -> Problem:
    """One role a warpgroup, each with exactly this budget."""
    return Problem(roles=tuple(Role(f"g{i}", 4, 4, b, b) for i, b in enumerate(budgets)))


# What ended and what hung on an H200, one warpgroup a budget.
ENDED = [
    (24, 232, 232),
    (24, 240, 240),
    (40, 232, 232),
    (32, 232, 232),
    (24, 232, 240),
    (24, 224, 232),
    (24, 168, 240),
    (160, 168, 176),
    (24, 160, 160, 168),
    (24, 24, 232, 232),
    (80, 168, 168, 96),
    (24, 160, 160, 160),
    (24, 24, 224, 224),
    (80, 168, 168, 88),
    (24, 240),
    (24, 248),
]
HUNG = [(168, 168, 176), (96, 232, 232), (24, 24, 240, 240)]
UNMEASURED = [(248, 256)]  # a thread starts with 248 at most, so the pool of two warpgroups is less than the file


@pytest.mark.parametrize("budgets", ENDED)
def test_budgets_that_end_are_accepted(budgets: tuple[int, ...]) -> None:
    placement = solve(fixed(budgets))
    assert placement.registers == {f"g{i}": b for i, b in enumerate(budgets)}


@pytest.mark.parametrize("budgets", HUNG + UNMEASURED)
def test_budgets_over_the_pool_are_refused(budgets: tuple[int, ...]) -> None:
    with pytest.raises(Infeasible) as failure:
        solve(fixed(budgets))
    assert failure.value.explanation.kind == "registers"
    fair = solve(fixed((24,) * len(budgets)))
    hanging = replace(fair, registers={f"g{i}": b for i, b in enumerate(budgets)})
    assert any(fault.startswith("registers: budgets take") for fault in check(fixed(budgets), hanging))
