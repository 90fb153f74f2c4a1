"""The ladder of routes, cheapest first. A new route is one module with a RUNG, named here in its place."""

from dataclasses import dataclass

from pipelink.ir.maps import ExactMap
from pipelink.passes.routes import direct, staged
from pipelink.passes.routes.plan import Plan, Refusal
from pipelink.passes.routes.transfer import Lends, Refused, RouteError, Rung, Transfer

LADDER: tuple[Rung, ...] = (direct.RUNG, staged.RUNG)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A route that serves, and why each cheaper one does not."""

    plan: Plan
    refused: tuple[Refusal, ...]

    @property
    def kind(self) -> str:
        return self.plan.kind


def feasible(placement: ExactMap, demand: ExactMap, chunk: str | None, lends: Lends) -> list[Candidate]:
    """The routes that serve, cheapest first. Addresses are not needed: plans hold offsets into the scratch.

    Raises RouteError with the reasons of all rungs where none serves, or where the question is malformed.
    """
    transfer = Transfer(placement, demand, chunk, lends)
    candidates: list[Candidate] = []
    refused: list[Refusal] = []
    for rung in LADDER:
        try:
            plan = rung.plan(transfer)
        except Refused as reason:
            refused.append(Refusal(rung.kind, str(reason)))
            continue
        candidates.append(Candidate(plan, tuple(refused)))
    if not candidates:
        raise RouteError("no route; " + "; ".join(map(str, refused)), tuple(refused))
    return candidates
