"""Explanations of what cannot be placed: the conflicting set, the numbers, and a change that was tried and fits."""

import pytest

from pipelink.passes.placement import Claim, Domain, Explanation, Infeasible, Problem, Ring, Role, solve

SMEM = Domain("smem", 232448, unit="bytes")


def explain(problem: Problem) -> Explanation:
    with pytest.raises(Infeasible) as failure:
        solve(problem)
    (explanation,) = failure.value.explanations
    assert str(failure.value) == explanation.text
    assert explanation.over == explanation.need - explanation.capacity > 0
    return explanation


def test_a_claim_larger_than_its_domain() -> None:
    found = explain(Problem((SMEM,), (Claim("tile", "smem", 262144, 1024), Claim("x", "smem", 8))))
    assert found.kind == "capacity"
    assert found.text == (
        "smem: needs 262,152 bytes live at once, has 232,448, over by 29,704; "
        "minimal conflicting set (1 of 2 live): tile 262,144"
    )
    assert found.claims == (("tile", 262144),)
    assert found.suggestions == ("claim tile of 232,440 bytes",)


def test_a_ring_too_deep_at_its_least() -> None:
    claims = (
        Claim("k", "smem", 32768, 1024, "kv"),
        Claim("v", "smem", 32768, 1024, "kv"),
        Claim("q", "smem", 32768, 1024),
    )
    found = explain(Problem((SMEM,), claims, (Ring("kv", 4, 6),)))
    assert found.text == (
        "smem: needs 294,912 bytes live at once, has 232,448, over by 62,464; minimal conflicting set (2 of 3 live): "
        "k 131,072 (ring kv at its least depth 4), v 131,072 (ring kv at its least depth 4)"
    )
    assert found.suggestions == (
        "ring kv at depth 3",
        "claim k of 17,152 bytes a stage",
        "claims k and v with disjoint lifetimes",
    )


def test_544_columns_of_512() -> None:
    domain = Domain("tmem", 512, 32, unit="columns")
    found = explain(Problem((domain,), (Claim("acc", "tmem", 512), Claim("scale", "tmem", 32))))
    assert found.text == (
        "tmem: needs 544 columns live at once, has 512, over by 32; "
        "minimal conflicting set (2 of 2 live): acc 512, scale 32"
    )
    assert found.suggestions == ("claim acc of 480 columns", "claims acc and scale with disjoint lifetimes")


def test_18_named_barriers_of_15() -> None:
    claims = tuple(Claim(f"bar{i:02}", "barrier", 1) for i in range(18))
    found = explain(Problem((Domain("barrier", 16, base=1, unit="ids"),), claims))
    assert (found.kind, found.need, found.capacity, len(found.claims)) == ("capacity", 18, 15, 16)
    assert found.text == (
        "barrier: needs 18 ids live at once, has 15, over by 3; minimal conflicting set (16 of 18 live): "
        "bar00 1, bar01 1, bar02 1, bar03 1, bar04 1, bar05 1, bar06 1, bar07 1, and 8 more"
    )
    assert found.suggestions == ("without bar13, bar14, bar15",)


def test_alignment_only() -> None:
    claims = (Claim("a", "smem", 8, 8), Claim("b", "smem", 20, 16), Claim("c", "smem", 17, 16))
    found = explain(Problem((Domain("smem", 48),), claims))
    assert found.kind == "alignment"
    assert found.text == (
        "smem: alignment pads claims of 37 live at once to at least 49 in every order, has 48, over by 1: "
        "b 20@16, c 17@16"
    )
    assert "claim c of 16" in found.suggestions


def test_alignment_of_one_claim_above_the_base() -> None:
    found = explain(Problem((Domain("smem", 9, base=1),), (Claim("a", "smem", 6, 4), Claim("b", "smem", 1))))
    assert found.text == (
        "smem: alignment pads claims of 6 live at once to at least 9 in every order, has 8, over by 1: a 6@4"
    )
    assert found.suggestions == ("claim a of 5", "claim a aligned to 2")


def test_fragmentation() -> None:
    # A five-cycle of conflicts: no two that share an edge exceed the capacity, yet three levels are needed.
    cycle = {(i, (i + 1) % 5) for i in range(5)}
    free = {(i, j) for i in range(5) for j in range(i + 1, 5)} - cycle - {(j, i) for i, j in cycle}
    claims = (*(Claim(f"c{i}", "smem", 2) for i in range(5)), Claim("spare", "smem", 1))
    pairs = frozenset((f"c{i}", f"c{j}") for i, j in free) | {(f"c{i}", "spare") for i in range(5)}
    found = explain(Problem((Domain("smem", 5),), claims, disjoint_lifetimes=frozenset(pairs)))
    assert found.kind == "fragmentation"
    assert found.text == (
        "smem: no clique is over capacity (peak live load 4 of 5) but these 5 of 6 claims admit no packing: "
        "c0 2, c1 2, c2 2, c3 2, c4 2"
    )
    assert found.suggestions[0] == "claim c0 of 1"


def test_36_warps() -> None:
    found = explain(Problem(roles=(Role("core", 24, 4), Role("load", 8, 4), Role("store", 4, 4))))
    assert found.kind == "warps"
    assert found.text == "warps: roles need 36, the block has 32, over by 4: core 24, load 8, store 4"
    assert found.suggestions == ("role core with 20 warps",)


def test_warps_that_alignment_scatters() -> None:
    found = explain(Problem(roles=(Role("a", 2, 8), Role("b", 4, 8)), max_warps=8))
    assert found.text == "warps: roles need 12 at their alignments, the block has 8, over by 4: b 4, a 2"
    assert found.suggestions == ("without role a",)


def test_registers_over_the_pool() -> None:
    found = explain(Problem(roles=(Role("load", 4, 4, 40), Role("core", 8, 4, 240), Role("fix", 4, 4, 128))))
    assert found.kind == "registers"
    assert found.text == (
        "registers: least budgets need 82,944, 512 threads start with 128 each = 65,536, over by 17,408: "
        "core 240 a thread = 61,440, fix 128 a thread = 16,384, load 40 a thread = 5,120"
    )
    assert found.suggestions == ("role core with at least 168 registers",)


def test_registers_of_one_group() -> None:
    found = explain(Problem(roles=(Role("all", 32, 4, 72),)))
    assert found.text == (
        "registers: least budgets need 73,728, 1024 threads start with 64 each = 65,536, over by 8,192: "
        "all 72 a thread = 73,728"
    )


def test_roles_without_a_common_budget() -> None:
    roles = (Role("a", 2, 1, 24, 40), Role("b", 2, 1, 200, 240), Role("c", 28, 4, 24, 40))
    found = explain(Problem(roles=roles))
    assert found.text == (
        "registers: roles that must share a warpgroup have no budget in common: a 24..40, b 200..240, c 24..40"
    )


def test_every_domain_is_explained() -> None:
    claims = (Claim("a", "smem", 300000), Claim("t", "tmem", 600))
    with pytest.raises(Infeasible) as failure:
        solve(Problem((SMEM, Domain("tmem", 512)), claims, roles=(Role("r", 40),)))
    assert [e.domain for e in failure.value.explanations] == ["smem", "tmem", "warps"]
    assert failure.value.explanation is failure.value.explanations[0]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Claim("a", "smem", 0), "claim a: size 0 is not positive"),
        (lambda: Ring("r", 3, 2), "ring r: no depth in its range"),
        (lambda: Role("r", 1, min_registers=16), "role r: registers 16..240 are not a range in 24..256"),
        (lambda: Domain("d", 4, base=5), "domain d: base 5 is not in its space"),
        (lambda: Problem((), (Claim("a", "smem", 1),)), "claim a: no domain smem"),
        (lambda: Problem((SMEM,), (Claim("a", "smem", 1, ring="r"),)), "claim a: no ring r"),
        (lambda: Problem((SMEM, SMEM)), "a domain is named twice"),
        (lambda: Problem(role_order=("x",)), "role_order names an unknown role"),
        (lambda: Problem(disjoint_lifetimes=frozenset({("b", "a")})), "the pair is not sorted"),
    ],
)
def test_malformed_problems_are_refused(make, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
