"""Fitting: every family exactly, refusals that name their point, and speed."""

import time

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from pipelink.ir.maps import FitError, fit, parse
from pipelink.ir.maps.exact import Space


def enumerate_map(domain: Space, outputs: Space, function):
    grids = np.indices([size for _, size in domain])
    columns = [np.broadcast_to(np.asarray(c), grids.shape[1:]).ravel() for c in function(*grids)]
    return fit(domain, outputs, [tuple(int(v) for v in row) for row in zip(*columns, strict=True)])


WGMMA = "(t:256, r:128) -> (m:128, n:256) { m = t/32*16 + r/2%2*8 + t/4%8; n = r/4*8 + t%4*2 + r%2 }"


@pytest.mark.parametrize(
    ("domain", "outputs", "function", "text"),
    [
        (
            (("t", 256), ("r", 128)),
            (("m", 128), ("n", 256)),
            lambda t, r: (t // 32 * 16 + t % 32 // 4 + r // 2 % 2 * 8, r // 4 * 8 + t % 4 * 2 + r % 2),
            WGMMA,
        ),
        (
            (("t", 256), ("p", 16), ("c", 8)),
            (("m", 128), ("n", 256)),
            lambda t, p, c: (t % 128, c * 32 + t // 128 * 16 + p),
            "(t:256, p:16, c:8) -> (m:128, n:256) { m = t%128; n = c*32 + t/128*16 + p }",
        ),
        (
            (("m", 32), ("n", 32)),
            (("byte", 4096),),
            lambda m, n: ((m * 128 + n * 4) ^ (m % 8 * 16),),
            "(m:32, n:32) -> (byte:4096) { byte = m*128 + n*4 ^ m%8*16 }",
        ),
        (
            (("stage", 3), ("m", 8), ("n", 32)),
            (("byte", 3072),),
            lambda s, m, n: (s * 1024 + ((m * 128 + n * 4) ^ (m * 16)),),
            "(stage:3, m:8, n:32) -> (byte:3072) { byte = stage*1024 + (m*128 + n*4 ^ m*16) }",
        ),
        (
            (("t", 96), ("r", 5)),
            (("m", 20), ("n", 24)),
            lambda t, r: ((t * 5 + r) // 24, (t * 5 + r) % 24),
            "(t:96, r:5) -> (m:20, n:24) { m = (t*5 + r)/24; n = (t*5 + r)%24 }",
        ),
        (
            (("t", 96), ("r", 5)),
            (("x", 1000),),
            lambda t, r: (t // 12 * 60 + t % 12 // 4 * 7 + t % 4 * 20 + r + 3,),
            "(t:96, r:5) -> (x:1000) { x = t/12*60 + t%4*20 + t/4%3*7 + r + 3 }",
        ),
        ((("x", 8),), (("y", 8),), lambda x: (7 - x,), "(x:8) -> (y:8) { y = 7 - x }"),
        ((("x", 8),), (("y", 8),), lambda x: (x ^ 5,), "(x:8) -> (y:8) { y = x ^ 5 }"),
        ((("x", 8),), (("y", 8),), lambda x: (x ^ x // 2,), "(x:8) -> (y:8) { y = x ^ x/2 }"),
        ((("x", 40),), (("y", 50),), lambda x: (x + x // 4,), "(x:40) -> (y:50) { y = x/4*5 + x%4 }"),
        ((("x", 1),), (("y", 9),), lambda x: (x + 7,), "(x:1) -> (y:9) { y = 7 }"),
    ],
)
def test_fits_and_prints(domain, outputs, function, text):
    assert str(enumerate_map(domain, outputs, function)) == text


def test_names_the_first_point_that_differs():
    points = [(t * 2 + r,) for t in range(8) for r in range(2)]
    points[11] = (0,)
    with pytest.raises(FitError, match=r"gives 11 at \(t=5, r=1\), not 0") as caught:
        fit((("t", 8), ("r", 2)), (("x", 16),), points)
    assert (caught.value.output, caught.value.point) == ("x", (5, 1))
    assert (caught.value.expected, caught.value.got) == (0, 11)


def test_refuses_squares():
    with pytest.raises(FitError, match="no closed form for y"):
        fit((("x", 16),), (("y", 256),), [(x * x,) for x in range(16)])


def test_refuses_a_value_out_of_range_and_a_wrong_count():
    with pytest.raises(FitError, match=r"y = 8 at \(x=2\) is outside its range 0..7"):
        fit((("x", 3),), (("y", 8),), [(0,), (4,), (8,)])
    with pytest.raises(FitError, match="2 points for a domain of 3"):
        fit((("x", 3),), (("y", 8),), [(0,), (1,)])
    with pytest.raises(FitError, match="2 coordinates for 1 outputs"):
        fit((("x", 2),), (("y", 8),), [(0, 0), (1, 1)])


def test_is_fast():
    points = parse(WGMMA).points()
    start = time.process_time()
    fit((("t", 256), ("r", 128)), (("m", 128), ("n", 256)), points)
    assert time.process_time() - start < 0.3


@st.composite
def f2_maps(draw):
    sizes = draw(st.lists(st.integers(0, 4), min_size=1, max_size=3))
    columns = draw(st.lists(st.integers(0, 255), min_size=sum(sizes), max_size=sum(sizes)))
    domain = tuple((f"i{at}", 1 << bits) for at, bits in enumerate(sizes))
    values = [draw(st.integers(0, 255))]
    for column in columns:
        values += [value ^ column for value in values]
    return domain, values


@settings(max_examples=150, deadline=None, derandomize=True)
@given(f2_maps())
def test_every_f2_map_fits_and_prints_and_parses(case):
    domain, values = case
    fitted = fit(domain, (("x", 256),), [(v,) for v in values])
    assert [x for (x,) in fitted.points()] == values
    again = parse(str(fitted))
    assert again.forms == fitted.forms
    assert str(again) == str(fitted)


@st.composite
def digit_maps(draw):
    """Sums of mixed-radix digits with any coefficients, negative ones too."""
    radices = draw(st.lists(st.lists(st.integers(2, 5), min_size=1, max_size=3), min_size=1, max_size=3))
    domain = tuple((f"i{at}", int(np.prod(r))) for at, r in enumerate(radices))
    total = np.zeros([size for _, size in domain], dtype=int)
    for grid, index in zip(np.indices(total.shape), radices, strict=True):
        rest = grid
        for radix in index:
            total = total + rest % radix * draw(st.integers(-20, 20))
            rest = rest // radix
    total -= total.min()
    return domain, [int(v) for v in total.ravel()]


@settings(max_examples=150, deadline=None, derandomize=True)
@given(digit_maps())
def test_every_digit_sum_fits_and_prints_and_parses(case):
    domain, values = case
    fitted = fit(domain, (("x", max(values) + 1),), [(v,) for v in values])
    assert [x for (x,) in fitted.points()] == values
    assert parse(str(fitted)).forms == fitted.forms


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.permutations(range(16)))
def test_is_exact_or_refuses(values):
    domain, outputs = (("i", 4), ("j", 4)), (("x", 16),)
    expected = list(values)
    try:
        got = [x for (x,) in fit(domain, outputs, [(v,) for v in values]).points()]
    except FitError as error:
        i, j = error.point
        expected, got = [values[i * 4 + j]], [error.expected]
        event("refused")
    assert got == expected
