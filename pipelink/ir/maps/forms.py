"""Closed forms of one output coordinate: small integer expressions over named indices, printed and parsed.

Grammar (C's precedence, so that a printed form is also a C expression over unsigned values)::

    form    := sum ('^' sum)*
    sum     := product (('+' | '-') product)*
    product := atom (('*' | '/' | '%') atom)*
    atom    := INTEGER | NAME | '(' form ')'

`/` is integer division, `^` the bitwise exclusive or. A form is quasi-affine: divisors and moduli are positive
integers and at least one factor of a product is an integer. No intermediate value may be negative.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

Space = tuple[tuple[str, int], ...]
"""Index names with their sizes, outermost first."""

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TOKEN = re.compile(r"\s*(?:(\d+)|([A-Za-z_][A-Za-z0-9_]*)|([-+*/%^()]))")
_LEVEL = {"^": 1, "+": 2, "-": 2, "*": 3, "/": 3, "%": 3}


class MapError(ValueError):
    """A map that is not what its user needs: out of range, not injective, not onto, a point outside."""


class FormError(MapError):
    """Text that is not a closed form or a map; the message has the offset in characters."""


@dataclass(frozen=True, slots=True)
class Const:
    """An integer."""

    value: int

    def __str__(self) -> str:
        return str(self.value)


@dataclass(frozen=True, slots=True)
class Index:
    """A domain index by name."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Op:
    """`left op right` with op one of `^ + - * / %`."""

    op: str
    left: "Form"
    right: "Form"

    def __str__(self) -> str:
        level = _LEVEL[self.op]
        space = " " if level < 3 else ""
        return f"{_wrap(self.left, level)}{space}{self.op}{space}{_wrap(self.right, level + 1)}"


Form = Const | Index | Op


def _wrap(form: Form, level: int) -> str:
    needs = isinstance(form, Op) and _LEVEL[form.op] < level
    return f"({form})" if needs else str(form)


def apply(op: str, left: int, right: int) -> int:
    """One operation on non-negative integers. Raises MapError where a difference is negative."""
    if op == "+":
        return left + right
    if op == "*":
        return left * right
    if op == "/":
        return left // right
    if op == "%":
        return left % right
    if op == "^":
        return left ^ right
    if left < right:
        raise MapError(f"{left} - {right} is negative")
    return left - right


def make(op: str, left: Form, right: Form) -> Form:
    """`left op right` with constants folded and neutral operands dropped."""
    if isinstance(left, Const) and isinstance(right, Const):
        return Const(apply(op, left.value, right.value))
    if isinstance(right, Const):
        return _with_constant(op, left, right)
    if isinstance(left, Const) and op in "+*^":
        return _with_constant(op, right, left)
    if op == "+" and isinstance(left, Op) and left.op == "+" and isinstance(left.right, Const):
        return Op("+", make("+", left.left, right), left.right)  # constants last
    return Op(op, left, right)


def _with_constant(op: str, left: Form, right: Const) -> Form:
    if right.value == 0 and op in "+-^":
        return left
    if right.value == 1 and op in "*/":
        return left
    if (op, right.value) in (("*", 0), ("%", 1)):
        return Const(0)
    if op in "+^" and isinstance(left, Op) and left.op == op and isinstance(left.right, Const):
        return make(op, left.left, Const(apply(op, left.right.value, right.value)))
    return Op(op, left, right)


def substitute(form: Form, values: Mapping[str, int]) -> Form:
    """`form` with the named indices replaced by integers, constants folded."""
    if isinstance(form, Const):
        return form
    if isinstance(form, Index):
        return Const(values[form.name]) if form.name in values else form
    return make(form.op, substitute(form.left, values), substitute(form.right, values))


def evaluate(form: Form, values: Mapping[str, int]) -> int:
    """The value at one point. Raises MapError where an intermediate difference is negative."""
    if isinstance(form, Const):
        return form.value
    if isinstance(form, Index):
        return values[form.name]
    return apply(form.op, evaluate(form.left, values), evaluate(form.right, values))


def column(form: Form, space: Space) -> list[int]:
    """The values at all points of `space`, in row-major order.

    Each part is evaluated over the indices that it reads alone, and only then spread over the others.
    """
    part, values = _narrow(form, dict(space))
    return _spread(values, part, space)


def _narrow(form: Form, sizes: Mapping[str, int]) -> tuple[Space, list[int]]:
    """The indices that `form` reads, in the order of the domain, and its values over them."""
    if isinstance(form, Const):
        return (), [form.value]
    if isinstance(form, Index):
        return ((form.name, sizes[form.name]),), list(range(sizes[form.name]))
    if form.op == "+":
        return _sum(_terms(form), sizes)
    return _combine(form.op, _narrow(form.left, sizes), _narrow(form.right, sizes), sizes)


def _terms(form: Form) -> list[Form]:
    if isinstance(form, Op) and form.op == "+":
        return [*_terms(form.left), *_terms(form.right)]
    return [form]


def _sum(terms: list[Form], sizes: Mapping[str, int]) -> tuple[Space, list[int]]:
    """Terms that read the same indices are added first: the whole domain is walked once."""
    sums: dict[Space, list[int]] = {}
    for term in terms:
        part, values = _narrow(term, sizes)
        sums[part] = _zip("+", sums[part], values) if part in sums else values
    total: tuple[Space, list[int]] = ((), [0])
    for part in sorted(sums, key=len):
        total = _combine("+", total, (part, sums[part]), sizes)
    return total


def _combine(
    op: str, left: tuple[Space, list[int]], right: tuple[Space, list[int]], sizes: Mapping[str, int]
) -> tuple[Space, list[int]]:
    read = {*left[0], *right[0]}
    whole = tuple((name, size) for name, size in sizes.items() if (name, size) in read)
    if not right[0]:
        return whole, _column_by(op, left[1], right[1][0])
    return whole, _zip(op, _spread(left[1], left[0], whole), _spread(right[1], right[0], whole))


def _spread(values: list[int], part: Space, whole: Space) -> list[int]:
    """Values over `part` repeated over the indices of `whole` that it lacks; both in the same order."""
    if part == whole:
        return values
    at = [0]
    for index in whole:
        size = index[1]
        if index in part:
            at = [start + digit for start in (i * size for i in at) for digit in range(size)]
        else:
            at = [i for i in at for _ in range(size)]
    return [values[i] for i in at]


def _column_by(op: str, left: list[int], right: int) -> list[int]:
    if op == "+":
        return [a + right for a in left]
    if op == "*":
        return [a * right for a in left]
    if op == "/":
        return [a // right for a in left]
    if op == "%":
        return [a % right for a in left]
    return _zip(op, left, [right] * len(left))


def _zip(op: str, left: list[int], right: list[int]) -> list[int]:
    if op == "+":
        return [a + b for a, b in zip(left, right, strict=True)]
    if op == "^":
        return [a ^ b for a, b in zip(left, right, strict=True)]
    return [apply(op, a, b) for a, b in zip(left, right, strict=True)]


def names(form: Form) -> set[str]:
    """The indices that the form reads."""
    if isinstance(form, Const):
        return set()
    return {form.name} if isinstance(form, Index) else names(form.left) | names(form.right)


def parse_form(text: str) -> Form:
    """The form that `text` spells, tree for tree. Raises FormError."""
    parser = _Parser(text)
    form = parser.level(1)
    if parser.token:
        raise FormError(f"`{parser.token}` at {parser.at} ends the form `{text.strip()}` too early")
    return form


class _Parser:
    def __init__(self, text: str):
        self.text = text
        self.at = 0
        self.end = 0
        self.token = ""
        self._next()

    def _next(self) -> None:
        self.at = self.end
        rest = self.text[self.end :]
        if not rest.strip():
            self.token = ""
            return
        match = _TOKEN.match(rest)
        if match is None:
            raise FormError(f"`{rest.strip()[0]}` at {self.at} does not belong in a form")
        self.token = match.group().strip()
        self.at = self.end + match.end() - len(self.token)
        self.end += match.end()

    def level(self, level: int) -> Form:
        if level == 4:
            return self._atom()
        form = self.level(level + 1)
        while _LEVEL.get(self.token) == level:
            op, at = self.token, self.at
            self._next()
            form = _checked(op, form, self.level(level + 1), at)
        return form

    def _atom(self) -> Form:
        token, at = self.token, self.at
        if not token:
            raise FormError(f"an integer, an index or `(` is missing at {at}")
        self._next()
        if token.isdigit():
            return Const(int(token))
        if NAME.fullmatch(token):
            return Index(token)
        if token != "(":
            raise FormError(f"`{token}` at {at}: an integer, an index or `(` is needed here")
        form = self.level(1)
        if self.token != ")":
            raise FormError(f"`(` at {at} is not closed")
        self._next()
        return form


def _checked(op: str, left: Form, right: Form, at: int) -> Form:
    if op in "/%" and not (isinstance(right, Const) and right.value > 0):
        raise FormError(f"`{op}` at {at} needs a positive integer on its right")
    if op == "*" and not (isinstance(left, Const) or isinstance(right, Const)):
        raise FormError(f"`*` at {at} multiplies two indices: a form is quasi-affine")
    return Op(op, left, right)
