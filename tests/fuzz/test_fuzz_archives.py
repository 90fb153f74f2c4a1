"""Whatever is changed in a package or an image, commands take it as it is or refuse it in one clear error: never a
traceback, never another pipeline than the one that was packed.

The contract of a package is changed behind its digests too, as a packer with a fault would write it.
"""

import io
import json
import struct
import tracemalloc
import warnings
import zipfile
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mutate import assert_clean, mutated
from samples import MANIFEST, Result, command, contracts, pl_opt, write_packages

from pipelink.backend import archive, image
from pipelink.frontends import package
from pipelink.frontends.cuda.pack import Request, pack
from pipelink.tools import pl_check_frontend, pl_diff, pl_inspect, pl_link

PLACE = r"[^ :]+(:\d+){0,2}"


NAMES = ["contract.json", "object.fatbin", "provider.so", "source/a.cu", "source/../x", "../x", "a b"]


@dataclass(frozen=True)
class Packed:
    """The package `mma` of the sample pipeline: its file, its contract as text, its other members."""

    data: bytes
    contract: str
    members: dict[str, bytes]


@cache
def sample() -> Packed:
    with TemporaryDirectory() as name:
        write_packages(Path(name), contracts())
        path = Path(name) / "mma.plpkg"
        found = package.read(path)
        return Packed(path.read_bytes(), package.encode(found.contract).decode(), dict(found.members))


def linked(data: bytes) -> None:
    """The sample pipeline with `data` for one of its packages, through the passes of a link, and inspected alone."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_packages(folder, contracts())
        (folder / "mma.plpkg").write_bytes(data)
        (folder / "sample.toml").write_text(MANIFEST)
        assert_clean(pl_opt(folder / "sample.toml", "--link-passes"), PLACE)
        shown = command(pl_inspect.main, folder / "mma.plpkg", "--json")
        assert_clean(shown, PLACE)
        if shown.status == 0:
            assert package.read(folder / "mma.plpkg").digest == sha256(shown.out.encode()).hexdigest()
        (folder / "old.plpkg").write_bytes(sample().data)
        compared = command(pl_diff.main, folder / "old.plpkg", folder / "mma.plpkg")
        if compared.err:
            assert_clean(Result(compared.status - 1, compared.out, compared.err), PLACE)
        else:
            assert compared.status in (0, 1)
        checked = command(pl_check_frontend.main, folder / "mma.plpkg")
        assert checked.status == 1  # its object is none
        assert_clean(checked, PLACE)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(0, 1 << 20), st.integers(0, 7))
def test_a_flipped_bit(at: int, bit: int) -> None:
    data = bytearray(sample().data)
    data[at % len(data)] ^= 1 << bit
    linked(bytes(data))


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(0, 1 << 20), st.binary(max_size=64))
def test_a_file_that_is_cut_off(keep: int, tail: bytes) -> None:
    linked(sample().data[: keep % len(sample().data)] + tail)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from(NAMES), unique=True))
def test_members_that_are_others(names: list[str]) -> None:
    """Any members in any order, each of them a good one by its bytes."""
    whole = {"contract.json": sample().contract.encode(), **sample().members}
    linked(archive.pack({name: whole.get(name, b"x") for name in names}))


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.data())
def test_a_contract_that_says_something_else(data: st.DataObject) -> None:
    text = data.draw(mutated(sample().contract)).encode(errors="replace")
    linked(archive.pack({"contract.json": text, **sample().members}))


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(-(1 << 70), 1 << 70), st.sampled_from(["size", "align", "registers", "threads", "times", "line"]))
def test_numbers_of_any_size(number: int, field: str) -> None:
    text = sample().contract
    before, found, after = text.partition(f'"{field}": ')
    assert found
    rest = after.lstrip("-0123456789")
    linked(archive.pack({"contract.json": f"{before}{found}{number}{rest}".encode(), **sample().members}))


def zipped(members: list[tuple[str, bytes]], method: int = zipfile.ZIP_STORED, comment: bytes = b"") -> bytes:
    """As another tool writes it."""
    out = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(out, "w", method) as made:
        warnings.simplefilter("ignore")  # of a name twice
        made.comment = comment
        for name, data in members:
            made.writestr(name, data)
    return out.getvalue()


METHODS = [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from(NAMES[:3]), min_size=1, max_size=4), st.sampled_from(METHODS), st.binary(max_size=4))
def test_archives_of_other_tools_are_no_packages(names: list[str], method: int, comment: bytes) -> None:
    """Names twice, members compressed, times and comments of their own: a package has one encoding."""
    whole = {"contract.json": sample().contract.encode(), **sample().members}
    with TemporaryDirectory() as name:
        path = Path(name) / "x.plpkg"
        path.write_bytes(zipped([(n, whole.get(n, b"x")) for n in names], method, comment))
        result = command(pl_inspect.main, path)
        assert (result.status, result.out) == (1, "")
        assert result.err == f"{path}: error[L-PACKAGE]: damaged, or no package\n"


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(0, 1), st.sampled_from([(14, "I"), (18, "I"), (22, "I"), (26, "H"), (28, "H")]), st.data())
def test_sizes_that_headers_lie_about(member: int, where: tuple[int, str], data: st.DataObject) -> None:
    offset, form = where
    value = data.draw(st.integers(0, (1 << 8 * struct.calcsize(form)) - 1))
    changed = bytearray(sample().data)
    start = [i for i in range(len(changed)) if changed[i : i + 4] == b"PK\3\4"][member]
    struct.pack_into(f"<{form}", changed, start + offset, value)
    linked(bytes(changed))


@pytest.mark.parametrize("ending", [".plpkg", ".plimg"])
def test_a_bomb_is_not_unpacked(tmp_path: Path, ending: str) -> None:
    """64 MiB of zeros are 64 KiB of archive."""
    path = tmp_path / f"x{ending}"
    path.write_bytes(zipped([(n, bytes(32 << 20)) for n in (image.RECORD, "contract.json")], zipfile.ZIP_DEFLATED))
    assert path.stat().st_size < 1 << 20
    tracemalloc.start()
    result = command(pl_inspect.main, path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert result.status == 1
    assert_clean(result, PLACE)
    assert peak < 8 << 20


# ---- images ---------------------------------------------------------------------------------------------------------

SOURCE = """\
#define PL_PACKAGE one
#include <pipelink/contract.cuh>
PL_STAGE("1.0.0")
extern "C" __device__ void one_role() {}
PL_ROLE(work, one_role, pl::role().warps(1))
"""


@cache
def linked_image() -> bytes:
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "one.cu").write_text(SOURCE)
        made = pack(Request(folder / "one.cu"))
        package.write(folder / "one.plpkg", made.contract, made.members)
        manifest = '[pipeline]\nname = "x"\ntarget = "sm_90a"\n[packages]\none = "one.plpkg"\n'
        (folder / "x.toml").write_text(manifest)
        assert command(pl_link.main, folder / "x.toml", "-o", folder / "x.plimg").status == 0
        return (folder / "x.plimg").read_bytes()


def inspected(data: bytes) -> None:
    """The image as it is, or refused: as text, as JSON, and unpacked into a folder and nowhere else."""
    with TemporaryDirectory() as name:
        folder = Path(name) / "a" / "b"
        folder.mkdir(parents=True)
        (folder / "x.plimg").write_bytes(data)
        for options in ((), ("--json",), ("--extract", folder / "out")):
            assert_clean(command(pl_inspect.main, folder / "x.plimg", *options), PLACE)
        assert {path.name for path in (Path(name), folder.parent, folder) for path in path.iterdir()} <= {
            "a",
            "b",
            "x.plimg",
            "out",
        }


@settings(max_examples=80, deadline=None, derandomize=True)
@given(st.integers(0, 1 << 20), st.integers(0, 7), st.booleans())
def test_a_flipped_bit_of_an_image_is_noticed(at: int, bit: int, header: bool) -> None:
    """Of its members, or of what the archive says of them."""
    data = bytearray(linked_image())
    at = at % len(data)
    if header:
        spots = [i for i in range(len(data)) if data[i : i + 2] == b"PK"]
        at = min(spots[at % len(spots)] + at % 46, len(data) - 1)
    data[at] ^= 1 << bit
    with TemporaryDirectory() as name:
        path = Path(name) / "x.plimg"
        path.write_bytes(bytes(data))
        result = command(pl_inspect.main, path)
        assert result.status == 1
        assert_clean(result, PLACE)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(0, 1 << 20), st.binary(max_size=64))
def test_an_image_that_is_cut_off(keep: int, tail: bytes) -> None:
    inspected(linked_image()[: keep % len(linked_image())] + tail)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.data(), st.sampled_from([None, 3, -1, "x", "", [], {}, [[]], 1 << 70]))
def test_a_record_that_says_something_else(data: st.DataObject, value: object) -> None:
    """Nothing states the record's own digest: one entry anywhere in it is another, or absent."""
    with zipfile.ZipFile(io.BytesIO(linked_image())) as found:
        members = {name: found.read(name) for name in found.namelist()}
    record: Any = json.loads(members[image.RECORD])
    at, key = record, data.draw(st.sampled_from(sorted(record)))
    while isinstance(at[key], dict | list) and at[key] and data.draw(st.booleans()):
        at = at[key]
        key = data.draw(st.sampled_from(sorted(at) if isinstance(at, dict) else range(len(at))))
    if data.draw(st.booleans()):
        at[key] = value
    else:
        del at[key]
    inspected(archive.pack({**members, image.RECORD: image.encode(record)}))


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.sampled_from(["../x", "a/../../x", "providers/../../x.so", "providers/a.so", "x", "", "."]))
def test_members_of_an_image_stay_in_their_folder(name: str) -> None:
    """Stated by the record, with the right digest."""
    members = {image.CUBIN: b"code", name: b"more"}
    stated = {other: image.digest(data) for other, data in members.items()}
    inspected(archive.pack({image.RECORD: image.encode({"members": stated}), **members}))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.binary(max_size=400))
def test_noise_is_no_package_and_no_image(data: bytes) -> None:
    with TemporaryDirectory() as name:
        for ending in (".plpkg", ".plimg"):
            path = Path(name) / f"x{ending}"
            path.write_bytes(data)
            result = command(pl_inspect.main, path)
            assert result.status == 1
            assert_clean(result, PLACE)
