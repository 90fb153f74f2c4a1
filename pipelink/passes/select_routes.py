"""`pl-select-routes`: takes the cheapest feasible route of each tensor and proves it at the solved addresses.

A proof that fails is an error, never a silent second choice. `prove=false` leaves the proof to who follows: `pl-link`
proves every transfer of the linked image anyway, while the disassembler runs.
"""

from dataclasses import dataclass

from xdsl.dialects.builtin import StringAttr

from pipelink.ir.attributes import Value, ValuesAttr
from pipelink.ir.diagnostics import Diagnostics, Note
from pipelink.ir.locations import place_of
from pipelink.ir.pl import ConnectOp, ExportOp, ImportOp, PipelineOp, strings
from pipelink.ir.symbols import Symbols, qualified
from pipelink.passes.base import LinkPass
from pipelink.passes.reach import Reach
from pipelink.passes.routes import Candidate, Plan, RouteError, to_json
from pipelink.passes.tensors import candidates, scratch, violations


@dataclass(frozen=True)
class SelectRoutes(LinkPass):
    """Choose how each tensor reaches its consumer, and prove that every element arrives."""

    name = "pl-select-routes"
    prove: bool = True
    requires = ("pl.pipeline.threads", "pl.connect.candidates")
    produces = ("pl.connect.route",)

    def run(self, pipeline: PipelineOp, errors: Diagnostics) -> None:
        reach = Reach(Symbols(pipeline))
        for connect, export, import_ in reach.connected(ExportOp, ImportOp):
            assert connect.candidates is not None
            allowed = [c.data for c in connect.candidates]
            try:
                found = [c for c in candidates(reach.symbols, export, import_) if c.kind in allowed]
            except RouteError:
                found = []
            if not found:
                message = f"no route of {allowed} serves tensor '{qualified(import_)}'"
                errors.error("L-ROUTE", message, place_of(import_))
                continue
            self._take(reach.symbols, connect, found[0], export, import_, errors)

    def _take(
        self,
        symbols: Symbols,
        connect: ConnectOp,
        candidate: Candidate,
        export: ExportOp,
        import_: ImportOp,
        errors: Diagnostics,
    ) -> None:
        plan = candidate.plan
        claim = scratch(symbols, import_)
        if plan.scratch_bytes and (claim is None or claim.base is None):
            errors.error("L-ROUTE", f"the scratch of '{qualified(import_)}' has no place", place_of(import_))
            return
        if self.prove and (found := violations(symbols, export, import_, to_json(plan))):
            notes = [Note(str(v), place_of(import_)) for v in found[:8]]
            message = f"route '{plan.kind}' of tensor '{qualified(import_)}' does not hold where it was placed"
            errors.error("L-ROUTE", message, place_of(import_), *notes)
            return
        connect.route = StringAttr(plan.kind)
        connect.schedule = ValuesAttr.of(summary(plan))
        connect.reasons = strings([str(r) for r in candidate.refused] + list(plan.reasons))


def summary(plan: Plan) -> dict[str, Value]:
    """What a reader wants to see of a plan, and the plan itself, from which its code is made."""
    said: dict[str, Value] = {"plan": to_json(plan), "threads": plan.threads, "sync": plan.sync}
    if plan.address is not None:
        said |= {
            "address": str(plan.address),
            "load_bytes": plan.load_bytes,
            "load_wavefronts": plan.load_wavefronts,
            "scratch_bytes": plan.scratch_bytes,
            "store_bytes": plan.store_bytes,
            "store_wavefronts": plan.store_wavefronts,
        }
    return said
