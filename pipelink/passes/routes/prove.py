"""The proof of a plan: its schedule run on a small model of registers, shared memory and barriers.

It shares nothing with the planners but the plan's data. The model: threads take the steps of the schedule in
order. Two accesses to one word, one of them a store, are ordered if they are of one thread, if a CTA barrier lies
between them, or if they are of one warp and a warp barrier lies between them; else they race. Shared memory starts
undefined.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from pipelink.ir.maps import ExactMap
from pipelink.ir.maps.exact import show_point, unflatten
from pipelink.passes.routes.plan import Access, Guard, Move, Plan, Step, Sync

_WARP = 32
_BANKS = 32
_WORD = 4


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule that the plan breaks, at its first instance in a step; `step` is -1 where no single step is to blame."""

    rule: str
    chunk: int
    step: int
    message: str

    def __str__(self) -> str:
        return f"chunk {self.chunk} step {self.step}: {self.rule}: {self.message}"


def prove(plan: Plan, placement: ExactMap, demand: ExactMap, base_address: int, alignment: int) -> list[Violation]:
    """What the plan breaks when its scratch is at shared-memory byte `base_address`, claimed at `alignment`.

    Empty if every element of every chunk is delivered, for chunks in any order and repeated.
    """
    wanted = _wanted(plan, demand)
    found = _check_base(plan, base_address, alignment)
    if len(wanted) != len(plan.schedule):
        message = f"{len(plan.schedule)} chunks in the schedule, {len(wanted)} in the demand"
        return [*found, Violation("chunks", 0, -1, message)]
    sound: set[object] = set()  # accesses that were found free of hazards, which registers do not change
    for chunk, steps in enumerate(plan.schedule):
        machine = _Machine(plan, placement, base_address, chunk)
        pattern = tuple(_shape(step) for step in steps)
        if pattern in sound:
            machine.deliver(steps)
        else:
            machine.run(steps)
            sound |= set() if machine.violations else {pattern}
        machine.check_delivery(wanted[chunk])
        found += machine.violations
    return found + _check_reentry(plan, placement, base_address)


def _wanted(plan: Plan, demand: ExactMap) -> list[list[Sequence[int]]]:
    """For each chunk and thread the elements by position."""
    name = plan.chunk
    maps = [demand] if name is None else [demand.bind(name, c) for c in range(dict(demand.domain)[name])]
    rows: list[list[Sequence[int]]] = []
    for each in maps:
        size = each.size // each.domain[0][1]
        rows.append([each.flat[at : at + size] for at in range(0, each.size, size)])
    return rows


def _check_base(plan: Plan, base: int, alignment: int) -> list[Violation]:
    found: list[Violation] = []
    if base % alignment:
        found.append(Violation("alignment", 0, -1, f"the scratch at {base} is not aligned to its claim's {alignment}"))
    if alignment % plan.alignment:
        message = f"the scratch is claimed at alignment {alignment}, the plan needs {plan.alignment}"
        found.append(Violation("alignment", 0, -1, message))
    return found


def _check_reentry(plan: Plan, placement: ExactMap, base: int) -> list[Violation]:
    """Races between a chunk and the next one, for each ordered pair of chunks whose scratch use differs."""
    shapes: dict[tuple[object, ...], int] = {}
    for chunk, steps in enumerate(plan.schedule):
        shapes.setdefault(tuple(_shape(step) for step in steps), chunk)
    found: list[Violation] = []
    for first in shapes.values():
        for second in shapes.values():
            machine = _Machine(plan, placement, base, second)
            machine.run(plan.schedule[first])
            machine.violations.clear()  # reported for that chunk already
            machine.run(plan.schedule[second])
            after = f"after chunk {first}: "
            found += [
                Violation(v.rule, v.chunk, v.step, after + v.message)
                for v in machine.violations
                if v.rule in ("race", "two writers")
            ]
    return found


def _shape(step: Step) -> object:
    if isinstance(step, Sync):
        return step.scope
    if isinstance(step, Move):
        return None
    return step.kind, step.width, step.address.tables, step.guard and (step.guard.form.tables, step.guard.value)


@dataclass(slots=True)
class _Word:
    """The last value, and who has used the word since the last CTA barrier."""

    element: int | None = None
    epoch: int = -1
    uses: list[tuple[bool, int, int]] = field(default_factory=list[tuple[bool, int, int]])  # store, thread, warp epoch


@dataclass(slots=True)
class _Machine:
    plan: Plan
    placement: ExactMap
    base: int
    chunk: int
    violations: list[Violation] = field(default_factory=list[Violation])
    words: dict[int, _Word] = field(default_factory=dict[int, _Word])
    destination: dict[tuple[int, int], int | None] = field(default_factory=dict[tuple[int, int], int | None])
    cta_epoch: int = 0
    warp_epoch: int = 0
    step: int = 0
    blamed: set[tuple[str, int]] = field(default_factory=set[tuple[str, int]])

    def run(self, steps: Iterable[Step]) -> None:
        self.blamed.clear()
        for self.step, step in enumerate(steps):
            if isinstance(step, Sync):
                self._sync(step)
            elif isinstance(step, Move):
                self._move(step)
            else:
                self._access(step)

    def deliver(self, steps: Iterable[Step]) -> None:
        """Only what moves where, for accesses that are known to be sound."""
        held: dict[int, int | None] = {}
        for self.step, step in enumerate(steps):
            if isinstance(step, Move):
                self._move(step)
            elif isinstance(step, Access):
                self._transfer(step, held)

    def _transfer(self, step: Access, held: dict[int, int | None]) -> None:
        addresses = step.address.tables[0]
        for thread in self._threads(step.guard):
            for word, register in enumerate(step.registers, addresses[thread] // _WORD):
                if step.kind == "store":
                    held[word] = self._frame(thread, register)
                else:
                    self.destination[thread, register] = held.get(word)

    def blame(self, rule: str, message: str) -> None:
        """Only the first instance in a step."""
        if (rule, self.step) not in self.blamed:
            self.blamed.add((rule, self.step))
            self.violations.append(Violation(rule, self.chunk, self.step, message))

    def _sync(self, step: Sync) -> None:
        if step.scope == "cta" and step.threads != self.plan.threads:
            self.blame("barrier", f"waits for {step.threads} of the {self.plan.threads} threads that arrive")
        if step.scope != "none":
            self.warp_epoch += 1
            self.cta_epoch += step.scope == "cta"

    def _move(self, step: Move) -> None:
        for thread in self._threads(step.guard):
            for position, register in step.pairs:
                self.destination[thread, position] = self._frame(thread, register)

    def _access(self, step: Access) -> None:
        if len(step.registers) * _WORD != step.width or step.width not in (4, 8, 16):
            self.blame("width", f"{len(step.registers)} registers in an access of {step.width} bytes")
        if step.address.size != self.plan.threads:
            self.blame("threads", f"{step.address.size} addresses for {self.plan.threads} threads")
            return
        addresses = step.address.tables[0]
        threads = self._threads(step.guard)
        self._check_banks(step, [(thread, self.base + addresses[thread]) for thread in threads])
        for thread in threads:
            offset = addresses[thread]
            if (self.base + offset) % step.width:
                self.blame("alignment", f"thread {thread}: {step.width} bytes at {self.base + offset}")
            if offset < 0 or offset + step.width > self.plan.scratch_bytes:
                self.blame("bounds", f"thread {thread}: bytes {offset}..{offset + step.width - 1} of the scratch")
            for lane, register in enumerate(step.registers):
                self._use(step.kind == "store", thread, offset + lane * _WORD, register)

    def _use(self, store: bool, thread: int, offset: int, register: int) -> None:
        word = self.words.setdefault(offset, _Word())
        if word.epoch != self.cta_epoch:
            word.epoch = self.cta_epoch
            word.uses.clear()
        self._check_race(word, store, thread, offset)
        word.uses.append((store, thread, self.warp_epoch))
        if store:
            word.element = self._frame(thread, register)
            return
        if word.element is None:
            self.blame("unwritten", f"thread {thread} loads byte {offset}, which nothing has stored")
        self.destination[thread, register] = word.element

    def _check_race(self, word: _Word, store: bool, thread: int, offset: int) -> None:
        for other_store, other, epoch in word.uses:
            if other == thread or not (store or other_store):
                continue
            if other // _WARP == thread // _WARP and epoch != self.warp_epoch:
                continue
            if store and other_store:
                self.blame("two writers", f"threads {other} and {thread} store byte {offset} with no sync between")
                continue
            reader, writer = (other, thread) if store else (thread, other)
            message = f"thread {reader} loads and thread {writer} stores byte {offset} with no sync between"
            self.blame("race", message)

    def _check_banks(self, step: Access, accesses: list[tuple[int, int]]) -> None:
        stated = self.plan.store_wavefronts if step.kind == "store" else self.plan.load_wavefronts
        lanes = 128 // step.width
        phases: dict[int, dict[int, set[int]]] = {}
        for thread, address in accesses:
            banks = phases.setdefault(thread // lanes, {})
            for word in range(address // _WORD, (address + step.width) // _WORD):
                banks.setdefault(word % _BANKS, set()).add(word)
        for number, banks in phases.items():
            ways, bank = max((len(words), -bank) for bank, words in banks.items())
            if ways > stated:
                first, last = number * lanes, (number + 1) * lanes - 1
                self.blame("banks", f"threads {first}..{last} use bank {-bank} {ways} times, stated are {stated}")

    def _threads(self, guard: Guard | None) -> list[int]:
        if guard is None:
            return list(range(self.plan.threads))
        return [thread for thread, holds in enumerate(guard.holds()) if holds]

    def _frame(self, thread: int, register: int) -> int | None:
        registers = self.placement.size // self.plan.threads
        if not 0 <= register < registers:
            self.blame("register", f"frame[{register}] of {registers} registers")
            return None
        return self.placement.flat[thread * registers + register]

    def check_delivery(self, wanted: list[Sequence[int]]) -> None:
        self.step = -1
        for thread, row in enumerate(wanted):
            for position, element in enumerate(row):
                got = self.destination.get((thread, position))
                if got != element:
                    what = "nothing" if got is None else f"element {self._show(got)}"
                    where = f"thread {thread} position {position}"
                    self.blame("delivery", f"{where} gets {what}, wants element {self._show(element)}")
        self._check_stray(len(wanted[0]))

    def _check_stray(self, positions: int) -> None:
        stray = [where for where in self.destination if not 0 <= where[1] < positions]
        for thread, position in stray:
            self.blame("register", f"thread {thread} writes dst[{position}] of {positions} registers")

    def _show(self, element: int) -> str:
        return show_point(self.placement.outputs, unflatten(self.placement.outputs, element))
