"""How much room a clique has left: its blocks exclude each other, so they stand one above the other in some order."""

from collections.abc import Sequence

from pipelink.passes.placement.conflict import Component

Late = tuple[tuple[int, int], ...]  # (block, least address) of those that may not stand as low as others may

DONE = 1 << 62  # the slack of a clique whose blocks are all placed
MEMBERS = 20  # larger cliques are only weighed
STATES = 300_000  # remembered; then it begins anew
STATES_OF_ROOM = 1  # how many take the time of weighing a clique
EFFORT = 100_000  # states of one question; then it counts as answered with yes


class Stacks:
    """The cliques of a component under one height. What is known of a set of blocks holds for all cliques."""

    def __init__(self, part: Component, height: int) -> None:
        self.height = height
        self.cliques = part.cliques
        self.sizes = part.sizes
        self.aligns = part.aligns
        self.padded = max(part.aligns, default=1) > 1
        self._known: dict[tuple[int, int, Late], bool] = {}
        self._effort = 0
        self.looked = 0  # states in all

    def slack(self, clique: int, low: Sequence[int], open_: Sequence[int]) -> int:
        """Height that is left over when the open members stand as low as `low` lets them, without padding: an upper
        bound. DONE if there are none, negative if no order of them, with padding, stays under the height."""
        return self.room([j for j in self.cliques[clique] if open_[j]], low)

    def room(self, members: list[int], low: Sequence[int]) -> int:
        """As `slack`, for these members of one clique."""
        self.looked += STATES_OF_ROOM
        if not members:
            return DONE
        sizes = self.sizes
        top = 0
        for address, size in sorted([(low[j], sizes[j]) for j in members]):
            if address > top:
                top = address
            top += size
        slack = self.height - top
        if slack >= 0 and self.padded and len(members) <= MEMBERS:
            self._effort = EFFORT
            if len(self._known) > STATES:
                self._known.clear()
            start = min([low[j] for j in members])
            late = tuple([(j, low[j]) for j in members if low[j] > start])
            if not self._fits(sum([1 << j for j in members]), start, late):
                return -1
        return slack

    def _fits(self, mask: int, start: int, late: Late) -> bool:
        """Whether the blocks of `mask` stand in some order from `start` up to the height, those of `late` at their
        least addresses or above; yes if that takes long."""
        if not mask:
            return True
        state = (mask, start, late)
        known = self._known.get(state)
        if known is not None:
            return known
        self._effort -= 1
        self.looked += 1
        if self._effort < 0:
            return True
        found = False
        for rest, top in self._next(mask, start, late):
            if self._fits(rest, top, tuple([x for x in late if x[1] > top and rest >> x[0] & 1])):
                found = True
                break
        self._known[state] = found
        return found

    def _next(self, mask: int, start: int, late: Late) -> list[tuple[int, int]]:
        """What may stand next without wasting more than the height allows, the least padding first: (rest, its top)."""
        sizes, aligns = self.sizes, self.aligns
        blocks: list[tuple[int, int]] = []
        waste, left = self.height - start, mask
        while left:
            bit = left & -left
            left ^= bit
            j = bit.bit_length() - 1
            waste -= sizes[j]
            blocks.append((j, bit))
        least = dict(late)
        kinds: dict[tuple[int, int, int], int] = {}
        for j, bit in blocks:
            at = least.get(j, start)
            pad = at + -at % aligns[j] - start
            if pad <= waste:
                kinds[pad, -aligns[j], -sizes[j]] = bit
        return [(mask ^ kinds[kind], start + kind[0] - kind[2]) for kind in sorted(kinds)]
