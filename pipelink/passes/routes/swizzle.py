"""The search for an XOR swizzle that frees shared-memory accesses of bank conflicts.

Shared memory has 32 banks of 4 bytes; one wavefront serves each bank once. 4-byte accesses are issued by warp,
8-byte by half warp, 16-byte by quarter warp (CUDA programming guide, shared memory). Swizzles are F2-linear,
s(a ^ b) = s(a) ^ s(b), so whether two accesses of a phase conflict depends only on d, the xor of their addresses: they
do if the bank bits of s(d) are zero and d is not.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product

from pipelink.passes.routes.plan import Swizzle

LINE_BITS = 7
_WORK = 2_000_000  # limit of each search: differences, or accesses, that it looks at


@dataclass(frozen=True, slots=True)
class Phases:
    """Distinct sets of unswizzled byte offsets that one phase accesses, up to translation by XOR, with their counts."""

    width: int
    sets: tuple[tuple[tuple[int, ...], int], ...]

    @staticmethod
    def of(width: int, accesses: Iterable[Sequence[int | None]]) -> "Phases":
        """`accesses`: for each instruction the offset of every thread, None where it takes no part."""
        lanes = 128 // width
        counts: dict[tuple[int, ...], int] = {}
        for offsets in accesses:
            for start in range(0, len(offsets), lanes):
                phase = {a for a in offsets[start : start + lanes] if a is not None}
                if phase:
                    first = min(phase)
                    key = tuple(sorted(a ^ first for a in phase))
                    counts[key] = counts.get(key, 0) + 1
        return Phases(width, tuple(sorted(counts.items())))

    def wavefronts(self, swizzle: Swizzle) -> tuple[int, int]:
        """Those of the worst phase, and of all phases together."""
        each = [(_wavefronts(phase, self.width, swizzle), count) for phase, count in self.sets]
        return max((ways for ways, _ in each), default=0), sum(ways * count for ways, count in each)


@dataclass(frozen=True, slots=True)
class Found:
    """The swizzle, and what its search proved: in words."""

    swizzle: Swizzle
    free: bool
    proof: str


def _wavefronts(phase: Sequence[int], width: int, swizzle: Swizzle) -> int:
    load: dict[int, int] = {}
    for offset in phase:
        bank = (swizzle.apply(offset) & 127) // width
        load[bank] = load.get(bank, 0) + 1
    return max(load.values())


def search(sides: Sequence[Phases], unit: int) -> Found:
    """A swizzle of `unit`-byte units that makes all phases free of conflicts, else one with few; deterministic."""
    unit_bits = unit.bit_length() - 1
    differences = sorted({(d, side.width) for side in sides for d in _differences(side)})
    bits = sorted({bit for d, _ in differences for bit in range(LINE_BITS, d.bit_length()) if d >> bit & 1})
    exact = _Exact(bits, differences, unit_bits)
    if exact.extend(0):
        return Found(_swizzle(exact.masks), True, "free of bank conflicts, by enumeration of every phase")
    refuted = "no swizzle of this family is free of bank conflicts"
    if exact.work > _WORK:
        refuted = f"none free of bank conflicts was found within the work limit of {_WORK}"
    masks, how = _least(sides, bits, unit_bits)
    return Found(masks, False, f"{refuted}; {how}")


def _differences(side: Phases) -> set[int]:
    """Differences within a phase that leave its line: only those can conflict."""
    found = {a ^ b for phase, _ in side.sets for at, a in enumerate(phase) for b in phase[:at]}
    return {d for d in found if d >> LINE_BITS}


def _swizzle(masks: dict[int, int]) -> Swizzle:
    top = max((bit for bit, mask in masks.items() if mask), default=LINE_BITS - 1)
    return Swizzle(tuple(masks.get(bit, 0) for bit in range(LINE_BITS, top + 1)))


class _Exact:
    """Backtracking over the mask of each address bit, lowest bit and smallest mask first."""

    def __init__(self, bits: list[int], differences: list[tuple[int, int]], unit_bits: int):
        self.bits = bits
        self.unit_bits = unit_bits
        self.by_top: dict[int, list[tuple[int, int]]] = {bit: [] for bit in bits}
        for d, width in differences:
            self.by_top[d.bit_length() - 1].append((d, width))
        self.masks: dict[int, int] = {}
        self.work = 0

    def extend(self, depth: int) -> bool:
        if depth == len(self.bits):
            return True
        bit = self.bits[depth]
        self.work += 1 + len(self.by_top[bit])
        if self.work > _WORK:
            return False
        forbidden = self._forbidden(bit)
        for mask in range(0, 128, 1 << self.unit_bits):
            if mask in forbidden:
                continue
            self.masks[bit] = mask
            if self.extend(depth + 1):
                return True
            del self.masks[bit]
        return False

    def _forbidden(self, bit: int) -> set[int]:
        """Masks of `bit` that bring two accesses to one bank, given the masks of lower bits."""
        forbidden: set[int] = set()
        for d, width in self.by_top[bit]:
            low = d & 127
            for other, mask in self.masks.items():
                low ^= mask if d >> other & 1 else 0
            forbidden.add(low & -width)  # the mask equals what it must cancel, bits below the width apart
        return forbidden


def _least(sides: Sequence[Phases], bits: list[int], unit_bits: int) -> tuple[Swizzle, str]:
    choices = range(0, 128, 1 << unit_bits)

    def cost(masks: dict[int, int]) -> int:
        swizzle = _swizzle(masks)
        return sum(side.wavefronts(swizzle)[1] for side in sides)

    if len(choices) ** len(bits) * sum(len(phase) for side in sides for phase, _ in side.sets) <= _WORK:
        every = (dict(zip(bits, masks, strict=True)) for masks in product(choices, repeat=len(bits)))
        return _swizzle(min(every, key=cost)), "the least conflicts of the family, by enumeration"
    masks = dict.fromkeys(bits, 0)
    for bit in bits:
        masks = min(({**masks, bit: mask} for mask in choices), key=cost)
    return _swizzle(masks), "few conflicts, chosen bit by bit; fewer may exist"
