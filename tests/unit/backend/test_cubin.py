import random
from pathlib import Path

import pytest

from pipelink.backend import cubin, nvjitlink, toolchain
from pipelink.backend.cubin import Cubin, CubinError
from pipelink.backend.nvjitlink import Input, LinkResult

EXPORTS = {"entry", "body", "second", "third", "indirect"}


@pytest.fixture(scope="module")
def opaque(component: bytes) -> Cubin:
    """A component's symbols as pl-pack sees them: the -r link of its LTO object."""
    return cubin.read(nvjitlink.relocatable(Input("component", "fatbin", component)))


@pytest.fixture(scope="module")
def compiled(sources: Path) -> Cubin:
    return cubin.read(toolchain.compile_cubin(sources, "component.cu", rdc=True))


@pytest.mark.parametrize("which", ["opaque", "compiled"])
def test_symbols_and_references(which: str, request: pytest.FixtureRequest) -> None:
    found: Cubin = request.getfixturevalue(which)
    assert found.defined == EXPORTS
    assert found.undefined == {"h_smem", "h_other", "h_table"}
    assert found.undefined_data == frozenset()
    assert found.dynamic_shared == {"memory"}
    assert found.kernel_names == frozenset()
    references = {name: found.references[name] for name in EXPORTS}
    assert references == {
        "body": {"h_smem"},
        "second": {"h_other"},  # through a local function
        "third": frozenset(),
        "entry": {"h_table"},
        "indirect": {"h_table"},  # through a table of function pointers
    }


@pytest.mark.parametrize("which", ["opaque", "compiled"])
def test_static_shared_memory_of_device_functions(which: str, request: pytest.FixtureRequest) -> None:
    found: Cubin = request.getfixturevalue(which)
    assert found.static_shared == {"_ZZ4bodyE5stage": 192}
    assert found.shared_of("body") == {"_ZZ4bodyE5stage": 192}
    assert found.shared_of("second") == {}


def test_annotation_data_is_read_by_symbol(tmp_path: Path) -> None:
    (tmp_path / "data.cu").write_text(
        'extern "C" { extern __device__ const int values[3]; __device__ const int values[3] = {1, -2, 3};\n'
        "extern __device__ const long long zeros[2]; __device__ const long long zeros[2] = {0, 0};\n"
        'extern __device__ const char text[6]; __device__ const char text[6] = "hello";\n'
        "extern __device__ int elsewhere; __device__ int *where() { return &elsewhere; } }\n"
    )
    found = cubin.read(toolchain.compile_cubin(tmp_path, "data.cu", rdc=True))
    assert found.data["values"] == b"\x01\0\0\0\xfe\xff\xff\xff\x03\0\0\0"
    assert found.data["zeros"] == bytes(16)
    assert found.data["text"] == b"hello\0"
    assert found.undefined_data == {"elsewhere"}


def test_a_linked_kernel(linked: LinkResult) -> None:
    found = cubin.read(linked.cubin)
    assert found.defined == found.kernel_names == {"two"}
    assert found.undefined == frozenset()
    kernel = found.kernels["two"]
    assert kernel.reg_reconfig
    assert kernel.registers == 240
    assert (kernel.stack_frame, kernel.min_stack, kernel.shared_bytes) == (0, 0, 0)
    assert kernel.max_threads == (256, 1, 1)
    assert kernel.cluster == ()
    assert kernel.parameter_bytes == 16
    assert kernel.max_registers == 255
    assert found.attributes["two"][cubin.MAX_THREADS] == ((256).to_bytes(4, "little") + b"\1\0\0\0\1\0\0\0",)


def test_kernel_attributes_that_the_two_group_kernel_lacks(local_memory: LinkResult) -> None:
    kernel = cubin.read(local_memory.cubin).kernels["k"]
    assert kernel.cluster == (2, 1, 1)
    assert kernel.shared_bytes == 192
    assert kernel.stack_frame == 512
    assert kernel.barriers == 6
    assert not kernel.reg_reconfig


@pytest.mark.parametrize("data", [b"", b"junk", b"\x7fELF", b"\x7fELF" + bytes(200)])
def test_junk_is_no_cubin(data: bytes) -> None:
    with pytest.raises(CubinError):
        cubin.read(data)


def test_damage_never_ends_in_a_traceback(linked: LinkResult) -> None:
    noise = random.Random(11)
    refused = 0
    for round_ in range(150):
        damaged = bytearray(linked.cubin)
        if round_ % 3 == 0:
            del damaged[noise.randrange(len(damaged)) :]
        for _ in range(8):
            if damaged:
                damaged[noise.randrange(len(damaged))] = noise.randrange(256)
        if round_ % 3 == 1:
            damaged[40 + noise.randrange(24)] ^= 1 << noise.randrange(8)
        try:
            found = cubin.read(bytes(damaged))
            assert found.kernels is not None
            assert found.references is not None
        except CubinError:
            refused += 1
    assert refused > 50
