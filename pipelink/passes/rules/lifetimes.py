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
        unknown = [e for e in (start, end) if events.resolve(claim, e) is None]
        for event in unknown:
            message = f"the lifetime of '{qualified(claim)}' names '{event}', no event of its package's tensors"
            checked.errors.error("L-LIFETIME", message, place_of(claim), hint=nearest(event, events.names))
        first, last = events.resolve(claim, start), events.resolve(claim, end)
        if first and last and (first == last or not events.before(first, last)):
            message = f"the lifetime of '{qualified(claim)}' starts at '{start}', which is not before its end '{end}'"
            checked.errors.error("L-LIFETIME", message, place_of(claim))
