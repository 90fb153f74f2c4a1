import random
from pathlib import Path

import pytest

from pipelink.backend import fatbin, toolchain
from pipelink.backend.fatbin import FatbinError, NotLtoError
from pipelink.backend.toolchain import FpMode


def build(sources: Path, *flags: str) -> bytes:
    return toolchain.compile_unit(sources, "tiny.cu", [], ["-std=c++17", "-rdc=true", "-fatbin", *flags]).data


def test_an_lto_object_states_what_it_is(component: bytes) -> None:
    found = fatbin.read_lto(component)
    assert (found.arch, found.target) == ("lto_90a", "sm_90a")
    assert found.version == (1, 67)
    assert found.fp == FpMode()


def test_the_fp_mode_comes_from_the_object(sources: Path) -> None:
    data = toolchain.compile_lto(sources, "tiny.cu", target="sm_90", flags=["-use_fast_math"])
    found = fatbin.read_lto(data)
    assert found.arch == "lto_90"
    assert found.fp == FpMode(ftz=True, prec_div=False, prec_sqrt=False)


@pytest.mark.parametrize(
    ("flags", "why"),
    [
        (["-gencode=arch=compute_90a,code=sm_90a"], "no LTO IR, only machine code"),
        (["-gencode=arch=compute_90a,code=compute_90a"], "no LTO IR, only PTX"),
        (["-gencode=arch=compute_90a,code=sm_90a", "-G"], "device debugger"),
        (["-gencode=arch=compute_90a,code=[lto_90a,sm_90a]"], "LTO IR beside machine code"),
        (["-gencode=arch=compute_90a,code=lto_90a", "-gencode=arch=compute_90,code=lto_90"], "lto_90a"),
    ],
)
def test_objects_that_a_link_must_not_take(sources: Path, flags: list[str], why: str) -> None:
    with pytest.raises(NotLtoError, match=why):
        fatbin.read_lto(build(sources, *flags))


@pytest.mark.parametrize("data", [b"", b"junk", b"\x7fELF" + bytes(100), bytes(64)])
def test_junk_is_no_fatbin(data: bytes) -> None:
    with pytest.raises(FatbinError, match="not a fatbin"):
        fatbin.read_lto(data)


def test_every_truncation_is_seen(component: bytes) -> None:
    for size in range(0, len(component), 7):
        with pytest.raises(FatbinError):
            fatbin.read_lto(component[:size])


def test_bit_flips_never_end_in_a_traceback(component: bytes) -> None:
    entry = fatbin.entries(component)[0]
    head = len(component) - len(entry.payload)
    refused = 0
    for bit in range(8 * head):
        damaged = bytearray(component)
        damaged[bit // 8] ^= 1 << bit % 8
        try:
            fatbin.read_lto(bytes(damaged))
        except FatbinError:
            refused += 1
    assert refused > 4 * head  # most of the head is checked


def test_noise_never_ends_in_a_traceback(component: bytes) -> None:
    noise = random.Random(7)
    for _ in range(300):
        damaged = bytearray(component)
        for _ in range(noise.randrange(1, 9)):
            damaged[noise.randrange(136)] = noise.randrange(256)
        try:
            fatbin.read_lto(bytes(damaged))
        except FatbinError:
            continue
