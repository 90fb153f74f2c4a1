"""The registry of passes and the universe that stock xDSL tools load: complete, documented, tested, reproducible."""

import subprocess
import sys
from dataclasses import fields
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from samples import built, passed, printed
from xdsl.utils.arg_spec import parse_pipeline

from pipelink.passes import LINK, get_all_passes
from pipelink.universe import UNIVERSE

FILECHECK = Path(__file__).parents[2] / "filecheck" / "passes"
PASSES = sorted(get_all_passes())


def test_the_passes_of_a_link_are_registered() -> None:
    assert set(LINK) <= set(PASSES)


@pytest.mark.parametrize("name", PASSES)
def test_a_pass_is_what_its_name_says(name: str) -> None:
    step = get_all_passes()[name]()
    assert step.name == name
    assert step.__module__ == "pipelink.passes." + name.removeprefix("pl-").replace("-", "_")
    assert (step.__doc__ or "").strip().endswith(".")
    assert (sys.modules[step.__module__].__doc__ or "").startswith(f"`{name}`:")
    assert (FILECHECK / f"{name}.mlir").is_file()


@pytest.mark.parametrize("name", PASSES)
def test_a_pass_is_reproduced_by_its_text(name: str) -> None:
    step = get_all_passes()[name]()
    other = {f.name: 7 for f in fields(step) if f.type is int}
    for made in (step(), step(**other)):
        (spec,) = parse_pipeline(str(made.spec()))
        assert step.from_spec(spec) == made


def test_requirements_are_produced_by_an_earlier_pass() -> None:
    produced: set[str] = set()
    for name in LINK:
        step = get_all_passes()[name]()
        assert set(step.requires) <= produced, name
        produced |= set(step.produces)


def test_the_universe_is_an_entry_point() -> None:
    (entry,) = [e for e in entry_points(group="xdsl.universe") if e.name == "pipelink"]
    universe = entry.load()
    assert universe is UNIVERSE
    assert [get().name for get in universe.all_dialects.values()] == ["pl"]
    for group in (universe.all_passes, universe.all_targets, universe.all_frontends):
        assert group
        assert {name: get().name for name, get in group.items()} == {name: name for name in group}


def test_stock_xdsl_opt_knows_all_of_it(tmp_path: Path) -> None:
    source = tmp_path / "sample.mlir"
    source.write_text(printed(built()))
    tool = Path(sys.executable).with_name("xdsl-opt")
    result = subprocess.run(
        [tool, source, "-p", "pl-verify-contracts,pl-eliminate-dead-exports"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.strip() == passed(printed(built()), *LINK[:2]).strip()
