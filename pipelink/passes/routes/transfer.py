"""The question that a route answers: one placement, one demand and what the import lends, as plain tables."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, product
from math import prod

from pipelink.ir.maps import ExactMap, FitError, fit
from pipelink.ir.maps.exact import show_point
from pipelink.passes.routes.plan import Guard, Plan, Refusal

MOST_CLASSES = 8  # groups of threads with register lists of their own: each is a branch in the generated code


class Refused(Exception):
    """A rung does not serve this transfer; the message says why in words."""


class RouteError(ValueError):
    """No route: either the question is malformed or every rung refuses (`refusals` has their reasons)."""

    def __init__(self, message: str, refusals: tuple[Refusal, ...] = ()):
        super().__init__(message)
        self.refusals = refusals


@dataclass(frozen=True, slots=True)
class Lends:
    """What the import lends: registers a thread (frame, destination), shared scratch, and whether a named barrier."""

    frame_registers: int
    destination_registers: int
    scratch_bytes: int
    barrier: bool
    element_bytes: int


@dataclass(frozen=True, eq=False)
class Transfer:
    """`placement`: (thread, register...) -> tile; `demand`: (thread, position...) -> tile, one index being the chunk.

    The first index of both is the thread; all others but the chunk number registers in row-major order. Raises
    RouteError where the two do not speak of the same tile and threads, or exceed the registers that are lent.
    """

    placement: ExactMap
    demand: ExactMap
    chunk: str | None
    lends: Lends

    def __post_init__(self) -> None:
        if self.placement.outputs != self.demand.outputs:
            raise RouteError(f"placement and demand differ in their tile: {self.placement} and {self.demand}")
        if not self.placement.domain or not self.demand.domain or self.demand.domain[0][0] == self.chunk:
            raise RouteError("the first index of placement and demand must be the thread")
        if self.chunk is not None and self.chunk not in dict(self.demand.domain):
            raise RouteError(f"the demand has no index {self.chunk} for the chunk")
        if self.placement.domain[0][1] != self.demand.domain[0][1]:
            held, wanted = self.placement.domain[0][1], self.demand.domain[0][1]
            raise RouteError(f"the placement is spread over {held} threads, the demand over {wanted}")
        self._check_registers("placement", self.registers, "frame", self.lends.frame_registers)
        self._check_registers("demand", self.positions, "destination", self.lends.destination_registers)
        held_elements = set(self.placement.flat)
        if missing := [e for e in self.demand.flat if e not in held_elements]:
            raise RouteError(f"element {self.show(missing[0])}: wanted, but held by no thread")

    def _check_registers(self, side: str, needed: int, name: str, lent: int) -> None:
        if needed > lent:
            raise RouteError(f"the {side} has {needed} registers a thread, the {name} that is lent {lent}")

    @cached_property
    def threads(self) -> int:
        return self.placement.domain[0][1]

    @cached_property
    def registers(self) -> int:
        return self.placement.size // self.threads

    @cached_property
    def chunks(self) -> int:
        return 1 if self.chunk is None else dict(self.demand.domain)[self.chunk]

    @cached_property
    def positions(self) -> int:
        return self.demand.size // self.threads // self.chunks

    @cached_property
    def holders(self) -> dict[int, list[tuple[int, int]]]:
        """(thread, register) pairs that hold each element, in thread order."""
        holders: dict[int, list[tuple[int, int]]] = {}
        places = product(range(self.threads), range(self.registers))
        for element, place in zip(self.placement.flat, places, strict=True):
            if element in holders:
                holders[element].append(place)
            else:
                holders[element] = [place]
        return holders

    @cached_property
    def wanted(self) -> tuple[tuple[tuple[int, ...], ...], ...]:
        """wanted[chunk][thread][position] is an element."""
        names = [name for name, _ in self.demand.domain]
        axis = names.index(self.chunk) if self.chunk is not None else len(names)
        inner = prod(size for _, size in self.demand.domain[axis + 1 :])
        flat, each = self.demand.flat, self.demand.size // self.threads

        def row(thread: int, chunk: int) -> tuple[int, ...]:
            starts = range(thread * each + chunk * inner, (thread + 1) * each, self.chunks * inner)
            return tuple(chain.from_iterable(flat[start : start + inner] for start in starts))

        return tuple(tuple(row(t, c) for t in range(self.threads)) for c in range(self.chunks))

    @cached_property
    def coordinates(self) -> tuple[tuple[int, ...], ...]:
        """The tile coordinates of each element."""
        return tuple(product(*(range(size) for _, size in self.placement.outputs)))

    def show(self, element: int) -> str:
        """`(m=8, n=0)`."""
        return show_point(self.placement.outputs, self.coordinates[element])

    def show_crossing(self, element: int, thread: int, position: int, chunk: int) -> str:
        """The element, who holds it and who wants it."""
        holder, register = self.holders[element][0]
        where = f" of chunk {chunk}" if self.chunk is not None else ""
        return (
            f"element {self.show(element)}: held by thread {holder} register {register}, "
            f"wanted by thread {thread} position {position}{where}"
        )


def thread_classes(patterns: Sequence[Sequence[object]], what: str) -> list[tuple[Guard | None, int]]:
    """Threads with equal patterns as guards, each with one of its threads; no guard where all patterns are equal.

    Threads whose pattern is empty are in no class. Raises Refused where there are more than MOST_CLASSES classes, or
    where a class has no closed form: register indices are constants, so each class is code of its own.
    """
    number: dict[Sequence[object], int] = {}
    ids = [number.setdefault(pattern, len(number)) for pattern in patterns]
    if len(number) == 1:
        return [(None, 0)]
    form = _class_form(ids) if len(number) <= MOST_CLASSES + 1 else None
    if form is None:
        example = f"{what} of thread 0 and of thread {ids.index(1)} are not the same"
        raise Refused(f"{len(number)} groups of threads with registers of their own have no simple form: {example}")
    digits = form.tables[0]
    firsts = [digits.index(value) for value in sorted(set(digits))]
    return [(Guard(form, digits[thread]), thread) for thread in firsts if patterns[thread]]


def _class_form(ids: Sequence[int]) -> ExactMap | None:
    """A map (t) -> (class) that separates the groups: their numbers, or else one digit of the thread's number."""
    threads = (("t", len(ids)),)
    try:
        return fit(threads, (("class", max(ids) + 1),), [(i,) for i in ids])
    except FitError:
        pass
    for mod in range(2, 2 * MOST_CLASSES + 1):
        for div in (d for d in range(1, len(ids)) if len(ids) % d == 0):
            digits = [t // div % mod for t in range(len(ids))]
            if len(set(zip(digits, ids, strict=True))) == len(set(digits)):
                return fit(threads, (("class", mod),), [(digit,) for digit in digits])
    return None


@dataclass(frozen=True, slots=True)
class Rung:
    """One route of the ladder. `plan` raises Refused with the reason where it does not serve."""

    kind: str
    plan: Callable[[Transfer], Plan]
