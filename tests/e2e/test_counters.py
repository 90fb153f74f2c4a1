"""Counters, phases and clusters from annotations to the kernel: one package raises what another waits for."""

from pathlib import Path

import pytest
from linking import COUNTED, Image, pl_link
from packing import pack_into

COMPONENTS = Path(__file__).parent / "components"


@pytest.fixture(scope="module")
def folder(shared: Path) -> Path:
    made = shared / "counters"
    pack_into(made, [(COMPONENTS / f"{name}.cu", f"{name}.plpkg", ()) for name in ("raises", "waits")])
    (made / "counted.toml").write_text(COUNTED.format("raises"))
    return made


@pytest.fixture(scope="module")
def linked(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Image:
    path = tmp_path_factory.mktemp("counted") / "counted.plimg"
    result = pl_link(folder / "counted.toml", "-o", path, "--control")
    assert (result.status, result.err) == (0, "")
    assert result.out.splitlines() == ["control: identical", "plain nvcc control: identical"]
    return Image.read(path)


def test_endpoints_share_their_words(linked: Image) -> None:
    claims = linked.by_name("claims")
    assert claims["raises.done_base"]["base"] == claims["waits.done_base"]["base"]
    assert {c["total"] for c in linked.record["counters"]} == {2}


def test_the_address_of_counters_is_a_parameter(linked: Image) -> None:
    """After all regions, aligned."""
    parameters = linked.record["parameters"]
    end = max(r["offset"] + r["size"] for r in parameters["regions"])
    assert parameters["counters"] == -(-end // 8) * 8


def test_exclusive_phases_share_storage(linked: Image) -> None:
    claims = linked.by_name("claims")
    assert claims["waits.xs"]["base"] == claims["waits.ys"]["base"]
    assert linked.record["dynamic_shared"] == 4096


def test_the_launch_is_what_the_packages_ask_for(linked: Image) -> None:
    assert (linked.record["cluster"], linked.record["occupancy"]) == ([2, 1, 1], 1)


def test_the_generated_code_meets_before_blocks_leave(folder: Path) -> None:
    text = pl_link(folder / "counted.toml", "--emit-cuda").out
    kernel = text.partition("// The kernel.")[2]
    assert "__cluster_dims__(2, 1, 1) __launch_bounds__(64, 1)" in kernel
    assert kernel.index("__syncthreads();") < kernel.index("pl_sync_cluster();")
    assert kernel.count("pl_sync_cluster();") == 2
    assert kernel.rstrip().endswith("pl_sync_cluster();\n}")
    assert "unsigned *pl_counters(const pl_context *context)" in text
