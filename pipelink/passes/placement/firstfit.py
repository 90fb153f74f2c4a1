"""First-fit packing in several orders, claim order first, in one pass each."""

from collections.abc import Iterator, Sequence

from pipelink.passes.placement.conflict import Component


def first_fit(part: Component, order: Sequence[int]) -> list[int]:
    """Bases after placing the blocks in `order`, each at the lowest free aligned address."""
    bases = [-1] * len(part.sizes)
    for i in order:
        taken = sorted((bases[j], bases[j] + part.sizes[j]) for j in part.neighbours[i] if bases[j] >= 0)
        address = part.align_up(i, part.base)
        for low, top in taken:
            if low >= address + part.sizes[i]:
                break
            address = max(address, part.align_up(i, top))
        bases[i] = address
    return bases


def best_first_fit(part: Component) -> list[int]:
    """The lowest packing of all orders, the first of them where several are."""
    return min((first_fit(part, order) for order in _orders(part)), key=part.height)


def _orders(part: Component) -> Iterator[list[int]]:
    blocks = range(len(part.sizes))
    size, align, near = part.sizes, part.aligns, part.neighbours
    yield list(blocks)
    yield sorted(blocks, key=lambda i: (-align[i], i))  # claim order again, where small alignments cost nothing
    yield sorted(blocks, key=lambda i: (-size[i], i))
    yield sorted(blocks, key=lambda i: (-len(near[i]), -size[i], i))
    yield sorted(blocks, key=lambda i: (-(len(near[i]) + 1) * size[i], i))
    yield sorted(blocks, key=lambda i: (-align[i], -size[i], i))
