"""The endpoints of a counter agree on its words, scope, restart rule and arrivals, and roles run them."""

from pipelink.ir.diagnostics import Note
from pipelink.ir.locations import place_of
from pipelink.ir.pl import ClaimOp, CounterOp
from pipelink.ir.symbols import qualified
from pipelink.passes.rules import Checked
from pipelink.passes.rules.rings import check_runs, check_sides, differ
from pipelink.passes.sharing import counters

FIELDS = {"size": "words", "scope": "scope", "restart": "restart rule"}


def check_counters(checked: Checked) -> None:
    for connect, producer, consumer in checked.reach.connected(CounterOp, CounterOp):
        if not check_sides(checked, connect, producer, consumer):
            continue
        ours, theirs = (checked.symbols.get(e.slots, e, ClaimOp) for e in (producer, consumer))
        for prop, what in FIELDS.items():
            differ(checked, what, ours, theirs, prop, (producer, consumer))
        check_runs(checked, producer, consumer)
    for counter in counters(checked.reach):
        _check_arrivals(checked, counter.producers, [e for e in counter.endpoints if e.side.data == "consumer"])


def _check_arrivals(checked: Checked, producers: list[CounterOp], consumers: list[CounterOp]) -> None:
    """A consumer that waits for more than all producers add waits for ever; for less, it reads too early."""
    total = checked.reach.counter_arrivals(producers)
    for consumer in consumers:
        if consumer.arrivals is None:
            continue
        awaited = consumer.arrivals.arrivals(checked.reach.warps_running(consumer))
        if awaited == total:
            continue
        adds = (f"'{qualified(p)}' adds {checked.reach.counter_arrivals([p])}" for p in producers)
        checked.errors.error(
            "L-ARRIVALS",
            f"counter '{qualified(consumer)}' waits for {awaited} arrivals on a word, its producers add {total}",
            place_of(consumer),
            *(Note(text, place_of(p)) for text, p in zip(adds, producers, strict=True)),
            hint="make them agree, or wait for NAME_arrivals, which is what all producers add",
        )


def check_restarts(checked: Checked) -> None:
    """No launch resets words that another device may already raise for it."""
    for claim in checked.symbols.ops(ClaimOp):
        if claim.scope is None or claim.restart is None:
            continue
        if (claim.scope.data, claim.restart.data) == ("system", "launch"):
            message = f"'{qualified(claim)}' of scope system restarts by launch: a fast peer's next push would race it"
            checked.errors.error("L-RESTART", message, place_of(claim), hint='restart by "self" or "epoch"')
