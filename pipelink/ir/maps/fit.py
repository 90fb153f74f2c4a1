"""Fitting: from the values at every point to a short closed form that reproduces each of them, or an error.

Three families are tried, each checked at every point: sums of one function per index, each split into
mixed-radix digits (`t/32*16 + r%5`); F2-linear maps, whose output bits are exclusive ors of input bits
(swizzles); and outputs that are the row-major digits of one such sum (`(t*5 + r)/24`). An F2-linear
candidate takes log2(N) + 1 evaluations.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from math import prod

from pipelink.ir.maps.exact import ExactMap, Space, show_point, unflatten
from pipelink.ir.maps.forms import Const, Form, Index, MapError, make

_MOST_OUTPUTS_TO_LINEARISE = 4


class FitError(MapError):
    """No closed form of the families reproduces the values; names the first point where the closest one differs.

    `point` are domain coordinates, `expected` and `got` the given and the fitted value of output `output`.
    """

    def __init__(self, message: str, output: str = "", point: tuple[int, ...] = (), expected: int = 0, got: int = 0):
        super().__init__(message)
        self.output = output
        self.point = point
        self.expected = expected
        self.got = got


@dataclass(frozen=True, slots=True)
class Term:
    """`coef * (name / div % mod)`; no `%` where `mod` is None."""

    coef: int
    name: str
    div: int
    mod: int | None

    def form(self) -> Form:
        digit = make("/", Index(self.name), Const(self.div))
        digit = digit if self.mod is None else make("%", digit, Const(self.mod))
        return make("*", digit, Const(abs(self.coef)))


@dataclass(frozen=True, slots=True)
class _Candidate:
    form: Form
    values: list[int]


def fit(domain: Space, outputs: Space, points: Sequence[Sequence[int]]) -> ExactMap:
    """The map with these output points, given in row-major order of the domain (last index fastest).

    Raises FitError where their number is wrong, a value is out of its output's range, or no closed form is exact.
    """
    total = prod(size for _, size in domain)
    if len(points) != total:
        raise FitError(f"{len(points)} points for a domain of {total}")
    tables = [list(table) for table in zip(*points, strict=True)]
    if len(tables) != len(outputs):
        raise FitError(f"points of {len(tables)} coordinates for {len(outputs)} outputs")
    for (name, size), table in zip(outputs, tables, strict=True):
        _check_range(domain, name, size, table)
    forms, failure = _fit_each(domain, outputs, tables)
    if failure is not None:
        forms = _linearised(domain, outputs, tables)
    if forms is None:
        assert failure is not None
        raise failure
    return ExactMap(domain, outputs, forms)


def _check_range(domain: Space, name: str, size: int, table: list[int]) -> None:
    if min(table) >= 0 and max(table) < size:
        return
    flat = next(i for i, value in enumerate(table) if not 0 <= value < size)
    point = unflatten(domain, flat)
    where = show_point(domain, point)
    raise FitError(f"{name} = {table[flat]} at {where} is outside its range 0..{size - 1}", name, point, table[flat])


def _fit_each(
    domain: Space, outputs: Space, tables: list[list[int]]
) -> tuple[tuple[Form, ...] | None, FitError | None]:
    forms: list[Form] = []
    for (name, _), table in zip(outputs, tables, strict=True):
        result = _fit_one(domain, name, table)
        if isinstance(result, FitError):
            return None, result
        forms.append(result)
    return tuple(forms), None


def _fit_one(domain: Space, name: str, table: list[int]) -> Form | FitError:
    candidates = [_digit_sum(domain, table), _f2_linear(domain, table)]
    exact = [candidate.form for candidate in candidates if candidate.values == table]
    if exact:
        return min(exact, key=lambda form: len(str(form)))
    flat, got = max(_first_difference(table, candidate.values) for candidate in candidates)
    point = unflatten(domain, flat)
    text = f"no closed form for {name}: the closest one gives {got} at {show_point(domain, point)}, not {table[flat]}"
    return FitError(text, name, point, table[flat], got)


def _first_difference(table: list[int], values: list[int]) -> tuple[int, int]:
    return next((i, got) for i, (expected, got) in enumerate(zip(table, values, strict=True)) if expected != got)


def _digit_sum(domain: Space, table: list[int]) -> _Candidate:
    """offset + one function per index, each a sum of its mixed-radix digits."""
    terms: list[Term] = []
    values = [table[0]]
    stride = 1
    for name, size in reversed(domain):
        function = [table[x * stride] - table[0] for x in range(size)]
        found = _digits(name, function)
        terms += found
        fitted = [_at(found, x) for x in range(size)]
        values = [value + step for step in fitted for value in values]
        stride *= size
    return _Candidate(_sum(terms, table[0]), values)


def _digits(name: str, function: list[int], div: int = 1) -> list[Term]:
    """Digits of a function with function[0] = 0: each ends where its line does. Exact only if a check says so."""
    terms: list[Term] = []
    while len(function) > 1:
        coef = function[1]
        mod = next((x for x in range(2, len(function)) if function[x] != coef * x), len(function))
        if coef:
            terms.append(Term(coef, name, div, mod if mod < len(function) else None))
        function = function[::mod]
        div *= mod
    return terms


def _at(terms: list[Term], x: int) -> int:
    return sum(t.coef * (x // t.div if t.mod is None else x // t.div % t.mod) for t in terms)


def _sum(terms: list[Term], offset: int) -> Form:
    """Most significant term first, what is subtracted last, so that no partial sum is negative."""
    ordered = sorted(terms, key=lambda t: -t.coef)
    form: Form = Const(0)
    for term in ordered:
        if term.coef > 0:
            form = make("+", form, term.form())
    form = make("+", form, Const(offset))
    for term in ordered:
        if term.coef < 0:
            form = make("-", form, term.form())
    return form


def _f2_linear(domain: Space, table: list[int]) -> _Candidate:
    """F2-linear in the bits of each index's power-of-two part, plus a digit sum over its odd part."""
    odd_terms: list[Term] = []
    bits: list[tuple[str, int, int]] = []  # index name, bit number, output column
    linear: list[int] = [table[0]]
    added: list[int] = [0]
    stride = 1
    for name, size in reversed(domain):
        two = size & -size
        for bit in range(two.bit_length() - 1):
            flip = table[stride << bit] ^ table[0]
            bits.append((name, bit, flip))
            linear += [value ^ flip for value in linear]
            added = added * 2
        step = stride * two
        odd = [table[x * step] - table[0] for x in range(size // two)]
        odd_terms += _digits(name, odd, two)
        added = [value + extra for extra in odd for value in added]
        linear = linear * (size // two)
        stride *= size
    values = [a + b for a, b in zip(linear, added, strict=True)]
    return _Candidate(_f2_form(domain, bits, table[0], odd_terms), values)


def _f2_form(domain: Space, bits: list[tuple[str, int, int]], offset: int, odd_terms: list[Term]) -> Form:
    layers = _layers(_runs(domain, bits)) or [[]]
    touched = 0
    for _, _, flip in bits:
        touched |= flip
    form = _sum(layers[0], offset & ~touched)  # no carries: these bits of the offset are in no column
    for layer in layers[1:]:
        form = make("^", form, _sum(layer, 0))
    form = make("^", form, Const(offset & touched))
    if len(layers) == 1 and not offset & touched:
        return _sum(odd_terms + layers[0], offset)
    return make("+", _sum(odd_terms, 0), form)


def _runs(domain: Space, bits: list[tuple[str, int, int]]) -> list[tuple[int, Term]]:
    """Runs of consecutive input bits that feed consecutive output bits, longest first, with their output bits."""
    sizes = dict(domain)
    order = [name for name, _ in domain]
    cells = {(name, bit, out) for name, bit, flip in bits for out in range(flip.bit_length()) if flip >> out & 1}
    runs: list[tuple[int, int, int, Term]] = []  # the first three sort
    for name, bit, out in sorted(cells):
        if (name, bit - 1, out - 1) in cells:
            continue
        length = 1
        while (name, bit + length, out + length) in cells:
            length += 1
        whole = 1 << bit + length >= sizes[name]
        term = Term(1 << out, name, 1 << bit, None if whole else 1 << length)
        runs.append((-length, order.index(name), -out, term))
    ordered = sorted(runs, key=lambda run: run[:3])
    return [(term.coef * ((1 << -minus_length) - 1), term) for minus_length, _, _, term in ordered]


def _layers(runs: list[tuple[int, Term]]) -> list[list[Term]]:
    """Each layer holds runs without a common output bit, so its sum has no carries; layers are xored."""
    layers: list[tuple[int, list[Term]]] = []
    for mask, run in runs:
        for at, (used, layer) in enumerate(layers):
            if not used & mask:
                layers[at] = (used | mask, [*layer, run])
                break
        else:
            layers.append((mask, [run]))
    return [layer for _, layer in layers]


def _linearised(domain: Space, outputs: Space, tables: list[list[int]]) -> tuple[Form, ...] | None:
    """Outputs as the digits of one sum: `(t*5 + r)/24`, `(t*5 + r)%24`; every order of the outputs is tried."""
    if not 1 < len(outputs) <= _MOST_OUTPUTS_TO_LINEARISE:
        return None
    for order in permutations(range(len(outputs))):
        total = [0] * len(tables[0])
        for at in order:
            total = [a * outputs[at][1] + b for a, b in zip(total, tables[at], strict=True)]
        candidate = _digit_sum(domain, total)
        if candidate.values == total:
            return _split(candidate.form, outputs, order)
    return None


def _split(whole: Form, outputs: Space, order: tuple[int, ...]) -> tuple[Form, ...]:
    forms: dict[int, Form] = {}
    stride = 1
    for at in reversed(order):
        digit = make("/", whole, Const(stride))
        forms[at] = digit if at == order[0] else make("%", digit, Const(outputs[at][1]))
        stride *= outputs[at][1]
    return tuple(forms[at] for at in range(len(outputs)))
