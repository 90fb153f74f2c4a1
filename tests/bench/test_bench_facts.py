"""The pipeline of `components/facts`: it links as one source would, its operators share storage, an upgrade of one
owner reaches the others, and what cannot work together is refused by name. `bench/facts.py` runs it on a GPU."""

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from packing import pack_into
from samples import command

from bench import facts

REFUSED = {
    "L-FACT": ("interpreter", "-DWORK_WARPS=8", "'communication.threads' requires 128, 'interpreter.threads' is 256"),
    "L-BYTES": ("gemm", "-DPAGE_K=32", "the endpoints of 'pages' disagree on transaction bytes: 4096 against 8192"),
    "L-ARRIVALS": (
        "gemm",
        "-DRELEASE=pl::once()",
        "the endpoints of 'pages' disagree on arrivals on empty: 1 against 1 per warp",
    ),
    "L-PAIR": ("communication", "-DPEER", 'the endpoints of \'staged_rows\' disagree on scope: "gpu" against "system"'),
    "L-DEPTH": ("interpreter", "-DDEPTH=12", "no depth of ring 'pages' suits both endpoints: [2, 8] against [12, 12]"),
    "L-SIGNATURE": (
        "activation",
        "-DBY_TILE",
        "'interpreter.activate' calls void (int), 'activation.activate' is void (int, int)",
    ),
    "L-LIFETIME": (
        "activation",
        '-DPHASE="activation"',
        "the lifetime of 'activation.scratch' is the phase 'activation', which no stream runs",
    ),
}
"""By the clause that refuses it: the package that is repacked, with what, and the first error."""


@pytest.fixture(scope="module")
def folder(shared: Path) -> Path:
    """The four packages, and by clause one that does not fit the others."""
    made = shared / "facts"
    pack_into(made, [(facts.COMPONENTS / f"{name}.cu", f"{name}.plpkg", ()) for name in facts.PACKAGES])
    _, constant, _, value = facts.UPGRADES["depth"]
    variants = [("deeper", "interpreter", f"-D{constant}={value}")]
    variants += [(clause, owner, flag) for clause, (owner, flag, _) in REFUSED.items()]
    for name, owner, flag in variants:
        pack_into(made / name, [(facts.COMPONENTS / f"{owner}.cu", f"{owner}.plpkg", (flag,))])
        text = (facts.COMPONENTS / "facts.toml").read_text().replace('"../../build/facts"', '".."')
        (made / name / "facts.toml").write_text(text)
    (made / "facts.toml").write_text((facts.COMPONENTS / "facts.toml").read_text())
    return made


def link(*arguments: object) -> tuple[int, str, str]:
    from pipelink.tools.pl_link import main

    result = command(main, *arguments)
    return result.status, result.out, result.err


def record(path: Path) -> dict[str, Any]:
    with zipfile.ZipFile(path) as archive:
        return json.loads(archive.read("record.json"))


@pytest.fixture(scope="module")
def base(folder: Path) -> dict[str, Any]:
    status, out, err = link(folder / "facts.toml", "-o", folder / "facts.plimg", "--control")
    assert (status, err) == (0, "")
    assert out.splitlines()[0] == "control: identical"
    return record(folder / "facts.plimg")


def test_operators_that_exclude_each_other_share_storage(base: dict[str, Any]) -> None:
    scratch = {c["name"]: c for c in base["claims"] if c["name"].endswith(".scratch")}
    assert len(scratch) == 3
    assert len({c["base"] for c in scratch.values()}) == 1
    barriers = {c["base"] for c in base["claims"] if c["kind"] == "barrier" and not c["name"].startswith("interpreter")}
    assert len(barriers) == 1


def test_facts_reach_the_packages_that_use_them(base: dict[str, Any]) -> None:
    written = {(r["package"], f["fact"]): f["value"] for r in base["parameters"]["regions"] for f in r["facts"]}
    assert written["interpreter", "tile_m"] == written["activation", "tile_m"] == "64"
    assert written["gemm", "chunk_rows"] == written["interpreter", "chunk_rows"] == "32"
    assert written["interpreter", "band_rows"] == "64"
    totals = {c["name"]: c["total"] for c in base["counters"]}
    assert totals["gemm.staged_rows"] == totals["communication.staged_rows"] == 4


def test_an_upgrade_of_one_owner_reaches_the_others(base: dict[str, Any], folder: Path) -> None:
    upgraded = folder / "deeper" / "facts.toml"
    assert link(upgraded, "-o", folder / "deeper.plimg")[0] == 0
    made = record(folder / "deeper.plimg")
    assert {r["depth"] for r in base["rings"]} == {4}
    assert {r["depth"] for r in made["rings"]} == {8}
    same = [p["name"] for p in made["packages"] if p in base["packages"]]
    assert same == ["communication", "gemm", "activation"]


def test_symbols_alone_leave_the_others_as_they_were(folder: Path) -> None:
    path = folder / "stale.plimg"
    status, _, err = link(folder / "deeper" / "facts.toml", "--no-contracts", folder / "facts.toml", "-o", path)
    assert status == 0
    assert "pl-link: warning: gemm.pages_depth stays 4, the contracts say 8" in err.splitlines()
    assert record(path)["contracts"] is False


@pytest.mark.parametrize("clause", REFUSED)
def test_what_cannot_work_together_is_refused_by_its_clause(clause: str, folder: Path) -> None:
    path = folder / clause / "x.plimg"
    status, out, err = link(folder / clause / "facts.toml", "-o", path)
    assert (status, out) == (1, "")
    first = err.splitlines()[0]
    assert first.partition(": ")[2] == f"error[{clause}]: {REFUSED[clause][2]}"
    assert not path.exists()


def test_the_judge_tells_what_is_right_unwritten_and_wrong() -> None:
    ref = np.linspace(-1, 1, 64, dtype=np.float32).reshape(8, 8)
    assert facts.judge(ref.copy(), ref)["verdict"] == "right"
    assert facts.judge(ref + 0.01, ref)["verdict"] == "wrong"
    holes = ref.copy()
    holes[3] = np.nan
    assert facts.judge(holes, ref) == {"verdict": "unwritten", "unwritten": 0.125, "error": 0.0}


def test_failures_are_what_contracts_break_and_symbols_get_right() -> None:
    right = {"verdict": "right", "same_bits": True, "size": "1x1x1"}
    made = [
        {"name": "a", "link": facts.CONTRACTS, "runs": [right, {**right, "same_bits": False}]},
        {"name": "b", "link": facts.SYMBOLS, "runs": [right, {"verdict": "hangs", "size": "1x1x1"}]},
        {"name": "c", "link": facts.SYMBOLS, "runs": [{"verdict": "fails", "size": "1x1x1"}]},
    ]
    assert [f.split(":")[0] for f in facts.failures(made)] == [
        "a by contracts at 1x1x1",
        "b by symbols at 1x1x1",
        "c by symbols at 1x1x1",
    ]
