"""A tensor connection as the route ladder sees it: maps and what the import lends."""

from math import prod

from pipelink.ir.maps import ExactMap, parse
from pipelink.ir.pl import ClaimOp, ExportOp, ImportOp
from pipelink.ir.symbols import Symbols
from pipelink.passes.routes import Candidate, Lends, feasible

ELEMENT_BYTES = 4


def maps(export: ExportOp, import_: ImportOp) -> tuple[ExactMap, ExactMap]:
    """The placement and the demand."""
    return parse(export.placement.data), parse(import_.demand.data)


def candidates(symbols: Symbols, export: ExportOp, import_: ImportOp) -> list[Candidate]:
    """The routes that could serve, cheapest first. Raises RouteError where none does."""
    placement, demand = maps(export, import_)
    scratch = symbols.get(import_.scratch, import_, ClaimOp).size.value.data if import_.scratch else 0
    positions = prod(size for name, size in demand.domain[1:] if name != import_.chunk.data)
    lends = Lends(import_.frame.value.data, positions, scratch, import_.barrier is not None, ELEMENT_BYTES)
    return feasible(placement, demand, import_.chunk.data or None, lends)
