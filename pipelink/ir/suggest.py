"""Suggestions for names that were not found."""

from collections.abc import Iterable
from difflib import get_close_matches


def close(name: str, known: Iterable[str]) -> list[str]:
    """The known names that `name` may be a misspelling of, the nearest first."""
    return get_close_matches(name, sorted(known), 3, 0.6)


def nearest(name: str, known: Iterable[str], otherwise: str = "") -> str:
    """`did you mean 'x'?`; where none is near, `otherwise` or the known names, or nothing where none is known."""
    names = sorted(known)
    if found := close(name, names):
        return f"did you mean '{found[0]}'?"
    return otherwise or (f"known: {', '.join(names)}" if names else "")
