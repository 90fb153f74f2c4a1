"""Lower bounds on the height of a packing: every clique of the conflict graph is live at once and must stack."""

from collections import Counter
from collections.abc import Iterator, Sequence
from heapq import heappop, heappush

CLIQUE_LIMIT = 2000  # a subset of the cliques still gives valid bounds
STATE_LIMIT = 1 << 15  # sets of blocks that one bound may look at


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

    Best first by the padding so far, equal blocks counted once. Exact up to STATE_LIMIT sets of blocks; above that the
    least padding that is not excluded, still a lower bound.
    """
    weight = base + sum(size for size, _ in blocks)
    most = plain_stack(blocks, base) - weight
    return weight + (_least_padding(sorted(Counter(blocks).items()), base, most) if most else 0)


def plain_stack(blocks: Sequence[tuple[int, int]], base: int) -> int:
    """The height of two plain orders, the lower: by falling alignment, and with the least padding next."""
    falling = sorted(blocks, key=lambda b: (-b[1], -b[0]))
    top = base
    for size, align in falling:
        top += -top % align + size
    closest = base
    while falling:
        best = min(range(len(falling)), key=lambda k: -closest % falling[k][1])
        size, align = falling.pop(best)
        closest += -closest % align + size
    return min(top, closest)


def _least_padding(kinds: Sequence[tuple[tuple[int, int], int]], base: int, most: int) -> int:
    """Dijkstra over sets of stacked blocks: a set is a mixed-radix number. `most` is a padding known to suffice."""
    steps: list[tuple[int, int, int, int]] = []
    full = 1
    for (size, align), count in kinds:
        steps.append((size, align, full, count + 1))
        full *= count + 1
    heap = [(0, 0, 0, base)]  # padding, minus the blocks stacked, the set, its top
    seen: set[int] = set()
    while heap:
        padding, stacked, state, top = heappop(heap)
        if state == full - 1 or len(seen) == STATE_LIMIT:
            return padding
        if state in seen:
            continue
        seen.add(state)
        for size, align, stride, radix in steps:
            pad = -top % align
            if padding + pad < most and state // stride % radix < radix - 1 and state + stride not in seen:
                heappush(heap, (padding + pad, stacked - 1, state + stride, top + pad + size))
    return most
