"""Errors as users read them: `file:line:col: error[L-NAME]: what`, each conflicting fact with its location, and a fix.

Errors are collected in a `Diagnostics` and raised once, so that one run reports all of them.
"""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from pipelink.ir.clauses import CLAUSES, RANKS

OTHERS = 4  # how many consequences of one cause are told


@dataclass(frozen=True)
class Place:
    """A place in a file; line and column are 1-based, 0 where unknown."""

    file: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        return self.file + f":{self.line}" * bool(self.line) + f":{self.column}" * bool(self.line and self.column)


@dataclass(frozen=True)
class Note:
    """A conflicting fact with its own location."""

    text: str
    place: Place | None = None


@dataclass(frozen=True)
class Line:
    """One line of what a command says: `place: label: text`. The label is error[L-NAME], note, help or remark."""

    label: str
    text: str
    place: Place | None = None

    def render(self, program: str) -> str:
        return f"{self.place or program}: {self.label}: {self.text}"

    def fields(self) -> dict[str, object]:
        """What the line says, for `--format json`; file is "", line and column 0 where they are unknown."""
        place = self.place or Place("")
        return {"message": self.text, "file": place.file, "line": place.line, "column": place.column}


@dataclass(frozen=True)
class Diagnostic:
    """One error. `clause` is a name of `pipelink.ir.clauses`; `hint` says what would fix it."""

    clause: str
    message: str
    place: Place | None = None
    notes: tuple[Note, ...] = ()
    hint: str = ""

    def __post_init__(self) -> None:
        if self.clause not in CLAUSES:
            raise KeyError(f"no clause {self.clause}")

    def lines(self) -> Iterator[Line]:
        yield Line(f"error[{self.clause}]", self.message, self.place)
        for note in self.notes:
            yield Line("note", note.text, note.place)
        if self.hint:
            yield Line("help", self.hint, self.place)

    def render(self, program: str = "pipelink") -> str:
        return "\n".join(line.render(program) for line in self.lines())

    def fields(self) -> dict[str, object]:
        """The error as one JSON object holds it."""
        notes = [Line("note", note.text, note.place).fields() for note in self.notes]
        said = Line("error", self.message, self.place).fields()
        return {"severity": "error", "clause": self.clause, **said, "notes": notes, "hint": self.hint}


class PipelinkError(Exception):
    """One or more errors of the user's input; tools print them and exit with status 1."""

    def __init__(self, *diagnostics: Diagnostic):
        super().__init__("\n".join(d.render() for d in diagnostics))
        self.diagnostics = diagnostics


def fail(clause: str, message: str, place: Place | None = None, *notes: Note, hint: str = "") -> PipelinkError:
    """An error to raise where nothing can go on."""
    return PipelinkError(Diagnostic(clause, message, place, notes, hint))


@dataclass
class Diagnostics:
    """Collects errors; `check` raises them all at once, the most fundamental first."""

    errors: list[Diagnostic] = field(default_factory=list[Diagnostic])
    causes: dict[str, list[Diagnostic]] = field(default_factory=dict[str, list[Diagnostic]])

    def error(
        self, clause: str, message: str, place: Place | None = None, *notes: Note, hint: str = "", cause: str = ""
    ) -> None:
        """Report one. Errors of one `cause` are one error: the first, with the others as notes."""
        found = Diagnostic(clause, message, place, notes, hint)
        known = tuple(self.causes.get(cause, ()))
        if found in self.errors or found in known:
            return
        if cause:
            self.causes[cause] = [*known, found]
        if not known:
            self.errors.append(found)

    def check(self) -> None:
        if self.errors:
            raise PipelinkError(*sorted(map(self._with_others, self.errors), key=lambda d: RANKS[d.clause]))

    def _with_others(self, first: Diagnostic) -> Diagnostic:
        """An error with notes of the others of its cause; past OTHERS of them, how many there are."""
        others = next((found[1:] for found in self.causes.values() if found[0] is first), list[Diagnostic]())
        notes = [Note(f"so too: {other.message}", other.place) for other in others[:OTHERS]]
        notes += [Note(f"and {len(others) - OTHERS} more", first.place)] * (len(others) > OTHERS)
        return replace(first, notes=(*first.notes, *notes))


@contextmanager
def collecting() -> Generator[Diagnostics]:
    """`with collecting() as errors:` raises what was collected when the block ends without an exception."""
    diagnostics = Diagnostics()
    yield diagnostics
    diagnostics.check()
