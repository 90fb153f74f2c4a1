"""Exact search for a packing under a given height: each step settles one block at its lowest address, or not there.

Only left-justified packings matter: slide blocks down until each stands on the base or on another. A block whose least
address `low` is below the tops of all its unplaced neighbours either stands there, which lifts all of them above it, or
stands on one of them and is held until one is placed under it. The two cases exclude each other and miss nothing, so
that an exhausted search is a refutation, and blocks may be taken in any order. What falls apart is solved part by part.
Which block is next is a rule (`RULES`): the rules take turns in short runs, shuffled from a fixed row of seeds once
each has had its own, with ever larger limits.
"""

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Literal

from pipelink.passes.placement.conflict import Component
from pipelink.passes.placement.firstfit import first_fit
from pipelink.passes.placement.orders import Orders
from pipelink.passes.placement.stacks import DONE, Stacks

BLOCK_LIMIT = 700  # one stack frame a block
FIRST_RUN = 1_000  # steps
GROWTH = 1.2  # of a run's limit, each time that all rules have had their turn
SHUFFLE = 0.5
STATES_PER_NODE = 20  # of `stacks`: about equal time


@dataclass(frozen=True)
class Rule:
    """Which open block comes next: the lowest of all, the lowest of the tightest clique, where cliques weigh more each
    time they fail, or (`orders.py`) the next in the order of that clique. Of those at one address the greatest by
    `keys`: (t)otal of the fullest clique that it is in, (w)idth, the number of its cliques, then (a)rea, width times
    size."""

    next: Literal["lowest", "tightest", "ordered"]
    keys: str


# Total, width and area from the bottom up are MiniMalloc's orders (Moffitt, ASPLOS 2024).
RULES = (Rule("lowest", "twa"), Rule("ordered", "wat"), Rule("lowest", "wat"), Rule("tightest", "a"))


@dataclass(frozen=True)
class Outcome:
    status: Literal["fits", "refuted", "undecided"]
    bases: tuple[int, ...] = ()


def search(part: Component, height: int, node_limit: int) -> tuple[Outcome, int]:
    """Decides whether `part` packs into `height`; returns the outcome and the nodes used."""
    found = Search(part, height)
    return found.more(node_limit), found.nodes


class Search:
    """One question, to be continued with more nodes where it is still open."""

    def __init__(self, part: Component, height: int) -> None:
        self._part = part
        self._run = 0
        self._stacks = Stacks(part, height)
        self._tree = _Tree(part, height, self._stacks)
        self._orders = Orders(part, height, self._stacks)

    @property
    def nodes(self) -> int:
        """The work so far: steps, and what their bounds looked at."""
        return self._tree.steps + self._orders.steps + self._stacks.looked // STATES_PER_NODE

    def more(self, nodes: int) -> Outcome:
        """The outcome after about so many nodes more."""
        end = self.nodes + nodes
        while len(self._part.sizes) <= BLOCK_LIMIT and self.nodes < end:
            turn, number = divmod(self._run, len(RULES))
            rule = RULES[number]
            ranks = _ranks(self._part, rule, turn)
            steps = min(int(FIRST_RUN * GROWTH**turn), end - self.nodes)
            if rule.next == "ordered":
                outcome = self._ordered(ranks, steps, end)
            else:
                outcome = self._tree.run(rule, ranks, steps, lambda: self.nodes >= end)
            if outcome.status != "undecided":
                return outcome
            self._run += 1
        return Outcome("undecided")

    def _ordered(self, ranks: list[int], steps: int, end: int) -> Outcome:
        status = self._orders.run(ranks, steps, lambda: self.nodes >= end)
        if status != "fits":
            return Outcome(status)
        low = self._orders.low
        bases = tuple(first_fit(self._part, sorted(range(len(low)), key=lambda i: (low[i], ranks[i]))))
        # Where there are too many cliques to know them all, their orders may say too little.
        return Outcome("fits", bases) if self._part.height(bases) <= self._tree.height else Outcome("undecided")


def _ranks(part: Component, rule: Rule, turn: int) -> list[int]:
    """The place of every block in the order of a rule, shuffled a little after its first turn."""
    totals, spans = [0] * len(part.sizes), [0] * len(part.sizes)
    for clique in part.cliques:
        weight = sum([part.sizes[i] for i in clique])
        for i in clique:
            totals[i] = max(totals[i], weight)
            spans[i] += 1
    areas = [size * span for size, span in zip(part.sizes, spans, strict=True)]
    keys = {"t": totals, "w": spans, "a": areas}
    draw = random.Random(turn).random  # its sequence is fixed over Python versions
    noise = SHUFFLE if turn else 0
    weights = [tuple(-keys[key][i] * (1 + noise * draw()) for key in rule.keys) for i in range(len(part.sizes))]
    ranks = [0] * len(weights)
    for rank, i in enumerate(sorted(range(len(weights)), key=lambda i: (weights[i], i))):
        ranks[i] = rank
    return ranks


class _Exhausted(Exception):
    """The node limit of a run is reached."""


class Trail:
    """Changes of lists of numbers, to be taken back."""

    def __init__(self) -> None:
        self._log: list[tuple[list[int], int, int]] = []

    def set(self, values: list[int], index: int, value: int) -> None:
        self._log.append((values, index, values[index]))
        values[index] = value

    def mark(self) -> int:
        return len(self._log)

    def undo(self, mark: int) -> None:
        log = self._log
        while len(log) > mark:
            values, index, value = log.pop()
            values[index] = value


class _Tree:
    """The state of one search. Sets of blocks are bit masks; lists are indexed by block unless they say otherwise."""

    def __init__(self, part: Component, height: int, stacks: Stacks) -> None:
        count = len(part.sizes)
        self.part = part
        self.height = height
        self.sizes = part.sizes
        self.aligns = part.aligns
        self.near = [sorted(n) for n in part.neighbours]
        self.masks = [sum(1 << j for j in n) for n in part.neighbours]
        self.of: list[list[int]] = [[] for _ in range(count)]
        for c, clique in enumerate(part.cliques):
            for i in clique:
                self.of[i].append(c)
        self.twins = _twins(part)
        self.stacks = stacks
        self.weights = [1] * len(part.cliques)
        self.steps = 0

    def run(self, rule: Rule, ranks: list[int], steps: int, spent: Callable[[], bool]) -> Outcome:
        part, count = self.part, len(self.sizes)
        self.pick = self._tightest if rule.next == "tightest" else self._lowest
        self.ranks = ranks
        self.spent = spent
        self.step_limit = self.steps + steps
        self.trail = Trail()
        self.low = [part.align_up(i, part.base) for i in range(count)]
        self.open = [1] * count  # not placed yet
        self.held = [0] * count  # not at the lowest address that placed neighbours leave
        self.support = [-1] * count  # of a held block: the open neighbour with the lowest top
        self.slack = [self.stacks.slack(c, self.low, self.open) for c in range(len(part.cliques))]
        if min(self.slack, default=0) < 0:
            return Outcome("refuted")
        try:
            fits = all(self._solve(mask) for mask in self._split((1 << count) - 1))
        except _Exhausted:
            return Outcome("undecided")
        return Outcome("fits", tuple(self.low)) if fits else Outcome("refuted")

    def _solve(self, mask: int) -> bool:
        """Places all blocks of `mask`, which hang together and are all that is open of their cliques."""
        blocks = _bits(mask)
        if len(blocks) == 1:
            self.trail.set(self.open, blocks[0], 0)
            return not self.held[blocks[0]]
        cliques = sorted({c for i in blocks for c in self.of[i] if self.slack[c] != DONE})
        while True:
            if self.steps >= self.step_limit or self.spent():
                raise _Exhausted
            self.steps += 1
            block = self.pick(cliques, blocks)
            mark = self.trail.mark()
            if self._place(block):
                for part in self._parts(mask & ~(1 << block), block):
                    if not self._solve(part):
                        break
                else:
                    return True
            self.trail.undo(mark)
            if not self._hold(block):
                return False

    def _lowest(self, _: list[int], blocks: list[int]) -> int:
        low, ranks = self.low, self.ranks
        return min([(low[j], ranks[j], j) for j in blocks])[2]

    def _tightest(self, cliques: list[int], __: list[int]) -> int:
        """The lowest block of the tightest clique, or what could still go under it."""
        low, sizes, open_, ranks = self.low, self.sizes, self.open, self.ranks
        slack, weights = self.slack, self.weights
        tightest = min(cliques, key=lambda c: (slack[c] + 1) / weights[c])
        block = min((j for j in self.part.cliques[tightest] if open_[j]), key=lambda j: (low[j], ranks[j]))
        while True:
            under = [(low[j] + sizes[j], ranks[j], j) for j in self.near[block] if open_[j]]
            top, _, lowest = min(under)
            if top > low[block]:
                return block
            block = lowest

    def _place(self, block: int) -> bool:
        """Stands `block` at its least address; its open neighbours go above it. False where that cannot be."""
        low, sizes, trail = self.low, self.sizes, self.trail
        top = low[block] + sizes[block]
        trail.set(self.open, block, 0)
        changed = [block]
        for j in self.near[block]:
            if not self.open[j] or (low[j] >= top and not self.held[j]):
                continue
            address = -(-top // self.aligns[j]) * self.aligns[j]
            if address + sizes[j] > self.height:
                return self._fail(self.of[j])
            if self.held[j]:  # this is the support that it waited for
                trail.set(self.held, j, 0)
            if low[j] < address:
                trail.set(low, j, address)
            changed.append(j)
        return self._settle(changed)

    def _parts(self, mask: int, placed: int) -> list[int]:
        """What is left of `mask`, cut where it fell apart, the smallest part first."""
        beside = self.masks[placed] & mask
        if any(not beside & ~(self.masks[j] | 1 << j) for j in _bits(beside)):
            return [mask]
        return sorted(self._split(mask), key=int.bit_count)

    def _hold(self, block: int) -> bool:
        """`block`, and by symmetry each twin at its address, stands on some open neighbour. False: that cannot be."""
        low = self.low
        twins = [j for j in self.twins[block] if self.open[j] and not self.held[j] and low[j] == low[block]]
        for i in (block, *twins):
            self.trail.set(self.held, i, 1)
        return self._lift({block, *twins}) and self._settle([block, *twins])

    def _settle(self, changed: list[int]) -> bool:
        """Draws the conclusions of changed blocks: for those held above them, then for all cliques touched."""
        lifted = self._held_above(changed)
        if lifted and not self._lift(lifted):
            return False
        for c in {c for group in (changed, lifted) for i in group for c in self.of[i]}:
            slack = self.stacks.slack(c, self.low, self.open)
            if slack < 0:
                return self._fail((c,))
            if slack != self.slack[c]:
                self.trail.set(self.slack, c, slack)
        return True

    def _held_above(self, changed: list[int]) -> set[int]:
        """Held blocks whose chain of supports begins at a changed block."""
        found: set[int] = set()
        stack = changed[:]
        while stack:
            j = stack.pop()
            for k in self.near[j]:
                if self.held[k] and self.open[k] and self.support[k] == j and k not in found:
                    found.add(k)
                    stack.append(k)
        return found

    def _lift(self, held: set[int]) -> bool:
        """Least addresses of held blocks on the lowest tops of open neighbours, lowest first, so that no two of them
        carry each other. False where one has nothing to stand on or reaches over the height."""
        low, sizes = self.low, self.sizes
        heap: list[tuple[int, int, int]] = []
        for k in sorted(held):
            tops = [(low[j] + sizes[j], j) for j in self.near[k] if self.open[j] and j not in held]
            if tops:
                heap.append((*min(tops), k))
        heapify(heap)
        left = set(held)
        while heap:
            top, support, k = heappop(heap)
            if k not in left:
                continue
            left.remove(k)
            address = max(low[k], -(-top // self.aligns[k]) * self.aligns[k])
            if address + sizes[k] > self.height:
                return self._fail(self.of[k])
            self.trail.set(self.support, k, support)
            if address > low[k]:
                self.trail.set(low, k, address)
            for j in self.near[k]:
                if j in left:
                    heappush(heap, (address + sizes[k], k, j))
        return not left or self._fail(self.of[min(left)])

    def _fail(self, cliques: Iterable[int]) -> bool:
        for c in cliques:
            self.weights[c] += 1
        return False

    def _split(self, mask: int) -> list[int]:
        """The connected components of a set of blocks."""
        found: list[int] = []
        while mask:
            part = fringe = mask & -mask
            while fringe:
                bit = fringe & -fringe
                new = self.masks[bit.bit_length() - 1] & mask & ~part
                part |= new
                fringe = (fringe ^ bit) | new
            found.append(part)
            mask &= ~part
        return found


def _bits(mask: int) -> list[int]:
    found: list[int] = []
    while mask:
        bit = mask & -mask
        found.append(bit.bit_length() - 1)
        mask ^= bit
    return found


def _twins(part: Component) -> list[list[int]]:
    """For each block those that are interchangeable with it: of its size and alignment, with the same neighbours."""
    blocks = range(len(part.sizes))
    return [
        [
            j
            for j in blocks
            if j != i
            and (part.sizes[i], part.aligns[i]) == (part.sizes[j], part.aligns[j])
            and part.neighbours[i] - {j} == part.neighbours[j] - {i}
        ]
        for i in blocks
    ]
