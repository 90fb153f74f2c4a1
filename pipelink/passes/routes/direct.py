"""The direct rung: each thread already holds all that it wants, so a chunk is a register copy."""

from pipelink.passes.routes.plan import Move, Plan, Step
from pipelink.passes.routes.transfer import Refused, Rung, Transfer, thread_classes

KIND = "direct"


def plan(transfer: Transfer) -> Plan:
    """The copies of each chunk. Raises Refused with the first element that is in another thread."""
    schedule = tuple(_chunk(transfer, chunk) for chunk in range(transfer.chunks))
    reason = "every thread holds the elements that it wants"
    return Plan(KIND, transfer.threads, transfer.lends.element_bytes, transfer.chunk, schedule, reasons=(reason,))


def _chunk(transfer: Transfer, chunk: int) -> tuple[Step, ...]:
    patterns = [_sources(transfer, chunk, thread) for thread in range(transfer.threads)]
    classes = thread_classes(patterns, f"the source registers for chunk {chunk}")
    return tuple(Move(tuple(enumerate(patterns[thread])), guard) for guard, thread in classes)


def _sources(transfer: Transfer, chunk: int, thread: int) -> tuple[int, ...]:
    sources: list[int] = []
    for position, element in enumerate(transfer.wanted[chunk][thread]):
        own = [register for holder, register in transfer.holders[element] if holder == thread]
        if not own:
            raise Refused(transfer.show_crossing(element, thread, position, chunk))
        sources.append(own[0])
    return tuple(sources)


RUNG = Rung(KIND, plan)
