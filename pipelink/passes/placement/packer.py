"""Packs one domain: bounds and first-fit first, then ever dearer searches, among them Z3, until one decides."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from pipelink.passes.placement import exact
from pipelink.passes.placement.conflict import Component, Space
from pipelink.passes.placement.exact import Outcome
from pipelink.passes.placement.firstfit import best_first_fit, first_fit
from pipelink.passes.placement.smt import Packing, Smt
from pipelink.passes.placement.work import Work

# Work of each step, in the order in which they are taken: all but the hardest end before Z3 would be imported.
FIRST_NODES = 5_000
RLIMIT = 2_000_000
Z3_BLOCKS = 40  # it has decided nothing larger that the search had not
LAST_SHARE = 8  # of the work limit, for a lower height; whether all fits may take it whole
PROBE_NODES = 6_000


@dataclass(frozen=True)
class Verdict:
    """Whether something fits, and how that is known; sizes in units of the domain."""

    status: str
    how: str


@dataclass(frozen=True)
class Layout:
    """Bases by claim, the height they reach, and the best height that is not excluded."""

    bases: dict[str, int]
    footprint: int
    bound: int
    how: str


@dataclass(frozen=True)
class _Lowest:
    """A packing of one component, the height below which none exists (the floor at least), and how that is known."""

    bases: list[int]
    low: int
    reasons: list[str]


class Packer:
    """Shares one work limit, and one Z3 context where it is needed, over all decisions of a solve."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self._smt: Smt | None = None
        self._packings: dict[Component, Packing] = {}
        self._found: dict[Component, list[int]] = {}

    def fits(self, space: Space, depths: Mapping[str, int]) -> Verdict:
        """Whether the whole domain packs into its capacity at `depths`."""
        unit = space.unit(depths)
        capacity = space.domain.capacity // unit
        undecided = ""
        for part in space.components(depths):
            bound = part.bound
            if bound > capacity:
                return Verdict(
                    "refuted", f"{space.domain.name} clique bound {bound * unit} over {space.domain.capacity}"
                )
            if part.height(self._best(part)) <= capacity:
                continue
            outcome, how = self._decide(part, capacity, bound, self.work.limit)
            if outcome.status == "refuted":
                return Verdict("refuted", f"{space.domain.name} admits no packing ({how})")
            if outcome.status == "undecided":
                undecided = f"{space.domain.name} {how}"
        return Verdict("undecided", undecided) if undecided else Verdict("fits", "packed")

    def smallest(self, space: Space, depths: Mapping[str, int], sought: bool = True) -> Layout:
        """The lowest packing found, in claim order wherever that order is as low as the proven height.

        Where it is not `sought`, the packing that showed that the domain fits."""
        unit = space.unit(depths)
        parts = space.components(depths)
        floor = max((part.bound for part in parts), default=space.domain.base // unit)
        if sought:
            packed = [self._lower(part, floor, unit) for part in parts]
        else:
            packed = [_Lowest(self._best(part), floor, ["no lower packing sought"]) for part in parts]
        height = max((part.height(p.bases) for part, p in zip(parts, packed, strict=True)), default=floor)
        low = max((p.low for p in packed), default=floor)
        bound = f"clique bound {floor * unit}"
        reasons = [f"{bound} met" if height == floor else bound, *(reason for p in packed for reason in p.reasons)]
        if low < height:
            reasons.append(f"gap {(height - low) * unit} not proven")
        bases: dict[str, int] = {}
        for part, member, best in zip(parts, space.members, packed, strict=True):
            plain = first_fit(part, range(len(part.sizes)))
            chosen = plain if part.height(plain) <= height else best.bases
            bases |= {space.claims[i].name: at * unit for i, at in zip(member, chosen, strict=True)}
        return Layout(bases, height * unit, low * unit, "; ".join(reasons))

    def _lower(self, part: Component, floor: int, unit: int) -> _Lowest:
        """Asks for the bound first, then halves what is left with little work, upwards from what that leaves undecided.
        What is left in between may be empty: the height under the best is asked last, with all the work there is."""
        reasons: list[str] = []
        low = least = probe = floor  # below `low` nothing packs; below `least` nothing is asked again

        def ask(height: int, question: Callable[[], tuple[Outcome, str]]) -> str:
            nonlocal low
            outcome, how = question()
            reasons.append(f"height {height * unit} {outcome.status} ({how})")
            if outcome.status == "refuted":
                low = height + 1
            return outcome.status

        while least < part.height(self._best(part)):
            if ask(probe, partial(self._probe, part, probe)) != "fits":
                least = probe + 1
            probe = (least + part.height(self._best(part)) - 1) // 2
        while low < (best := part.height(self._best(part))):
            if (
                ask(best - 1, partial(self._decide, part, best - 1, floor, self.work.limit // LAST_SHARE))
                == "undecided"
            ):
                break
        return _Lowest(self._best(part), low, reasons)

    def _probe(self, part: Component, height: int) -> tuple[Outcome, str]:
        outcome = self._search(exact.Search(part, height), PROBE_NODES)
        if outcome.status == "fits":
            self._learn(part, outcome.bases)
        return outcome, "exact search"

    def _best(self, part: Component) -> list[int]:
        """The lowest packing known of `part`: the first-fit ones', or a search's."""
        if part not in self._found:
            self._found[part] = best_first_fit(part)
        return self._found[part]

    def _learn(self, part: Component, bases: Sequence[int]) -> None:
        if part.height(bases) < part.height(self._best(part)):
            self._found[part] = list(bases)

    def _decide(self, part: Component, height: int, bound: int, last: int) -> tuple[Outcome, str]:
        """The first answer of ever dearer methods; what they find on the way is kept."""
        search = exact.Search(part, height)
        methods: list[tuple[str, Callable[[], Outcome]]] = [
            ("exact search", lambda: self._search(search, FIRST_NODES)),
            ("z3", lambda: self._ask_z3(part, height, bound)),
            ("exact search", lambda: self._search(search, last)),
        ]
        for how, method in methods:
            outcome = method()
            if outcome.status == "fits":
                self._learn(part, outcome.bases)
            if outcome.status != "undecided":
                return outcome, how
        return Outcome("undecided"), "within the work limit"

    def _search(self, search: exact.Search, nodes: int) -> Outcome:
        before = search.nodes
        outcome = search.more(self.work.nodes_for(nodes))
        self.work.nodes += search.nodes - before
        return outcome

    def _ask_z3(self, part: Component, height: int, bound: int) -> Outcome:
        rlimit = self.work.rlimit_for(RLIMIT)
        if not rlimit or len(part.sizes) > Z3_BLOCKS:
            return Outcome("undecided")
        outcome, used = self._packing(part, bound).decide(height, rlimit)
        self.work.rlimit += used
        return outcome

    def _packing(self, part: Component, bound: int) -> Packing:
        if self._smt is None:
            self._smt = Smt()
            self.work.z3 = self._smt.version
        if part not in self._packings:
            self._packings[part] = self._smt.packing(part, bound)
        return self._packings[part]
