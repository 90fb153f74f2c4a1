"""Emitted CUDA: run on the host for every element of every chunk, and compiled by nvcc."""

import re
import subprocess
import sysconfig
from pathlib import Path

import numpy as np
import pytest
from route_cases import CASES, PLANS
from route_host import GXX, SCRATCH, run_on_host

from pipelink.passes.routes import DEVICE_PRELUDE, emit_cuda

NVCC = Path(sysconfig.get_path("purelib")) / "nvidia" / "cu13" / "bin" / "nvcc"
needs_gxx = pytest.mark.skipif(GXX is None, reason="g++ is missing")
needs_nvcc = pytest.mark.skipif(GXX is None or not NVCC.exists(), reason="nvcc or its host compiler g++ is missing")


def emit(plan, thread="pl_tid()"):
    return emit_cuda(plan, "import_tile", "float", thread, f"{SCRATCH}u", "3")


def delivered(case, plan, body, folder):
    """Whether the body delivers all chunks, in ascending and descending order and twice in a row."""
    elements = np.arange(np.prod([size for _, size in case.placement.outputs]), dtype=np.float32) + 1
    frames = elements[np.array(case.placement.flat)].reshape(plan.threads, -1)
    chunks = len(plan.schedule)
    order = [*range(chunks), *reversed(range(chunks))]
    maps = [case.demand.bind(case.chunk, c) if case.chunk else case.demand for c in range(chunks)]
    wanted = np.stack([elements[np.array(maps[c].flat)].reshape(plan.threads, -1) for c in order])
    return np.array_equal(run_on_host(body, plan, frames, wanted.shape[2], order, folder), wanted)


@needs_gxx
@pytest.mark.parametrize(("name", "kind"), PLANS)
def test_delivers_every_element_on_the_host(name, kind, tmp_path):
    plan = CASES[name].plan(kind)
    assert delivered(CASES[name], plan, emit(plan), tmp_path)


def drop_sync(number):
    def sabotage(body):
        syncs = list(re.finditer(r"  pl_sync_\w+\(.*\n", body))
        return body[: syncs[number].start()] + body[syncs[number].end() :]

    return sabotage


@needs_gxx
@pytest.mark.parametrize(
    ("name", "sabotage"),
    [
        pytest.param("row halves", drop_sync(0), id="first sync"),
        pytest.param("row halves", drop_sync(1), id="second sync"),
        pytest.param("warp local", drop_sync(0), id="first warp sync"),
        pytest.param("warp local", drop_sync(1), id="second warp sync"),
        pytest.param("row halves", lambda body: body.replace("frame[35]", "frame[34]"), id="frame index"),
        pytest.param("row halves", lambda body: body.replace("dst[7]", "dst[6]"), id="destination index"),
        pytest.param("row halves", lambda body: body.replace("at0 + 1024", "at0 + 992", 1), id="constant"),
        pytest.param("row halves", lambda body: body.replace(" ^ 32)", " ^ 64)", 1), id="swizzle"),
    ],
)
def test_the_host_run_notices_sabotage(name, sabotage, tmp_path):
    plan = CASES[name].plan("staged")
    body = sabotage(emit(plan))
    assert body != emit(plan)
    assert not delivered(CASES[name], plan, body, tmp_path)


def test_a_direct_import_touches_no_shared_memory():
    body = emit(CASES["fragment"].plan("direct"))
    assert "shared" not in body
    assert "sync" not in body
    assert "scratch" not in body


@pytest.mark.parametrize(("name", "kind"), PLANS)
def test_register_indices_are_constants(name, kind):
    body = emit(CASES[name].plan(kind))
    indices = re.findall(r"(?:frame|dst)\[([^]]*)\]", body)
    assert indices
    assert all(index.isdecimal() for index in indices)


def test_addresses_are_hoisted_and_shared_by_all_chunks():
    body = emit(CASES["row halves"].plan("staged"))
    head, _, rest = body.partition("switch")
    assert head.count("const unsigned at") == 8
    assert "const unsigned" not in rest
    assert body.count("pl_ld_shared_v4(") == 4  # after the switch, the same for every chunk
    assert body.count("pl_st_shared_v2(") == 64


_KERNEL = """
static __device__ __forceinline__ unsigned pl_tid() { return threadIdx.x; }
%s
extern "C" __global__ void __launch_bounds__(%d) k(const float* in, float* out) {
  float frame[%d];
  for (int r = 0; r < %d; ++r) frame[r] = in[r * %d + threadIdx.x];
#pragma unroll 1
  for (int chunk = 0; chunk < %d; ++chunk) {
    float dst[%d];
    import_tile(frame, chunk, dst);
    for (int p = 0; p < %d; ++p) out[(chunk * %d + p) * %d + threadIdx.x] = dst[p] * 2.0f;
  }
}
"""


@needs_nvcc
@pytest.mark.parametrize(
    ("name", "kind", "expected"),
    [
        ("row halves", "staged", {"STS.64": 64, "LDS.128": 4, "BAR.SYNC": 2, "STS": 64, "LDS": 4}),
        ("warp local", "staged", {"STS.64": 64, "LDS.128": 4, "BAR.SYNC": 0, "STS": 64, "LDS": 4}),
        ("fragment", "direct", {"STS": 0, "LDS": 0, "BAR.SYNC": 0, "SHFL": 0}),
    ],
)
def test_nvcc_keeps_a_rolled_chunk_loop_out_of_local_memory(name, kind, expected, tmp_path):
    case = CASES[name]
    plan = case.plan(kind)
    registers, positions = case.placement.size // plan.threads, 16
    chunks = len(plan.schedule)
    threads = plan.threads
    numbers = (threads, registers, registers, threads, chunks, positions, positions, positions, threads)
    source, cubin = tmp_path / "import.cu", tmp_path / "import.cubin"
    source.write_text(DEVICE_PRELUDE + _KERNEL % (emit(plan), *numbers))
    arch = "arch=compute_90a,code=sm_90a"
    done = subprocess.run(
        [NVCC, "-std=c++17", "-O3", "-gencode", arch, "-cubin", "-Xptxas=-v", source, "-o", cubin],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads" in done.stderr
    sass = subprocess.run([NVCC.with_name("nvdisasm"), "-c", cubin], capture_output=True, text=True, check=True).stdout
    assert not re.findall(r"\b(?:LDL|STL)\b", sass)
    assert {op: len(re.findall(rf"\b{re.escape(op)}\b", sass)) for op in expected} == expected
