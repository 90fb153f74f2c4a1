"""How a kernel is launched: the cluster shapes and numbers of blocks a multiprocessor that all its packages accept."""

from collections.abc import Iterator
from dataclasses import dataclass

from pipelink.ir.pl import PackageOp, RingOp, TopologyOp
from pipelink.passes.reach import Reach

Shape = tuple[int, int, int]
ALONE: Shape = (1, 1, 1)


@dataclass(frozen=True)
class Topology:
    """What is left after all packages have been asked; `shapes` is empty, or `least` above `most`, where they
    conflict."""

    stated: tuple[TopologyOp, ...]
    shapes: tuple[Shape, ...]
    least: int
    most: int

    @staticmethod
    def of(reach: Reach) -> "Topology":
        """The first package's order of preference holds."""
        stated = tuple(op for package in reach.packages() for op in _topologies(package))
        asked = [shapes(op) for op in stated if len(op.clusters)]
        common = [shape for shape in asked[0] if all(shape in other for other in asked)] if asked else [ALONE]
        least = max((op.occupancy.get_values()[0] for op in stated), default=1)
        most = min((op.occupancy.get_values()[1] for op in stated), default=least)
        return Topology(stated, tuple(common), least, most)

    @property
    def cluster(self) -> Shape:
        return self.shapes[0]

    @property
    def occupancy(self) -> int:
        """Blocks that a multiprocessor must be able to hold: what some package asks for, and no more."""
        return self.least


def shapes(op: TopologyOp) -> list[Shape]:
    return [(x, y, z) for x, y, z in (cluster.get_values() for cluster in op.clusters)]


def _topologies(package: PackageOp) -> Iterator[TopologyOp]:
    return (op for op in package.body.block.ops if isinstance(op, TopologyOp))


def cluster_rings(reach: Reach) -> list[RingOp]:
    """The consumers of rings whose arrivals or copies come from other blocks of the cluster, as both ends say."""
    ends = [(p, c) for _, p, c in reach.connected(RingOp, RingOp) if p.scope.data == c.scope.data == "cluster"]
    return list(dict.fromkeys(consumer for _, consumer in ends))
