"""Exact search over orders: each step says which of the blocks of one clique comes next, the tightest clique first.

Blocks of a clique stand one above the other in some order. Once every clique has its order, the least addresses that
the orders leave are a packing; an exhausted search is a refutation. Nothing is said of blocks beside the clique, so
that one clique with hardly any slack is settled before all that is loose, where `exact.py` would mix the two.
"""

from collections.abc import Callable, Iterator
from typing import Literal

from pipelink.passes.placement.conflict import Component
from pipelink.passes.placement.stacks import Stacks

Status = Literal["fits", "refuted", "undecided"]


class Orders:
    """The state of one search; it shares what is known of stacks. Sets of blocks are bit masks."""

    def __init__(self, part: Component, height: int, stacks: Stacks) -> None:
        self.part = part
        self.height = height
        self.stacks = stacks
        self.of: list[list[int]] = [[] for _ in part.sizes]
        for c, clique in enumerate(part.cliques):
            for i in clique:
                self.of[i].append(c)
        self.weights = [1] * len(part.cliques)
        self.steps = 0

    def run(self, ranks: list[int], steps: int, spent: Callable[[], bool]) -> Status:
        """Whether the component packs, as far as so many steps tell and before work is `spent`; if so, at `low`."""
        part, blocks = self.part, range(len(self.part.sizes))
        self.ranks = ranks
        self.low = [part.align_up(i, part.base) for i in blocks]
        self.left = [sum(1 << i for i in clique) for clique in part.cliques]  # without a place in the order yet
        self.above = [0] * len(blocks)  # blocks that come after this one
        self.below = [0] * len(blocks)
        self.slack = [0] * len(part.cliques)
        self.log: list[tuple[list[int], int, int]] = []
        if not self._settle(set(range(len(part.cliques)))):
            return "refuted"
        end = self.steps + steps
        stack = [(*self._choices(), len(self.log))]
        while stack:
            clique, choices, mark = stack[-1]
            if clique < 0:
                return "fits"
            self._undo(mark)
            block = next(choices, -1)
            if block < 0:
                stack.pop()
                continue
            if self.steps >= end or spent():
                return "undecided"
            self.steps += 1
            if self._next_is(block, clique):
                stack.append((*self._choices(), len(self.log)))
        return "refuted"

    def _choices(self) -> tuple[int, Iterator[int]]:
        """The tightest clique without a whole order, -1 where there is none, and which of its blocks may be next."""
        open_ = [c for c, left in enumerate(self.left) if left & (left - 1)]
        if not open_:
            return -1, iter(())
        clique = min(open_, key=lambda c: (self.slack[c] + 1) / self.weights[c])
        left = self.left[clique]
        blocks = [j for j in self.part.cliques[clique] if left >> j & 1 and not self.below[j] & left]
        return clique, iter(sorted(blocks, key=lambda j: (self.low[j], self.ranks[j])))

    def _next_is(self, block: int, clique: int) -> bool:
        """All that is left of `clique` comes above `block`. False where that cannot be."""
        rest = self.left[clique] & ~(1 << block)
        self._set(self.left, clique, rest)
        self._set(self.above, block, self.above[block] | rest)
        touched = {clique}
        later = [j for j in self.part.cliques[clique] if rest >> j & 1]
        for j in later:
            self._set(self.below, j, self.below[j] | 1 << block)
        return self._raise(block, later, touched) and self._settle(touched)

    def _raise(self, block: int, later: list[int], touched: set[int]) -> bool:
        """Lifts what comes above `block`, and in turn what comes above that."""
        part, low, sizes = self.part, self.low, self.part.sizes
        queue = [(block, later)]
        for under, over in queue:
            top = low[under] + sizes[under]
            for j in over:
                if low[j] >= top:
                    continue
                address = part.align_up(j, top)
                if address + sizes[j] > self.height:
                    return self._fail(self.of[j])
                self._set(low, j, address)
                touched.update(self.of[j])
                queue.append((j, _bits(self.above[j])))
        return True

    def _settle(self, touched: set[int]) -> bool:
        for c in sorted(touched):
            left = self.left[c]
            slack = self.stacks.room([j for j in self.part.cliques[c] if left >> j & 1], self.low)
            if slack < 0:
                return self._fail([c])
            self._set(self.slack, c, slack)
        return True

    def _fail(self, cliques: list[int]) -> bool:
        for c in cliques:
            self.weights[c] += 1
        return False

    def _set(self, values: list[int], index: int, value: int) -> None:
        self.log.append((values, index, values[index]))
        values[index] = value

    def _undo(self, mark: int) -> None:
        while len(self.log) > mark:
            values, index, value = self.log.pop()
            values[index] = value


def _bits(mask: int) -> list[int]:
    found: list[int] = []
    while mask:
        bit = mask & -mask
        found.append(bit.bit_length() - 1)
        mask ^= bit
    return found
