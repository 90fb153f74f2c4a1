from pathlib import Path

import pytest
from backend_samples import DISPATCH, ltoir, two_groups

from pipelink.backend import cubin, linklog, nvjitlink, nvrtc, toolchain
from pipelink.backend.nvjitlink import Input, LinkError
from pipelink.backend.toolchain import FpMode, ToolError

KERNEL = 'extern "C" __device__ float h(); extern "C" __global__ void k(float *x) { *x = h(); }'


def test_the_libraries_are_of_the_toolkit() -> None:
    root = str(toolchain.toolkit().root)
    for path, version in (nvjitlink.library(), nvrtc.library()):
        assert path.startswith(root)
        assert toolchain.toolkit().version.startswith(".".join(map(str, version)))


def test_generated_code_that_does_not_compile_shows_the_log() -> None:
    with pytest.raises(ToolError, match=r"stubs\.cu\(1\): error: expected an expression") as caught:
        nvrtc.compile_ltoir("__device__ int x = ;", name="stubs.cu")
    assert "int x = ;" in caught.value.text


def test_a_link_is_deterministic_and_ignores_the_order(linked: nvjitlink.LinkResult) -> None:
    assert nvjitlink.link(two_groups(48)[::-1]).cubin == linked.cubin


def test_the_fp_mode_reaches_the_link(linked: nvjitlink.LinkResult) -> None:
    assert {"-ftz=0", "-prec-div=1", "-prec-sqrt=1", "-fma=1"} < set(linked.options)
    source = 'extern "C" __global__ void k(float *x) { *x = x[1] / x[2]; }'
    mode = FpMode(prec_div=False)
    fast = nvjitlink.link([Input("k", "ltoir", nvrtc.compile_ltoir(source, fp=mode))], fp=mode)
    exact = nvjitlink.link([ltoir("k", source)])
    assert len(fast.cubin) < len(exact.cubin)


def test_an_undefined_handle_is_named() -> None:
    with pytest.raises(LinkError, match=r"nothing defines h$") as caught:
        nvjitlink.link([ltoir("kernel", KERNEL)])
    assert caught.value.code == "ERROR_PTX_COMPILE"
    assert caught.value.unresolved == ("h",)


def test_a_double_definition_is_named() -> None:
    twice = [ltoir(name, 'extern "C" __device__ float h() { return 1; }') for name in ("one", "two")]
    with pytest.raises(LinkError, match=r"defined more than once: h$") as caught:
        nvjitlink.link([ltoir("kernel", KERNEL), *twice])
    assert caught.value.code == "ERROR_NVVM_COMPILE"
    assert caught.value.duplicates == ("h",)


@pytest.mark.parametrize(
    ("kind", "cut", "code"),
    [
        ("fatbin", slice(0, 900), "ERROR_INVALID_INPUT"),
        ("fatbin", slice(0, 0), "ERROR_INVALID_INPUT"),
        ("fatbin", slice(40, None), "ERROR_INCORRECT_INPUT_TYPE"),
    ],
)
def test_bad_input_is_a_link_error(component: bytes, kind: nvjitlink.Kind, cut: slice, code: str) -> None:
    with pytest.raises(LinkError, match="component") as caught:
        nvjitlink.link([Input("component", kind, component[cut])])
    assert caught.value.code == code


def test_an_object_of_a_newer_toolkit_is_explained() -> None:
    # What nvJitLink 13.0 says to an object of 13.5.
    text = "ERROR 4 in nvvmAddNVVMContainerToProgram, may need newer version of nvJitLink library"
    error = LinkError("ERROR_OUTDATED_LIBRARY", text)
    assert "newer toolkit than nvJitLink 13." in str(error)
    assert "libnvJitLink.so" in str(error)


def test_an_unknown_option_is_a_link_error() -> None:
    with pytest.raises(LinkError, match="ERROR_UNRECOGNIZED_OPTION"):
        nvjitlink.link([ltoir("kernel", KERNEL)], options=["-no-such-option"])


def test_a_relocatable_link_leaves_handles_open(component: bytes) -> None:
    found = cubin.read(nvjitlink.relocatable(Input("component", "fatbin", component)))
    assert found.undefined == {"h_smem", "h_other", "h_table"}


def test_the_log_states_resources(linked: nvjitlink.LinkResult) -> None:
    log = linklog.parse(linked.log)
    use = log.function("two")
    assert log.messages == ()
    assert (use.stack, use.spill_stores, use.spill_loads, use.shared) == (0, 0, 0, 0)
    # One barrier id comes from a register, so ptxas must count all sixteen.
    assert (use.registers, use.barriers) == (240, 16)
    with pytest.raises(KeyError):
        log.function("absent")


def test_the_log_states_that_setmaxnreg_was_dropped() -> None:
    result = nvjitlink.link(two_groups(16, bounds=""))
    messages = linklog.parse(result.log).messages
    assert [m.code for m in messages] == ["C7508"]
    assert "setmaxnreg" in messages[0].text
    assert not cubin.read(result.cubin).kernels["two"].reg_reconfig


def test_too_small_a_budget_spills_without_a_message() -> None:
    _, parts = two_groups(48)
    small = ltoir("dispatch", DISPATCH.replace("BOUNDS", "__launch_bounds__(256, 1)").replace("u32 240", "u32 32"))
    result = nvjitlink.link([small, parts])
    log = linklog.parse(result.log)
    assert log.messages == ()
    assert log.function("two").spill_stores > 0
    assert log.function("two").stack > 0
    assert cubin.read(result.cubin).kernels["two"].reg_reconfig


def test_the_log_states_stack(local_memory: nvjitlink.LinkResult) -> None:
    use = linklog.parse(local_memory.log).function("k")
    assert (use.stack, use.shared) == (512, 192)


def test_code_from_nvrtc_equals_code_from_nvcc(tmp_path: Path) -> None:
    source = KERNEL + '\nextern "C" __device__ float h() { return 2; }\n'
    (tmp_path / "k.cu").write_text(source)
    via_nvcc = Input("k", "fatbin", toolchain.compile_lto(tmp_path, "k.cu"))
    assert nvjitlink.link([via_nvcc]).cubin == nvjitlink.link([ltoir("k", source)]).cubin
