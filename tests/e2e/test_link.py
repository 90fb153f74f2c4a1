"""Linking for real: the case study, its control, and one package at several places without being touched."""

from collections.abc import Callable
from pathlib import Path

import pytest
from linking import TINY, Image, pl_link
from samples import pl_opt

from pipelink.frontends import package
from pipelink.passes import LINK

PIPELINES = ("h200", "h200_shifted", "h200_direct")
SHARED = ("load", "mainloop", "swiglu")
Link = Callable[[str], Image]


@pytest.mark.parametrize("name", PIPELINES)
def test_a_pipeline_links(name: str, image: Link, packages: Path) -> None:
    record = image(name).record
    assert record["kernel"] == f"pl_gemm_swiglu_{name}"
    for entry in record["packages"]:
        assert entry["digest"] == package.read(packages / f"{entry['name']}.plpkg").digest
    assert all(", proven: " in text for objective, text in record["proofs"].items() if objective not in ("work", "z3"))
    assert (record["code"]["stack"], record["code"]["spill_stores"]) == (0, 0)


@pytest.mark.parametrize("name", PIPELINES)
def test_claims_that_live_together_are_apart(name: str, image: Link) -> None:
    """By the record alone, without the linker's own checkers."""
    record = image(name).record
    order = {event: index for index, event in enumerate(record["events"])}
    twins = {tuple(sorted((c["provider"], c["user"]))) for c in record["connections"] if c["link"] == "ring"}
    paired = {frozenset(p.split(".")[0] for p in pair) for pair in twins}
    placed = [c for c in record["claims"] if c["base"] is not None and c["live"][0] != c["live"][1]]
    for i, one in enumerate(placed):
        for other in placed[:i]:
            spaces = [{"mbarrier": "smem"}.get(c["kind"], c["kind"]) for c in (one, other)]
            apart = one["base"] + one["size"] <= other["base"] or other["base"] + other["size"] <= one["base"]
            same = one["name"].split(".")[1] == other["name"].split(".")[1] and (
                frozenset((one["name"].split(".")[0], other["name"].split(".")[0])) in paired
            )
            (a, b), (x, y) = ([order[e] for e in c["live"]] for c in (one, other))
            assert spaces[0] != spaces[1] or apart or same or b <= x or y <= a, (one["name"], other["name"])


def decisions(image: Image, kinds: tuple[str, ...]) -> dict[str, int]:
    """Where the packages that the two pipelines share are: the bases of claims of these kinds, and first warps."""
    claims = {n: c["base"] for n, c in image.by_name("claims").items() if c["kind"] in kinds}
    roles = {n: r["first_warp"] for n, r in image.by_name("roles").items()}
    return {n: at for n, at in {**claims, **roles}.items() if n.split(".")[0] in SHARED}


@pytest.mark.parametrize("kinds", [("mbarrier", "barrier"), ("smem",)])
def test_the_same_packages_at_other_places(kinds: tuple[str, ...], image: Link) -> None:
    one, other = image("h200"), image("h200_shifted")
    digests = [{n: i.by_name("packages")[n]["digest"] for n in SHARED} for i in (one, other)]
    assert digests[0] == digests[1]
    before, after = decisions(one, kinds), decisions(other, kinds)
    assert before.keys() == after.keys()
    assert [n for n in before if before[n] == after[n]] == []
    assert one.record["cubin"] != other.record["cubin"]


def test_what_no_role_reaches_is_in_no_placement(image: Link) -> None:
    for name in PIPELINES:
        record = image(name).record
        assert "load.bias" not in {c["name"] for c in record["claims"]}
        assert {"pl.claim 'load.bias': no role reaches it", "pl.callable 'load.stage_bias': no role reaches it"} <= set(
            record["dropped"]
        )


def test_the_route_is_the_cheapest_that_serves(image: Link) -> None:
    routes = {n: [c for c in image(n).record["connections"] if c["link"] == "tensor"] for n in PIPELINES}
    assert [routes[n][0]["route"] for n in PIPELINES] == ["staged", "staged", "direct"]
    assert routes["h200"][0]["reasons"][0].startswith("direct: element ")
    claims = image("h200_direct").by_name("claims")
    assert all(claim["base"] is not None for claim in claims.values() if claim["live"][0] != claim["live"][1])


def test_the_control_is_the_same_machine_code(packages: Path, tmp_path: Path) -> None:
    result = pl_link(packages / "h200.toml", "--control", "-o", tmp_path / "h200.plimg", "--keep", tmp_path / "kept")
    assert (result.status, result.err) == (0, "")
    assert result.out.splitlines()[0] == "control: identical"
    assert Image.read(tmp_path / "h200.plimg").record["control"]["lto"] == "identical"
    assert (tmp_path / "kept" / "generated.cu").stat().st_size > 0


def test_the_tiny_pipeline_and_its_control(tiny: Path, tmp_path: Path) -> None:
    result = pl_link(tiny / "tiny.toml", "--control", "-o", tmp_path / "tiny.plimg")
    assert (result.status, result.out, result.err) == (0, "control: identical\nplain nvcc control: identical\n", "")


@pytest.mark.parametrize("passes", [(), LINK[:3], LINK])
def test_a_link_goes_on_from_a_dump(passes: tuple[str, ...], tiny: Path, tmp_path: Path) -> None:
    whole = pl_link(tiny / "tiny.toml", "-o", tmp_path / "whole.plimg")
    (tmp_path / "dump.mlir").write_text(pl_opt(tiny / "tiny.toml", "-p", ",".join(passes)).out)
    result = pl_link(tmp_path / "dump.mlir", "-L", tiny)
    assert (result.status, result.err) == (whole.status, whole.err) == (0, "")
    assert (tmp_path / "dump.plimg").read_bytes() == (tmp_path / "whole.plimg").read_bytes()


def test_the_ir_that_is_kept_reads_back_with_its_locations(tiny: Path, tmp_path: Path) -> None:
    assert pl_link(tiny / "tiny.toml", "-o", tmp_path / "x.plimg", "--keep", tmp_path).status == 0
    result = pl_opt(tmp_path / "final.mlir", "--print-debuginfo")
    assert (result.status, result.err) == (0, "")
    assert result.out == pl_opt(tiny / "tiny.toml", "--link-passes", "--print-debuginfo").out


def test_emit_cuda_prints_the_generated_code_and_writes_nothing(tiny: Path, tmp_path: Path) -> None:
    (tmp_path / "tiny.toml").write_text(TINY)
    result = pl_link(tmp_path / "tiny.toml", "-L", tiny, "--emit-cuda")
    assert (result.status, result.err) == (0, "")
    assert 'extern "C" __device__ unsigned plh_caller__slots() { return 0u; }' in result.out
    assert [p.name for p in tmp_path.iterdir()] == ["tiny.toml"]


def test_an_unchanged_link_comes_from_the_cache(tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIPELINK_CACHE", str(tmp_path / "cache"))
    first = pl_link(tiny / "tiny.toml", "-o", tmp_path / "first.plimg", "--control")
    monkeypatch.setattr("pipelink.tools.pl_link._make", None)  # what would make it again
    second = pl_link(tiny / "tiny.toml", "-o", tmp_path / "second.plimg", "--control")
    assert first == second
    assert first.out.splitlines() == ["control: identical", "plain nvcc control: identical"]
    assert (tmp_path / "first.plimg").read_bytes() == (tmp_path / "second.plimg").read_bytes()
