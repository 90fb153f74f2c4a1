"""The pipeline manifest: what it means, and that each mistake gives one error with its place."""

import re
from pathlib import Path

import pytest
from msgspec.structs import replace
from samples import MANIFEST, contracts, load, mma, pl_opt, printed, store, write_packages

from pipelink.frontends.contract import Contract, FactUse, Field, Location, Parameters
from pipelink.frontends.manifest import to_module
from pipelink.ir.diagnostics import PipelinkError
from pipelink.ir.pl import ConnectOp, FactOp, UseFactOp
from pipelink.ir.symbols import Symbols, pipeline_of, qualified
from pipelink.passes import LINK


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_packages(tmp_path, contracts())
    return tmp_path


def connections(text: str, folder: Path) -> list[str]:
    symbols = Symbols(pipeline_of(to_module(text, "m.toml", folder)))
    return [f"{c.link.data} {c.provider} {c.user}" for c in symbols.ops(ConnectOp)]


def errors(text: str, folder: Path) -> list[str]:
    """`line:column clause message` of each error."""
    with pytest.raises(PipelinkError) as raised:
        to_module(text, "m.toml", folder)
    return [f"{str(d.place).removeprefix('m.toml:')} {d.clause} {d.message}" for d in raised.value.diagnostics]


# ---- what it means --------------------------------------------------------------------------------------------------


def test_names_are_paired(folder: Path) -> None:
    assert connections(MANIFEST, folder) == [
        "fact @mma::@tile @load::@tile",
        "ring @load::@ring @mma::@ring",
        "call @load::@coord @store::@coord",
        "tensor @mma::@acc @store::@acc",
    ]


def test_connect_chooses_among_several_and_among_other_names(tmp_path: Path) -> None:
    other = replace(
        load(), name="other", defined=("other_at",), parameters=None, roles=(), claims=(), rings=(), fact_uses=(),
        callables=(replace(load().callables[0], name="at", symbol="other_at"),),
    )  # fmt: skip
    write_packages(tmp_path, [*contracts(), other])
    text = MANIFEST + 'other = "other.plpkg"\n\n[connect]\n"store.coord" = "other.at"\n'
    assert "call @other::@at @store::@coord" in connections(text, tmp_path)


def test_facts_are_set_with_the_type_of_their_user(tmp_path: Path) -> None:
    at = Location("load.cu", 20, 1)
    parameters = Parameters("load_args", 16, 8, (Field("wide", 0, 8), Field("scale", 8, 4)), at)
    uses = (FactUse("wide", "i64", "wide", at), FactUse("scale", "f32", "scale", at, 0.10000000149011612))
    write_packages(tmp_path, [replace(load(), parameters=parameters, fact_uses=uses), mma(), store()])
    text = MANIFEST + "\n[facts]\nwide = 1_000_000_000_000\nscale = 0.1\n"
    module = to_module(text, "m.toml", tmp_path)
    facts = [op for op in Symbols(pipeline_of(module)).ops(FactOp) if op.parent_op() is pipeline_of(module)]
    assert [(f.sym_name.data, f.type_name.data, f.value.data) for f in facts] == [
        ("wide", "i64", "1000000000000"),
        ("scale", "f32", "0.1"),
    ]
    result = pl_opt("-", "-p", ",".join(LINK[:4]), stdin=printed(module))
    assert result.err == ""
    assert re.findall(r"pl.use_fact @(\w+) .* => value (.*)", result.out) == [
        ("wide", '"1000000000000"'),
        ("scale", '"0.1"'),
    ]


def test_a_fact_of_the_manifest_beside_that_of_a_package_is_ambiguous(folder: Path) -> None:
    assert "6:1 L-DUPLICATE fact 'tile' is provided by tile, mma.tile" in errors(
        MANIFEST + "\n[facts]\ntile = 8\n", folder
    )


def test_the_order_of_roles(folder: Path) -> None:
    text = MANIFEST + '\n[placement]\nroles = ["store.epilogue", "load.tma"]\n'
    assert "role_order [@store::@epilogue, @load::@tma]" in printed(to_module(text, "m.toml", folder))


def test_packages_are_looked_for_beside_the_manifest_then_where_it_says(tmp_path: Path) -> None:
    for name in ("a", "b", "m"):
        (tmp_path / name).mkdir()
    write_packages(tmp_path / "a", [load(), mma()])
    write_packages(tmp_path / "b", [store(), replace(mma(), version="9")])
    text = MANIFEST.replace("\n\n[packages]", '\nsearch = ["../a", "../b"]\n\n[packages]')
    assert 'version "9"' not in printed(to_module(text, "m.toml", tmp_path / "m"))
    write_packages(tmp_path / "m", [replace(mma(), version="7")])
    assert 'version "7"' in printed(to_module(text, "m.toml", tmp_path / "m"))


def test_the_toolkit_is_the_linkers_or_the_newest_of_the_packages(tmp_path: Path) -> None:
    write_packages(tmp_path, [replace(load(), toolkit="13.9.2"), replace(mma(), toolkit="13.10.0"), store()])
    assert 'toolkit "13.10.0" capacities' in printed(to_module(MANIFEST, "m.toml", tmp_path))
    assert 'toolkit "13.5.1" capacities' in printed(to_module(MANIFEST, "m.toml", tmp_path, toolkit="13.5.1"))


def test_a_package_of_a_newer_toolkit_is_refused(tmp_path: Path) -> None:
    write_packages(tmp_path, [replace(load(), toolkit="13.999.0"), mma(), store()])
    (tmp_path / "m.toml").write_text(MANIFEST)
    result = pl_opt(tmp_path / "m.toml", "-p", LINK[0])
    assert result.status == 1
    assert result.err.startswith(
        "load.cu:1:1: error[L-TOOLKIT]: package 'load' is built by toolkit 13.999.0, this linker has "
    )


def test_places_are_those_of_the_manifest_and_the_annotations(folder: Path) -> None:
    text = printed(to_module(MANIFEST, "m.toml", folder), locations=True)
    assert re.search(r'pl.connect ring .* loc\("m.toml":7:1\)', text)
    assert re.search(r'pl.claim @bias .* loc\("load.cu":5:1\)', text)
    assert text.rstrip().splitlines()[-2].endswith('loc("m.toml":1:1)')


# ---- mistakes -------------------------------------------------------------------------------------------------------


def lines(*changes: tuple[str, str]) -> str:
    text = MANIFEST
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


MISTAKES = {
    "bad toml": (lines(('name = "sample"', "name = sample")), "2:8 L-SYNTAX invalid value"),
    "unfinished": (MANIFEST + "[connect", "9:9 L-SYNTAX expected ']' at the end of a table declaration"),
    "same key twice": (lines(('name = "sample"', 'name = "a"\nname = "b"')), "3:11 L-SYNTAX cannot overwrite a value"),
    "unknown table": (MANIFEST + "\n[conect]\n", "10:1 L-MANIFEST unknown key 'conect'"),
    "unknown key": (lines(("target =", 'taget = "x"\ntarget =')), "3:1 L-MANIFEST unknown key 'taget'"),
    "missing key": (lines(('target = "sm_90a"\n', "")), "1:1 L-MANIFEST missing key 'target' in [pipeline]"),
    "missing table": ("", "1:1 L-MANIFEST missing key 'pipeline' in [the manifest]"),
    "wrong type": (lines(('"sample"', "3")), "2:1 L-MANIFEST pipeline.name: Expected 'str', got 'int'"),
    "wrong item": (
        MANIFEST + "[placement]\nroles = [1]\n",
        "10:1 L-MANIFEST placement.roles.0: Expected 'str', got 'int'",
    ),
    "wrong fact": (MANIFEST + '[facts]\nx = "8"\n', "9:1 L-MANIFEST facts: Expected 'int | float', got 'str'"),
    "no packages": (MANIFEST[: MANIFEST.index("load")], "5:1 L-MANIFEST no packages"),
    "bad name": (lines(('"sample"', '"a b"')), "2:1 L-NAME 'a b' is no identifier"),
    "unknown target": (lines(('"sm_90a"', '"sm_91"')), "3:1 L-TARGET unknown target 'sm_91'"),
    "missing file": (lines(('"mma.plpkg"', '"mna.plpkg"')), "7:1 L-FILE package 'mna.plpkg' not found"),
    "not a file": (lines(('"mma.plpkg"', '"."')), "7:1 L-FILE package '.' not found"),
    "another package": (lines(("mma =", "mna =")), "7:1 L-NAME package 'mma.plpkg' is named 'mma', not 'mna'"),
    "unknown role": (MANIFEST + '[placement]\nroles = ["load.tna"]\n', "10:1 L-MANIFEST no role 'load.tna'"),
    "unknown user": (MANIFEST + '[connect]\n"x.y" = "load.coord"\n', "10:1 L-MANIFEST nothing named 'x.y' to connect"),
    "unknown provider": (
        MANIFEST + '[connect]\n"store.coord" = "load.cord"\n',
        "10:1 L-UNRESOLVED 'load.cord' provides no call for 'store.coord'",
    ),
    "provider of another kind": (
        MANIFEST + '[connect]\n"store.acc" = "load.coord"\n',
        "10:1 L-UNRESOLVED 'load.coord' provides no tensor for 'store.acc'",
    ),
    "unused fact": (MANIFEST + "[facts]\ngroup = 16\n", "10:1 L-MANIFEST no package uses the fact 'group'"),
    "fact with a bad name": (MANIFEST + '[facts]\n"a b" = 16\n', "10:1 L-NAME 'a b' is no identifier"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_gives_one_error_with_its_place(name: str, folder: Path) -> None:
    text, expected = MISTAKES[name]
    assert errors(text, folder) == [expected]


@pytest.mark.parametrize("name", MISTAKES)
def test_the_command_says_it_in_one_line(name: str, folder: Path) -> None:
    (folder / "m.toml").write_text(MISTAKES[name][0])
    result = pl_opt(folder / "m.toml")
    assert (result.status, result.out) == (1, "")
    first, *others = result.err.splitlines()
    assert re.fullmatch(rf"{re.escape(str(folder))}/m.toml:\d+:\d+: error\[L-[A-Z]+\]: .*", first)
    assert all(re.fullmatch(rf"{re.escape(str(folder))}/m.toml:\d+:\d+: help: .*", line) for line in others)
    assert len(others) <= 1


def test_all_mistakes_of_a_kind_are_reported(folder: Path) -> None:
    text = lines(('"sample"', '"1st"'), ('"sm_90a"', '"sm_9"'), ('"mma.plpkg"', '"a"'), ('"load.plpkg"', '"b"'))
    assert sorted(e.split()[1] for e in errors(text, folder)) == ["L-FILE", "L-FILE", "L-NAME", "L-TARGET"]


def test_a_role_named_twice(folder: Path) -> None:
    (folder / "m.toml").write_text(MANIFEST + '[placement]\nroles = ["load.tma", "load.tma"]\n')
    result = pl_opt(folder / "m.toml", "-p", LINK[0])
    assert (result.status, result.out) == (1, "")
    assert result.err == f"{folder}/m.toml:1:1: error[L-DUPLICATE]: 'role_order' names @load::@tma twice\n"


@pytest.mark.parametrize(("value", "what"), [("99999999999", "i32"), ("0.5", "i32")])
def test_a_fact_that_its_type_cannot_hold(value: str, what: str, tmp_path: Path) -> None:
    write_packages(tmp_path, [load(), replace(mma(), facts=()), store()])
    (tmp_path / "m.toml").write_text(MANIFEST + f"\n[facts]\ntile = {value}\n")
    result = pl_opt(tmp_path / "m.toml")
    assert (result.status, result.out) == (1, "")
    assert result.err == f"{tmp_path}/m.toml:11:1: error[L-IR]: 'pl.fact': \"{value}\" is no {what}\n"


def _damaged(contract: Contract, folder: Path, change: bytes) -> Path:
    write_packages(folder, [contract])
    path = folder / f"{contract.name}.plpkg"
    data = path.read_bytes()
    path.write_bytes({b"truncated": data[: len(data) // 2], b"flipped": data[:-200] + b"?" + data[-199:]}[change])
    return path


@pytest.mark.parametrize("change", [b"truncated", b"flipped"])
def test_a_damaged_package_is_named(change: bytes, folder: Path) -> None:
    path = _damaged(mma(), folder, change)
    with pytest.raises(PipelinkError) as raised:
        to_module(MANIFEST, "m.toml", folder)
    (error,) = raised.value.diagnostics
    assert (error.clause, str(error.place)) == ("L-PACKAGE", str(path))


def test_every_use_is_connected_once(folder: Path) -> None:
    symbols = Symbols(pipeline_of(to_module(MANIFEST, "m.toml", folder)))
    users = [str(c.user) for c in symbols.ops(ConnectOp)]
    assert len(users) == len(set(users))
    assert [qualified(u) for u in symbols.ops(UseFactOp)] == ["load.tile"]
