"""Suggestions for names that were not found."""

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: str, known: Iterable[str], otherwise: str = "") -> str:
    """`did you mean 'x'?`; where none is near, `otherwise` or the known names, or nothing where none is known."""
    names = sorted(known)
    if close := get_close_matches(name, names, 1, 0.6):
        return f"did you mean '{close[0]}'?"
    return otherwise or (f"known: {', '.join(names)}" if names else "")
