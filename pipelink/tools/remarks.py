"""What the linker decided and why, as remarks, read from the properties of the IR alone."""

from collections.abc import Iterator

from xdsl.dialects.builtin import ModuleOp

from pipelink.ir.diagnostics import Line
from pipelink.ir.locations import place_of
from pipelink.ir.pl import ConnectOp, PipelineOp
from pipelink.ir.symbols import path_of


def remarks(module: ModuleOp) -> Iterator[Line]:
    """In order of the IR: what was dropped, what proves the placement, why each tensor takes its route."""
    for op in module.walk():
        match op:
            case PipelineOp():
                for dropped in op.dropped or ():
                    yield Line("remark", f"dropped {dropped.data}", place_of(op))
                proofs = op.proofs.data if op.proofs is not None else {}
                for objective, proof in proofs.items():
                    yield Line("remark", f"placement, {objective}: {proof}", place_of(op))
            case ConnectOp() if op.route is not None:
                ends = (".".join(path_of(op.provider)), ".".join(path_of(op.user)))
                said = f"tensor '{ends[0]}' reaches '{ends[1]}' by route '{op.route.data}'"
                for reason in op.reasons or ():
                    yield Line("remark", f"{said}: {reason.data}", place_of(op))
            case _:
                pass
