"""First-fit packing in several orders, claim order first, and a local search over orders; all of it repeatable."""

import random
from collections.abc import Callable, Iterator, Sequence

from pipelink.passes.placement.conflict import Component

RESTART = 600  # rounds


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


def improve(part: Component, target: int, rounds: int) -> tuple[list[int], int]:
    """Local search over orders until `target` or out of rounds; the lowest packing found and the rounds used.

    Moves one block, every other time one of those at the top, and sometimes swaps two; equal heights are accepted.
    Starts again from the best plain order now and then, with the next of a fixed row of seeds.
    """
    start = min(_orders(part), key=lambda order: part.height(first_fit(part, order)))
    best = first_fit(part, start)
    used = 0
    for seed in range(-(-rounds // RESTART)):
        order, bases = start, first_fit(part, start)
        draw = random.Random(seed).random  # its sequence is fixed over Python versions
        for _ in range(min(RESTART, rounds - used)):
            if part.height(best) <= target:
                return best, used
            used += 1
            moved = _move(part, order, bases, draw)
            tried = first_fit(part, moved)
            if part.height(tried) <= part.height(bases):
                order, bases = moved, tried
            if part.height(bases) < part.height(best):
                best = bases
    return best, used


def _move(part: Component, order: list[int], bases: list[int], draw: Callable[[], float]) -> list[int]:
    count = len(order)
    positions = list(range(count))
    if draw() < 0.5:
        top = part.height(bases)
        positions = [k for k in positions if bases[order[k]] + part.sizes[order[k]] == top]
    block = order[positions[int(draw() * len(positions))]]
    moved = [i for i in order if i != block]
    moved.insert(int(draw() * count), block)
    if draw() < 0.3:
        i, j = int(draw() * count), int(draw() * count)
        moved[i], moved[j] = moved[j], moved[i]
    return moved


def _orders(part: Component) -> Iterator[list[int]]:
    blocks = range(len(part.sizes))
    size, align, near = part.sizes, part.aligns, part.neighbours
    yield list(blocks)
    yield sorted(blocks, key=lambda i: (-size[i], i))
    yield sorted(blocks, key=lambda i: (-len(near[i]), -size[i], i))
    yield sorted(blocks, key=lambda i: (-(len(near[i]) + 1) * size[i], i))
    yield sorted(blocks, key=lambda i: (-align[i], -size[i], i))
