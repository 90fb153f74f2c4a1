"""All packages can live with one shape of cluster and one number of blocks a multiprocessor, which the target has."""

from pipelink.ir.diagnostics import Note
from pipelink.ir.locations import place_of
from pipelink.ir.pl import TopologyOp
from pipelink.ir.symbols import package_of, qualified
from pipelink.passes.rules import Checked
from pipelink.passes.topology import ALONE, Topology, cluster_rings, shapes


def check_topology(checked: Checked) -> None:
    topology = Topology.of(checked.reach)
    _check_shapes(checked, topology)
    _check_occupancy(checked, topology)


def _name(op: TopologyOp) -> str:
    package = package_of(op)
    return package.sym_name.data if package else ""


def _check_shapes(checked: Checked, topology: Topology) -> None:
    asked = [op for op in topology.stated if len(op.clusters)]
    if asked and not topology.shapes:
        said = [f"package '{_name(op)}' takes clusters of {_spelled(op)}" for op in asked]
        notes = (Note(text, place_of(op)) for text, op in zip(said, asked, strict=True))
        message = "no shape of cluster suits all packages: " + "; ".join(said)
        checked.errors.error("L-TOPOLOGY", message, place_of(asked[-1]), *notes, hint="let them share one shape")
        return
    if any(shape != ALONE for shape in topology.shapes):
        return
    for ring in cluster_rings(checked.reach):
        message = f"ring '{qualified(ring)}' has scope cluster, and the kernel is launched without clusters"
        notes = (Note(f"package '{_name(op)}' takes clusters of {_spelled(op)}", place_of(op)) for op in asked)
        hint = "state the cluster with PL_TOPOLOGY(pl::topology().cluster(2)), or give the ring scope cta"
        checked.errors.error("L-TOPOLOGY", message, place_of(ring), *notes, hint=hint)


def _spelled(op: TopologyOp) -> str:
    return " or ".join("x".join(str(extent) for extent in shape) for shape in shapes(op))


def _check_occupancy(checked: Checked, topology: Topology) -> None:
    if topology.least <= topology.most:
        return
    low = max(topology.stated, key=lambda op: op.occupancy.get_values()[0])
    high = min(topology.stated, key=lambda op: op.occupancy.get_values()[1])
    checked.errors.error(
        "L-TOPOLOGY",
        f"'{_name(low)}' needs {topology.least} blocks on a multiprocessor, '{_name(high)}' allows {topology.most}",
        place_of(low),
        Note(f"'{_name(low)}' needs at least {topology.least}", place_of(low)),
        Note(f"'{_name(high)}' allows at most {topology.most}", place_of(high)),
    )
