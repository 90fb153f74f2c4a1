"""The components of the tests and what they say of themselves."""

import re
from dataclasses import dataclass
from pathlib import Path

from pipelink.frontends import package
from pipelink.ir.diagnostics import Diagnostic

COMPONENTS = Path(__file__).parent / "components"


@dataclass(frozen=True)
class Good:
    """The good component's package, as a file and as read back."""

    path: Path
    package: package.Package
    dependencies: tuple[Path, ...]


def expected(name: str) -> list[tuple[int, str]]:
    """The (line, clause) pairs that a component's `//~` comments list."""
    lines = (COMPONENTS / name).read_text().splitlines()
    marks = [(number, re.search(r"//~ (.*)", line)) for number, line in enumerate(lines, 1)]
    return sorted((number, clause) for number, mark in marks if mark for clause in mark[1].split())


def found(errors: tuple[Diagnostic, ...]) -> list[tuple[int, str]]:
    return sorted((error.place.line if error.place else 0, error.clause) for error in errors)
