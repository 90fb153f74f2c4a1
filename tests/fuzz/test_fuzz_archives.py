"""Whatever is changed in a package or an image, commands take it as it is or refuse it in one clear error: never a
traceback, never another pipeline than the one that was packed.

The contract of a package is changed behind its digests too, as a packer with a fault would write it.
"""

from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st
from mutate import assert_clean, mutated
from samples import MANIFEST, command, contracts, pl_opt, write_packages

from pipelink.backend import archive
from pipelink.frontends import package
from pipelink.tools import pl_inspect

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
