"""Locations: where an operation starts in `.mlir` text, what `loc(...)` says instead, and errors that point there."""

import pytest
from samples import built, parsed, pl_opt, printed
from xdsl.dialects.builtin import ModuleOp

from pipelink.ir.diagnostics import PipelinkError, Place
from pipelink.ir.locations import place_of
from pipelink.ir.pl import PipelineOp, RoleOp

HEAD = (
    'pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4, registers = 9,'
    " setmaxnreg = 1, smem = 8, threads = 64, tmem = 0> fp <>"
)


def places(module: ModuleOp) -> list[Place | None]:
    return [place_of(op) for op in module.walk()]


def test_an_operation_is_where_it_starts() -> None:
    module = parsed(f'\n  {HEAD} {{\n\t pl.fact @f : "i32" = "1"\n}}')
    assert [str(p) for p in places(module)] == ["sample.mlir:1:1", "sample.mlir:2:3", "sample.mlir:3:3"]


def test_a_stated_location_wins() -> None:
    module = parsed(f'{HEAD} {{\n  pl.fact @f : "i32" = "1" loc("a.cu":7:9)\n}}')
    assert [str(p) for p in places(module)][2] == "a.cu:7:9"


def test_an_unknown_location_is_that_of_what_encloses() -> None:
    module = built()
    role = next(op for op in module.walk() if isinstance(op, RoleOp))
    pipeline = next(op for op in module.walk() if isinstance(op, PipelineOp))
    assert str(place_of(role)) == "load.cu:3:1"
    assert place_of(pipeline) is None


@pytest.mark.parametrize("generic", [False, True])
def test_locations_survive_a_dump(generic: bool) -> None:
    module = parsed(printed(built(), locations=True))
    again = parsed(printed(module, generic, locations=True), "other.mlir")
    assert places(again) == places(module)
    assert printed(again, locations=True) == printed(module, locations=True)


def test_a_file_may_have_any_name() -> None:
    module = parsed('pl.stub "x" = 3 reads @a loc("dépôt/→.cu":1:2)')
    again = parsed(printed(module, locations=True))
    assert [str(p) for p in places(again)][1] == "dépôt/→.cu:1:2"


def test_pl_opt_prints_locations_that_it_reads() -> None:
    dump = pl_opt("-", "--print-debuginfo", stdin=printed(built(), locations=True)).out
    assert 'loc("store.cu":2:1)' in dump
    assert pl_opt("-", "--print-debuginfo", stdin=dump).out == dump


@pytest.mark.parametrize(
    ("text", "where", "clause"),
    [
        ("", "x.mlir:1:1", "L-SYNTAX"),
        ("builtin.module {\n  pl.fact @f\n}", "x.mlir:3:1", "L-SYNTAX"),
        ('\n  pl.fact @f : "i32" = "unfinished', "x.mlir:2:24", "L-SYNTAX"),
        ('"pl.stub"() <{symbol = "x", value = 3 : i64', "x.mlir:1:44", "L-SYNTAX"),
        ('\n pl.stub "x" = 99999999999999999999 reads @a', "x.mlir:2:2", "L-IR"),
        ("\n pl.group [@a] warps [0, 18446744073709551615] need 3", "x.mlir:2:2", "L-IR"),
        ("[" * 5000, "x.mlir:1:1", "L-SYNTAX"),
        ("\x00", "x.mlir:1:1", "L-SYNTAX"),
    ],
)
def test_errors_of_reading_have_a_place(text: str, where: str, clause: str) -> None:
    with pytest.raises(PipelinkError) as raised:
        parsed(text, "x.mlir")
    (error,) = raised.value.diagnostics
    assert (str(error.place), error.clause) == (where, clause)
    assert "\n" not in error.render()
