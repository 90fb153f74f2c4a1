"""Reported faults of compiling, linking, barriers and rings, as small inputs with the outcome that each must have.

Components are packed and linked as a user would; what concerns contracts alone is IR. `tests/rows.toml` lists all rows.
"""

import copy
import gc
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from samples import MANIFEST, Result, contracts, pl_opt, write_packages

from pipelink.backend import image, linklog, nvjitlink, postlink, sass
from pipelink.frontends import package
from pipelink.frontends.contract import Contract
from pipelink.frontends.cuda.pack import Request, pack
from pipelink.ir.diagnostics import PipelinkError
from pipelink.tools import pl_link

HEAD = '#define PL_PACKAGE {0}\n#include <pipelink/contract.cuh>\nPL_STAGE("1.0.0")\n'
ROLE = HEAD + 'extern "C" __device__ void {0}_role() {{\n{1}\n}}\nPL_ROLE(work, {0}_role, pl::role().warps(1){2})\n'


def role(name: str, body: str = "", chain: str = "") -> str:
    """A component of one role of one warp."""
    return ROLE.format(name, body, chain)


def packed(folder: Path, name: str, text: str, **request: Any) -> Path:
    (folder / f"{name}.cu").write_text(text)
    made = pack(Request(folder / f"{name}.cu", **request))
    package.write(folder / f"{name}.plpkg", made.contract, made.members)
    return folder / f"{name}.plpkg"


def refused(action: Callable[[], object]) -> list[tuple[str, str]]:
    """(clause, message) of every error."""
    with pytest.raises(PipelinkError) as raised:
        action()
    return [(d.clause, d.message) for d in raised.value.diagnostics]


def manifest(folder: Path, *names: str, target: str = "sm_90a") -> Path:
    listed = "".join(f'{name} = "{name}.plpkg"\n' for name in names)
    (folder / "x.toml").write_text(f'[pipeline]\nname = "x"\ntarget = "{target}"\n\n[packages]\n{listed}')
    return folder / "x.toml"


def linked(folder: Path, *names: str, options: tuple[str, ...] = ()) -> dict[str, bytes]:
    arguments = [str(manifest(folder, *names)), "-o", str(folder / "x.plimg"), *options]
    with pytest.raises(SystemExit) as stop:
        pl_link.main(arguments)
    assert stop.value.code == 0
    return image.read(folder / "x.plimg")


def link_refused(folder: Path, capsys: pytest.CaptureFixture[str], *names: str) -> str:
    with pytest.raises(SystemExit) as stop:
        pl_link.main([str(manifest(folder, *names)), "-o", str(folder / "x.plimg")])
    assert stop.value.code == 1
    assert not (folder / "x.plimg").exists()
    return capsys.readouterr().err


def changed(folder: Path, name: str, change: Callable[[Contract], Contract]) -> str:
    """What pl-opt says of the sample pipeline with one contract changed."""
    made = [change(c) if c.name == name else c for c in contracts()]
    write_packages(folder, made)
    (folder / "sample.toml").write_text(MANIFEST)
    return pl_opt(folder / "sample.toml", "--link-passes").err


def errors_in(text: str) -> list[str]:
    return re.findall(r"error\[(L-[A-Z-]+)\]", text)


# ---- toolchain and linking ------------------------------------------------------------------------------------------


def _definitions(folder: Path, capsys: pytest.CaptureFixture[str], shared: str, symbol: str) -> None:
    for name in ("one", "two"):
        packed(folder, name, role(name).replace("PL_STAGE", f"{shared}\nPL_STAGE", 1))
    said = link_refused(folder, capsys, "one", "two")
    assert errors_in(said) == ["L-DUPLICATE"]
    assert f"'{symbol}' is defined by packages 'one' and 'two'" in said
    assert "help: make a private helper or variable static" in said


def test_p1_a_helper_in_two_packages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _definitions(tmp_path, capsys, 'extern "C" __device__ int helper(int x) { return x + 1; }', "helper")


def test_p2_a_variable_of_a_header_in_two_packages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "table.h").write_text("__constant__ int table = 3;\n")
    _definitions(tmp_path, capsys, '#include "table.h"', "table")


def test_p3_an_array_of_a_header_in_two_packages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "table.h").write_text("__device__ float table[64];\n")
    _definitions(tmp_path, capsys, '#include "table.h"', "table")


def test_p5_a_package_of_a_newer_architecture(tmp_path: Path) -> None:
    said = changed(tmp_path, "mma", lambda c: msgspec.structs.replace(c, target="sm_100"))
    assert errors_in(said) == ["L-TARGET"]
    assert "package 'mma' is built for sm_100, the pipeline for sm_90a" in said


CALLER = """\
extern "C" __device__ int caller_value(int lane);
PL_CALL(value, caller_value, pl::call())
PL_CLAIM_SMEM(slots, pl::claim().bytes(128).align(16))
"""
CALLEE = HEAD.format("callee") + (
    'extern "C" __device__ int callee_value(int lane) { return 3 * lane + 1; }\nPL_CALLABLE(value, callee_value)\n'
)


def test_p7_a_plain_callable_of_an_older_architecture(tmp_path: Path) -> None:
    body = "reinterpret_cast<volatile int *>(pl_smem + PL_HANDLE(slots))[threadIdx.x % 32] = caller_value(threadIdx.x);"
    packed(tmp_path, "caller", role("caller", body).replace('extern "C"', f'{CALLER}extern "C"', 1))
    packed(tmp_path, "callee", CALLEE, target="sm_80")
    assert b'"target": "sm_90a"' in linked(tmp_path, "caller", "callee", options=("--control",))["record.json"]


WGMMA = 'asm volatile("wgmma.fence.sync.aligned;" ::: "memory");'


def test_p8_wgmma_for_plain_sm_90(tmp_path: Path) -> None:
    packed(tmp_path, "tensor", role("tensor", WGMMA, ".align(4)"))
    found = refused(lambda: packed(tmp_path, "tensor", role("tensor", WGMMA), target="sm_90"))
    assert [clause for clause, _ in found] == ["L-FEATURE"]
    assert "sm_90 has no `wgmma.fence`" in found[0][1]


def test_p9_hopper_instructions_for_sm_120(tmp_path: Path) -> None:
    found = refused(lambda: packed(tmp_path, "tensor", role("tensor", WGMMA), target="sm_120a"))
    assert found == [("L-FEATURE", "sm_120a has no `wgmma.fence`")]
    made = [
        msgspec.structs.replace(c, target="sm_120a", roles=tuple(_any_budget(r) for r in c.roles)) for c in contracts()
    ]
    write_packages(tmp_path, made)
    (tmp_path / "sample.toml").write_text(MANIFEST.replace("sm_90a", "sm_120a"))
    shown = pl_opt(tmp_path / "sample.toml", "--link-passes", "-t", "cuda")
    assert (shown.status, shown.err) == (0, "")
    assert "__global__" in shown.out
    assert "setmaxnreg" not in shown.out


def _any_budget(entry: Any) -> Any:
    return msgspec.structs.replace(entry, registers=(24, 240), need=0)


def test_p10_an_object_of_a_newer_toolkit_is_explained() -> None:
    error = nvjitlink.LinkError("ERROR_OUTDATED_LIBRARY", "")
    path, (major, minor) = nvjitlink.library()
    assert str(error) == f"an object comes from a newer toolkit than nvJitLink {major}.{minor} ({path})"


def test_p11_a_contract_of_a_newer_toolkit(tmp_path: Path) -> None:
    said = changed(tmp_path, "mma", lambda c: msgspec.structs.replace(c, toolkit="13.99.1"))
    assert "L-TOOLKIT" in errors_in(said)
    assert "package 'mma' is built by toolkit 13.99.1" in said


def test_p12_a_debug_build_has_no_lto_ir(tmp_path: Path) -> None:
    found = refused(lambda: packed(tmp_path, "plain", role("plain"), flags=("-G",)))
    assert [clause for clause, _ in found] == ["L-DEBUG"]


def test_p13_copies_of_a_package_outlive_the_original(tmp_path: Path) -> None:
    path = packed(tmp_path, "plain", role("plain"))
    original = package.read(path)
    copies = [pickle.loads(pickle.dumps(original)), copy.deepcopy(original)]
    digest, data = original.digest, bytes(original.members[package.OBJECT])
    del original
    gc.collect()
    cubins = set[bytes]()
    for made in copies * 3:
        assert (made.digest, made.members[package.OBJECT]) == (digest, data)
        package.write(path, made.contract, made.members)
        cubins.add(linked(tmp_path, "plain")["kernel.cubin"])
    assert len(cubins) == 1


@pytest.mark.parametrize("spelling", ["lto_90a", "compute_90a"])
def test_p15_an_architecture_of_another_spelling(tmp_path: Path, spelling: str) -> None:
    with pytest.raises(PipelinkError) as raised:
        packed(tmp_path, "plain", role("plain"), target=spelling)
    (error,) = raised.value.diagnostics
    assert (error.clause, error.hint) == ("L-TARGET", "--target sm_90a")
    path = manifest(tmp_path, "plain", target=spelling)
    assert "help: did you mean 'sm_90a'?" in pl_opt(path).err


def test_p18_no_domain_no_communication(tmp_path: Path) -> None:
    """A kernel without domains and counters takes nothing for them."""
    packed(tmp_path, "plain", role("plain"))
    record = msgspec.json.decode(linked(tmp_path, "plain")["record.json"])
    assert (record["domains"], record["views"], record["counters"]) == ([], [], [])
    assert "counters" not in record["parameters"]


def test_p19_the_loaded_library_is_named() -> None:
    path, version = nvjitlink.library()
    assert Path(path).is_file()
    assert str(path) in str(nvjitlink.LinkError("ERROR_X", "compile with a newer version of nvJitLink"))
    assert version >= (13, 0)


# ---- registers and code generation ----------------------------------------------------------------------------------


class Told:
    """What a check of an image asks of it, told."""

    def __init__(self, **told: Any):
        self.__dict__.update(told)


def test_p20_every_group_sets_its_budget_in_the_machine_code(tmp_path: Path) -> None:
    for name, budget in (("low", 40), ("high", 232)):
        chain = f".align(4).registers({budget}, {budget})"
        packed(tmp_path, name, role(name, "", chain).replace("warps(1)", "warps(4)"))
    made = linked(tmp_path, "low", "high")
    code = sass.disassemble(made["kernel.cubin"], registers=True)["pl_x"]
    assert sass.count(code, "USETMAXREG") == 2
    assert sorted(r.budget for r in sass.regions(code) if r.budget) == [40, 232]


def test_p20_setmaxnreg_that_was_dropped_is_refused() -> None:
    log = linklog.parse("ptxas warning : (C7508) setmaxnreg ignored to maintain minimum register requirements.\n")
    ((_, said),) = postlink.no_messages(Told(log=log))  # type: ignore[arg-type]
    assert said.startswith("ptxas C7508: setmaxnreg ignored")


NOINLINE = HEAD.format("mask") + (
    'extern "C" __device__ __noinline__ float mask_apply(float x, int i) { return i > 3 ? x : 0; }\n'
    "PL_CALLABLE(apply, mask_apply)\n"
)


def test_p29_a_callable_that_stays_a_call(tmp_path: Path) -> None:
    """In a loop of wgmma it would break the pipeline of products."""
    found = refused(lambda: packed(tmp_path, "mask", NOINLINE))
    assert found == [("L-INLINE", "callable apply: `mask_apply` stays a call")]


def test_p31_a_bound_that_spills_says_how_much(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A thread of a block of 1,024 has 64 registers, and this one holds 120 values at once."""
    body = """\
  volatile float *kept = reinterpret_cast<volatile float *>(pl_smem + PL_HANDLE(values)) + threadIdx.x;
  float held[120];
#pragma unroll
  for (int i = 0; i < 120; i++) held[i] = kept[i];
#pragma unroll
  for (int i = 0; i < 120; i++) kept[i] = held[119 - i];"""
    claim = "PL_CLAIM_SMEM(values, pl::claim().bytes(8192).align(16))\n"
    text = role("wide", body).replace('extern "C"', f'{claim}extern "C"', 1).replace("warps(1)", "warps(32)")
    packed(tmp_path, "wide", text)
    said = link_refused(tmp_path, capsys, "wide")
    assert errors_in(said)[0] == "L-REGS"
    assert re.search(r"do not fit: [1-9]\d* bytes of spill stores, [1-9]\d* of spill loads", said)


def test_p32_a_called_function_has_no_budget_of_its_own(tmp_path: Path) -> None:
    """It would be compiled for any caller, over the budget of this one: no call is left in a kernel."""
    recursive = NOINLINE.replace("__noinline__ ", "").replace(
        "x : 0", "x + mask_apply(x, i - 1) * mask_apply(x, i - 2) : 0"
    )
    found = refused(lambda: packed(tmp_path, "mask", recursive))
    assert [clause for clause, _ in found] == ["L-INLINE"]


def test_p33_register_allocation_that_failed() -> None:
    log = linklog.parse("ptxas warning : (C7600) Register allocation failed with register count of '255'.\n")
    found = [(m.code, m.text) for m in log.messages]
    assert found
    assert found[0][0] == "C7600"
    assert "C7600" in postlink.REGISTER_MESSAGES


# ---- named barriers -------------------------------------------------------------------------------------------------


def test_p36_absolute_barrier_ids_of_a_library(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    packed(tmp_path, "library", role("library", 'asm volatile("bar.sync 1, 32;" ::: "memory");'))
    said = link_refused(tmp_path, capsys, "library")
    assert errors_in(said) == ["L-CODE"]
    assert "named barriers [1] are in the code, placed are {}" in said


def _ring(contract: Contract, **fields: Any) -> Contract:
    return msgspec.structs.replace(contract, rings=(msgspec.structs.replace(contract.rings[0], **fields),))


def test_p37_a_count_that_is_not_the_arriving_threads(tmp_path: Path) -> None:
    """256 are awaited where the consumer's four warps arrive once each."""
    count = type(contracts()[0].rings[0].full)
    said = changed(tmp_path, "load", lambda c: _ring(c, empty=count("once", 256)))
    assert errors_in(said) == ["L-ARRIVALS"]
    assert "disagree on arrivals on empty: 1 per warp against 256" in said


def test_p39_generated_barriers_are_not_aligned(tmp_path: Path) -> None:
    """`bar.sync` is the aligned form (PTX ISA, barrier): all threads of a warp must run the same instruction."""
    write_packages(tmp_path, contracts())
    (tmp_path / "sample.toml").write_text(MANIFEST)
    text = pl_opt(tmp_path / "sample.toml", "--link-passes", "-t", "cuda").out
    assert "pl_sync_cta(" in text
    assert "barrier.sync %0, %1;" in text
    assert "bar.sync" not in text


def test_p40_syncthreads_in_a_role(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    packed(tmp_path, "whole", role("whole", "__syncthreads();"))
    said = link_refused(tmp_path, capsys, "whole")
    assert errors_in(said) == ["L-CODE"]
    assert "barrier 0 is used 2 times, once by the dispatcher (is there a __syncthreads in a role?)" in said


MOVED = """\
PL_CLAIM_BARRIER(user, pl::claim().ids(1))
"""


def test_p90_barrier_ids_are_the_placement_s(tmp_path: Path) -> None:
    """Two builds of one source, which a library numbers otherwise, get an id each, and the code has these."""
    body = 'asm volatile("bar.sync %0, 32;" ::"r"(PL_HANDLE(user)) : "memory");'
    for name, offset in (("older", 6), ("newer", 8)):
        text = role(name, body).replace('extern "C"', f'{MOVED}extern "C"', 1)
        packed(tmp_path, name, text, flags=(f"-DRESERVED_BARRIERS={offset}",))
    record = msgspec.json.decode(linked(tmp_path, "older", "newer")["record.json"])
    placed = sorted(c["base"] for c in record["claims"] if c["kind"] == "barrier")
    assert placed == [1, 2]
    assert record["code"]["barriers"] == [0, *placed]


# ---- rings, clusters and lifetimes ----------------------------------------------------------------------------------


def test_p43_transaction_bytes_of_another_tile(tmp_path: Path) -> None:
    """The producer copies 2,048 bytes where the consumer expects 1,024."""

    def sized(contract: Contract, size: int) -> Contract:
        claims = tuple(msgspec.structs.replace(c, size=size, tile=(), dtype="") for c in contract.claims if c.ring)
        others = tuple(c for c in contract.claims if not c.ring)
        return msgspec.structs.replace(_ring(contract, bytes=size), claims=(*claims, *others))

    made = [sized(c, {"load": 2048, "mma": 1024}[c.name]) if c.rings else c for c in contracts()]
    write_packages(tmp_path, made)
    (tmp_path / "sample.toml").write_text(MANIFEST)
    said = pl_opt(tmp_path / "sample.toml", "--link-passes").err
    assert "error[L-BYTES]: the endpoints of 'ring' disagree on transaction bytes: 1024 against 2048" in said


def test_p44_one_arrival_where_128_threads_arrive(tmp_path: Path) -> None:
    count = type(contracts()[0].rings[0].full)
    said = changed(tmp_path, "mma", lambda c: _ring(c, empty=count("thread", 1)))
    assert errors_in(said) == ["L-ARRIVALS"]


def test_p49_a_ring_of_a_cluster_with_an_endpoint_of_the_block(tmp_path: Path) -> None:
    said = changed(tmp_path, "load", lambda c: _ring(c, scope="cluster"))
    assert errors_in(said) == ["L-PAIR"]
    assert "disagree on scope" in said


def _clustered(folder: Path) -> str:
    """The kernel of a pipeline in clusters of two blocks."""
    packed(folder, "pair", role("pair").replace("PL_STAGE", "PL_TOPOLOGY(pl::topology().cluster(2))\nPL_STAGE", 1))
    linked(folder, "pair")
    shown = pl_opt(manifest(folder, "pair"), "--link-passes", "-t", "cuda").out
    return shown.partition("// The kernel.")[2]


def test_p51_blocks_of_a_cluster_meet_before_they_leave(tmp_path: Path) -> None:
    assert _clustered(tmp_path).rstrip().endswith("pl_sync_cluster();\n}")


def test_p52_blocks_of_a_cluster_meet_before_their_roles_run(tmp_path: Path) -> None:
    kernel = _clustered(tmp_path)
    assert kernel.index("pl_sync_cluster();") < kernel.index("pair_role(")


def test_p53_bytes_of_four_blocks_where_two_deliver(tmp_path: Path) -> None:
    """The bytes of a stage are those of its buffers, whatever the size of the cluster: in a package, and in IR."""
    found = refused(lambda: changed(tmp_path, "load", lambda c: _ring(c, bytes=4 * 4096)))
    assert found == [
        ("L-PACKAGE", "contract: load.cu:6:1: ring ring: 16384 bytes arrive a stage, its buffers have 4096")
    ]
    write_packages(tmp_path, contracts())
    (tmp_path / "sample.toml").write_text(MANIFEST)
    text = pl_opt(tmp_path / "sample.toml").out.replace(" bytes 4096 ", " bytes 16384 ")
    said = pl_opt("-", "-p", "pl-verify-contracts", stdin=text)
    assert set(errors_in(said.err)) == {"L-BYTES"}
    assert "expects 16384 transaction bytes a stage, its buffers hold 4096 (a 4096)" in said.err


def test_p55_storage_that_is_released_before_it_is_read(tmp_path: Path) -> None:
    """A claim whose last event comes before its first."""

    def backwards(contract: Contract) -> Contract:
        claims = [
            msgspec.structs.replace(
                c, lifetime=msgspec.structs.replace(c.lifetime, kind="between", start="acc.done", end="acc.ready")
            )
            if c.name == "out"
            else c
            for c in contract.claims
        ]
        return msgspec.structs.replace(contract, claims=tuple(claims))

    said = changed(tmp_path, "store", backwards)
    assert errors_in(said) == ["L-LIFETIME"]
    assert "starts at 'acc.done', which is not before its end 'acc.ready'" in said


def test_p61_static_shared_memory_would_shift_the_pool(tmp_path: Path) -> None:
    found = refused(
        lambda: packed(
            tmp_path,
            "pool",
            role("pool", "__shared__ int stage[4]; stage[0] = clock(); __syncwarp(); stage[1] = stage[0];"),
        )
    )
    assert [clause for clause, _ in found] == ["L-STATIC-SHARED"]
    (tmp_path / "good").mkdir()
    packed(tmp_path / "good", "plain", role("plain"))
    linked(tmp_path / "good", "plain")


def test_p63_dynamic_shared_memory_under_another_name(tmp_path: Path) -> None:
    text = role("other", "smem[threadIdx.x] = 1;").replace("PL_STAGE", "extern __shared__ float smem[];\nPL_STAGE", 1)
    found = refused(lambda: packed(tmp_path, "other", text))
    assert [clause for clause, _ in found] == ["L-STATIC-SHARED"]
    assert found[0][1].startswith("`smem` is all of dynamic shared memory under another name")


def test_p73_storage_shared_with_and_without_the_event(tmp_path: Path) -> None:
    """The output lies over the ring behind the tensor's rendezvous; where nobody meets, it may not."""
    write_packages(tmp_path, contracts())
    (tmp_path / "sample.toml").write_text(MANIFEST)
    analysed = pl_opt(tmp_path / "sample.toml", "-p", "pl-eliminate-dead-exports,pl-analyze-lifetimes")
    assert "shares [@load::@a]" in analysed.out
    assert pl_opt("-", "-p", "pl-relocate", stdin=analysed.out).status == 0
    unordered = analysed.out.replace('rendezvous ["ready"]', "rendezvous []")
    said = pl_opt("-", "-p", "pl-relocate", stdin=unordered)
    assert said.status == 1
    assert set(errors_in(said.err)) == {"L-LIFETIME"}
    assert "may not lie over 'load.a': no event orders all users" in said.err


# ---- tensor memory and tiles ----------------------------------------------------------------------------------------


def test_p77_tensor_memory_without_a_claim(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One owner allocates for the whole block: the dispatcher, for what is claimed."""
    allocates = (
        'asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 32;" ::"r"(0) : "memory");\n'
        'asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 32;" ::"r"(0));'
    )
    packed(tmp_path, "own", role("own", allocates), target="sm_100a")
    with pytest.raises(SystemExit) as stop:
        pl_link.main([str(manifest(tmp_path, "own", target="sm_100a")), "-o", str(tmp_path / "x.plimg")])
    assert stop.value.code == 1
    assert errors_in(capsys.readouterr().err) == ["L-CODE"]


def _tile(folder: Path, chunk: int, chunks: int, columns: int) -> Result:
    """The sample pipeline with a tensor of 128 x 112, demanded in chunks of columns."""
    placement = "(t:128, r:112) -> (m:128, n:112) { m = t; n = r }"
    demand = f"(t:128, p:{chunk}, c:{chunks}) -> (m:128, n:{columns}) {{ m = t; n = c*{chunk} + p }}"
    loader, producer, consumer = contracts(demand)
    producer = msgspec.structs.replace(
        producer, exports=(msgspec.structs.replace(producer.exports[0], placement=placement, registers=112),)
    )
    consumer = msgspec.structs.replace(consumer, imports=(msgspec.structs.replace(consumer.imports[0], frame=112),))
    write_packages(folder, (loader, producer, consumer))
    (folder / "sample.toml").write_text(MANIFEST)
    return pl_opt(folder / "sample.toml", "--link-passes")


def test_p79_a_chunk_that_does_not_divide_the_tile(tmp_path: Path) -> None:
    """Chunks of 32 columns make a tile of 96 or 128, or leave the one of 112; seven of 16 make it."""
    for chunks in (3, 4):
        said = _tile(tmp_path, 32, chunks, 32 * chunks).err
        assert errors_in(said) == ["L-TENSOR"]
        assert f"'store.acc' has tile {{'m': 128, 'n': {32 * chunks}}}" in said
        assert "'mma.acc' has tile {'m': 128, 'n': 112}" in said
    (outside,) = refused(lambda: _tile(tmp_path, 32, 4, 112))
    assert outside == (
        "L-PACKAGE",
        "contract: imports[0].demand: n = 112 at (t=0, p=16, c=3) is outside its range 0..111",
    )
    fits = _tile(tmp_path, 16, 7, 112)
    assert (fits.status, fits.err) == (0, "")


def test_p79_the_chunk_that_would_fit_is_said(tmp_path: Path) -> None:
    assert "help: a chunk of 16 along n divides the tile of 112" in _tile(tmp_path, 32, 4, 128).err
