"""Suggestions for names that were not found."""

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: str, known: Iterable[str]) -> str:
    """`did you mean 'x'?`, or the known names where none is near, or nothing where none is known."""
    names = sorted(known)
    if close := get_close_matches(name, names, 1, 0.6):
        return f"did you mean '{close[0]}'?"
    return f"known: {', '.join(names)}" if names else ""
