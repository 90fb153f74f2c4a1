"""The parts that decide where bounds and first-fit do not: exact search, Z3, and what is said when neither can."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from placement_problems import mesh

from pipelink.passes.placement import Claim, Domain, Problem, Ring, Role, check, dump_smt, exact, solve
from pipelink.passes.placement.bounds import maximal_cliques, stacked_height
from pipelink.passes.placement.conflict import Component
from pipelink.passes.placement.smt import Smt


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
    bound = part.bound
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
    proofs = [solve(mesh(seed, 24)).certificate.proofs[0] for seed in range(1, 12)]
    assert all(proof.proven for proof in proofs)
    assert any("fits (exact search)" in proof.how for proof in proofs)


def test_an_optimum_above_the_bound_is_refuted_below() -> None:
    (proof,) = solve(mesh(3, 18)).certificate.proofs
    assert (proof.value, proof.bound) == (301, 301)
    assert proof.how.startswith("clique bound 300; height 300 refuted (exact search)")


def test_z3_proves_what_the_search_could_not(monkeypatch: pytest.MonkeyPatch) -> None:
    for limit in ("FIRST_NODES", "PROBE_NODES"):
        monkeypatch.setattr(f"pipelink.passes.placement.packer.{limit}", 0)
    certificate = solve(mesh(8, 18)).certificate
    assert "height 366 refuted (z3)" in certificate.proofs[0].how
    assert certificate.proofs[0].proven
    assert 0 < certificate.rlimit <= certificate.rlimit_limit
    assert certificate.z3


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
    for limit in ("FIRST_NODES", "PROBE_NODES"):
        monkeypatch.setattr(f"pipelink.passes.placement.packer.{limit}", 0)
    first = [solve(mesh(seed, 14)) for seed in range(5)]
    assert [solve(mesh(seed, 14)) for seed in range(5)] == first
    assert any(p.certificate.rlimit and p.certificate.z3 for p in first)


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
