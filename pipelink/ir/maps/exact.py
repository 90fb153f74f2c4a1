"""The exact map: a finite mixed index space sent to named output coordinates, one closed form per output.

Text form: `(t:256, r:128) -> (m:128, n:256) { m = t/32*16 + r/2%2*8 + t/4%8; n = r/4*8 + t%4*2 + r%2 }`;
the grammar of the forms is in `pipelink.ir.maps.forms`.
"""

import re
from collections.abc import Sequence
from functools import cached_property
from math import prod
from typing import Final

from pipelink.ir.maps.forms import (
    NAME,
    Form,
    FormError,
    MapError,
    Space,
    column,
    evaluate,
    names,
    parse_form,
    substitute,
)

MAX_POINTS = 1 << 22  # maps are enumerated: tiles are far smaller
_TEXT = re.compile(r"\s*\(([^()]*)\)\s*->\s*\(([^()]*)\)\s*\{(.*)\}\s*", re.DOTALL)


def show_point(space: Space, point: Sequence[int]) -> str:
    """`(m=8, n=0)`."""
    return "(" + ", ".join(f"{name}={value}" for (name, _), value in zip(space, point, strict=True)) + ")"


def unflatten(space: Space, flat: int) -> tuple[int, ...]:
    """The point whose row-major number (last index fastest) is `flat`."""
    point: list[int] = []
    for _, size in reversed(space):
        flat, digit = divmod(flat, size)
        point.append(digit)
    return tuple(reversed(point))


class ExactMap:
    """`domain` and `outputs` are (name, size) pairs; `forms` has one closed form per output, over the domain's names.

    Maps are equal when domain, outputs and all values are, however their forms are written. Every value lies
    in its output's range: a map breaking that raises MapError when its values are first asked for (`parse` and
    `fit` ask at once).
    """

    def __init__(self, domain: Space, outputs: Space, forms: tuple[Form, ...]):
        self.domain: Final = domain
        self.outputs: Final = outputs
        self.forms: Final = forms
        for space in (self.domain, self.outputs):
            _check_space(space)
        if len(self.forms) != len(self.outputs):
            raise MapError(f"{len(self.forms)} forms for {len(self.outputs)} outputs")
        if self.size > MAX_POINTS:
            raise MapError(f"a domain of {self.size} points, at most {MAX_POINTS} can be enumerated")
        known = {name for name, _ in self.domain}
        for (name, _), form in zip(self.outputs, self.forms, strict=True):
            if stray := sorted(names(form) - known):
                raise MapError(f"the form of {name} reads {', '.join(stray)}, which the domain does not have")

    def __str__(self) -> str:
        body = "; ".join(f"{n} = {form}" for (n, _), form in zip(self.outputs, self.forms, strict=True))
        return f"({_show_space(self.domain)}) -> ({_show_space(self.outputs)}) {{ {body} }}"

    def __repr__(self) -> str:
        return f"parse({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ExactMap):
            return NotImplemented
        same_spaces = self.domain == other.domain and self.outputs == other.outputs
        return same_spaces and (self.forms == other.forms or self.tables == other.tables)

    def __hash__(self) -> int:
        return hash((self.domain, self.outputs))

    @cached_property
    def size(self) -> int:
        """The number of points of the domain."""
        return prod(size for _, size in self.domain)

    @cached_property
    def tables(self) -> tuple[tuple[int, ...], ...]:
        """For each output its value at every point, in row-major order of the domain. Raises MapError out of range."""
        tables: list[tuple[int, ...]] = []
        for (name, size), form in zip(self.outputs, self.forms, strict=True):
            table = tuple(column(form, self.domain))
            if max(table) >= size or min(table) < 0:
                flat = next(i for i, value in enumerate(table) if not 0 <= value < size)
                where = show_point(self.domain, unflatten(self.domain, flat))
                raise MapError(f"{name} = {table[flat]} at {where} is outside its range 0..{size - 1}")
            tables.append(table)
        return tuple(tables)

    @cached_property
    def flat(self) -> tuple[int, ...]:
        """The row-major number of the output point, at every point of the domain."""
        flat = [0] * self.size
        for (_, size), table in zip(self.outputs, self.tables, strict=True):
            flat = [a * size + b for a, b in zip(flat, table, strict=True)]
        return tuple(flat)

    def points(self) -> list[tuple[int, ...]]:
        """The output points in row-major order of the domain."""
        return list(zip(*self.tables, strict=True))

    def evaluate(self, point: Sequence[int]) -> tuple[int, ...]:
        """The output point of one domain point. Raises MapError outside the domain."""
        if len(point) != len(self.domain):
            raise MapError(f"{len(point)} coordinates for a domain of {len(self.domain)}")
        for (name, size), value in zip(self.domain, point, strict=True):
            if not 0 <= value < size:
                raise MapError(f"{name} = {value} is outside its range 0..{size - 1}")
        values = {name: value for (name, _), value in zip(self.domain, point, strict=True)}
        return tuple(evaluate(form, values) for form in self.forms)

    def bind(self, name: str, value: int) -> "ExactMap":
        """The map with one index fixed and gone from the domain. Raises MapError for no such index or value."""
        size = dict(self.domain).get(name)
        if size is None or not 0 <= value < size:
            raise MapError(f"no value {name} = {value} in ({_show_space(self.domain)})")
        rest = tuple(pair for pair in self.domain if pair[0] != name)
        return ExactMap(rest, self.outputs, tuple(substitute(form, {name: value}) for form in self.forms))

    def collision(self) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        """The first two domain points with the same output point, if there are any."""
        first: dict[int, int] = {}
        for here, there in enumerate(self.flat):
            if there in first:
                return unflatten(self.domain, first[there]), unflatten(self.domain, here)
            first[there] = here
        return None

    def uncovered(self) -> tuple[int, ...] | None:
        """The first output point that no domain point reaches, if there is one."""
        reached = set(self.flat)
        total = prod(size for _, size in self.outputs)
        if len(reached) == total:
            return None
        return unflatten(self.outputs, next(flat for flat in range(total) if flat not in reached))

    @property
    def is_injective(self) -> bool:
        return len(set(self.flat)) == self.size

    @property
    def is_surjective(self) -> bool:
        return self.uncovered() is None

    @property
    def is_bijective(self) -> bool:
        return self.is_injective and self.is_surjective

    def inverse(self) -> "ExactMap":
        """The map from outputs back to the domain, fitted anew.

        Raises MapError with the two colliding points, or with an output point that is not reached; FitError where the
        inverse has no closed form.
        """
        from pipelink.ir.maps.fit import fit

        if pair := self.collision():
            one, two = (show_point(self.domain, point) for point in pair)
            where = show_point(self.outputs, self.evaluate(pair[0]))
            raise MapError(f"not injective: {one} and {two} both map to {where}")
        if (missed := self.uncovered()) is not None:
            raise MapError(f"not onto: nothing maps to {show_point(self.outputs, missed)}")
        back = sorted(range(self.size), key=self.flat.__getitem__)
        return fit(self.outputs, self.domain, [unflatten(self.domain, here) for here in back])


def parse(text: str) -> ExactMap:
    """The map that `text` spells; `str` of it gives the same text again, spacing apart. Raises FormError, MapError."""
    match = _TEXT.fullmatch(text)
    if match is None:
        raise FormError(f"not a map `(i:4) -> (x:4) {{ x = i }}`: {text!r}")
    domain, outputs = _parse_space(match[1]), _parse_space(match[2])
    bodies = [part for part in match[3].split(";") if part.strip()]
    heads = [part.partition("=") for part in bodies]
    if [head.strip() for head, _, _ in heads] != [name for name, _ in outputs]:
        raise FormError(f"the forms must be those of {', '.join(n for n, _ in outputs)}, in this order: {text!r}")
    result = ExactMap(domain, outputs, tuple(parse_form(body) for _, _, body in heads))
    _ = result.tables
    return result


def _show_space(space: Space) -> str:
    return ", ".join(f"{name}:{size}" for name, size in space)


def _parse_space(text: str) -> Space:
    pairs: list[tuple[str, int]] = []
    for part in text.split(",") if text.strip() else []:
        name, _, size = (piece.strip() for piece in part.partition(":"))
        if not NAME.fullmatch(name) or not size.isdecimal():
            raise FormError(f"`{part.strip()}` is not `name:size`")
        pairs.append((name, int(size)))
    return tuple(pairs)


def _check_space(space: Space) -> None:
    seen: set[str] = set()
    for name, size in space:
        if not NAME.fullmatch(name) or name in seen:
            raise MapError(f"index name {name!r} is no identifier or is used twice")
        if size < 1:
            raise MapError(f"{name} has size {size}")
        seen.add(name)
