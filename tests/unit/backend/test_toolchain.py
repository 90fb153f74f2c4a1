import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pipelink.backend import toolchain
from pipelink.backend.toolchain import FpMode, ToolError

# Everything that is known to leak: the file's own and an include's name, the date, internal symbols.
LEAKY = """\
#include "local.cuh"
#include <shared.cuh>
static __device__ int counter;
namespace { __device__ __noinline__ int hidden(int x) { return x * counter++; } }
extern "C" __device__ const char *file() { return __FILE__; }
extern "C" __device__ const char *when() { return __DATE__ __TIME__; }
extern "C" __device__ const char *built_in(const char *name = __builtin_FILE()) { return name; }
extern "C" __device__ int count(int x) { return hidden(x); }
"""


def leaky_folder(root: Path) -> tuple[Path, Path]:
    sources, headers = root / "sources", root / "headers"
    sources.mkdir(parents=True)
    headers.mkdir()
    (sources / "leaky.cu").write_text(LEAKY)
    (sources / "local.cuh").write_text('extern "C" __device__ const char *local() { return __FILE__; }\n')
    (headers / "shared.cuh").write_text('extern "C" __device__ const char *shared() { return __FILE__; }\n')
    return sources, headers


def test_the_toolkit_is_the_pip_one() -> None:
    found = toolchain.toolkit()
    assert found.root.parts[-2:] == ("nvidia", "cu13")
    assert found.version.startswith("13.")
    assert (found.include / "cuda_runtime.h").is_file()


def test_an_override_without_tools_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIPELINK_CUDA_HOME", str(tmp_path))
    with pytest.raises(ToolError, match=r"has no nvcc \(reinstall it, or set PIPELINK_CUDA_HOME\)"):
        toolchain.toolkit()


def test_an_override_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "link").symlink_to(toolchain.toolkit().root)
    monkeypatch.setenv("PIPELINK_CUDA_HOME", str(tmp_path / "link"))
    assert toolchain.toolkit().version.startswith("13.")


@pytest.mark.parametrize("compiler", [None, "no-such-compiler"])
def test_a_missing_host_compiler_is_named(
    compiler: str | None, sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if compiler:
        monkeypatch.setenv("NVCC_CCBIN", compiler)
    else:
        monkeypatch.delenv("NVCC_CCBIN", raising=False)
        monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolError, match="pl-pack needs a host C\\+\\+ compiler: install g\\+\\+ or set NVCC_CCBIN"):
        toolchain.compile_lto(sources, "tiny.cu")


def test_objects_are_the_same_bytes_from_two_folders_at_once(tmp_path: Path) -> None:
    folders = [leaky_folder(tmp_path / name) for name in ("one", "the other")]
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda f: toolchain.compile_lto(f[0], "leaky.cu", [f[1]]), folders)
    assert first == second
    # Later, in a third folder, with other settings around: still the same.
    shutil.rmtree(tmp_path / "one")
    sources, headers = leaky_folder(tmp_path / "third")
    assert toolchain.compile_lto(sources, "leaky.cu", [headers]) == first


def test_a_plain_nvcc_object_depends_on_its_folder(tmp_path: Path) -> None:
    """The canary of the test above: without the measures the objects do differ."""
    objects: list[bytes] = []
    for name in ("one", "two"):
        sources, headers = leaky_folder(tmp_path / name)
        flags = [*toolchain.lto_flags("sm_90a"), f"-I{headers}", "-o", "object", "leaky.cu"]
        toolchain.run_nvcc(flags, sources)
        objects.append((sources / "object").read_bytes())
    assert objects[0] != objects[1]


def test_cubins_name_no_folder(tmp_path: Path) -> None:
    sources, headers = leaky_folder(tmp_path / "one")
    cubin = toolchain.compile_cubin(sources, "leaky.cu", [headers], rdc=True)
    assert str(tmp_path).encode() not in cubin
    assert b"leaky.cu\0" in cubin
    assert b"local.cuh\0" in cubin
    assert b"Jan  1 1970" in cubin


def test_compile_errors_keep_their_position(tmp_path: Path) -> None:
    (tmp_path / "wrong.cu").write_text("int fine;\nint x = ;\n")
    with pytest.raises(ToolError) as caught:
        toolchain.compile_lto(tmp_path, "wrong.cu")
    assert str(caught.value) == "wrong.cu:2:9: error: expected an expression"
    assert "int x = ;" in caught.value.text
    assert [(d.line, d.column) for d in caught.value.diagnostics] == [(2, 9)]


def test_preprocessor_errors_keep_their_position(tmp_path: Path) -> None:
    headers = tmp_path / "headers"
    headers.mkdir()
    (headers / "bad.cuh").write_text('#include "absent.cuh"\n')
    (tmp_path / "wrong.cu").write_text("#include <bad.cuh>\n")
    with pytest.raises(ToolError) as caught:
        toolchain.compile_lto(tmp_path, "wrong.cu", [headers])
    first = caught.value.diagnostics[0]
    assert (first.file, first.line, first.column) == (f"{headers}/bad.cuh", 1, 10)
    assert first.severity == "fatal error"


def test_a_missing_source_is_named(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match=r"no source file absent\.cu"):
        toolchain.compile_lto(tmp_path, "absent.cu")


def test_warnings_are_kept_with_true_columns(tmp_path: Path) -> None:
    # The compiler shows both lines with __device__ expanded, which moves its carets.
    lines = [
        'extern "C" __device__ int f() { int unused; return 1; }',
        "#define MAKE int made",
        "__device__ int g() {MAKE; return 1; }",
    ]
    (tmp_path / "warns.cu").write_text("\n".join(lines) + "\n")
    compiled = toolchain.compile_unit(tmp_path, "warns.cu", [], toolchain.lto_flags("sm_90a"))
    found = [(d.file, d.line, d.column, d.severity) for d in compiled.warnings]
    assert found == [
        ("warns.cu", 1, lines[0].index("unused") + 1, "warning #177-D"),
        ("warns.cu", 3, 0, "warning #177-D"),  # made by a macro: no true column
    ]


def test_fp_mode_reads_what_the_object_states() -> None:
    assert FpMode.parse("-ftz=0 -prec_div=1 -prec_sqrt=1 -fmad=1") == FpMode()
    fast = FpMode.parse("-maxreg 64 -ftz=1 -prec_div=0 -prec_sqrt=0 -fmad=0")
    assert fast == FpMode(ftz=True, prec_div=False, prec_sqrt=False, fma=False)
    assert fast.link_options() == ("-ftz=1", "-prec-div=0", "-prec-sqrt=0", "-fma=0")
    assert fast.nvcc_flags() == ("--ftz=true", "--prec-div=false", "--prec-sqrt=false", "--fmad=false")


@pytest.mark.parametrize("text", ["", "-ftz=0 -prec_div=1 -prec_sqrt=1", "-ftz=2 -prec_div=1 -prec_sqrt=1 -fmad=1"])
def test_fp_mode_refuses_what_it_does_not_know(text: str) -> None:
    with pytest.raises(ValueError, match="no floating-point option"):
        FpMode.parse(text)
