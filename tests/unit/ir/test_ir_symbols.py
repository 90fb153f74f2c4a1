"""Symbols: what a reference names from where it stands, and what an operation uses."""

import pytest
from samples import built, parsed
from xdsl.dialects.builtin import ModuleOp

from pipelink.ir.pl import ClaimOp, ConnectOp, ExportOp, ImportOp, PackageOp, RingOp, RoleOp, ref
from pipelink.ir.symbols import Symbols, pipeline_of, qualified, reference


@pytest.fixture
def symbols() -> Symbols:
    return Symbols(pipeline_of(built()))


def test_one_name_is_looked_up_in_its_own_package(symbols: Symbols) -> None:
    load, mma = (symbols.find(ref(name, "ring"), symbols.pipeline) for name in ("load", "mma"))
    assert isinstance(load, RingOp)
    assert isinstance(mma, RingOp)
    assert load is not mma
    assert symbols.find(ref("ring"), load) is load
    assert symbols.find(ref("ring"), mma) is mma
    assert symbols.find(ref("ring"), symbols.pipeline) is None


def test_two_names_are_looked_up_anywhere(symbols: Symbols) -> None:
    role = symbols.get(ref("store", "epilogue"), symbols.pipeline, RoleOp)
    assert symbols.get(ref("mma", "acc"), role, ExportOp).symbol.data == "mma_produce"
    assert isinstance(symbols.find(ref("mma"), role), PackageOp) is False  # one name is its own package's
    assert isinstance(symbols.find(ref("mma"), symbols.pipeline), PackageOp)


def test_the_wrong_kind_is_no_answer(symbols: Symbols) -> None:
    with pytest.raises(KeyError, match="ClaimOp"):
        symbols.get(ref("store", "epilogue"), symbols.pipeline, ClaimOp)


def test_qualified_names_and_references_are_inverse(symbols: Symbols) -> None:
    for op in symbols.ops(ClaimOp):
        assert symbols.find(reference(op), symbols.pipeline) is op
    assert qualified(symbols.ops(ImportOp)[0]) == "store.acc"


def test_uses_are_found_inside_lists(symbols: Symbols) -> None:
    (export,) = symbols.ops(ExportOp)
    used = {qualified(op) for _, op in symbols.uses(export) if op is not None}
    assert used == {"mma.a", "mma.ring", "mma.first"}
    connect = next(c for c in symbols.ops(ConnectOp) if c.link.data == "ring")
    assert [qualified(op) for _, op in symbols.uses(connect) if op is not None] == ["load.ring", "mma.ring"]


def test_a_module_has_one_pipeline() -> None:
    assert qualified(pipeline_of(built())) == "sample"
    with pytest.raises(KeyError, match="not 0"):
        pipeline_of(ModuleOp([]))
    two = "".join(str(pipeline_of(built())).replace("@sample", name) for name in ("@a", "@b"))
    with pytest.raises(KeyError, match="not 2"):
        pipeline_of(parsed(two))
