"""A tensor connection as the route ladder sees it: maps and what the import lends.

Candidates and proofs depend on nothing but their arguments, and several passes and checks ask for them: both are kept.
"""

from functools import cache
from math import prod

from pipelink.ir.maps import ExactMap
from pipelink.ir.pl import ClaimOp, ExportOp, ImportOp, exact_map
from pipelink.ir.symbols import Symbols
from pipelink.passes.routes import Candidate, Lends, Violation, feasible, from_json, prove

ELEMENT_BYTES = 4


@cache
def _feasible(placement: str, demand: str, chunk: str, lends: Lends) -> list[Candidate]:
    return feasible(exact_map(placement), exact_map(demand), chunk or None, lends)


@cache
def _prove(plan: str, placement: str, demand: str, base: int, align: int) -> list[Violation]:
    return prove(from_json(plan), exact_map(placement), exact_map(demand), base, align)


def maps(export: ExportOp, import_: ImportOp) -> tuple[ExactMap, ExactMap]:
    """The placement and the demand."""
    return exact_map(export.placement.data), exact_map(import_.demand.data)


def scratch(symbols: Symbols, import_: ImportOp) -> ClaimOp | None:
    """The scratch that the import lends."""
    return symbols.get(import_.scratch, import_, ClaimOp) if import_.scratch is not None else None


def candidates(symbols: Symbols, export: ExportOp, import_: ImportOp) -> list[Candidate]:
    """The routes that could serve, cheapest first. Raises RouteError where none does."""
    _, demand = maps(export, import_)
    claim = scratch(symbols, import_)
    size = claim.size.value.data if claim else 0
    positions = prod(size for name, size in demand.domain[1:] if name != import_.chunk.data)
    lends = Lends(import_.frame.value.data, positions, size, import_.barrier is not None, ELEMENT_BYTES)
    return _feasible(export.placement.data, import_.demand.data, import_.chunk.data, lends)


def violations(symbols: Symbols, export: ExportOp, import_: ImportOp, plan: str) -> list[Violation]:
    """What the plan (as JSON) breaks at the address that its scratch was placed at."""
    claim = scratch(symbols, import_)
    base = claim.base.value.data if claim and claim.base is not None else 0
    align = claim.align.value.data if claim else 1
    return _prove(plan, export.placement.data, import_.demand.data, base, align)
