"""The parts that decide where bounds and first-fit do not: exact search, Z3, and what is said when neither can."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelink.passes.placement import Claim, Domain, Problem, Ring, Role, check, dump_smt, exact, solve
from pipelink.passes.placement.bounds import maximal_cliques, stacked_height
from pipelink.passes.placement.conflict import Component
from pipelink.passes.placement.packer import lower_bound
from pipelink.passes.placement.smt import Smt


def mesh(seed: int, count: int, capacity: int = 4096) -> Problem:
    """Claims live over random intervals of time, as the operators of an instruction stream are."""
    draw = random.Random(seed)
    spans = [(start := draw.randrange(8), start + draw.randint(1, 3)) for _ in range(count)]
    claims = tuple(Claim(f"c{i:02}", "smem", draw.randint(5, 90), draw.choice([1, 4, 16, 32])) for i in range(count))
    apart = frozenset(
        (claims[i].name, claims[j].name)
        for i in range(count)
        for j in range(i + 1, count)
        if spans[i][1] <= spans[j][0] or spans[j][1] <= spans[i][0]
    )
    return Problem((Domain("smem", capacity),), claims, disjoint_lifetimes=apart)


@st.composite
def components(draw: st.DrawFn) -> Component:
    count = draw(st.integers(1, 7))
    near = [set[int]() for _ in range(count)]
    for i in range(count):
        for j in range(i):
            if draw(st.booleans()):
                near[i].add(j)
                near[j].add(i)
    neighbours = tuple(frozenset(n) for n in near)
    sizes = tuple(draw(st.integers(1, 9)) for _ in range(count))
    aligns = tuple(draw(st.sampled_from([1, 1, 2, 3, 4, 8])) for _ in range(count))
    return Component(sizes, aligns, neighbours, maximal_cliques(neighbours), draw(st.integers(0, 2)))


@given(components())
@settings(max_examples=60, deadline=None, derandomize=True)
def test_exact_search_and_z3_agree_at_every_height(part: Component) -> None:
    bound = lower_bound(part)
    model = Smt().packing(part, bound)
    for height in range(bound, bound + 5):
        searched, _ = exact.search(part, height, 100_000)
        decided, _ = model.decide(height, 1_000_000)
        assert searched.status == decided.status
        for outcome in (searched, decided):
            if outcome.status == "fits":
                assert part.height(outcome.bases) <= height


@pytest.mark.parametrize(
    ("blocks", "base", "height"),
    [
        ([(8, 8), (20, 16), (17, 16)], 0, 49),
        ([(1, 1)] * 18, 1, 19),
        ([(3, 4)] * 4, 0, 15),
        ([(3, 4)] * 4 + [(1, 1)] * 3, 0, 15),
        ([(5, 8), (5, 8), (3, 1), (3, 2)], 1, 21),
        ([], 7, 7),
    ],
)
def test_stacked_height(blocks: list[tuple[int, int]], base: int, height: int) -> None:
    assert stacked_height(blocks, base) == height


def test_a_packing_that_first_fit_misses_is_found_and_proven() -> None:
    proofs = [solve(mesh(seed, 24)).certificate.proofs[0] for seed in range(6)]
    assert all(proof.proven for proof in proofs)
    assert any("exact search" in proof.how for proof in proofs)


def test_no_work_leaves_a_gap_and_says_so() -> None:
    gaps = 0
    for seed in range(6):
        placement = solve(mesh(seed, 24), work_limit=0)
        proof = placement.certificate.proofs[0]
        gaps += not proof.proven
        assert proof.proven == (proof.value == proof.bound)
        assert proof.proven or proof.how.endswith(f"gap {proof.value - proof.bound} not proven")
        assert check(mesh(seed, 24), placement) == []
    assert gaps


def test_z3_solves_are_repeatable_within_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipelink.passes.placement.packer.FIRST_NODES", 0)
    first = [solve(mesh(seed, 14)) for seed in range(4)]
    assert [solve(mesh(seed, 14)) for seed in range(4)] == first
    assert any(p.certificate.rlimit and p.certificate.z3 for p in first)
    assert all(p.certificate.rlimit <= p.certificate.rlimit_limit for p in first)


@pytest.mark.parametrize(("depth", "verdict"), [(3, "sat"), (4, "unsat")])
def test_smt_text_has_the_verdict_of_the_solver(depth: int, verdict: str) -> None:
    z3 = pytest.importorskip("z3")
    problem = Problem(
        (Domain("smem", 200), Domain("barrier", 16, base=1)),
        (Claim("a", "smem", 40, 16, "r"), Claim("b", "smem", 70, 32), Claim("c", "smem", 60), Claim("x", "barrier", 1)),
        (Ring("r", 1, 6),),
        (Role("load", 1), Role("core", 8, 4)),
        frozenset({("b", "c")}),
    )
    assert solve(problem).depths == {"r": 3}
    solver = z3.Solver(ctx=z3.Context())
    solver.from_string(dump_smt(problem, {"r": depth}))
    assert str(solver.check()) == verdict
