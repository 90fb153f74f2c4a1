"""Attributes print as text that reads back as the same attribute, whatever their strings and numbers are."""

from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import context
from xdsl.ir import Attribute
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError

from pipelink.frontends.contract import Count, Lifetime, Signature
from pipelink.ir.attributes import CountAttr, LifetimeAttr, SignatureAttr, Value, ValuesAttr
from pipelink.ir.locations import LocatingParser

TEXT = st.text(st.characters(codec="utf-8"), max_size=12) | st.sampled_from(['"', "\\", "\n", "\t", "\0", "é→", '\\"'])
NUMBERS = st.integers(-(1 << 63), (1 << 63) - 1)
VALUES = st.recursive(NUMBERS | TEXT, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=8)


def reread(attribute: Attribute) -> Attribute:
    stream = StringIO()
    Printer(stream).print_attribute(attribute)
    return LocatingParser(context(), stream.getvalue()).parse_attribute()


def refused(text: str) -> str:
    with pytest.raises(ParseError) as raised:
        LocatingParser(context(), text).parse_attribute()
    return raised.value.msg


@given(st.dictionaries(TEXT, VALUES, max_size=5))
def test_values_round_trip(values: dict[str, Value]) -> None:
    attribute = ValuesAttr.of(values)
    assert reread(attribute) == attribute
    assert attribute.data == values
    assert list(attribute.data) == sorted(values)


@given(TEXT, st.lists(TEXT, max_size=3), st.booleans(), st.booleans())
def test_signature_round_trip(result: str, parameters: list[str], args: bool, passes_context: bool) -> None:
    signature = Signature(result, tuple(parameters), args, passes_context)
    attribute = SignatureAttr.of(signature)
    assert reread(attribute) == attribute
    assert attribute.data == signature


@given(st.integers(0, (1 << 63) - 1), st.sampled_from(["once", "warp", "thread"]))
def test_count_round_trip(times: int, per: str) -> None:
    attribute = CountAttr.of(Count(per, times))  # pyright: ignore[reportArgumentType]
    assert reread(attribute) == attribute
    assert attribute.arrivals(3) == times * {"once": 1, "warp": 3, "thread": 96}[per]


@given(TEXT.filter(bool))
def test_phase_round_trip(phase: str) -> None:
    attribute = LifetimeAttr.of(Lifetime("phase", phase))
    assert reread(attribute) == attribute


@given(TEXT, TEXT)
def test_lifetime_round_trip(start: str, end: str) -> None:
    attribute = LifetimeAttr.of(Lifetime("between", "", start, end))
    assert reread(attribute) == attribute


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("#pl.count<2 per block>", "expected warp or thread"),
        ("#pl.count<-1>", "Expected integer literal"),
        ('#pl.signature<() -> "void", thread>', "expected args or context"),
        ('#pl.lifetime<phase "">', "expected a phase with a name"),
        ('#pl.lifetime<"begin" "end">', "Expected 'to'"),
        ("#pl.values<a = 1, a = 2>", "expected each name once"),
        ("#pl.values<a = @b>", "'[' expected"),
    ],
)
def test_bad_text_is_refused(text: str, message: str) -> None:
    assert message.lower() in refused(text).lower()
