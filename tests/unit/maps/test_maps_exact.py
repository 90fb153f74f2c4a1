"""The map itself: values, binding, inverse, equality, text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelink.ir.maps import Const, ExactMap, FormError, Index, MapError, Op, parse
from pipelink.ir.maps.forms import evaluate, parse_form

WGMMA = parse("(t:256, r:128) -> (m:128, n:256) { m = t/32*16 + r/2%2*8 + t/4%8; n = r/4*8 + t%4*2 + r%2 }")
DEMAND = parse("(t:256, p:16, c:8) -> (m:128, n:256) { m = t%128; n = c*32 + t/128*16 + p }")


def test_points_agree_with_evaluate():
    points = WGMMA.points()
    assert points[37 * 128 + 5] == WGMMA.evaluate((37, 5)) == (17, 11)
    assert len(points) == 256 * 128


def test_evaluate_checks_the_domain():
    with pytest.raises(MapError, match=r"r = 128 is outside its range 0..127"):
        WGMMA.evaluate((0, 128))
    with pytest.raises(MapError, match="1 coordinates for a domain of 2"):
        WGMMA.evaluate((0,))


def test_bind_fixes_the_chunk():
    bound = DEMAND.bind("c", 3)
    assert str(bound) == "(t:256, p:16) -> (m:128, n:256) { m = t%128; n = t/128*16 + p + 96 }"
    assert bound.evaluate((130, 4)) == DEMAND.evaluate((130, 4, 3))
    with pytest.raises(MapError, match="no value c = 8"):
        DEMAND.bind("c", 8)


def test_inverse_both_ways():
    back = WGMMA.inverse()
    assert str(back) == "(m:128, n:256) -> (t:256, r:128) { t = m/16*32 + m%8*4 + n/2%4; r = n/8*4 + m/8%2*2 + n%2 }"
    assert back.inverse() == WGMMA
    assert WGMMA.is_bijective


def test_inverse_names_the_collision_or_the_hole():
    with pytest.raises(MapError, match=r"\(x=0, y=2\) and \(x=1, y=0\) both map to \(z=2\)"):
        parse("(x:2, y:4) -> (z:8) { z = x*2 + y }").inverse()
    with pytest.raises(MapError, match=r"nothing maps to \(z=1\)"):
        parse("(x:4) -> (z:8) { z = x*2 }").inverse()
    assert parse("(x:4) -> (z:8) { z = x*2 }").is_injective
    assert not parse("(x:4) -> (z:8) { z = x*2 }").is_surjective
    assert parse("(x:4) -> (z:2) { z = x%2 }").is_surjective
    assert not parse("(x:4) -> (z:2) { z = x%2 }").is_injective


def test_equality_is_by_value():
    one = parse("(t:32) -> (x:8) { x = t%32/4 }")
    assert one == parse("(t:32) -> (x:8) { x = t/4 }")
    assert hash(one) == hash(parse("(t:32) -> (x:8) { x = t/4 }"))
    assert one != parse("(t:32) -> (x:8) { x = t%8 }")
    assert one != parse("(t:32) -> (x:9) { x = t/4 }")


@pytest.mark.parametrize(
    "text",
    [
        "(t:32) -> (x:64) { x = (t + 3)/4%8*2 ^ t%2 }",
        "(t:32) -> (x:64) { x = 31 - (t%16 + t/16) }",
        "(t:32, r:2) -> (x:64, y:2) { x = t*2 + (r ^ t%2); y = r }",
        "(m:8) -> (b:64) { b = 3*(m ^ 1) }",
        "() -> (x:4) { x = 3 }",
    ],
)
def test_text_round_trips(text):
    assert str(parse(text)) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(t:4) -> (x:4) { x = t + }", "is missing at"),
        ("(t:4) -> (x:4) { x = (t }", "is not closed"),
        ("(t:4) -> (x:4) { x = t t }", "ends the form"),
        ("(t:4) -> (x:4) { x = t/0 }", "positive integer"),
        ("(t:4) -> (x:4) { x = 8/t }", "positive integer"),
        ("(t:4) -> (x:16) { x = t*t }", "quasi-affine"),
        ("(t:4) -> (x:4) { x = t & 1 }", "does not belong"),
        ("(t:4) -> (x:4, y:4) { y = t; x = t }", "in this order"),
        ("(t) -> (x:4) { x = t }", "is not `name:size`"),
        ("t -> x", "not a map"),
    ],
)
def test_bad_text_is_refused(text, message):
    with pytest.raises(FormError, match=message):
        parse(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(t:8) -> (x:4) { x = t }", r"x = 4 at \(t=4\) is outside its range 0..3"),
        ("(t:8) -> (x:8) { x = 3 - t }", "3 - 4 is negative"),
        ("(t:8) -> (x:8) { x = u }", "reads u"),
        ("(t:8, t:8) -> (x:8) { x = t }", "used twice"),
        ("(t:0) -> (x:8) { x = t }", "size 0"),
    ],
)
def test_bad_maps_are_refused(text, message):
    with pytest.raises(MapError, match=message):
        parse(text)


def test_number_of_forms():
    with pytest.raises(MapError, match="0 forms for 1 outputs"):
        ExactMap((("t", 2),), (("x", 2),), ())


leaves = st.one_of(st.builds(Const, st.integers(0, 9)), st.sampled_from([Index("a"), Index("b")]))
trees = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(Op, st.sampled_from(["+", "-", "^"]), inner, inner),
        st.builds(Op, st.just("*"), inner, st.builds(Const, st.integers(0, 9))),
        st.builds(Op, st.sampled_from(["/", "%"]), inner, st.builds(Const, st.integers(1, 9))),
    ),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(trees)
def test_any_tree_round_trips(tree):
    assert parse_form(str(tree)) == tree


@settings(max_examples=300, deadline=None, derandomize=True)
@given(trees, st.integers(0, 3))
def test_bind_agrees_with_evaluate(tree, a):
    full = ExactMap((("a", 4), ("b", 3)), (("x", 1 << 60),), (tree,))
    try:
        points = full.points()
    except MapError:
        return
    assert full.bind("a", a).points() == points[a * 3 : a * 3 + 3]
    assert [(evaluate(tree, {"a": a, "b": b}),) for b in range(3)] == points[a * 3 : a * 3 + 3]
