"""A third-party package: what it adds is found, what it replaces is replaced, and what is wrong with it is said."""

import gzip
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from unittest.mock import patch

import pytest
from samples import Result, built, pl_opt, printed

from pipelink.ir.diagnostics import PipelinkError
from pipelink.passes import LINK
from pipelink.passes.pipeline import link_pipeline
from pipelink.plugins import GROUP, plugins

HERE = Path(__file__).parent
EXAMPLE = HERE / "example_plugin"
PAGE = HERE.parents[1] / "docs" / "plugins.md"
SAMPLE = printed(built())


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """Plug-ins are looked for once in a process: forget them before and after."""
    plugins.cache_clear()
    yield
    plugins.cache_clear()
    sys.modules.pop("example_plugin", None)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The example on the path, with the metadata that an installation writes."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    info = tmp_path / "example_plugin-1.0.dist-info"
    info.mkdir()
    metadata = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    (info / "METADATA").write_text(metadata)
    lines = [f"[{GROUP}]", *(f"{name} = {value}" for name, value in project["entry-points"][GROUP].items())]
    (info / "entry_points.txt").write_text("\n".join(lines))
    (tmp_path / "example_plugin.py").write_text((EXAMPLE / "example_plugin.py").read_text())
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.usefixtures("installed")
def test_a_pass_runs_with_its_options_and_its_errors() -> None:
    assert pl_opt("-", "-p", "example-limit-shared", stdin=SAMPLE).status == 0
    result = pl_opt("-", "-p", "example-limit-shared{most=8191}", stdin=SAMPLE)
    line = next(n for n, text in enumerate(SAMPLE.splitlines(), 1) if "pl.claim @out " in text)
    assert result.err == f"<stdin>:{line}:7: error[L-OVERLAP]: 'store.out' claims over 8191 bytes\n"


@pytest.mark.usefixtures("installed")
def test_a_frontend_reads_its_extension(tmp_path: Path) -> None:
    (tmp_path / "x.gz").write_bytes(gzip.compress(SAMPLE.encode()))
    assert pl_opt(tmp_path / "x.gz").out == pl_opt("-", stdin=SAMPLE).out


@pytest.mark.usefixtures("installed")
def test_a_target_prints() -> None:
    lines = pl_opt("-", "-p", ",".join([*LINK[:3], "pl-relocate{work-limit=1000}"]), "-t", "bases", stdin=SAMPLE).out
    assert {line.split()[2] for line in lines.splitlines()} >= {"load.a", "mma.a", "store.meet"}


@pytest.mark.usefixtures("installed")
def test_a_built_in_pass_is_replaced_by_name() -> None:
    listed = pl_opt("--list-passes").out
    entry = listed[listed.index("pl-relocate\n") :].split("\npl-")[0]
    assert "gives up early" in entry
    assert "work-limit: int = 20" in entry
    assert "from      example-plugin 1.0" in entry
    assert type(link_pipeline().passes[LINK.index("pl-relocate")]).__name__ == "QuickRelocate"
    assert "of 20 nodes" in pl_opt("-", "--link-passes", stdin=SAMPLE).out


def test_nothing_is_installed_by_default() -> None:
    assert "  from " not in pl_opt("--list-passes").out
    assert type(link_pipeline().passes[LINK.index("pl-relocate")]).__name__ == "Relocate"


def with_entries(*entries: tuple[str, str]) -> Result:
    """What pl-opt says where these entry points are installed."""
    found = [EntryPoint(name, value, GROUP) for name, value in entries]
    with patch("pipelink.plugins.entry_points", lambda group: found if group == GROUP else []):
        return pl_opt("-", stdin=SAMPLE)


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([("x", "no_such_module:X")], "'x' of no_such_module:X does not load: ModuleNotFoundError"),
        ([("x", "json:Nothing")], "'x' of json:Nothing does not load: AttributeError"),
        ([("x", "json:loads")], "'x' of json:loads is no pass, frontend or target"),
        ([("x", "json:JSONDecoder")], "'x' of json:JSONDecoder is no pass, frontend or target"),
        (
            [
                ("a", "xdsl.transforms.canonicalize:CanonicalizePass"),
                ("b", "xdsl.transforms.canonicalize:CanonicalizePass"),
            ],
            "is named 'canonicalize', as is one of",
        ),
        ([("x", "xdsl.targets.mlir:MLIRTarget")], "is named as the built-in 'mlir'"),
        ([("x", "pipelink.passes.relocate:Relocate")], "is named as the built-in 'pl-relocate'"),
    ],
)
def test_a_plug_in_that_is_wrong_is_named(entries: list[tuple[str, str]], message: str) -> None:
    result = with_entries(*entries)
    assert (result.status, result.out) == (1, "")
    assert result.err.startswith("pl-opt: error[L-PLUGIN]: ")
    assert message in result.err
    assert "pl-opt: help: " in result.err


def test_the_link_refuses_it_too() -> None:
    found = [EntryPoint("x", "pipelink.passes.relocate:Relocate", GROUP)]
    with patch("pipelink.plugins.entry_points", lambda group: found), pytest.raises(PipelinkError, match="L-PLUGIN"):
        link_pipeline()


def test_a_pass_of_xdsl_needs_no_more_than_a_name() -> None:
    result = with_entries(("x", "xdsl.transforms.canonicalize:CanonicalizePass"))
    assert (result.status, result.err) == (0, "")


def test_the_page_shows_this_package() -> None:
    page = PAGE.read_text()
    for file, language in (("pyproject.toml", "toml"), ("example_plugin.py", "python")):
        text = (EXAMPLE / file).read_text()
        assert text.count("\n") < 60
        assert f"```{language}\n# plugin/{file}\n{text}```\n" in page
