"""`--verify-diagnostics`: an input's comments say which diagnostics it gives, and where, as in MLIR.

`// expected-error@+1 {{text}}` expects an error on the next line that holds `text`. The kinds are error, note,
remark and help; the places @+N, @-N, @above and @below (past comments of this kind), @unknown for what is in no line of
the input. `{{a{{[0-9]+}}b}}` of `expected-error-re` holds regular expressions. Each error, note and remark must be
expected.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pipelink.ir.diagnostics import Diagnostic, Line, Place, fail

COMMENT = re.compile(
    r"(?://|#)\s*expected-(error|note|remark|help)(-re)?\s*(?:@([+-]\d+|above|below|unknown))?\s*\{\{(.*)\}\}\s*$"
)
LIKE = re.compile(r"(?://|#)\s*expected-")


@dataclass(frozen=True)
class Expected:
    """One comment: `line` is where the diagnostic is to be, 0 for nowhere in the input."""

    kind: str
    line: int
    pattern: re.Pattern[str]
    text: str
    place: Place

    def fits(self, line: Line, name: str) -> bool:
        at = line.place.line if line.place and line.place.file == name else 0
        kind = line.label.partition("[")[0]
        return (kind, at) == (self.kind, self.line) and bool(self.pattern.search(f"{line.label}: {line.text}"))


def expectations(text: str, name: str) -> list[Expected]:
    """The comments of an input. Raises PipelinkError for one that has the form of none."""
    lines = text.splitlines()
    found: list[Expected] = []
    for number, line in enumerate(lines, 1):
        if match := COMMENT.search(line):
            kind, regular, where, said = match.groups()
            at, place = _line(lines, number, where or "+0"), Place(name, number, match.start() + 1)
            found.append(Expected(kind, at, _pattern(said, bool(regular)), said, place))
        elif match := LIKE.search(line):
            place = Place(name, number, match.start() + 1)
            raise fail("L-EXPECT", "no expectation", place, hint="write `expected-error @+1 {{text}}`")
    return found


def _line(lines: list[str], number: int, where: str) -> int:
    if where == "unknown":
        return 0
    if where not in ("above", "below"):
        return number + int(where)
    step = -1 if where == "above" else 1
    number += step
    while 0 < number <= len(lines) and COMMENT.search(lines[number - 1]):
        number += step
    return number


def _pattern(text: str, regular: bool) -> re.Pattern[str]:
    """`text` itself; with `regular`, what stands between inner braces is a regular expression."""
    if not regular:
        return re.compile(re.escape(text))
    parts = re.split(r"\{\{(.*?)\}\}", text)
    return re.compile("".join(part if i % 2 else re.escape(part) for i, part in enumerate(parts)))


def mismatches(expected: Iterable[Expected], said: Iterable[Line], name: str) -> Iterator[Diagnostic]:
    """What was said and not expected, then what was expected and not said. One comment is met by one diagnostic."""
    open_ = list(expected)
    for line in said:
        if met := next((e for e in open_ if e.fits(line, name)), None):
            open_.remove(met)
        elif line.label != "help":
            yield Diagnostic("L-EXPECT", f"unexpected {line.label}: {line.text}", line.place)
    for left in open_:
        at = f"on line {left.line}" if left.line else "without a line"
        yield Diagnostic("L-EXPECT", f'expected {left.kind} "{left.text}" {at} was not produced', left.place)
