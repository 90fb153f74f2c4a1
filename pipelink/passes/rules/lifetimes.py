"""A lifetime names a phase that a stream runs, or events that exist, in order."""

from pipelink.ir.diagnostics import Note
from pipelink.ir.locations import place_of
from pipelink.ir.pl import ClaimOp, StreamOp
from pipelink.ir.suggest import nearest
from pipelink.ir.symbols import qualified
from pipelink.passes.lifetimes import Events
from pipelink.passes.rules import Checked


def check_streams(checked: Checked) -> None:
    """A phase is of one stream: its order with others is what that stream says."""
    owner: dict[str, StreamOp] = {}
    for stream in checked.symbols.ops(StreamOp):
        for phase in (p.data for p in stream.phases):
            if phase in owner:
                message = (
                    f"phase '{phase}' is declared by streams '{qualified(owner[phase])}' and '{qualified(stream)}'"
                )
                note = Note(f"'{qualified(owner[phase])}' is here", place_of(owner[phase]))
                checked.errors.error("L-DUPLICATE", message, place_of(stream), note, hint="rename one of them")
            owner.setdefault(phase, stream)


def check_lifetimes(checked: Checked) -> None:
    events = Events.of(checked.reach)
    phases = [phase.data for stream in checked.symbols.ops(StreamOp) for phase in stream.phases]
    for claim in checked.symbols.ops(ClaimOp):
        if claim not in checked.reach.live:
            continue
        if phase := claim.lifetime.phase.data:
            if phase not in phases:
                message = f"the lifetime of '{qualified(claim)}' is the phase '{phase}', which no stream runs"
                hint = nearest(phase, phases) or "declare it with PL_STREAM in the package whose role runs the stream"
                checked.errors.error("L-LIFETIME", message, place_of(claim), hint=hint)
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
