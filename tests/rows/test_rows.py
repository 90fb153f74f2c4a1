"""Every reported fault has a test that carries its number, or names the work that it waits for."""

import ast
import tomllib
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).parents[1]
ROWS: dict[str, dict[str, Any]] = tomllib.loads((TESTS / "rows.toml").read_text())

NUMBERS = (
    "1 2 3 5 7 8 9 10 11 12 13 15 16 18 19 20 21 22 24 25 27 28 29 31 32 33 35 36 37 38 39 40 42 43 44 46 48 49 51 52"
    " 53 55 56 57 59 60 61 63 65 66 67 69 71 72 73 75 76 77 79 80 82 83 85 86 87 88 90"
)
"""Of the reports that were collected."""


def test_every_row_is_mapped() -> None:
    assert list(ROWS) == [f"P{number}" for number in NUMBERS.split()]


@pytest.mark.parametrize("row", ROWS)
def test_a_row_has_a_test_or_waits_for_one(row: str) -> None:
    entry = ROWS[row]
    assert set(entry) in ({"want", "about", "test"}, {"want", "about", "later"})
    assert entry["want"] in "RPVADF"
    if "later" in entry:
        work, _, what = entry["later"].partition(": ")
        assert work in ("attention", "tensor connections", "running")
        assert what
        return
    file, _, prefix = entry["test"].partition("::")
    assert prefix == f"test_{row.lower()}_"
    tree = ast.parse((TESTS / file).read_text())
    found = [f.name for f in ast.walk(tree) if isinstance(f, ast.FunctionDef) and f.name.startswith(prefix)]
    assert found, f"{file} has no test named {prefix}..."
