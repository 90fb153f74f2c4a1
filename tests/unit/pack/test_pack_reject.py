"""Each reason to refuse a component: the clause, the place, the words."""

from collections.abc import Callable
from pathlib import Path

import pytest
from pack_samples import COMPONENTS, expected, found

from pipelink.backend import toolchain
from pipelink.frontends.cuda import capture, provider
from pipelink.frontends.cuda.pack import Request, headers, pack
from pipelink.ir.diagnostics import Diagnostic, PipelinkError, Place

Rejected = Callable[..., tuple[Diagnostic, ...]]
AT = Place("x.cu", 3, 1)


@pytest.mark.parametrize("name", ["annotations.cu", "endpoints.cu", "object.cu", "syntax.cu"])
def test_every_error_has_its_clause_and_line(rejected: Rejected, name: str) -> None:
    errors = rejected(name)
    assert found(errors) == expected(name)
    assert {error.place.file for error in errors if error.place} == {name}


def texts(errors: tuple[Diagnostic, ...], clause: str) -> dict[str, str]:
    return {error.message: error.hint for error in errors if error.clause == clause}


def test_annotation_texts(rejected: Rejected) -> None:
    errors = rejected("annotations.cu")
    said = {error.message: error for error in errors}
    assert said["warp handle first: no role, callable or export `wrok` is declared here"].hint == "did you mean 'work'?"
    taken = said["claim a: `a` is declared already"]
    assert [(note.text, note.place.line if note.place else 0) for note in taken.notes] == [("claim a is here", 20)]
    assert "PL_CLAIM_BARRIER(ids): .ids(16) is outside 1..15" in said
    assert "PL_IMPORT_TENSOR(acc): n = 8 at (t=3, p=1, c=0) is outside its range 0..7" in said
    fit = next(message for message in said if "no closed form" in message)
    assert fit.startswith("PL_EXPORT_TENSOR(out): no closed form for n: the closest one gives")
    assert texts(errors, "L-ALIGN") == {
        "PL_RING_BUFFER(a): .align(512) is below the 1024 bytes that a 128-byte swizzle needs": ".align(1024)"
    }


def test_columns_are_those_of_the_macros(rejected: Rejected) -> None:
    columns = {e.message.partition(":")[0]: e.place.column for e in rejected("annotations.cu") if e.place}
    assert columns["PL_CLAIM_BARRIER(ids)"] == 1
    (line,) = (line for line in (COMPONENTS / "annotations.cu").read_text().splitlines() if "BARRIER(a," in line)
    assert columns["claim a"] == line.index("PL_CLAIM_BARRIER(a") + 1


def test_object_texts(rejected: Rejected) -> None:
    errors = rejected("object.cu")
    undefined = texts(errors, "L-UNDEFINED")
    assert undefined["no annotation names `plh_bad__stge`"] == "did you mean 'plh_bad__stage'?"
    assert undefined["no annotation names `vprintf`"] == "printf is not supported in a component"
    assert "NDEBUG" in undefined["no annotation names `__assertfail`"]
    assert "no annotation names `_ZN4deep5otherEPi`" in undefined
    inline = texts(errors, "L-INLINE")
    assert "__noinline__" in inline["role work: `bad_role` stays a call"]
    assert "recursive" in inline["callable recursive: `bad_recursive` stays a call"]
    assert inline["callable mangled: the object does not define `bad_mangled`"] == 'declare `bad_mangled` extern "C"'
    shared = texts(errors, "L-STATIC-SHARED")
    assert shared["`staged` takes 192 bytes of static shared memory"].startswith("PL_CLAIM_SMEM(staged, ")


def test_compiler_texts(rejected: Rejected) -> None:
    said = texts(rejected("syntax.cu"), "L-COMPILE")
    assert said['identifier "undeclared" is undefined'] == ""
    assert said['identifier "plh_syntax__none" is undefined'].startswith("declare the handle `none` above")
    assert 'class "pl::role" has no member "wraps"' in said


def test_missing_instructions(rejected: Rejected) -> None:
    errors = rejected("feature.cu", "sm_90")
    assert found(errors) == expected("feature.cu")
    assert "sm_90 has no `wgmma.fence`" in texts(errors, "L-FEATURE")
    assert {error.hint for error in errors} == {"--target sm_90a"}


@pytest.mark.parametrize("target", ["lto_90a", "compute_90a", "90a", "sm_90a,code=sm_100"])
def test_a_target_is_a_machine(rejected: Rejected, target: str) -> None:
    (error,) = rejected("good.cu", target)
    assert (error.clause, error.hint) == ("L-TARGET", "--target sm_90a")


def test_an_unknown_target(rejected: Rejected) -> None:
    (error,) = rejected("feature.cu", "sm_999")
    assert error.clause == "L-TARGET"


def test_debug_flag(rejected: Rejected) -> None:
    assert [error.clause for error in rejected("good.cu", flags=("-G",))] == ["L-DEBUG"]


def test_no_source_file(tmp_path: Path) -> None:
    with pytest.raises(PipelinkError, match="L-FILE"):
        pack(Request(tmp_path / "none.cu"))


@pytest.mark.parametrize("name", ["a b.cu", ".cu", "x$.cu"])
def test_a_name_that_no_package_holds(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("")
    with pytest.raises(PipelinkError, match="L-FILE"):
        pack(Request(tmp_path / name))


def test_places_in_headers(tmp_path: Path) -> None:
    """Annotations of a header in the component's folder, and of one in another folder."""
    (tmp_path / "own" / "sub").mkdir(parents=True)
    (tmp_path / "own" / "sub" / "part.cuh").write_text("\n  PL_CLAIM_SMEM(near, pl::claim().bytes(16).align(3))\n")
    (tmp_path / "away").mkdir()
    (tmp_path / "away" / "far.cuh").write_text("PL_CLAIM_SMEM(far, pl::claim().bytes(16).align(5))\n")
    text = '#define PL_PACKAGE x\n#include <pipelink/contract.cuh>\nPL_STAGE("1")\n'
    (tmp_path / "own" / "x.cu").write_text(text + '#include "sub/part.cuh"\n#include <far.cuh>\n')
    with pytest.raises(PipelinkError) as raised:
        pack(Request(tmp_path / "own" / "x.cu", includes=(tmp_path / "away",)))
    assert [str(error.place) for error in raised.value.diagnostics] == ["far.cuh:1:1", "sub/part.cuh:2:3"]


def test_no_stage(tmp_path: Path) -> None:
    (tmp_path / "x.cu").write_text("#define PL_PACKAGE x\n#include <pipelink/contract.cuh>\n")
    with pytest.raises(PipelinkError, match=r"L-ANNOTATION.*no PL_STAGE"):
        pack(Request(tmp_path / "x.cu"))


def test_no_host_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("NVCC_CCBIN", raising=False)
    with pytest.raises(PipelinkError, match=r"L-TOOL.*host C\+\+ compiler"):
        pack(Request(COMPONENTS / "good.cu"))


# ---- prebuilt objects ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plain")
    (folder / "x.cu").write_text('extern "C" __device__ void f(int *x) { x[0] = 1; }\n')
    return folder


def compiled(folder: Path, code: str, *flags: str) -> bytes:
    options = ["-rdc=true", "-fatbin", f"-gencode=arch=compute_90a,code={code}", *flags]
    return toolchain.compile_unit(folder, "x.cu", (), options).data


def test_an_object_without_lto_ir(plain: Path) -> None:
    with pytest.raises(PipelinkError, match=r"x\.cu:3:1: error\[L-LTO\]: .*no LTO IR, only machine code"):
        capture.read(compiled(plain, "sm_90a"), "sm_90a", AT)


def test_a_debug_object(plain: Path) -> None:
    with pytest.raises(PipelinkError, match=r"x\.cu:3:1: error\[L-DEBUG\]"):
        capture.read(compiled(plain, "sm_90a", "-G"), "sm_90a", AT)


def test_an_object_of_another_target(plain: Path) -> None:
    data = compiled(plain, "lto_90a")
    with pytest.raises(PipelinkError, match=r"error\[L-LTO\]: the object has LTO IR of lto_90a") as raised:
        capture.read(data, "sm_100a", AT)
    assert raised.value.diagnostics[0].hint == "-gencode arch=compute_100a,code=lto_100a"
    with pytest.raises(PipelinkError, match=r"error\[L-LTO\]: the object: (damaged|not a) fatbin"):
        capture.read(data[:-7], "sm_90a", AT)


def test_an_object_whose_instructions_the_target_lacks(tmp_path: Path) -> None:
    (tmp_path / "x.cu").write_text(
        'extern "C" __device__ void f() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }\n'
    )
    options = ["-rdc=true", "-fatbin", "-gencode=arch=compute_90,code=lto_90"]
    data = toolchain.compile_unit(tmp_path, "x.cu", (), options).data
    with pytest.raises(PipelinkError, match=r"error\[L-FEATURE\]: sm_90 has no `wgmma\.fence`"):
        capture.read(data, "sm_90", AT)


# ---- host providers -------------------------------------------------------------------------------------------------


def build(folder: Path, text: str, symbol: str = "provide") -> bytes:
    (folder / "host.c").write_text(text)
    return provider.build(folder, "host.c", symbol, [headers()], AT)[0]


def test_a_provider_that_does_not_compile(tmp_path: Path) -> None:
    with pytest.raises(PipelinkError, match=r"host\.c:2:10: error\[L-COMPILE\]"):
        build(tmp_path, "int provide(void) {\n  return x;\n}\n")


def test_a_provider_that_links_something(tmp_path: Path) -> None:
    with pytest.raises(PipelinkError, match=r"host\.c: error\[L-COMPILE\]: the provider calls puts"):
        build(tmp_path, "int puts(const char *);\nint provide(void) { return puts(__FILE__); }\n")


def test_a_provider_without_its_function(tmp_path: Path) -> None:
    with pytest.raises(PipelinkError, match=r"error\[L-ANNOTATION\].*does not define `provide`"):
        build(tmp_path, 'const char *const text = "provide"; static int provide(void) { return 1; }\n')


@pytest.mark.parametrize("file", ["none.c", "../host.c", "/host.c"])
def test_a_provider_lies_beside_its_component(tmp_path: Path, file: str) -> None:
    with pytest.raises(PipelinkError, match=r"x\.cu:3:1: error\[L-FILE\]"):
        provider.build(tmp_path, file, "provide", [], AT)


def test_no_c_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(PipelinkError, match="L-TOOL"):
        build(tmp_path, "int provide(void) { return 0; }\n")
