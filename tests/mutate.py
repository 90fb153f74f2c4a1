"""Text with a few tokens or lines changed, for tests that no input makes a command fail as it should not."""

import re

from hypothesis import strategies as st
from samples import Result

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[@#]?[A-Za-z_.][\w.]*|-?\d+|\S')
ODD = [
    '""',
    '"x"',
    "-1",
    "0",
    "7",
    "99999",
    "18446744073709551615",
    "1e999",
    "@a",
    "@x::@y",
    "[]",
    "<>",
    "{",
    '"',
    "é",
    "\x00",
]


@st.composite
def mutated(draw: st.DrawFn, text: str) -> str:
    """One to three changes: a token dropped, or replaced by another of the text or by an odd one; a line moved."""
    for _ in range(draw(st.integers(1, 3))):
        text = draw(st.sampled_from([_token, _token, _line]))(draw, text)
    return text


def _token(draw: st.DrawFn, text: str) -> str:
    tokens = list(TOKEN.finditer(text))
    if not tokens:
        return draw(st.sampled_from(ODD))
    index, other = (draw(st.integers(0, len(tokens) - 1)) for _ in range(2))
    token = tokens[index]
    alike = [t[0] for t in tokens if t[0][0] == token[0][0]]
    new = draw(st.sampled_from(["", tokens[other][0], alike[other % len(alike)], draw(st.sampled_from(ODD))]))
    return text[: token.start()] + new + text[token.end() :]


def _line(draw: st.DrawFn, text: str) -> str:
    lines = text.splitlines(keepends=True) or [""]
    line = lines.pop(draw(st.integers(0, len(lines) - 1)))
    for _ in range(draw(st.integers(0, 2))):
        lines.insert(draw(st.integers(0, len(lines))), line)
    return "".join(lines)


def assert_clean(result: Result, place: str) -> None:
    """The command succeeded and said nothing, or refused with errors that all begin with a place (a pattern)."""
    if result.status == 0:
        assert result.err == ""
        return
    assert result.status == 1, result.err
    lines = result.err.splitlines()
    errors = [line for line in lines if re.match(rf"{place}: error\[L-[A-Z]+(-[A-Z]+)*\]: .", line)]
    others = [line for line in lines if re.match(rf"{place}: (note|help): .", line)]
    assert errors, result.err
    assert len(errors) + len(others) == len(lines), result.err
