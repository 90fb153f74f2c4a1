"""A lifetime names events that exist, in order."""

from pipelink.ir.locations import place_of
from pipelink.ir.pl import ClaimOp
from pipelink.ir.suggest import nearest
from pipelink.ir.symbols import qualified
from pipelink.passes.lifetimes import Events
from pipelink.passes.rules import Checked


def check_lifetimes(checked: Checked) -> None:
    events = Events.of(checked.reach)
    for claim in checked.symbols.ops(ClaimOp):
        if claim not in checked.reach.live or claim.lifetime.phase.data:
            continue
        start, end = claim.lifetime.start.data, claim.lifetime.end.data
        unknown = [e for e in (start, end) if e not in events.names]
        for event in unknown:
            message = f"the lifetime of '{qualified(claim)}' names the event '{event}', which this pipeline has not"
            checked.errors.error("L-LIFETIME", message, place_of(claim), hint=nearest(event, events.names))
        if not unknown and (start == end or not events.before(start, end)):
            message = f"the lifetime of '{qualified(claim)}' starts at '{start}', which is not before its end '{end}'"
            checked.errors.error("L-LIFETIME", message, place_of(claim))
