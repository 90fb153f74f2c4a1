"""The conflict graph of one domain, cut into connected components that pack independently, in whole units."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from pipelink.passes.placement.bounds import maximal_cliques, plain_stack, stacked_height
from pipelink.passes.placement.model import Claim, Domain, Problem


@dataclass(frozen=True)
class Component:
    """Blocks to pack: adjacent ones must not overlap. All numbers are in units; index order is claim order."""

    sizes: tuple[int, ...]
    aligns: tuple[int, ...]
    neighbours: tuple[frozenset[int], ...]
    cliques: tuple[tuple[int, ...], ...]
    base: int

    def height(self, bases: Iterable[int]) -> int:
        return max((b + s for b, s in zip(bases, self.sizes, strict=True)), default=self.base)

    @cached_property
    def bound(self) -> int:
        """No packing is lower: the greatest height to which a clique stacks."""
        best = self.base
        for clique in sorted(self.cliques, key=lambda c: (-sum(self.sizes[i] for i in c), c)):
            if self.plain(clique) > best:
                best = max(best, self.stacked(clique))
        return best

    def plain(self, clique: tuple[int, ...]) -> int:
        """The height of such blocks in a plain order."""
        return plain_stack([(self.sizes[i], self.aligns[i]) for i in clique], self.base)

    def stacked(self, clique: tuple[int, ...]) -> int:
        """The least height of blocks that all exclude each other."""
        return stacked_height([(self.sizes[i], self.aligns[i]) for i in clique], self.base)

    def align_up(self, index: int, address: int) -> int:
        return -(-address // self.aligns[index]) * self.aligns[index]


class Space:
    """One domain of a problem: its claims in claim order, and the components at any depths of the rings."""

    def __init__(self, problem: Problem, domain: Domain, without: frozenset[str] = frozenset()) -> None:
        rank = {name: k for k, name in enumerate(problem.claim_order)}
        own = [c for c in problem.claims if c.domain == domain.name and c.name not in without]
        self.problem = problem
        self.domain = domain
        self.claims = sorted(own, key=lambda c: (rank.get(c.name, len(rank)), c.name))
        self.neighbours = [frozenset(j for j, b in enumerate(self.claims) if self._conflict(a, b)) for a in self.claims]

    def _conflict(self, a: Claim, b: Claim) -> bool:
        pair = (a.name, b.name) if a.name < b.name else (b.name, a.name)
        return a is not b and pair not in self.problem.disjoint_lifetimes

    @cached_property
    def members(self) -> list[list[int]]:
        """The connected components, as sorted claim indices."""
        seen: set[int] = set()
        found: list[list[int]] = []
        for start in range(len(self.claims)):
            if start in seen:
                continue
            queue = [start]
            seen.add(start)
            for index in queue:
                new = sorted(self.neighbours[index] - seen)
                seen.update(new)
                queue.extend(new)
            found.append(sorted(queue))
        return found

    @cached_property
    def graphs(self) -> list[tuple[tuple[frozenset[int], ...], tuple[tuple[int, ...], ...]]]:
        """Neighbours and cliques of every component in its own indices; they do not depend on depths."""
        graphs: list[tuple[tuple[frozenset[int], ...], tuple[tuple[int, ...], ...]]] = []
        for member in self.members:
            local = {index: k for k, index in enumerate(member)}
            neighbours = tuple(frozenset(local[j] for j in self.neighbours[i]) for i in member)
            graphs.append((neighbours, maximal_cliques(neighbours)))
        return graphs

    def size(self, claim: Claim, depths: Mapping[str, int]) -> int:
        return claim.size * (depths[claim.ring] if claim.ring else 1)

    def align(self, claim: Claim) -> int:
        return math.lcm(claim.align, self.domain.align)

    def unit(self, depths: Mapping[str, int]) -> int:
        """Left-justified addresses are multiples of it: the greatest common divisor of all sizes and of those
        alignments that do not hold by themselves."""
        unit = math.gcd(self.domain.base, *(self.size(c, depths) for c in self.claims))
        aligns = {self.align(c) for c in self.claims}
        while unit and any(unit % align and align % unit for align in aligns):
            unit = math.gcd(unit, *(align for align in aligns if unit % align))
        return unit or 1

    def components(self, depths: Mapping[str, int]) -> list[Component]:
        unit = self.unit(depths)
        sizes = [self.size(c, depths) // unit for c in self.claims]
        aligns = [max(1, self.align(c) // unit) for c in self.claims]
        return [
            Component(
                tuple(sizes[i] for i in member), tuple(aligns[i] for i in member), *graph, self.domain.base // unit
            )
            for member, graph in zip(self.members, self.graphs, strict=True)
        ]
