"""Whatever is changed in a dump, passes take it or refuse it with places: no traceback, no fault of ours."""

from functools import cache

from hypothesis import given, settings
from hypothesis import strategies as st
from mutate import assert_clean, mutated
from samples import built, passed, pl_opt, printed

from pipelink.passes import LINK

PLACE = r"(<stdin>:\d+:\d+|[\w.]+:\d+:\d+)"


@cache
def dump(stage: int) -> str:
    return passed(printed(built()), *LINK[:stage])


@settings(max_examples=120, deadline=None, derandomize=True)
@given(st.data(), st.integers(0, len(LINK)))
def test_the_rest_of_a_link(data: st.DataObject, stage: int) -> None:
    text = data.draw(mutated(dump(stage)))
    rest = LINK[stage:]
    assert_clean(pl_opt("-", "-p", ",".join(rest), *["-t", "cuda"] * bool(rest), stdin=text), PLACE)


@settings(max_examples=120, deadline=None, derandomize=True)
@given(st.data(), st.integers(0, len(LINK)), st.sampled_from(LINK))
def test_one_pass_at_any_stage(data: st.DataObject, stage: int, step: str) -> None:
    text = data.draw(mutated(dump(stage)))
    assert_clean(pl_opt("-", "-p", step, stdin=text), PLACE)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.data(), st.integers(0, len(LINK)), st.booleans())
def test_what_is_read_is_printed_so_that_it_reads_again(data: st.DataObject, stage: int, generic: bool) -> None:
    text = data.draw(mutated(dump(stage)))
    first = pl_opt("-", *["--print-op-generic"] * generic, stdin=text)
    assert_clean(first, PLACE)
    if first.status == 0:
        again = pl_opt("-", *["--print-op-generic"] * generic, stdin=first.out)
        assert (again.status, again.out, again.err) == (0, first.out, "")
