"""Rows of the public reports about registers, barriers, capacity, alignment and lifetimes, through the real passes.

Each test is named after its row. What is refused reads as its golden file, whole; what is accepted is placed, and the
independent checker has no objection. `PIPELINK_GOLDEN=1` writes the golden files anew.
"""

import os
from pathlib import Path

import pytest
from samples import command, pl_opt

from pipelink.ir.symbols import pipeline_of
from pipelink.passes import LINK
from pipelink.passes.placement import Placement
from pipelink.passes.relocate import Model
from pipelink.tools import pl_place
from pipelink.tools.pl_link import load

FOLDER = Path(__file__).parent / "placement"
PASSES = ",".join(LINK[: LINK.index("pl-relocate") + 1])


@pytest.fixture(autouse=True)
def _in_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER)


def golden(name: str, text: str) -> None:
    file = FOLDER / f"{name}.golden"
    if os.environ.get("PIPELINK_GOLDEN"):
        file.write_text(text)
    assert text == file.read_text()


def refuse(name: str, clause: str) -> str:
    """What is said of an input that must be refused, by this clause alone."""
    result = pl_opt(f"{name}.mlir", "-p", PASSES)
    assert result.status == 1
    assert result.err.count("error[") == result.err.count(f"error[{clause}]") == 1
    golden(name, result.err)
    return result.err


def accept(name: str, tmp_path: Path) -> Placement:
    """The placement of an input, as it reads back from what is printed."""
    result = pl_opt(f"{name}.mlir", "-p", PASSES)
    assert (result.status, result.err) == (0, "")
    placed = tmp_path / "placed.mlir"
    placed.write_text(result.out)
    model = Model(pipeline_of(load(placed, [])))
    assert model.faults() == []
    return model.read()


@pytest.mark.parametrize("budgets", [(24, 232, 232), (24, 240, 240), (40, 232, 232)])
def test_p21_budgets_that_were_measured_to_end(budgets: tuple[int, int, int], tmp_path: Path) -> None:
    placement = accept("p21_{}_{}_{}".format(*budgets), tmp_path)
    assert placement.registers == dict(zip(("flash.load", "flash.core0", "flash.core1"), budgets, strict=True))
    assert placement.threads == 384


def test_p21_the_pool_is_what_the_block_started_with_not_the_file() -> None:
    assert "need 65,536, 384 threads start with 168 each = 64,512" in refuse("p21_168_168_176", "L-REGS")


def test_p22_budgets_of_71680_registers() -> None:
    assert "over by 7,168" in refuse("p22", "L-REGS")


def test_p24_a_raise_that_nothing_lowered_pays_for(tmp_path: Path) -> None:
    refuse("p24", "L-REGS")
    assert sum(accept("p24_lowered", tmp_path).registers.values()) == 504


def test_p25_two_blocks_a_multiprocessor_against_24_and_240(tmp_path: Path) -> None:
    said = refuse("p25", "L-REGS")
    assert "p25.mlir:9:5: note: 2 blocks on a multiprocessor are asked for here" in said
    assert "or 1 block a multiprocessor" in said
    assert accept("p25_one", tmp_path).registers["attention.core"] == 240


def test_p27_one_budget_a_warpgroup(tmp_path: Path) -> None:
    refuse("p27", "L-REGS")
    together = accept("p27_common", tmp_path)
    assert together.threads == 256
    assert together.registers["a.load"] == together.registers["b.store"]
    assert together.idle
    apart = accept("p27_apart", tmp_path)
    assert apart.threads == 384
    assert apart.registers["a.load"] == 24
    assert apart.registers["b.store"] in (40, 48)


def test_p35_two_claims_forced_to_one_barrier(tmp_path: Path) -> None:
    ids = accept("p35_free", tmp_path).bases
    assert ids["a.turn"] != ids["b.turn"]
    faults = Model(pipeline_of(load(Path("p35.mlir"), []))).faults()  # as the proof of a link finds them: L-OVERLAP
    golden("p35", "\n".join(faults) + "\n")


def test_p42_named_barriers_of_two_libraries(tmp_path: Path) -> None:
    bases = accept("p42_15", tmp_path).bases
    assert sorted(bases.values()) == list(range(1, 16))
    refuse("p42_16", "L-OVERLAP")
    refuse("p42_17", "L-OVERLAP")


def test_p42_16_ids_fit_where_id_0_is_not_kept() -> None:
    assert command(pl_place.main, "p42_16_without_0.json").status == 0
    result = command(pl_place.main, "p42_17_without_0.json")
    assert result.status == 1
    golden("p42_17_without_0", result.err)


@pytest.mark.parametrize("name", ["p60", "p60_128"])
def test_p60_a_swizzled_tile_begins_where_its_swizzle_does(name: str, tmp_path: Path) -> None:
    """Packing refuses a tile that asks for less; where IR does, the placement aligns it all the same."""
    bases = accept(name, tmp_path).bases
    assert bases["a.tile0"] % 1024 == bases["a.tile1"] % 1024 == 0


@pytest.mark.parametrize("size", [102400, 131072])
def test_p65_a_hopper_pipeline_on_sm_120(size: int, tmp_path: Path) -> None:
    assert accept(f"p65_{size}_sm_90a", tmp_path).footprint["smem"] == size
    refuse(f"p65_{size}_sm_120a", "L-OVERLAP")


def test_p66_220_kib_on_a_part_of_99(tmp_path: Path) -> None:
    accept("p66_sm_90a", tmp_path)
    refuse("p66_sm_120a", "L-OVERLAP")


def test_p67_an_operator_of_13_pages_is_named(tmp_path: Path) -> None:
    assert accept("p67_sm_90a", tmp_path).footprint["smem"] == 13 * 16384 + 4096
    assert "'ops.matvec' takes 212,992 bytes, live in phase matvec" in refuse("p67_sm_120a", "L-OVERLAP")


def test_p69_half_a_gibibyte_of_shared_memory() -> None:
    refuse("p69", "L-OVERLAP")


def test_p75_640_tensor_memory_columns(tmp_path: Path) -> None:
    assert accept("p75_512", tmp_path).footprint["tmem"] == 512
    refuse("p75", "L-OVERLAP")


def test_p76_exactly_full_tensor_memory_is_placed(tmp_path: Path) -> None:
    assert accept("p76", tmp_path).footprint["tmem"] == 512
