"""The package file: complete, unchanged, of one encoding, or refused with L-PACKAGE."""

import zipfile
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelink.frontends import package
from pipelink.frontends.contract import Callable, Claim, Contract, FpMode, Location, Role, Signature
from pipelink.ir.diagnostics import PipelinkError

AT = Location("x.cu", 1, 1)
VOID = Signature("void", ())


def contract(**fields: Any) -> Contract:
    base: dict[str, Any] = {
        "name": "small",
        "version": "1.0.0",
        "target": "sm_90a",
        "toolkit": "13.5.37",
        "ir_version": (1, 67),
        "fp": FpMode(),
        "flags": ("-DX=1",),
        "members": (),
        "at": AT,
        "roles": (Role("work", "small_role", VOID, 1, AT),),
    }
    return Contract(**(base | fields))


MEMBERS = {"source/sub/a.cuh": b"b", "object.fatbin": b"\0object", "source/a.cu": b"a"}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("small") / "small.plpkg"
    package.write(path, contract(main="a.cu"), MEMBERS)
    return path


def refused(path: Path, data: bytes) -> str:
    path.write_bytes(data)
    with pytest.raises(PipelinkError) as raised:
        package.read(path)
    (error,) = raised.value.diagnostics
    assert error.clause == "L-PACKAGE"
    assert "\n" not in error.message
    return error.message


def test_round_trip(small: Path) -> None:
    read = package.read(small)
    with zipfile.ZipFile(small) as archive:
        assert archive.namelist() == ["contract.json", "object.fatbin", "source/a.cu", "source/sub/a.cuh"]
        assert read.digest == sha256(archive.read("contract.json")).hexdigest()
        assert msgspec.json.decode(archive.read("contract.json"))["schema"] == 1
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    assert read.members == MEMBERS
    assert [member.name for member in read.contract.members] == list(read.members)
    assert msgspec.structs.replace(read.contract, members=()) == contract(main="a.cu")


def test_writing_is_deterministic_and_leaves_nothing_else(small: Path, tmp_path: Path) -> None:
    path = tmp_path / "again.plpkg"
    path.write_bytes(b"older")
    package.write(path, contract(main="a.cu"), dict(reversed(MEMBERS.items())))
    assert path.read_bytes() == small.read_bytes()
    assert [file.name for file in tmp_path.iterdir()] == ["again.plpkg"]


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "x.plpkg"
    path.write_bytes(b"older")
    with pytest.raises(PipelinkError, match="L-PACKAGE"):
        package.write(path, contract(), {"object.fatbin": b"", "notes.txt": b""})
    with pytest.raises(PipelinkError, match="L-FILE"):
        package.write(tmp_path / "none" / "x.plpkg", contract(), {"object.fatbin": b""})
    assert path.read_bytes() == b"older"
    assert [file.name for file in tmp_path.iterdir()] == ["x.plpkg"]


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.data())
def test_bit_flips(small: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    content = bytearray(small.read_bytes())
    bit = data.draw(st.integers(0, 8 * len(content) - 1))
    content[bit // 8] ^= 1 << bit % 8
    refused(tmp_path_factory.getbasetemp() / "flipped.plpkg", bytes(content))


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.data())
def test_truncation(small: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    content = small.read_bytes()
    cut = data.draw(st.integers(0, len(content) - 1))
    refused(tmp_path_factory.getbasetemp() / "cut.plpkg", content[:cut])


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.binary(max_size=200))
def test_junk(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    refused(tmp_path_factory.getbasetemp() / "junk.plpkg", b"PK\3\4" + data)


def test_trailing_bytes(small: Path, tmp_path: Path) -> None:
    refused(tmp_path / "x.plpkg", small.read_bytes() + b"\0")


def rebuilt(small: Path, change: dict[str, bytes | None]) -> bytes:
    """The package with some members replaced, added or (None) left out, in a zip of the right encoding."""
    with zipfile.ZipFile(small) as archive:
        members: dict[str, bytes | None] = {name: archive.read(name) for name in archive.namelist()}
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, data in (members | change).items():
            if data is not None:
                entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
                entry.create_system, entry.external_attr = 3, 0o100644 << 16
                archive.writestr(entry, data)
    return buffer.getvalue()


def fields(small: Path, **change: Any) -> bytes:
    with zipfile.ZipFile(small) as archive:
        contract = msgspec.json.decode(archive.read("contract.json"))
    return rebuilt(small, {"contract.json": msgspec.json.encode(contract | change)})


def test_rebuilding_changes_nothing(small: Path, tmp_path: Path) -> None:
    assert rebuilt(small, {}) == small.read_bytes()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"object.fatbin": b"\0other!"}, "object.fatbin is not what the contract lists"),
        ({"object.fatbin": b"\0object!"}, "object.fatbin is not what the contract lists"),
        ({"source/a.cu": None}, "members differ"),
        ({"source/z.cu": b""}, "members differ"),
        ({"source/zz/../../x": b""}, "unknown member"),
        ({"source//etc/x": b""}, "unknown member|damaged"),
        ({"zzz": b""}, "unknown member"),
        ({"contract.json": None}, "damaged"),
        ({"contract.json": b"{}"}, "unreadable contract: Object missing required field `schema`"),
        ({"contract.json": b'{"schema": 1}'}, "unreadable contract: Object missing required field"),
        ({"contract.json": b"[" * 100000}, "unreadable contract"),
        ({"contract.json": b"\xff\xfe"}, "unreadable contract"),
    ],
)
def test_members(small: Path, tmp_path: Path, change: dict[str, bytes | None], reason: str) -> None:
    import re

    assert re.search(reason, refused(tmp_path / "x.plpkg", rebuilt(small, change)))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"schema": 2}, "contract of schema 2, this pipelink reads 1"),
        ({"extra": 1}, "unknown field `extra`"),
        ({"name": 3}, "Expected `str`"),
        ({"name": "a__b"}, "name: "),
        ({"name": 'x"; system("rm'}, "name: "),
        ({"version": "1 0"}, "version: "),
        ({"target": "lto_90a"}, "target: "),
        ({"main": "../a.cu"}, "main: "),
        ({"main": "b.cu"}, "source/b.cu is missing"),
        ({"flags": ["-D\n"]}, "flags"),
        ({"static_shared": -1}, "static_shared: -1 is out of range"),
        ({"undefined": ["a b"]}, "undefined"),
        ({"provider": {"symbol": "f", "abi": 1, "at": {"file": "x", "line": 1, "column": 1}}}, "provider is missing"),
    ],
)
def test_fields(small: Path, tmp_path: Path, change: dict[str, Any], reason: str) -> None:
    assert reason in refused(tmp_path / "x.plpkg", fields(small, **change))


@pytest.mark.parametrize(
    ("entries", "reason"),
    [
        ({"roles": (Role("work", "a b", VOID, 1, AT),)}, "roles[0].entry"),
        ({"roles": (Role("work", "f", Signature("void", ("x; y",)), 1, AT),)}, "roles[0].signature.parameters[0]"),
        ({"claims": (Claim("a", "smem", 1, AT, ring="none"),)}, "no ring `none` is declared here"),
        ({"callables": (Callable("work", "f", VOID, AT),)}, "`work` is declared already"),
    ],
)
def test_contracts_that_contradict_themselves(tmp_path: Path, entries: dict[str, Any], reason: str) -> None:
    with pytest.raises(PipelinkError) as raised:
        package.write(tmp_path / "x.plpkg", contract(**entries), {"object.fatbin": b""})
    assert reason in str(raised.value)
    assert not list(tmp_path.iterdir())


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(PipelinkError, match="L-FILE"):
        package.read(tmp_path / "none.plpkg")
    with pytest.raises(PipelinkError, match="L-FILE"):
        package.read(tmp_path)


def test_size_cap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small: Path) -> None:
    monkeypatch.setattr(package, "MAX_BYTES", small.stat().st_size - 1)
    assert "larger than" in refused(tmp_path / "x.plpkg", small.read_bytes())
