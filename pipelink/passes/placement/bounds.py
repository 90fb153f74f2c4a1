"""Lower bounds on the height of a packing: every clique of the conflict graph is live at once and must stack."""

from collections import Counter
from collections.abc import Iterator, Sequence
from math import prod

CLIQUE_LIMIT = 2000  # a subset of the cliques still gives valid bounds
STATE_LIMIT = 1 << 13  # orders of 13 distinct blocks


def maximal_cliques(neighbours: Sequence[frozenset[int]]) -> tuple[tuple[int, ...], ...]:
    """The maximal cliques, sorted (Bron-Kerbosch with pivots); the first CLIQUE_LIMIT found where there are more."""
    found: list[tuple[int, ...]] = []
    for clique in _cliques(neighbours, (), set(range(len(neighbours))), set()):
        found.append(clique)
        if len(found) == CLIQUE_LIMIT:
            break
    return tuple(sorted(found))


def _cliques(
    neighbours: Sequence[frozenset[int]], clique: tuple[int, ...], open_: set[int], closed: set[int]
) -> Iterator[tuple[int, ...]]:
    if not open_:
        if not closed and clique:
            yield tuple(sorted(clique))
        return
    pivot = max(sorted(open_ | closed), key=lambda v: len(neighbours[v] & open_))
    for v in sorted(open_ - neighbours[pivot]):
        yield from _cliques(neighbours, (*clique, v), open_ & neighbours[v], closed & neighbours[v])
        open_ = open_ - {v}
        closed = closed | {v}


def stacked_height(blocks: Sequence[tuple[int, int]], base: int) -> int:
    """The least height over all orders of (size, alignment) blocks that all exclude each other.

    Exact up to STATE_LIMIT states, counting equal blocks once; above that the plain sum, still a lower bound.
    """
    weight = base + sum(size for size, _ in blocks)
    falling = sorted(blocks, key=lambda b: (-b[1], -b[0]))
    if _stack(falling, base) == weight:
        return weight
    kinds = sorted(Counter(blocks).items())
    if prod(count + 1 for _, count in kinds) > STATE_LIMIT:
        return weight
    return _least_stack(kinds, base)


def _stack(blocks: Sequence[tuple[int, int]], base: int) -> int:
    top = base
    for size, align in blocks:
        top = -(-top // align) * align + size
    return top


def _least_stack(kinds: Sequence[tuple[tuple[int, int], int]], base: int) -> int:
    """Dynamic program over how many blocks of each kind are stacked; a state is a mixed-radix number."""
    strides = [1]
    for _, count in kinds:
        strides.append(strides[-1] * (count + 1))
    least = [base] * strides[-1]
    for state in range(1, strides[-1]):
        tops: list[int] = []
        for k, ((size, align), _) in enumerate(kinds):
            if state % strides[k + 1] >= strides[k]:
                tops.append(-(-least[state - strides[k]] // align) * align + size)
        least[state] = min(tops)
    return least[-1]
