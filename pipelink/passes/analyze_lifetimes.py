"""`pl-analyze-lifetimes`: when each claim holds its storage, and which claims an event lets lie over each other.

It also asks the route ladder which routes are feasible, since a staged route needs its scratch placed: the scratch has
an empty live range where the cheapest route needs none.
"""

from dataclasses import dataclass

from xdsl.dialects.builtin import ArrayAttr

from pipelink.ir.diagnostics import Diagnostics, Note
from pipelink.ir.locations import place_of
from pipelink.ir.pl import ClaimOp, ExportOp, ImportOp, PipelineOp, integers, strings
from pipelink.ir.symbols import Symbols, qualified, reference
from pipelink.passes.base import LinkPass
from pipelink.passes.reach import Reach
from pipelink.passes.routes import RouteError
from pipelink.passes.sharing import Sharing
from pipelink.passes.tensors import candidates, scratch


@dataclass(frozen=True)
class AnalyzeLifetimes(LinkPass):
    """Find each claim's live range, the claims that may share storage, and the routes that could serve each tensor."""

    name = "pl-analyze-lifetimes"
    requires = ("pl.pipeline.dropped",)
    produces = ("pl.pipeline.events", "pl.claim.live", "pl.connect.candidates")

    def run(self, pipeline: PipelineOp, errors: Diagnostics) -> None:
        reach = Reach(Symbols(pipeline))
        sharing = Sharing(reach)
        pipeline.events = strings(sharing.events.names)
        unused = self._routes(reach, errors)
        orders: dict[str, set[str]] = {}
        for claim in reach.symbols.ops(ClaimOp):
            claim.shares = None
            self._live(claim, sharing, unused)
        for new in sharing.blocks:
            older = [old for old in sharing.blocks if old is not new and sharing.may_lie_over(new, old)]
            for event in filter(None, (sharing.event_between(old, new) for old in older)):
                tensor, _, moment = event.rpartition(".")
                orders.setdefault(tensor, set()).add(moment)
            if older:
                new.shares = ArrayAttr([reference(old) for old in older])
        for connect, _, import_ in reach.connected(ExportOp, ImportOp):
            connect.orders = strings(sorted(orders.get(sharing.events.tensors[import_], ())))

    def _live(self, claim: ClaimOp, sharing: Sharing, unused: set[ClaimOp]) -> None:
        block = sharing.block_of.get(claim, claim)
        first, last = (sharing.events.index(e) for e in sharing.lifetime(block))
        claim.live = integers((first, first if claim in unused else last))

    def _routes(self, reach: Reach, errors: Diagnostics) -> set[ClaimOp]:
        """Write the candidates of each tensor; the claims lent as scratch that nothing needs."""
        lent: set[ClaimOp] = set()
        needed: set[ClaimOp] = set()
        for connect, export, import_ in reach.connected(ExportOp, ImportOp):
            try:
                found = candidates(reach.symbols, export, import_)
            except RouteError as error:
                _refuse(errors, export, import_, error)
                connect.candidates = strings([])
                continue
            connect.candidates = strings([c.kind for c in found])
            if (claim := scratch(reach.symbols, import_)) is not None:
                (needed if found[0].plan.scratch_bytes else lent).add(claim)
        return {claim for claim in lent - needed if not reach.named_by_code(claim)}


def _refuse(errors: Diagnostics, export: ExportOp, import_: ImportOp, error: RouteError) -> None:
    errors.error(
        "L-ROUTE",
        f"no route delivers tensor '{qualified(export)}' to '{qualified(import_)}'",
        place_of(import_),
        Note(f"'{qualified(export)}' is placed as {export.placement.data}", place_of(export)),
        *(Note(str(refusal), place_of(import_)) for refusal in error.refusals),
        hint="lend scratch and a barrier in PL_IMPORT_TENSOR, or demand the producer's own layout",
    )
