"""pl-inspect: a package as text or as JSON; and what all commands have in common."""

import importlib
import json
import tomllib
from pathlib import Path

import pytest
import samples
from samples import command, write_packages

from pipelink.tools.pl_inspect import main

ROOT = Path(__file__).parents[3]
COMMANDS: dict[str, str] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    write_packages(tmp_path, samples.contracts())
    return tmp_path / "mma.plpkg"


def test_format_json_is_json(file: Path) -> None:
    result = command(main, file, "--format", "json")
    assert result == command(main, file, "--json")
    assert (result.status, result.err) == (0, "")
    assert [ring["name"] for ring in json.loads(result.out)["rings"]] == ["ring"]


def test_text_is_the_default(file: Path) -> None:
    result = command(main, file)
    assert result.out.startswith("package mma 1.0.0 for sm_90a")


def test_errors_are_json_too(file: Path) -> None:
    file.write_bytes(b"no package")
    result = command(main, file, "--format", "json")
    assert (result.status, result.out) == (1, "")
    assert json.loads(result.err)["clause"] == "L-PACKAGE"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_says_its_version(name: str) -> None:
    result = command(importlib.import_module(COMMANDS[name].partition(":")[0]).main, "--version")
    assert (result.status, result.err) == (0, "")
    assert result.out.startswith(f"{name} 0.1.0")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_clauses(name: str) -> None:
    result = command(importlib.import_module(COMMANDS[name].partition(":")[0]).main, "--explain", "l-pair")
    assert (result.status, result.err) == (0, "")
    assert result.out.startswith("L-PAIR: ")
