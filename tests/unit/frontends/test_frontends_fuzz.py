"""Whatever is changed in a manifest or a contract, it is taken or refused with a place: no fault of ours."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mutate import assert_clean, mutated
from samples import MANIFEST, contracts, pl_opt, write_packages

from pipelink.frontends import package
from pipelink.frontends.contract import Contract
from pipelink.ir.diagnostics import PipelinkError, Place
from pipelink.passes import LINK

FULL = (
    MANIFEST
    + """
[connect]
"store.coord" = "load.coord"
"store.acc" = "mma.acc"

[facts]
depth = 4

[placement]
roles = ["store.epilogue", "load.tma"]
"""
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("manifests")
    write_packages(path, contracts())
    return path


@settings(max_examples=120, deadline=None, derandomize=True)
@given(st.data(), st.sampled_from([MANIFEST, FULL]))
def test_manifests(folder: Path, data: st.DataObject, text: str) -> None:
    manifest = folder / "m.toml"
    manifest.write_text(data.draw(mutated(text)))
    here = re.escape(str(folder))
    assert_clean(pl_opt(manifest, "-p", LINK[0]), rf"({here}/m.toml:\d+:\d+|{here}/[\w.]+|[\w.]+:\d+:\d+)")


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.data())
def test_contracts(folder: Path, data: st.DataObject) -> None:
    """The contract alone, whose digest nothing else states: what decodes is of its grammars, and composes or not."""
    text = package.encode(contracts()[2]).decode()
    decoded = _decoded(data.draw(mutated(text)))
    if isinstance(decoded, list):
        assert decoded == ["L-PACKAGE"]
        return
    contract = decoded
    package.write(folder / "changed.plpkg", contract, {"object.fatbin": b"no object"})
    manifest = folder / "changed.toml"
    manifest.write_text(MANIFEST.replace('store = "store', f'{contract.name} = "changed'))
    here = re.escape(str(folder))
    result = pl_opt(manifest, "--link-passes")
    assert_clean(result, rf"({here}/changed.toml:\d+:\d+|{here}/[\w.]+|.*:\d+:\d+|[^:]*|[^:]*:\d+)")


def _decoded(text: str) -> Contract | list[str]:
    """The contract, or the clauses by which it is refused."""
    try:
        return package.decode(text.encode(), Place("contract.json"))
    except PipelinkError as error:
        return [d.clause for d in error.diagnostics]
