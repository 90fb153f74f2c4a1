"""Errors on a terminal: in colour, each with the line of the source that it points at."""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from pipelink.ir.diagnostics import Line, Place

COLOURS = {"error": "31", "internal error": "31", "note": "36", "help": "32", "remark": "34"}


def colourful() -> bool:
    """Whether colour is wanted of a terminal; see https://no-color.org."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def pretty(lines: Iterable[Line], program: str, colour: bool, width: int) -> Iterator[str]:
    """The lines of one diagnostic; below each that has a place of its own, the source there, at most `width` wide."""
    shown: set[Place | None] = {None}
    for line in lines:
        code = COLOURS[line.label.partition("[")[0]] if colour else ""
        place, label = _in("1", f"{line.place or program}:", colour), _in(f"1;{code}", f"{line.label}:", colour)
        yield f"{place} {label} {line.text}"
        if line.place not in shown:
            yield from excerpt(line.place, _in(code, "{}", colour), width) if line.place else ()
        shown.add(line.place)


def excerpt(place: Place, mark: str, width: int) -> Iterator[str]:
    """The source line of `place` and a caret below its column, coloured by `mark`; nothing where either is unknown."""
    text = _source_line(place)
    if text is None or not 0 < place.column <= len(text) + 1:
        return
    margin = f"{place.line:5} | "
    start = max(0, place.column - 1 - (width - len(margin)) // 2) if len(text) > width - len(margin) else 0
    word = re.compile(r"@?[\w.:-]*").match(text, place.column - 1)
    pad = "".join("\t" if c == "\t" else " " for c in text[start : place.column - 1])
    under = ("^" + "~" * (len(word[0]) - 1 if word else 0))[: width - len(margin) - len(pad)]
    yield margin + text[start : start + width - len(margin)]
    yield " " * (len(margin) - 2) + "| " + pad + mark.format(under)


def _source_line(place: Place) -> str | None:
    """One line of a file; None where it is absent or no text."""
    try:
        lines = Path(place.file).read_text().split("\n")
    except (OSError, ValueError):
        return None
    if not 0 < place.line <= len(lines):
        return None
    return "".join(c if c.isprintable() or c == "\t" else "?" for c in lines[place.line - 1])


def _in(code: str, text: str, colour: bool) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if colour else text
