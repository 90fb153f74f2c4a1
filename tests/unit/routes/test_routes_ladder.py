"""Which rungs serve, why the cheaper ones do not, and what a staged plan states."""

from dataclasses import replace

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from route_cases import CASES, FRAGMENT, LENDS, PLANS, ROW_HALVES, WARP_LOCAL, WGMMA, Case

from pipelink.ir.maps import fit, parse
from pipelink.passes.routes import RouteError, feasible, from_json, prove, to_json
from pipelink.passes.routes.swizzle import Phases, search


@pytest.mark.parametrize("name", CASES)
def test_candidates_are_as_expected(name):
    case = CASES[name]
    candidates = feasible(case.placement, case.demand, case.chunk, LENDS)
    assert [(name, candidate.kind) for candidate in candidates] == [plan for plan in PLANS if plan[0] == name]


@pytest.mark.parametrize(("name", "kind"), PLANS)
def test_plans_are_deterministic_and_survive_json(name, kind):
    plan = CASES[name].plan(kind)
    case = CASES[name]
    assert Case(case.placement, case.demand, case.chunk).plan(kind) == plan
    again = from_json(to_json(plan))
    assert again == plan
    assert to_json(again) == to_json(plan)


def test_the_refusal_has_a_true_counterexample():
    (staged,) = feasible(WGMMA, ROW_HALVES, "c", LENDS)
    (refusal,) = staged.refused
    expected = "element (m=0, n=2): held by thread 1 register 0, wanted by thread 0 position 2 of chunk 0"
    assert (refusal.kind, refusal.reason) == ("direct", expected)
    assert WGMMA.evaluate((1, 0)) == ROW_HALVES.evaluate((0, 2, 0)) == (0, 2)


def test_row_halves_state_their_scratch():
    plan = CASES["row halves"].plan("staged")
    assert plan.scratch_bytes == 16384
    assert (plan.store_bytes, plan.load_bytes, plan.alignment) == (8, 16, 16)
    assert (plan.store_wavefronts, plan.load_wavefronts) == (1, 1)
    assert (plan.sync, plan.swizzle.unit) == ("cta", 16)
    assert str(plan.address) == "(m:128, n:32) -> (byte:16384) { byte = m*128 + n*4 ^ m%4*32 + m/4%2*16 }"
    assert "free of bank conflicts" in plan.reasons[0]


def test_a_warp_local_demand_syncs_its_warps_only():
    assert CASES["warp local"].plan("staged").sync == "warp"
    without_barrier = replace(LENDS, barrier=False)
    assert [c.kind for c in feasible(WGMMA, WARP_LOCAL, "c", without_barrier)] == ["staged"]


def test_warps_that_share_scratch_across_chunks_need_the_barrier():
    # Every element stays in its warp, but chunk c is held by warp c: all warps use the same scratch in turn.
    placement = parse("(t:64, r:4) -> (m:64, n:4) { m = t; n = r }")
    rows = [(c * 32 + (t % 32 ^ 1), p) for t in range(64) for p in range(4) for c in range(2)]
    demand = fit((("t", 64), ("p", 4), ("c", 2)), placement.outputs, rows)
    case = Case(placement, demand)
    assert case.plan("staged").sync == "cta"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"scratch_bytes": 0}, "the import lends no scratch"),
        ({"scratch_bytes": 16383}, "a chunk takes 16384 bytes of scratch, the import lends 16383"),
        ({"barrier": False}, "lends no barrier; element (m=16, n=0): held by thread 32 register 0"),
        ({"element_bytes": 2}, "staging moves 4-byte registers, the elements have 2 bytes"),
        ({"frame_registers": 64}, "the placement has 128 registers a thread, the frame that is lent 64"),
        ({"destination_registers": 8}, "the demand has 16 registers a thread, the destination that is lent 8"),
    ],
)
def test_lending_too_little_is_refused(changes, reason):
    with pytest.raises(RouteError) as caught:
        feasible(WGMMA, ROW_HALVES, "c", replace(LENDS, **changes))
    assert reason in str(caught.value)


def test_refusals_of_all_rungs_are_in_the_error():
    with pytest.raises(RouteError) as caught:
        feasible(WGMMA, ROW_HALVES, "c", replace(LENDS, scratch_bytes=0))
    assert [refusal.kind for refusal in caught.value.refusals] == ["direct", "staged"]


def test_a_direct_route_needs_neither_scratch_nor_barrier():
    lends = replace(LENDS, scratch_bytes=0, barrier=False)
    (candidate,) = feasible(WGMMA, FRAGMENT, "c", lends)
    assert (candidate.kind, candidate.plan.scratch_bytes, candidate.plan.sync) == ("direct", 0, "none")


@pytest.mark.parametrize(
    ("placement", "demand", "chunk", "reason"),
    [
        ("(t:32) -> (m:32) { m = t }", "(t:32) -> (n:32) { n = t }", None, "differ in their tile"),
        ("(t:32) -> (m:32) { m = t }", "(t:16, p:2) -> (m:32) { m = t*2 + p }", None, "over 32 threads"),
        ("(t:32) -> (m:64) { m = t }", "(t:32) -> (m:64) { m = t*2 }", None, "(m=32): wanted, but held by no thread"),
        ("(t:32) -> (m:32) { m = t }", "(t:32) -> (m:32) { m = t }", "c", "no index c for the chunk"),
        ("(t:32) -> (m:32) { m = t }", "(t:32) -> (m:32) { m = t }", "t", "the first index"),
        ("(t:48) -> (m:48) { m = t }", "(t:48) -> (m:48) { m = 47 - t }", None, "not whole warps"),
    ],
)
def test_malformed_questions_are_refused(placement, demand, chunk, reason):
    with pytest.raises(RouteError) as caught:
        feasible(parse(placement), parse(demand), chunk, LENDS)
    assert reason in str(caught.value)


def test_registers_and_addresses_without_a_simple_form_are_refused_in_words():
    placement = parse("(t:32, r:32) -> (m:32, n:32) { m = t; n = r }")
    rotated = parse("(t:32, p:32) -> (m:32, n:32) { m = t; n = (t + p)%32 }")
    with pytest.raises(RouteError) as caught:
        feasible(placement, rotated, None, LENDS)
    direct, staged = caught.value.refusals
    assert "32 groups of threads with registers of their own" in direct.reason
    assert "the scratch addresses have no closed form in the thread" in staged.reason


def test_registers_that_differ_by_lane_are_staged():
    placement = parse("(t:32, r:32) -> (m:32, n:32) { m = t; n = r }")
    xored = parse("(t:32, p:32) -> (m:32, n:32) { m = t; n = p ^ t }")
    (candidate,) = feasible(placement, xored, None, LENDS)
    assert (candidate.kind, candidate.plan.sync) == ("staged", "warp")
    assert prove(candidate.plan, placement, xored, 0, 16) == []


def test_direct_copies_by_group_where_groups_hold_other_registers():
    placement = parse("(t:64, r:2) -> (m:64, n:2) { m = t; n = r ^ t/32 }")
    demand = parse("(t:64, p:2) -> (m:64, n:2) { m = t; n = p }")
    case = Case(placement, demand, None)
    plan = case.plan("direct")
    assert [str(step) for step in plan.schedule[0]] == [
        "move dst[0] = frame[0], dst[1] = frame[1] if t/32 == 0",
        "move dst[0] = frame[1], dst[1] = frame[0] if t/32 == 1",
    ]
    assert prove(plan, placement, demand, 0, 16) == []


def test_replicas_are_stored_once():
    plan = CASES["replicated"].plan("staged")
    stores = [step for step in plan.schedule[0] if getattr(step, "kind", "") == "store"]
    assert stores
    assert all(str(step.guard) == "t%4 == 0" for step in stores)


def brute_force(phase, width, swizzle):
    """Wavefronts by 4-byte words and banks."""
    words = {a // 4 + w for offset in phase for a in [swizzle.apply(offset)] for w in range(width // 4)}
    return max(sum(word % 32 == bank for word in words) for bank in range(32))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(st.integers(0, 1023), min_size=32, max_size=32), st.sampled_from([4, 8, 16]))
def test_the_swizzle_search_counts_and_claims_truly(slots, width):
    offsets = [slot * width for slot in slots]
    phases = Phases.of(width, [offsets])
    found = search((phases,), width)
    lanes = 128 // width
    each = [brute_force(offsets[at : at + lanes], width, found.swizzle) for at in range(0, 32, lanes)]
    assert phases.wavefronts(found.swizzle) == (max(each), sum(each))
    assert found.free == (max(each) == 1)
    swizzled = {found.swizzle.apply(offset) for offset in range(0, 1024 * width, width)}
    assert swizzled == set(range(0, 1024 * width, width))


def test_the_search_says_when_no_swizzle_is_free():
    # Nine 16-byte accesses of one quarter warp cannot exist; eight lines that agree in every swizzled bit can.
    lines = [0, 128, 256, 384]  # these four differ pairwise, as do their sums
    every = [[a, b] for at, a in enumerate(lines) for b in lines[:at]]
    free = search((Phases.of(16, [pair + [None] * 6 for pair in every]),), 16)
    assert free.free
    dense = [line * 128 for line in range(16)]  # all differences of four bits, but three bits of freedom
    pairs = [[a, b, *[None] * 6] for at, a in enumerate(dense) for b in dense[:at]]
    found = search((Phases.of(16, pairs),), 16)
    assert not found.free
    assert found.proof.startswith("no swizzle of this family is free of bank conflicts; the least conflicts")


@st.composite
def bit_permutations(draw):
    """A transfer of 64 threads by 8 registers between two F2 placements of one tile."""
    order = draw(st.permutations(range(9)))
    offset = draw(st.integers(0, 511))
    points = []
    for flat in range(512):
        element = offset
        for bit, where in enumerate(order):
            element ^= (flat >> bit & 1) << where
        points.append((element // 16, element % 16))
    return fit((("t", 64), ("r", 8)), (("m", 32), ("n", 16)), points)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(bit_permutations(), bit_permutations())
def test_any_pair_of_f2_placements_has_a_proved_route_free_of_conflicts(placement, demand):
    for candidate in feasible(placement, demand, None, LENDS):
        plan = candidate.plan
        assert prove(plan, placement, demand, 256, 128) == []
        assert max(plan.store_wavefronts, plan.load_wavefronts) <= 1


@st.composite
def odd_placements(draw):
    """96 threads by 5 registers onto 480 elements, the mixed-radix digits of the number permuted."""
    radices = [3, 2, 2, 2, 2, 2, 5]
    order = draw(st.permutations(range(7)))
    strides, stride = [0] * 7, 1
    for where in order:
        strides[where] = stride
        stride *= radices[where]
    points = []
    for flat in range(480):
        element, rest = 0, flat
        for radix, step in zip(reversed(radices), reversed(strides), strict=True):
            rest, digit = divmod(rest, radix)
            element += digit * step
        points.append((element,))
    return fit((("t", 96), ("r", 5)), (("m", 480),), points)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(odd_placements(), odd_placements())
def test_any_pair_of_mixed_radix_placements_has_a_proved_route(placement, demand):
    for candidate in feasible(placement, demand, None, LENDS):
        event(f"{candidate.kind} {candidate.plan.store_wavefronts} {candidate.plan.load_wavefronts}")
        assert prove(candidate.plan, placement, demand, 256, 128) == []
