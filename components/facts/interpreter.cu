// Package `interpreter`: runs a stream of instructions. Each block has its own list; four warps run the operators, one
// more copies the pages of their products into a ring, ahead of them. It knows no tile size: those are facts of others.
#define PL_PACKAGE interpreter
#include <pipelink/contract.cuh>
#include <pipelink/ring.cuh>
#include <pipelink/sm90.cuh>

#include "interpreter.h"

#ifndef DEPTH
#define DEPTH 4  // pages of the ring
#endif
#ifndef WORK_WARPS
#define WORK_WARPS 4
#endif

static constexpr int kThreads = 32 * WORK_WARPS;
static constexpr int kPage = 64;  // rows, and elements of K: 128 bytes of bf16, a row of the swizzle
static constexpr unsigned kPageBytes = kPage * kPage * 2;

PL_STAGE("1.0.0")
PL_PARAMS(interpreter_args, staged, w, tile_m, tile_n, chunk_rows, pieces, band_rows, k_steps, first, words)
PL_BUFFER(staged, pl::buffer("bf16", 2).read().align(16))
PL_BUFFER(w, pl::buffer("bf16", 2).read().align(16))
PL_PROVIDER(interpreter_provide, "interpreter_host.c")
PL_FACT(page_size, pl::fact(kPage))
PL_FACT(threads, pl::fact(kThreads))
PL_USE_FACT(tile_m, pl::use().field("tile_m"))
PL_USE_FACT(tile_n, pl::use().field("tile_n"))
PL_USE_FACT(chunk_rows, pl::use().field("chunk_rows"))
PL_USE_FACT(pieces, pl::use().field("pieces"))
PL_USE_FACT(band_rows, pl::use().field("band_rows"))

PL_STREAM(program, pl::stream("work").phases("communicate", "multiply", "activate")
                       .exclusive("communicate", "multiply", "activate"))
PL_CLAIM_BARRIER(meet, pl::claim().ids(1))
PL_SITE(operators, pl::site("work").threads(kThreads).guarantees("converged", "full warps", "no early return"))
PL_SITE(loader, pl::site("load").threads(32).guarantees("converged", "full warps", "no early return"))

// The operators. `ready` returns once the rows of tile `m` may be copied; `earlier` counts products before this one.
extern "C" __device__ void interpreter_communicate(const pl_context *context, int chunk, int piece);
extern "C" __device__ void interpreter_ready(const pl_context *context, int m);
extern "C" __device__ void interpreter_multiply(const pl_context *context, int m, int n, int earlier);
extern "C" __device__ void interpreter_activate(const pl_context *context, int band);
PL_CALL(communicate, interpreter_communicate, pl::call().site("operators"))
PL_CALL(ready, interpreter_ready, pl::call().site("loader"))
PL_CALL(multiply, interpreter_multiply, pl::call().site("operators"))
PL_CALL(activate, interpreter_activate, pl::call().site("operators"))

PL_RING(pages, pl::producer().on("load").depth(DEPTH).full(pl::once()).empty(pl::per_warp()).bytes(kPageBytes))
PL_RING_BUFFER(pages, page, pl::tile(kPage, kPage).of("bf16").swizzle(128).bytes(kPageBytes).align(1024))

extern "C" __device__ void interpreter_init() {
  pl::ring_init(PL_HANDLE(pages_full), PL_HANDLE(pages_depth), PL_HANDLE(pages_full_count));
  pl::ring_init(PL_HANDLE(pages_empty), PL_HANDLE(pages_depth), PL_HANDLE(pages_empty_count));
}
PL_RING_INIT(pages, interpreter_init)

static __device__ int operand_a(unsigned word) { return static_cast<int>(word >> kFieldBits & ((1 << kFieldBits) - 1)); }
static __device__ int operand_b(unsigned word) { return static_cast<int>(word & ((1 << kFieldBits) - 1)); }
static __device__ unsigned operation(unsigned word) { return word >> 2 * kFieldBits; }

// Copies `rows` rows of a matrix from `row` on, at `k`, page by page.
static __device__ void load_pages(const void *map, int k, int row, int rows, pl::ring_state &stage) {
  const unsigned page = pl::shared_address(pl_smem) + PL_HANDLE(page);
  for (int end = row + rows; row < end; row += kPage) {
    pl::ring_wait_empty(PL_HANDLE(pages_empty), stage);
    const unsigned full = pl::ring_expect(PL_HANDLE(pages_full), stage, kPageBytes);
    pl::tensor_load(page + stage.slot * kPageBytes, map, k, row, full);
    stage.advance(PL_HANDLE(pages_depth));
  }
}

extern "C" __device__ void interpreter_load(const interpreter_args *args, const pl_context *context) {
  pl::ring_state stage;
  for (int at = args->first[blockIdx.x]; at < args->first[blockIdx.x + 1]; ++at) {
    const unsigned word = args->words[at];
    if (operation(word) != kMultiply) continue;
    interpreter_ready(context, operand_a(word));
    for (int k = 0; threadIdx.x % 32 == 0 && k < args->k_steps; ++k) {
      load_pages(args->staged, k * kPage, operand_a(word) * args->tile_m, args->tile_m, stage);
      load_pages(args->w, k * kPage, operand_b(word) * args->tile_n, args->tile_n, stage);
    }
    __syncwarp();
  }
}
PL_ROLE(load, interpreter_load, pl::role().warps(1))

extern "C" __device__ void interpreter_work(const interpreter_args *args, const pl_context *context) {
  int products = 0;
  for (int at = args->first[blockIdx.x]; at < args->first[blockIdx.x + 1]; ++at) {
    const unsigned word = args->words[at];
    const int a = operand_a(word), b = operand_b(word);
    switch (operation(word)) {
      case kCommunicate: interpreter_communicate(context, a, b); break;
      case kMultiply: interpreter_multiply(context, a, b, products++); break;
      default: interpreter_activate(context, a);
    }
    pl::barrier_sync(PL_HANDLE(meet), kThreads);  // the next may use the scratch of this one
  }
}
PL_ROLE(work, interpreter_work, pl::role().warps(WORK_WARPS).align(4))
