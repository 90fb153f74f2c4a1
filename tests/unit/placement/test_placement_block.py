"""What a block shares with others of its multiprocessor, allocates in powers of two, or keeps on lines of its own."""

import time
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from placement_brute import best_team, deepest, least_footprint

from pipelink.ir.targets import TARGETS
from pipelink.passes.placement import Claim, Domain, Infeasible, Problem, Ring, Role, check, solve
from pipelink.passes.placement.multiprocessor import COUNTER_LINE, MULTIPROCESSORS, domains, of_target
from pipelink.passes.placement.registers import entry_registers, pool, register_cap


def shares(target: str, blocks: int) -> dict[str, int]:
    own = domains(TARGETS[target].capacities(), of_target(target))
    return {d.name: d.share(blocks) for d in own}


@pytest.mark.parametrize(
    ("target", "blocks", "smem", "barrier", "tmem"),
    [
        ("sm_80", 1, 166912, 16, 0),
        ("sm_90a", 1, 232448, 16, 0),
        ("sm_90a", 2, 115712, 16, 0),
        ("sm_90a", 3, 76800, 16, 0),
        ("sm_90a", 5, 45568, 12, 0),
        ("sm_100a", 2, 115712, 16, 256),
        ("sm_100a", 3, 76800, 16, 128),
        ("sm_103a", 32, 6272, 2, 0),
        ("sm_120a", 2, 50176, 12, 0),
    ],
)
def test_the_share_of_a_block(target: str, blocks: int, smem: int, barrier: int, tmem: int) -> None:
    found = shares(target, blocks)
    assert (found["smem"], found["barrier"], found["tmem"]) == (smem, barrier, tmem)


def test_every_target_says_what_its_blocks_share() -> None:
    assert set(MULTIPROCESSORS) == set(TARGETS)
    for name, own in MULTIPROCESSORS.items():
        assert own.smem == TARGETS[name].smem + 1024


@pytest.mark.parametrize(("footprint", "allocated"), [(0, 0), (1, 32), (32, 32), (33, 64), (192, 256), (512, 512)])
def test_tensor_memory_is_allocated_in_powers_of_two(footprint: int, allocated: int) -> None:
    tmem = domains(TARGETS["sm_100a"].capacities(), of_target("sm_100a"))[2]
    assert tmem.allocated(footprint) == allocated


def test_192_columns_leave_no_room_for_a_third_block() -> None:
    tmem = domains(TARGETS["sm_100a"].capacities(), of_target("sm_100a"))[2]
    problem = Problem((tmem,), (Claim("acc", "tmem", 192, 32),), occupancy=2)
    assert check(problem, solve(problem)) == []
    with pytest.raises(Infeasible) as failure:
        solve(replace(problem, occupancy=3))
    assert failure.value.explanation.text == (
        "tmem: needs 192 columns live at once, has 128 for each of 3 blocks a multiprocessor, over by 64; "
        "minimal conflicting set (1 of 1 live): acc 192"
    )
    assert failure.value.explanation.suggestions[-1] == "2 blocks a multiprocessor"


@pytest.mark.parametrize(
    ("threads", "blocks", "registers"),  # as ptxas grants them under __launch_bounds__(threads, blocks) for sm_90a
    [(416, 1, 128), (288, 1, 168), (288, 2, 96), (384, 1, 168), (96, 4, 168), (160, 3, 128), (672, 1, 80)],
)
def test_registers_under_a_launch_bound(threads: int, blocks: int, registers: int) -> None:
    assert register_cap(65536, threads, blocks) == registers
    assert entry_registers(65536, threads, blocks) == registers


def test_the_pool_of_a_block_shrinks_with_others() -> None:
    assert (pool(65536, 3), pool(65536, 3, 2)) == (504, 240)


def test_the_check_objects_to_a_placement_made_for_fewer_blocks() -> None:
    own = domains(TARGETS["sm_100a"].capacities(), of_target("sm_100a"))
    claims = (Claim("a", "smem", 150000), Claim("t", "tmem", 300, 32), Claim("b", "barrier", 15))
    problem = Problem(own, claims, roles=(Role("load", 4, 4, 24, 24), Role("core", 8, 4, 240, 240)))
    faults = "\n".join(check(replace(problem, occupancy=5, max_blocks=4), solve(problem)))
    for said in ("smem: 5 blocks", "tmem: 5 blocks", "barrier: 5 blocks", "budgets take", "which holds 4"):
        assert said in faults
    assert "a multiprocessor has 320" in "\n".join(
        check(replace(problem, occupancy=2, multiprocessor_warps=10), solve(problem))
    )


def test_more_blocks_than_there_are() -> None:
    with pytest.raises(Infeasible) as failure:
        solve(Problem(occupancy=33))
    assert failure.value.explanation.domain == "occupancy"
    assert "33 blocks are asked of a multiprocessor, which holds 32" in failure.value.explanation.text


def test_contended_counters_share_a_line_with_nothing() -> None:
    hot = tuple(Claim(f"hot{i}", "counter", 1, line=COUNTER_LINE) for i in range(3))
    cold = tuple(Claim(f"cold{i}", "counter", 1) for i in range(5))
    problem = Problem((Domain("counter", 1 << 20, unit="words"),), (*hot, *cold))
    placement = solve(problem)
    assert placement.footprint == {"counter": 3 * COUNTER_LINE + 5}
    lines = {name: base // COUNTER_LINE for name, base in placement.bases.items()}
    for claim in hot:
        assert [name for name, line in lines.items() if line == lines[claim.name]] == [claim.name]
    moved = replace(placement, bases={**placement.bases, "cold0": placement.bases["hot0"] + 1})
    assert any("overlap in counter" in fault for fault in check(problem, moved))
    shifted = replace(placement, bases={**placement.bases, "hot0": placement.bases["hot0"] + 1})
    assert any("does not begin a line of 32" in fault for fault in check(problem, shifted))


@pytest.mark.parametrize("most", [10**3, 10**6, 10**12])
def test_a_huge_depth_is_bounded_by_what_can_hold_it(most: int) -> None:
    claims = (Claim("tile", "smem", 48, 16, "r"), Claim("full", "smem", 8, 8, "r"), Claim("x", "smem", 1000, 512))
    problem = Problem((Domain("smem", 232448),), claims, (Ring("r", 1, most), Ring("idle", 1, most)))
    start = time.process_time()
    placement = solve(problem)
    assert time.process_time() - start < 2
    assert placement.depths["r"] == min(most, (232448 - 1000) // 56)
    assert placement.certificate.proofs[1].proven


@st.composite
def blocks(draw: st.DrawFn) -> Problem:
    """Everything at once: depths in two domains, widths, lines, powers of two and several blocks."""
    names = [f"c{i}" for i in range(draw(st.integers(1, 4)))]
    roles = (Role("r", draw(st.integers(1, 3))),)
    rings = (Ring("a", 1, draw(st.integers(1, 3))), Ring("b", 1, draw(st.integers(1, 2)), draw(st.integers(0, 1))))
    claims: list[Claim] = []
    for name in names:
        per_warp = draw(st.sampled_from([0, 0, 1, 2]))
        claims.append(
            Claim(
                name,
                draw(st.sampled_from(["x", "x", "y"])),
                draw(st.integers(1, 4)),
                draw(st.sampled_from([1, 1, 2, 3])),
                draw(st.sampled_from([None, None, "a", "b"])),
                "r" if per_warp else None,
                per_warp,
                draw(st.sampled_from([1, 1, 1, 4])),
            )
        )
    x = Domain("x", draw(st.integers(4, 18)), multiprocessor=draw(st.integers(8, 40)), reserved=1, grain=2)
    y = Domain("y", 16, multiprocessor=16, least_power=2)
    share = frozenset((a, b) for a in names for b in names if a < b and draw(st.booleans()))
    return Problem((x, y), tuple(claims), rings, roles, share, occupancy=draw(st.integers(1, 3)))


def spelled_out(problem: Problem) -> Problem:
    """The same with one block alone and plain sizes, worked out here by hand."""
    x, _ = problem.domains
    n = problem.occupancy
    most = x.capacity if n == 1 else max(0, min(x.capacity, x.multiprocessor // n // 2 * 2 - 1))
    fits = [p for p in (2, 4, 8, 16) if p * n <= 16]
    claims: list[Claim] = []
    for c in problem.claims:
        size = c.size + c.per_warp * problem.roles[0].warps
        while size % c.line:
            size += 1
        align = next(a for a in range(1, 100) if a % c.align == 0 and a % c.line == 0)
        claims.append(Claim(c.name, c.domain, size, align, c.ring))
    return replace(problem, domains=(Domain("x", most), Domain("y", max(fits))), claims=tuple(claims), occupancy=1)


@given(blocks())
@settings(max_examples=400, deadline=None, derandomize=True)
def test_coupled_domains_have_the_exhaustive_optimum(problem: Problem) -> None:
    plain = spelled_out(problem)
    depths = deepest(plain)
    if depths is None:
        with pytest.raises(Infeasible):
            solve(problem)
        return
    placement = solve(problem)
    assert placement.depths == depths
    for domain in plain.domains:
        assert placement.footprint[domain.name] == least_footprint(plain, domain, depths)
    assert check(problem, placement) == []


@st.composite
def crowded(draw: st.DrawFn) -> Problem:
    roles = tuple(
        Role(
            f"r{i}",
            draw(st.sampled_from([1, 2, 4, 5])),
            draw(st.sampled_from([1, 2, 4])),
            draw(st.sampled_from([24, 40, 96])),
            draw(st.sampled_from([96, 160, 240])),
        )
        for i in range(draw(st.integers(1, 3)))
    )
    return Problem(roles=roles, max_warps=12, occupancy=draw(st.integers(1, 3)), multiprocessor_warps=24)


@given(crowded())
@settings(max_examples=150, deadline=None, derandomize=True)
def test_budgets_under_several_blocks_are_the_exhaustive_optimum(problem: Problem) -> None:
    plain = replace(problem, max_warps=min(12, 24 // problem.occupancy))
    best = best_team(plain)
    if best is None:
        with pytest.raises(Infeasible):
            solve(problem)
        return
    placement = solve(problem)
    assert (placement.warps, placement.threads, placement.registers) == best
    assert check(problem, placement) == []
