"""The proof: plans pass, and every kind of sabotage of the schedule is noticed by the rule that should."""

import pytest
from msgspec.structs import replace
from route_cases import CASES, PLANS

from pipelink.ir.maps import ExactMap, fit
from pipelink.passes.routes import Access, Move, Sync, prove

BASE, ALIGNMENT = 1024, 128


def violations(case, plan, base=BASE, alignment=ALIGNMENT):
    return prove(plan, case.placement, case.demand, base, alignment)


@pytest.mark.parametrize(("name", "kind"), PLANS)
def test_plans_are_proved(name, kind):
    case = CASES[name]
    assert violations(case, case.plan(kind)) == []


def with_chunk(plan, chunk, steps):
    return replace(plan, schedule=(*plan.schedule[:chunk], tuple(steps), *plan.schedule[chunk + 1 :]))


def change(plan, chunk, kind, number, edit):
    """`edit` the number-th step of a kind: `store`, `load` or a step type; None drops it."""
    steps = list(plan.schedule[chunk])
    matching = [at for at, step in enumerate(steps) if getattr(step, "kind", type(step)) == kind]
    at = matching[number]
    edited = edit(steps[at])
    return with_chunk(plan, chunk, [*steps[:at], *([] if edited is None else [edited]), *steps[at + 1 :]])


def moved(access: Access, function) -> Access:
    """The access with its table of addresses changed."""
    table = [function(t, a) for t, a in enumerate(access.address.tables[0])]
    outputs = (("byte", max(table) + 1),)
    return replace(access, address=fit(access.address.domain, outputs, [(a,) for a in table]))


SABOTAGE = {
    "first sync dropped": (lambda p: change(p, 2, Sync, 0, lambda s: None), "race"),
    "second sync dropped": (lambda p: change(p, 2, Sync, 1, lambda s: None), "race"),
    "all first syncs dropped": (
        lambda p: replace(p, schedule=tuple(steps[1:] for steps in p.schedule)),
        "race",
    ),
    "store dropped": (lambda p: change(p, 3, "store", 1, lambda s: None), "unwritten"),
    "load dropped": (lambda p: change(p, 3, "load", 1, lambda s: None), "delivery"),
    "frame index": (
        lambda p: change(p, 1, "store", 2, lambda s: replace(s, registers=(s.registers[0] + 2, *s.registers[1:]))),
        "delivery",
    ),
    "frame index of another chunk": (
        lambda p: change(p, 1, "store", 0, lambda s: replace(s, registers=p.schedule[2][1].registers)),
        "delivery",
    ),
    "frame index out of range": (
        lambda p: change(p, 1, "store", 0, lambda s: replace(s, registers=(999, *s.registers[1:]))),
        "register",
    ),
    "destination swapped": (
        lambda p: change(p, 4, "load", 0, lambda s: replace(s, registers=s.registers[::-1])),
        "delivery",
    ),
    "destination out of range": (
        lambda p: change(p, 4, "load", 0, lambda s: replace(s, registers=(77, *s.registers[1:]))),
        "register",
    ),
    "store address of another warp": (
        lambda p: change(p, 0, "store", 0, lambda s: moved(s, lambda t, a: a % 2048)),
        "two writers",
    ),
    "load address of a neighbour": (
        lambda p: change(p, 0, "load", 0, lambda s: moved(s, lambda t, a: a ^ 64)),
        "delivery",
    ),
    "misaligned store": (lambda p: change(p, 0, "store", 0, lambda s: moved(s, lambda t, a: a + 4)), "alignment"),
    "out of the scratch": (
        lambda p: change(p, 0, "store", 0, lambda s: moved(s, lambda t, a: a + 16384)),
        "bounds",
    ),
    "scratch stated too small": (lambda p: replace(p, scratch_bytes=16256), "bounds"),
    "conflicts understated": (
        lambda p: change(p, 0, "load", 0, lambda s: moved(s, lambda t, a: t % 32 * 128)),
        "banks",
    ),
    "width misstated": (lambda p: change(p, 0, "store", 0, lambda s: replace(s, width=16)), "width"),
    "a chunk is missing": (lambda p: replace(p, schedule=p.schedule[:-1]), "chunks"),
    "store and load swapped": (lambda p: with_chunk(p, 5, p.schedule[5][::-1]), "unwritten"),
}


@pytest.mark.parametrize("name", ["row halves", "warp local"])
@pytest.mark.parametrize("sabotage", SABOTAGE)
def test_sabotage_of_a_staged_plan_is_noticed(name, sabotage):
    case = CASES[name]
    edit, rule = SABOTAGE[sabotage]
    plan = case.plan("staged")
    broken = edit(plan)
    assert broken != plan
    assert rule in {violation.rule for violation in violations(case, broken)}


def test_every_single_dropped_step_is_noticed():
    case = CASES["strided chunks"]
    plan = case.plan("staged")
    for chunk, steps in enumerate(plan.schedule):
        for at in range(len(steps)):
            assert violations(case, with_chunk(plan, chunk, [*steps[:at], *steps[at + 1 :]])), (chunk, at)


def test_warp_syncs_do_not_order_warps():
    case = CASES["row halves"]
    plan = case.plan("staged")
    weak = [
        [replace(step, scope="warp") if isinstance(step, Sync) else step for step in steps] for steps in plan.schedule
    ]
    found = violations(case, replace(plan, schedule=tuple(tuple(steps) for steps in weak)))
    assert {violation.rule for violation in found} == {"race"}


def test_reentry_is_checked_between_chunks_that_use_other_addresses():
    """Two chunks in halves of their own need no leading sync between them, but each does before it comes again."""
    case = CASES["strided chunks"]
    plan = case.plan("staged")
    shifted = []
    for chunk, steps in enumerate(plan.schedule):
        place = chunk % 2 * 1024
        shifted.append(tuple(moved(s, lambda t, a, p=place: a + p) if isinstance(s, Access) else s for s in steps[1:]))
    halves = replace(plan, scratch_bytes=2048, schedule=tuple(shifted))
    found = violations(case, halves)
    assert {violation.rule for violation in found} == {"race"}
    assert {violation.message.partition(":")[0] for violation in found} == {"after chunk 0", "after chunk 1"}
    assert {violation.chunk for violation in found} == {0, 1}


def test_a_barrier_that_waits_for_too_few_is_noticed():
    case = CASES["row halves"]
    broken = change(case.plan("staged"), 0, Sync, 0, lambda s: replace(s, threads=128))
    assert [v.rule for v in violations(case, broken)] == ["barrier"]


@pytest.mark.parametrize(("base", "alignment"), [(1032, 8), (1032, 128), (1024, 8)])
def test_the_base_must_be_aligned(base, alignment):
    case = CASES["row halves"]
    assert "alignment" in {v.rule for v in violations(case, case.plan("staged"), base, alignment)}


def test_any_aligned_base_keeps_the_banks_free():
    case = CASES["row halves"]
    assert violations(case, case.plan("staged"), 16 * 37, 16) == []


def test_sabotage_of_a_direct_plan_is_noticed():
    case = CASES["fragment"]
    plan = case.plan("direct")

    def swap(move: Move) -> Move:
        (d0, s0), (d1, s1), *rest = move.pairs
        return replace(move, pairs=((d0, s1), (d1, s0), *rest))

    (found,) = violations(case, change(plan, 3, Move, 0, swap))
    assert (found.rule, found.chunk) == ("delivery", 3)
    assert "thread 0 position 0 gets element (m=0, n=97), wants element (m=0, n=96)" in found.message


def test_a_dropped_guard_is_two_writers():
    case = CASES["replicated"]
    plan = case.plan("staged")
    broken = change(plan, 0, "store", 0, lambda s: replace(s, guard=None))
    assert "two writers" in {v.rule for v in violations(case, broken)}


def test_a_demand_other_than_the_plan_was_made_for_is_noticed():
    case = CASES["row halves"]
    other = CASES["warp local"].demand
    assert isinstance(other, ExactMap)
    found = prove(case.plan("staged"), case.placement, other, BASE, ALIGNMENT)
    assert {v.rule for v in found} == {"delivery"}
