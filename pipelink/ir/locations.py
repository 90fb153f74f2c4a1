"""Source locations of operations: where the user wrote what an operation states."""

import struct
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, LocationAttr, ModuleOp, StringAttr, UnknownLoc
from xdsl.ir import Block, Operation
from xdsl.parser import Parser
from xdsl.parser.generic_parser import ParserState
from xdsl.utils.exceptions import ParseError, VerifyException
from xdsl.utils.lexer import Span
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRToken, MLIRTokenKind

from pipelink.ir.diagnostics import Place, fail


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


class _Lexer(MLIRLexer):
    """Strings that xDSL prints are read back: it escapes what is no ASCII, and takes what is so escaped for bytes."""

    def _lex_string_literal(self, start_pos: int) -> MLIRToken:
        token = super()._lex_string_literal(start_pos)
        return MLIRToken(MLIRTokenKind.STRING_LIT, token.span)


class LocatingParser(Parser):
    """Gives each operation the line and column where it starts, unless the text states a `loc(...)`.

    xDSL's own parser leaves locations unknown, and says of an attribute that does not verify only what is wrong.
    """

    def __init__(self, ctx: Context, input: str, name: str = "<unknown>"):
        super().__init__(ctx, input, name)
        self._parser_state = ParserState(_Lexer(self.lexer.input))

    def parse_operation(self) -> Operation:
        span = self._current_token.span
        try:
            op = super().parse_operation()
        except (VerifyException, struct.error) as error:  # the latter for integers that a dense array cannot hold
            raise fail("L-IR", first_line(error), start_of(span)) from None
        if isinstance(op.location, UnknownLoc):
            op.location = location(start_of(span))
        for region in op.regions:
            if not region.blocks:  # so is an empty block printed, and all regions of the dialect have one
                region.add_block(Block())
        return op


def start_of(span: Span[str]) -> Place:
    text = span.input.content
    line = text.count("\n", 0, span.start) + 1
    return Place(span.input.name, line, span.start - text.rfind("\n", 0, span.start))


def first_line(error: Exception) -> str:
    """What an exception of xDSL says, without the operation that some print after it."""
    return str(error).strip().partition("\n")[0]


def parse_module(context: Context, text: str, name: str) -> ModuleOp:
    """Parse `.mlir` text, keeping locations. Raises PipelinkError: L-SYNTAX, or L-IR for what no attribute may hold."""
    try:
        module = LocatingParser(context, text, name).parse_module()
    except ParseError as error:
        place = start_of(cast(Span[str], error.span))
        raise fail("L-SYNTAX", error.msg.strip().partition("\n")[0], place) from None
    except RecursionError:
        raise fail("L-SYNTAX", "nested too deeply", Place(name)) from None
    if isinstance(module.location, UnknownLoc):
        module.location = location(Place(name, 1, 1))
    return module
