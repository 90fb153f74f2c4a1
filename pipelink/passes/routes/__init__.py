"""Transfer routes: how elements get from where a placement holds them to where a demand wants them."""

from pipelink.passes.routes.emit import DEVICE_PRELUDE, emit_cuda
from pipelink.passes.routes.ladder import LADDER, Candidate, feasible
from pipelink.passes.routes.plan import Access, Guard, Move, Plan, Refusal, Step, Swizzle, Sync, from_json, to_json
from pipelink.passes.routes.prove import Violation, prove
from pipelink.passes.routes.transfer import Lends, Refused, RouteError, Rung, Transfer

__all__ = [
    "DEVICE_PRELUDE",
    "LADDER",
    "Access",
    "Candidate",
    "Guard",
    "Lends",
    "Move",
    "Plan",
    "Refusal",
    "Refused",
    "RouteError",
    "Rung",
    "Step",
    "Swizzle",
    "Sync",
    "Transfer",
    "Violation",
    "emit_cuda",
    "feasible",
    "from_json",
    "prove",
    "to_json",
]
