"""Faults reported in public, as placements: what must be refused reads as its golden file, what fits is accepted."""

from pathlib import Path

import pytest

from pipelink.ir.targets import TARGETS
from pipelink.passes.placement import Claim, Domain, Infeasible, Placement, Problem, Role, check, solve

GOLDEN = Path(__file__).parent / "golden"


def refuse(row: str, problem: Problem) -> None:
    """The explanations and what would make it fit, as a user reads them, against the golden file of the row."""
    with pytest.raises(Infeasible) as failure:
        solve(problem)
    lines: list[str] = []
    for explanation in failure.value.explanations:
        assert explanation.over == explanation.need - explanation.capacity > 0
        lines += [explanation.text, *(f"  would fit with {s}" for s in explanation.suggestions)]
    assert "\n".join(lines) + "\n" == (GOLDEN / f"{row}.txt").read_text()


def accept(problem: Problem) -> Placement:
    placement = solve(problem)
    assert check(problem, placement) == []
    return placement


def smem(target: str) -> Domain:
    return Domain("smem", TARGETS[target].smem, unit="bytes")


def budgets(*registers: int) -> Problem:
    names = ("load", "core0", "core1", "core2")
    return Problem(roles=tuple(Role(n, 4, 4, r, r) for n, r in zip(names, registers, strict=False)))


def test_p22_budgets_of_71680_registers() -> None:
    refuse("p22", budgets(96, 232, 232))
    accept(budgets(24, 232, 232))


def barriers(epilogue: int, base: int) -> Problem:
    core = tuple(Claim(f"core.b{i}", "barrier", 1) for i in range(9))
    more = tuple(Claim(f"epilogue.b{i}", "barrier", 1) for i in range(epilogue))
    return Problem((Domain("barrier", 16, base=base, unit="ids"),), core + more)


def test_p42_named_barriers_of_two_libraries() -> None:
    for base in (0, 1):
        bases = accept(barriers(6, base)).bases
        assert len(set(bases.values())) == 15
    accept(barriers(7, 0))  # only where id 0 is not kept for __syncthreads
    refuse("p42_16", barriers(7, 1))
    refuse("p42_17", barriers(8, 0))


def swizzled(capacity: int) -> Problem:
    """Tiles whose 128-byte swizzle repeats every 1024 bytes; what is put before them must not shift them."""
    tiles = (Claim("tile0", "smem", 8320, 1024), Claim("tile1", "smem", 8320, 1024))
    head = Claim("head", "smem", 768, 256)
    return Problem((Domain("smem", capacity, unit="bytes"),), (head, *tiles), claim_order=("head", "tile0", "tile1"))


def test_p60_swizzled_tiles_keep_their_alignment() -> None:
    bases = accept(swizzled(17536)).bases
    assert bases["tile0"] % 1024 == bases["tile1"] % 1024 == 0
    refuse("p60", swizzled(17408))


def staged(target: str, tile: int, epilogue: int) -> Problem:
    claims = (Claim("mainloop.tiles", "smem", tile, 1024), Claim("epilogue.out", "smem", epilogue, 1024))
    return Problem((smem(target),), claims)


def test_p65_a_hopper_tile_on_sm_120() -> None:
    refuse("p65_102400", staged("sm_120a", 69632, 32768))
    refuse("p65_131072", staged("sm_120a", 98304, 32768))
    accept(staged("sm_90a", 69632, 32768))
    accept(staged("sm_90a", 98304, 32768))


def test_p66_220_kib_on_a_part_of_99() -> None:
    def problem(target: str) -> Problem:
        claims = (Claim("linear.weights", "smem", 196608, 1024), Claim("linear.input", "smem", 28672, 128))
        return Problem((smem(target),), claims)

    refuse("p66", problem("sm_120a"))
    accept(problem("sm_90a"))


def pages(target: str) -> Problem:
    """Operators of one instruction stream, one at a time: the pages of each, and what all share."""
    each = {"matvec": 13, "rope": 2, "attention": 5, "norm": 3}
    claims = tuple(Claim(f"{name}.pages", "smem", 16384 * count, 1024) for name, count in each.items())
    names = sorted(c.name for c in claims)
    apart = frozenset((a, b) for a in names for b in names if a < b)
    shared = Claim("instructions", "smem", 4096, 128)
    return Problem((smem(target),), (*claims, shared), disjoint_lifetimes=apart)


def test_p67_an_operator_of_13_pages_where_6_fit() -> None:
    refuse("p67", pages("sm_120a"))
    placement = accept(pages("sm_90a"))
    assert placement.footprint == {"smem": 13 * 16384 + 4096}


def test_p69_half_a_gibibyte_of_shared_memory() -> None:
    refuse("p69", Problem((smem("sm_90a"),), (Claim("tiles", "smem", 512 << 20, 1024), Claim("bar", "smem", 64, 8))))


def columns(*counts: int) -> Problem:
    domain = Domain("tmem", TARGETS["sm_100a"].tmem, 32, unit="columns")
    return Problem((domain,), tuple(Claim(f"acc{i}", "tmem", n) for i, n in enumerate(counts)))


def test_p75_640_tensor_memory_columns() -> None:
    refuse("p75", columns(256, 256, 128))
    accept(columns(256, 256))


def test_p76_exactly_full_tensor_memory_is_placed() -> None:
    assert accept(columns(192, 192, 128)).footprint == {"tmem": 512}
