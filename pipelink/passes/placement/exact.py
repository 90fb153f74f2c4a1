"""Exact search for a packing under a given height: branch and bound over left-justified packings.

Blocks are placed in order of (address, index), each at its natural address, the least one above the neighbours placed
before it. Sliding blocks down leaves only such packings, so that an exhausted search is a refutation.
"""

from dataclasses import dataclass
from typing import Literal

from pipelink.passes.placement.conflict import Component

BLOCK_LIMIT = 400  # one stack frame a block
MEMO_LIMIT = 200_000
STACK_LIMIT = 12  # members; larger cliques are only weighed


@dataclass(frozen=True)
class Outcome:
    status: Literal["fits", "refuted", "undecided"]
    bases: tuple[int, ...] = ()


def search(part: Component, height: int, node_limit: int) -> tuple[Outcome, int]:
    """Decides whether `part` packs into `height`; returns the outcome and the nodes used."""
    if len(part.sizes) > BLOCK_LIMIT or node_limit <= 0:
        return Outcome("undecided"), 0
    tree = _Tree(part, height, node_limit)
    natural = [part.align_up(i, part.base) for i in range(len(part.sizes))]
    if tree.extend(natural, part.base, -1, list(range(len(part.sizes)))):
        return Outcome("fits", tuple(tree.bases)), tree.nodes
    return Outcome("undecided" if tree.nodes > node_limit else "refuted"), tree.nodes


class _Tree:
    def __init__(self, part: Component, height: int, node_limit: int) -> None:
        self.part = part
        self.height = height
        self.node_limit = node_limit
        self.nodes = 0
        self.bases = [0] * len(part.sizes)
        self.dead: set[tuple[int, int, tuple[tuple[int, int], ...]]] = set()
        self.stacks: dict[tuple[tuple[int, ...], int], bool] = {}
        self.earlier_twins = _earlier_twins(part)

    def extend(self, natural: list[int], last: int, last_index: int, left: list[int]) -> bool:
        """Places the blocks `left`, the next of them after (last, last_index). False once over the node limit."""
        self.nodes += 1
        if not left:
            return True
        if self.nodes > self.node_limit or not self._may_fit(natural, last, last_index, left):
            return False
        state = (last, last_index, tuple((i, natural[i]) for i in left))
        if state in self.dead:
            return False
        for i in self._candidates(natural, last, last_index, left):
            self.bases[i] = natural[i]
            if self.extend(self._pushed(natural, i), natural[i], i, [j for j in left if j != i]):
                return True
            if self.nodes > self.node_limit:
                return False
        if len(self.dead) < MEMO_LIMIT:
            self.dead.add(state)
        return False

    def _may_fit(self, natural: list[int], last: int, last_index: int, left: list[int]) -> bool:
        """Every block, and every clique stacked from the lowest address of its blocks, must stay under the height."""
        sizes, height = self.part.sizes, self.height
        low: dict[int, int] = {}
        for i in left:
            at = natural[i]
            if at < last or (at == last and i < last_index):
                at = self.part.align_up(i, last)
            if at + sizes[i] > height:
                return False
            low[i] = at
        for clique in self.part.cliques:
            members = tuple(i for i in clique if i in low)
            if members and not self._stacks(members, min(low[i] for i in members)):
                return False
        return True

    def _stacks(self, members: tuple[int, ...], start: int) -> bool:
        """Whether blocks that all exclude each other fit in some order from `start` up to the height."""
        if start + sum(self.part.sizes[i] for i in members) > self.height:
            return False
        if len(members) > STACK_LIMIT:
            return True
        key = (members, start)
        if key not in self.stacks:
            self.stacks[key] = not members or any(
                self._stacks(members[:k] + members[k + 1 :], self.part.align_up(i, start) + self.part.sizes[i])
                for k, i in enumerate(members)
            )
        return self.stacks[key]

    def _candidates(self, natural: list[int], last: int, last_index: int, left: list[int]) -> list[int]:
        """Blocks that may come next. One that leaves room below for another whole block would not be left-justified."""
        sizes, near = self.part.sizes, self.part.neighbours
        unplaced = set(left)
        ceiling = min(natural[i] + sizes[i] for i in left)
        allowed = [
            i
            for i in left
            if (natural[i], i) > (last, last_index)
            and natural[i] < ceiling
            and not unplaced.intersection(self.earlier_twins[i])
        ]
        return sorted(allowed, key=lambda i: (natural[i], -sizes[i] * len(near[i]), i))

    def _pushed(self, natural: list[int], placed: int) -> list[int]:
        top = natural[placed] + self.part.sizes[placed]
        pushed = natural[:]
        for j in self.part.neighbours[placed]:
            if pushed[j] < top:
                pushed[j] = self.part.align_up(j, top)
        return pushed


def _earlier_twins(part: Component) -> list[list[int]]:
    """Interchangeable blocks are placed in index order, the order that breaks ties of addresses as well."""
    twins: list[list[int]] = []
    for j in range(len(part.sizes)):
        twins.append(
            [
                i
                for i in range(j)
                if (part.sizes[i], part.aligns[i]) == (part.sizes[j], part.aligns[j])
                and part.neighbours[i] - {j} == part.neighbours[j] - {i}
            ]
        )
    return twins
