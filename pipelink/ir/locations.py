"""Source locations of operations: where the user wrote what an operation states."""

from xdsl.context import Context
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, LocationAttr, ModuleOp, StringAttr, UnknownLoc
from xdsl.ir import Operation
from xdsl.parser import Parser

from pipelink.ir.diagnostics import Place


def location(place: Place | None) -> LocationAttr:
    if place is None:
        return UnknownLoc()
    return FileLineColLoc(StringAttr(place.file), IntAttr(place.line), IntAttr(place.column))


def place_of(op: Operation) -> Place | None:
    """The nearest known location of `op` or of what encloses it."""
    while isinstance(op.location, UnknownLoc):
        if (parent := op.parent_op()) is None:
            return None
        op = parent
    if not isinstance(op.location, FileLineColLoc):
        return None
    loc = op.location
    return Place(loc.filename.data, loc.line.data, loc.column.data)


class LocatingParser(Parser):
    """Gives each operation the line and column where it starts, unless the text states a `loc(...)`.

    xDSL's own parser leaves locations unknown.
    """

    def parse_operation(self) -> Operation:
        span = self._current_token.span
        op = super().parse_operation()
        if isinstance(op.location, UnknownLoc):
            text = span.input.content
            line = text.count("\n", 0, span.start) + 1
            column = span.start - text.rfind("\n", 0, span.start)
            op.location = location(Place(span.input.name, line, column))
        return op


def parse_module(context: Context, text: str, name: str) -> ModuleOp:
    """Parse `.mlir` text, keeping locations. Raises xDSL's ParseError and VerifyException."""
    return LocatingParser(context, text, name).parse_module()
