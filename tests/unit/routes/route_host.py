"""Runs emitted CUDA on the host: one fiber for each thread, switched only where a thread waits in a barrier.

The last thread to arrive goes on at once while all others still wait, so a barrier that is missing shows every time.
"""

import shutil
import subprocess
from pathlib import Path

import numpy as np

GXX = shutil.which("g++")

_PROGRAM = r"""
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ucontext.h>
#define __device__
constexpr unsigned kThreads = @THREADS@, kScratch = @SCRATCH@, kBytes = @BYTES@;
constexpr int kRegisters = @REGISTERS@, kPositions = @POSITIONS@, kRounds = @ROUNDS@;
static const int order[] = {@ORDER@};
static unsigned char smem[kScratch + kBytes];
struct Barrier { unsigned arrived = 0, generation = 0; };
static Barrier cta[16], warps[64];
static ucontext_t scheduler, fibers[kThreads];
static unsigned current;
static bool finished[kThreads];
static float frames[kThreads * kRegisters], out[size_t(kRounds) * kThreads * kPositions];
constexpr size_t kStack = 32768;
static char stacks[kThreads * kStack];

static void meet(Barrier& b, unsigned count) {
  unsigned mine = b.generation;
  if (++b.arrived == count) { b.arrived = 0; ++b.generation; return; }
  while (b.generation == mine) swapcontext(&fibers[current], &scheduler);
}
static unsigned pl_tid() { return current; }
static void pl_sync_cta(unsigned barrier, unsigned threads) { meet(cta[barrier], threads); }
static void pl_sync_warp() { meet(warps[current / 32], 32); }
static unsigned char* at(unsigned address, unsigned width) {
  if (address % width || address < kScratch || address + width > kScratch + kBytes) std::exit(3);
  return smem + address;
}
template <class T> static void pl_st_shared_b32(unsigned p, T a) { std::memcpy(at(p, 4), &a, 4); }
template <class T> static void pl_st_shared_v2(unsigned p, T a, T b) { T v[] = {a, b}; std::memcpy(at(p, 8), v, 8); }
template <class T> static void pl_st_shared_v4(unsigned p, T a, T b, T c, T d) {
  T v[] = {a, b, c, d}; std::memcpy(at(p, 16), v, 16);
}
template <class T> static void pl_ld_shared_b32(unsigned p, T& a) { std::memcpy(&a, at(p, 4), 4); }
template <class T> static void pl_ld_shared_v2(unsigned p, T& a, T& b) {
  T v[2]; std::memcpy(v, at(p, 8), 8); a = v[0]; b = v[1];
}
template <class T> static void pl_ld_shared_v4(unsigned p, T& a, T& b, T& c, T& d) {
  T v[4]; std::memcpy(v, at(p, 16), 16); a = v[0]; b = v[1]; c = v[2]; d = v[3];
}
@BODY@
static void run() {
  unsigned t = current;
  for (int i = 0; i < kRounds; ++i)
    import_tile(&frames[t * kRegisters], order[i], &out[(size_t(i) * kThreads + t) * kPositions]);
  finished[t] = true;
  swapcontext(&fibers[t], &scheduler);
}
int main(int, char** argv) {
  FILE* in = std::fopen(argv[1], "rb");
  if (std::fread(frames, sizeof frames, 1, in) != 1) return 4;
  std::memset(smem, 0xff, sizeof smem);
  std::memset(out, 0xff, sizeof out);
  for (unsigned t = 0; t < kThreads; ++t) {
    getcontext(&fibers[t]);
    fibers[t].uc_stack.ss_sp = &stacks[t * kStack];
    fibers[t].uc_stack.ss_size = kStack;
    makecontext(&fibers[t], run, 0);
  }
  unsigned left = kThreads;
  for (long turn = 0; left && turn < 1000; ++turn)
    for (current = 0; current < kThreads; ++current)
      if (!finished[current]) { swapcontext(&scheduler, &fibers[current]); left -= finished[current]; }
  if (left) return 5;  // a barrier that is never complete
  FILE* result = std::fopen(argv[2], "wb");
  std::fwrite(out, sizeof out, 1, result);
  std::fclose(result);
}
"""

SCRATCH = 1024


def run_on_host(body: str, plan, frames: np.ndarray, positions: int, order: list[int], folder: Path) -> np.ndarray:
    """[len(order), threads, positions] floats that `import_tile` wrote. Raises CalledProcessError where it dies."""
    words = {
        "THREADS": plan.threads,
        "SCRATCH": SCRATCH,
        "BYTES": max(plan.scratch_bytes, 16),
        "REGISTERS": frames.shape[1],
        "POSITIONS": positions,
        "ROUNDS": len(order),
        "ORDER": ", ".join(map(str, order)),
        "BODY": body,
    }
    program = _PROGRAM
    for name, value in words.items():
        program = program.replace(f"@{name}@", str(value))
    source, binary, given, result = (folder / name for name in ("run.cpp", "run", "frames", "result"))
    source.write_text(program)
    subprocess.run([GXX, "-std=c++20", "-O0", "-w", source, "-o", binary], check=True)
    frames.astype(np.float32).tofile(given)
    subprocess.run([binary, given, result], check=True, timeout=60)
    return np.fromfile(result, dtype=np.float32).reshape(len(order), plan.threads, positions)
