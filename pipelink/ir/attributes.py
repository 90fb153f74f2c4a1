"""The attributes of the `pl` dialect that have a syntax of their own."""

from collections.abc import Mapping
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, StringAttr, i64
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, ParametrizedAttribute, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from pipelink.frontends.contract import SYMBOL, Count, Lifetime, Signature


class Kind(StrEnum):
    """Resources that are claimed by handle."""

    smem = "smem"
    mbarrier = "mbarrier"
    barrier = "barrier"
    tmem = "tmem"
    counter = "counter"


class Side(StrEnum):
    producer = "producer"
    consumer = "consumer"


class Link(StrEnum):
    """What a `pl.connect` joins."""

    ring = "ring"
    counter = "counter"
    call = "call"
    tensor = "tensor"
    fact = "fact"


@irdl_attr_definition
class KindAttr(EnumAttribute[Kind], SpacedOpaqueSyntaxAttribute):
    name = "pl.kind"


@irdl_attr_definition
class SideAttr(EnumAttribute[Side], SpacedOpaqueSyntaxAttribute):
    name = "pl.side"


@irdl_attr_definition
class LinkAttr(EnumAttribute[Link], SpacedOpaqueSyntaxAttribute):
    name = "pl.link"


def _one_of(parser: AttrParser, *keywords: str) -> str:
    for keyword in keywords:
        if parser.parse_optional_keyword(keyword) is not None:
            return keyword
    parser.raise_error(f"expected {' or '.join(keywords)}")


@irdl_attr_definition
class SignatureAttr(ParametrizedAttribute):
    """`<("const float *", "int") -> "void", args, context>`: see `contract.Signature`."""

    name = "pl.signature"
    parameters_: ArrayAttr[StringAttr]
    result: StringAttr
    supplied: ArrayAttr[StringAttr]

    @staticmethod
    def of(signature: Signature) -> "SignatureAttr":
        supplied = ["args"] * signature.args + ["context"] * signature.context
        return SignatureAttr(
            ArrayAttr([StringAttr(p) for p in signature.parameters]),
            StringAttr(signature.result),
            ArrayAttr([StringAttr(s) for s in supplied]),
        )

    @property
    def data(self) -> Signature:
        supplied = [s.data for s in self.supplied]
        return Signature(
            self.result.data, tuple(p.data for p in self.parameters_), "args" in supplied, "context" in supplied
        )

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        with parser.in_angle_brackets():
            types = parser.parse_comma_separated_list(
                parser.Delimiter.PAREN, lambda: StringAttr(parser.parse_str_literal("a C type"))
            )
            parser.parse_punctuation("->")
            result = StringAttr(parser.parse_str_literal("a C type"))
            supplied: list[StringAttr] = []
            while parser.parse_optional_punctuation(",") is not None:
                supplied.append(StringAttr(_one_of(parser, "args", "context")))
        return [ArrayAttr(types), result, ArrayAttr(supplied)]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            with printer.in_parens():
                printer.print_list(self.parameters_, lambda p: printer.print_string_literal(p.data))
            printer.print_string(" -> ")
            printer.print_string_literal(self.result.data)
            for name in self.supplied:
                printer.print_string(f", {name.data}")


@irdl_attr_definition
class CountAttr(ParametrizedAttribute):
    """Arrivals a phase: `<1>`, `<1 per warp>`, `<1 per thread>` of the arriving side."""

    name = "pl.count"
    times: IntegerAttr
    per: StringAttr

    @staticmethod
    def of(count: Count) -> "CountAttr":
        return CountAttr(IntegerAttr(count.times, i64), StringAttr(count.per))

    def arrivals(self, warps: int) -> int:
        """The number of arrivals where the arriving side has `warps` warps."""
        return self.times.value.data * {"once": 1, "warp": warps, "thread": 32 * warps}[self.per.data]

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        with parser.in_angle_brackets():
            times = parser.parse_integer(allow_boolean=False, allow_negative=False)
            per = "once"
            if parser.parse_optional_keyword("per") is not None:
                per = _one_of(parser, "warp", "thread")
        return [IntegerAttr(times, i64), StringAttr(per)]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            per = self.per.data
            printer.print_string(f"{self.times.value.data}" + (f" per {per}" if per != "once" else ""))

    def __str__(self) -> str:
        return f"{self.times.value.data}" + (f" per {self.per.data}" if self.per.data != "once" else "")


@irdl_attr_definition
class LifetimeAttr(ParametrizedAttribute):
    """`<kernel>`, `<phase "name">` or `<"accumulator.ready" to "end">`: see `contract.Lifetime`."""

    name = "pl.lifetime"
    phase: StringAttr
    start: StringAttr
    end: StringAttr

    @staticmethod
    def of(lifetime: Lifetime) -> "LifetimeAttr":
        return LifetimeAttr(StringAttr(lifetime.phase), StringAttr(lifetime.start), StringAttr(lifetime.end))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        phase, start, end = "", "begin", "end"
        with parser.in_angle_brackets():
            if parser.parse_optional_keyword("phase") is not None:
                if not (phase := parser.parse_str_literal("a phase")):
                    parser.raise_error("expected a phase with a name")
            elif parser.parse_optional_keyword("kernel") is None:
                start = parser.parse_str_literal("an event")
                parser.parse_keyword("to")
                end = parser.parse_str_literal("an event")
        return [StringAttr(phase), StringAttr(start), StringAttr(end)]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            if self.phase.data:
                printer.print_string("phase ")
                printer.print_string_literal(self.phase.data)
            elif (self.start.data, self.end.data) == ("begin", "end"):
                printer.print_string("kernel")
            else:
                printer.print_string_literal(self.start.data)
                printer.print_string(" to ")
                printer.print_string_literal(self.end.data)


Value = int | str | tuple["Value", ...]
"""What a `ValuesAttr` holds."""


def _to_attribute(value: Value) -> Attribute:
    match value:
        case int():
            return IntegerAttr(value, i64)
        case str():
            return StringAttr(value)
        case _:
            return ArrayAttr([_to_attribute(v) for v in value])


def _to_value(attribute: Attribute) -> Value:
    match attribute:
        case IntegerAttr():
            return attribute.value.data
        case StringAttr():
            return attribute.data
        case ArrayAttr():
            return tuple(_to_value(a) for a in attribute)
        case _:
            raise VerifyException(f"'pl.values' holds integers, strings and lists, not {attribute}")


@irdl_attr_definition
class ValuesAttr(ParametrizedAttribute):
    """Named integers, strings and lists of them: `<smem = 232448, why = "fits", span = [0, 4]>`, sorted by name."""

    name = "pl.values"
    entries: DictionaryAttr

    @staticmethod
    def of(values: Mapping[str, Value]) -> "ValuesAttr":
        return ValuesAttr(DictionaryAttr({k: _to_attribute(values[k]) for k in sorted(values)}))

    @property
    def data(self) -> dict[str, Value]:
        return {k: _to_value(v) for k, v in self.entries.data.items()}

    @property
    def integers(self) -> dict[str, int]:
        """The entries, all of them integers."""
        return {k: int(cast(int, v)) for k, v in self.data.items()}

    def verify(self) -> None:
        for value in self.entries.data.values():
            _to_value(value)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        def value() -> Value:
            if (text := parser.parse_optional_str_literal()) is not None:
                return text
            if (number := parser.parse_optional_integer(allow_boolean=False)) is not None:
                return number
            return tuple(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, value))

        def entry() -> tuple[str, Value]:
            if (name := parser.parse_optional_str_literal()) is None:
                name = parser.parse_identifier()
            parser.parse_punctuation("=")
            return name, value()

        entries = parser.parse_comma_separated_list(parser.Delimiter.ANGLE, entry)
        values = dict(entries)
        if len(values) != len(entries):
            parser.raise_error("expected each name once")
        return [ValuesAttr.of(values).entries]

    def print_parameters(self, printer: Printer) -> None:
        def show(value: Value) -> None:
            match value:
                case int():
                    printer.print_string(str(value))
                case str():
                    printer.print_string_literal(value)
                case _:
                    with printer.in_square_brackets():
                        printer.print_list(value, show)

        def entry(item: tuple[str, Value]) -> None:
            if SYMBOL.fullmatch(item[0]):
                printer.print_string(item[0])
            else:
                printer.print_string_literal(item[0])
            printer.print_string(" = ")
            show(item[1])

        with printer.in_angle_brackets():
            printer.print_list(self.data.items(), entry)


ATTRIBUTES: list[type[Attribute]] = [KindAttr, SideAttr, LinkAttr, SignatureAttr, CountAttr, LifetimeAttr, ValuesAttr]
