"""`pl-eliminate-dead-exports`: drops what no role reaches, with its claims, as a linker drops unreferenced sections."""

from dataclasses import dataclass

from xdsl.ir import Operation

from pipelink.ir.diagnostics import Diagnostics
from pipelink.ir.pl import (
    CallableOp,
    CallOp,
    ClaimOp,
    ConnectOp,
    CounterOp,
    ExportOp,
    ImportOp,
    PackageOp,
    PipelineOp,
    RingOp,
    RoleOp,
    SiteOp,
    WarpOp,
    strings,
)
from pipelink.ir.symbols import Symbols, children, qualified
from pipelink.passes.base import LinkPass
from pipelink.passes.reach import Reach

DROPPED = (CallableOp, CallOp, ClaimOp, CounterOp, ExportOp, ImportOp, RingOp, SiteOp, WarpOp)


@dataclass(frozen=True)
class EliminateDeadExports(LinkPass):
    """Drop exports that nothing calls, and every claim that only they use."""

    name = "pl-eliminate-dead-exports"
    produces = ("pl.pipeline.dropped",)

    def run(self, pipeline: PipelineOp, errors: Diagnostics) -> None:
        symbols = Symbols(pipeline)
        reach = Reach(symbols)
        dropped = [d.data for d in pipeline.dropped or ()]
        for connect in reach.connects:
            if symbols.find(connect.user, connect) not in reach.live:
                _erase(connect)
        for package in symbols.packages.values():
            for op in children(package):
                if isinstance(op, DROPPED) and op not in reach.live:
                    dropped.append(f"{op.name} '{qualified(op)}': no role reaches it")
                    _erase(op)
        while found := _drop_packages(pipeline):
            dropped += found
        pipeline.dropped = strings(dropped)


def _drop_packages(pipeline: PipelineOp) -> list[str]:
    """A package of which no code is left and whose facts nobody uses takes no part in the kernel."""
    dropped: list[str] = []
    connects = [op for op in children(pipeline) if isinstance(op, ConnectOp)]
    for package in [op for op in children(pipeline) if isinstance(op, PackageOp)]:
        name = package.sym_name.data
        code = any(isinstance(op, RoleOp | CallableOp | ExportOp) for op in children(package))
        if code or any(c.provider.root_reference.data == name for c in connects):
            continue
        for connect in [c for c in connects if c.user.root_reference.data == name]:
            connects.remove(connect)
            _erase(connect)
        dropped.append(f"pl.package '{name}': no role reaches any of its exports")
        _erase(package)
    return dropped


def _erase(op: Operation) -> None:
    op.detach()
    op.erase()
