"""Errors as users read them."""

import pytest

from pipelink.ir.clauses import CLAUSES
from pipelink.ir.diagnostics import Diagnostic, Diagnostics, Note, PipelinkError, Place, collecting, fail
from pipelink.ir.suggest import nearest


@pytest.mark.parametrize(
    ("place", "text"),
    [
        (Place("a.cu", 3, 5), "a.cu:3:5"),
        (Place("a.cu", 3), "a.cu:3"),
        (Place("a.cu"), "a.cu"),
        (Place("a.cu", 0, 5), "a.cu"),
    ],
)
def test_a_place_shows_what_it_knows(place: Place, text: str) -> None:
    assert str(place) == text


def test_an_error_with_its_notes_and_its_fix() -> None:
    error = fail("L-PAIR", "they disagree", Place("a", 1, 2), Note("one", Place("b", 3)), Note("other"), hint="agree")
    assert error.diagnostics[0].render("pl-link").splitlines() == [
        "a:1:2: error[L-PAIR]: they disagree",
        "b:3: note: one",
        "pl-link: note: other",
        "a:1:2: help: agree",
    ]


def test_without_a_place_the_program_speaks() -> None:
    assert Diagnostic("L-USAGE", "no").render("pl-opt") == "pl-opt: error[L-USAGE]: no"


def test_a_clause_is_listed() -> None:
    with pytest.raises(KeyError, match="L-NONE"):
        Diagnostic("L-NONE", "?")
    assert all(rule and not rule.endswith(".") for rule in CLAUSES.values())


def test_errors_are_collected_once_each_and_raised_together() -> None:
    errors = Diagnostics()
    errors.check()
    for message in ("a", "b", "a"):
        errors.error("L-IR", message)
    with pytest.raises(PipelinkError) as raised:
        errors.check()
    assert [d.message for d in raised.value.diagnostics] == ["a", "b"]


def test_collecting_lets_exceptions_through() -> None:
    with pytest.raises(PipelinkError, match="a"), collecting() as errors:
        errors.error("L-IR", "a")
    with pytest.raises(ZeroDivisionError), collecting() as errors:
        errors.error("L-IR", str(1 // 0))


@pytest.mark.parametrize(
    ("name", "known", "text"),
    [
        ("lod", ["load", "store"], "did you mean 'load'?"),
        ("zzz", ["store", "load"], "known: load, store"),
        ("zzz", [], ""),
    ],
)
def test_suggestions(name: str, known: list[str], text: str) -> None:
    assert nearest(name, known) == text
