"""The catalogue of clauses as it is shown: each entry is complete, and commands explain it."""

import re
import shlex

import pytest
from samples import command, pl_opt

from pipelink.ir.clauses import CATALOGUE, CLAUSES, GROUPS, RANKS, Clause
from pipelink.ir.diagnostics import Diagnostics, Line, Note, PipelinkError, Place
from pipelink.tools import pl_link, pl_pack


@pytest.mark.parametrize("clause", CATALOGUE.values(), ids=lambda c: c.name)
def test_an_entry_is_complete(clause: Clause) -> None:
    assert re.fullmatch(r"L-[A-Z]+(-[A-Z]+)*", clause.name)
    assert all((clause.rule, clause.example.strip(), clause.fix))
    assert not clause.rule.endswith(".")
    assert clause.why.endswith(".")
    assert str(clause) == CLAUSES[clause.name] == clause.rule
    assert RANKS[clause.name] == next(i for i, group in enumerate(GROUPS.values()) if clause in group)


# ---- how they are shown ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", ["pl-opt", "pl-link", "pl-pack"])
def test_each_command_explains(tool: str) -> None:
    main = {"pl-link": pl_link.main, "pl-pack": pl_pack.main}.get(tool)
    explain = pl_opt if main is None else lambda *arguments: command(main, *arguments)
    shown = explain("--explain", "L-PAIR")
    assert (shown.status, shown.err) == (0, "")
    assert shown.out == CATALOGUE["L-PAIR"].explain() + "\n"
    assert explain("--explain", "l-pair").out == shown.out
    wrong = explain("--explain", "L-PIAR")
    assert (wrong.status, wrong.out) == (2, "")
    assert wrong.err.endswith("no clause L-PIAR; did you mean 'L-PAIR'?\n")


def test_an_explanation_holds_every_part() -> None:
    for clause in CATALOGUE.values():
        said = " ".join(clause.explain().split())
        for part in (clause.rule, clause.why, clause.example, clause.fix):
            assert " ".join(part.split()) in said


def test_errors_are_raised_in_order_of_their_groups_else_as_they_came() -> None:
    errors = Diagnostics()
    for clause, message in [("L-OVERLAP", "a"), ("L-PAIR", "b"), ("L-FILE", "c"), ("L-TARGET", "d")]:
        errors.error(clause, message)
    with pytest.raises(PipelinkError) as raised:
        errors.check()
    assert [d.message for d in raised.value.diagnostics] == ["c", "b", "d", "a"]


def test_errors_of_one_cause_are_one_error() -> None:
    errors = Diagnostics()
    for line in (1, 2, 2, 3):
        errors.error("L-UNRESOLVED", f"{line} names @ring", Place("a", line), hint="declare it", cause="@ring")
    errors.error("L-UNRESOLVED", "other names @rung", cause="@rung")
    with pytest.raises(PipelinkError) as raised:
        errors.check()
    first, second = raised.value.diagnostics
    assert first.render().splitlines() == [
        "a:1: error[L-UNRESOLVED]: 1 names @ring",
        "a:2: note: so too: 2 names @ring",
        "a:3: note: so too: 3 names @ring",
        "a:1: help: declare it",
    ]
    assert (second.message, second.notes) == ("other names @rung", ())


def test_many_errors_of_one_cause_are_counted() -> None:
    errors = Diagnostics()
    for line in range(1, 12):
        errors.error("L-UNRESOLVED", f"{line} names @ring", Place("a", line), cause="@ring")
    with pytest.raises(PipelinkError) as raised:
        errors.check()
    (error,) = raised.value.diagnostics
    assert [note.text for note in error.notes][-2:] == ["so too: 5 names @ring", "and 6 more"]


def test_the_fields_of_an_error_are_those_of_its_lines() -> None:
    errors = Diagnostics()
    errors.error("L-PAIR", "they disagree", Place("a", 1, 2), Note("one", Place("b", 3)), hint="agree")
    (error,) = errors.errors
    assert [*error.lines()] == [
        Line("error[L-PAIR]", "they disagree", Place("a", 1, 2)),
        Line("note", "one", Place("b", 3)),
        Line("help", "agree", Place("a", 1, 2)),
    ]
    assert error.fields() == {
        "severity": "error",
        "clause": "L-PAIR",
        "message": "they disagree",
        "file": "a",
        "line": 1,
        "column": 2,
        "notes": [{"message": "one", "file": "b", "line": 3, "column": 0}],
        "hint": "agree",
    }


def test_examples_are_shell_words() -> None:
    """What is meant to be typed can be typed."""
    for name in (c.name for c in CATALOGUE.values() if c.language == "console"):
        assert all(shlex.split(line, comments=True) for line in CATALOGUE[name].example.splitlines())
