"""The builder: the same IR from contracts by hand as from package files through a manifest, all of it valid."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from samples import MANIFEST, TARGET, TOOLKIT, built, contracts, load, parsed, printed, write_packages

from pipelink.frontends.manifest import to_module
from pipelink.ir.builder import PipelineBuilder
from pipelink.ir.diagnostics import Place
from pipelink.ir.locations import place_of
from pipelink.ir.pl import ClaimOp, FactOp, PipelineOp, RingOp
from pipelink.ir.symbols import Symbols, pipeline_of, qualified
from pipelink.passes.pipeline import verify


@pytest.fixture
def module_of_manifest(tmp_path: Path) -> str:
    write_packages(tmp_path, contracts())
    return printed(to_module(MANIFEST, "sample.toml", tmp_path, toolkit=TOOLKIT))


def test_equals_the_manifest(module_of_manifest: str) -> None:
    assert _without_digests(printed(built())) == _without_digests(module_of_manifest)


def _without_digests(text: str) -> str:
    return "\n".join(line.partition(" digest ")[0] for line in text.splitlines() if "pl.package" in line) + "\n".join(
        line for line in text.splitlines() if "pl.package" not in line
    )


def test_is_valid_and_round_trips() -> None:
    module = built()
    verify(module)
    for generic in (False, True):
        assert parsed(printed(module, generic)).is_structurally_equivalent(module)


def test_a_package_of_nothing_round_trips() -> None:
    builder = PipelineBuilder("p", TARGET, TOOLKIT)
    builder.package(
        replace(load(), parameters=None, roles=(), claims=(), rings=(), callables=(), fact_uses=()), "d", "p"
    )
    module = builder.module()
    for generic in (False, True):
        again = parsed(printed(module, generic))
        verify(again)
        assert printed(again) == printed(module)


def test_locations_are_those_of_the_annotations() -> None:
    symbols = Symbols(pipeline_of(built()))
    places = {qualified(op): place_of(op) for op in symbols.ops(ClaimOp)}
    assert places["load.a"] == Place("load.cu", 4, 1)
    assert places["load.ring_full"] == place_of(symbols.ops(RingOp)[0])


def test_a_ring_brings_its_mbarriers_and_names_its_buffers() -> None:
    ring, *_ = Symbols(pipeline_of(built())).ops(RingOp)
    assert [str(r) for r in ring.buffers] == ["@a"]
    assert (str(ring.full), str(ring.empty)) == ("@ring_full", "@ring_empty")


def test_order_of_roles_and_facts_of_the_pipeline() -> None:
    builder = PipelineBuilder("p", TARGET, TOOLKIT, Place("p.toml", 3, 1), ["load.tma"])
    builder.fact("group", "i32", 16, Place("p.toml", 9, 1))
    module = builder.module()
    pipeline = pipeline_of(module)
    assert str(pipeline.role_order) == "[@load::@tma]"
    (fact,) = [op for op in pipeline.body.block.ops if isinstance(op, FactOp)]
    assert (fact.value.data, str(place_of(fact))) == ("16", "p.toml:9:1")


def test_the_mode_is_that_of_the_packages() -> None:
    contract = replace(load(), fp=replace(load().fp, ftz=True))
    builder = PipelineBuilder("p", TARGET, TOOLKIT)
    builder.package(contract, "d", "load.plpkg")
    pipeline = pipeline_of(builder.module())
    assert isinstance(pipeline, PipelineOp)
    assert pipeline.fp.integers["ftz"] == 1
