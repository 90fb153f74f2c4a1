// Package `gemm`: a tile of staged[M, K] w[N, K]^T from the pages of a ring, on tensor cores. It owns the extents of the
// tile. Its first half waits, on the loader's warp, until the rows of a tile are there.
#define PL_PACKAGE gemm
#include <pipelink/contract.cuh>
#include <pipelink/ring.cuh>
#include <pipelink/sm90.cuh>

#include "counters.cuh"
#include "gemm.h"
#include "mma.cuh"

#ifndef TILE_M
#define TILE_M 64
#endif
#ifndef TILE_N
#define TILE_N 64
#endif
#ifndef PAGE_K
#define PAGE_K 64
#endif
#ifndef RELEASE
#define RELEASE pl::per_warp()
#endif

static constexpr int kThreads = 128;
static constexpr int kPage = 64;  // rows; each warp takes 16 of them
static constexpr unsigned kPageBytes = kPage * PAGE_K * 2;
static constexpr int kPagesM = TILE_M / kPage, kPagesN = TILE_N / kPage;
static constexpr int kPitch = TILE_N + 4;  // floats of a row of the scratch: rows of a store differ in their banks

PL_STAGE("1.0.0")
PL_PARAMS(gemm_args, product, rows, columns, k_steps, chunk_rows, page_size, threads)
PL_BUFFER(x, pl::buffer("bf16", 2).read().align(16))
PL_BUFFER(product, pl::buffer("f32", 2).write().align(16))
PL_PROVIDER(gemm_provide, "gemm_host.c")
PL_FACT(tile_m, pl::fact(TILE_M))
PL_FACT(tile_n, pl::fact(TILE_N))
PL_USE_FACT(page_size, pl::use().field("page_size").requires_(kPage))
PL_USE_FACT(threads, pl::use().field("threads").requires_(kThreads))
PL_USE_FACT(chunk_rows, pl::use().field("chunk_rows"))

PL_RING(pages, pl::consumer().on("multiply").depth(2, 8).full(pl::once()).empty(RELEASE).bytes(kPageBytes))
PL_RING_BUFFER(pages, page, pl::tile(kPage, PAGE_K).of("bf16").swizzle(128).bytes(kPageBytes).align(1024))
PL_COUNTER(staged_rows, pl::waits().on("ready").words(512).scope("gpu").restart("launch"))
PL_COUNTER(done, pl::raises().on("multiply").words(512).scope("gpu").restart("launch").arrivals(pl::once()))
PL_CLAIM_SMEM(scratch, pl::claim().bytes(kPage * kPitch * 4).align(16).phase("multiply"))
PL_CLAIM_BARRIER(meet, pl::claim().ids(1).phase("multiply"))
PL_WARP(first_warp, "multiply")

// Waits for the chunks that hold rows of tile `m`, by a full warp.
extern "C" __device__ void gemm_ready(const gemm_args *args, const pl_context *context, int m) {
  const unsigned *words = pl_counters(context) + PL_HANDLE(staged_rows_base);
  const int end = min((m + 1) * TILE_M, args->rows);
  int chunk = m * TILE_M / args->chunk_rows + threadIdx.x % 32;
  for (; chunk * args->chunk_rows < end; chunk += 32) counter_wait(words + chunk, PL_HANDLE(staged_rows_arrivals));
  __syncwarp();
  fence_async_global();
}
PL_CALLABLE(ready, gemm_ready)

// Adds the products of one step of K: the pages of A go to registers, those of B are used as they come.
static __device__ void multiply_step(float (&c)[kPagesM][TILE_N / 8][4], pl::ring_state &stage, int warp, int lane) {
  const unsigned pages = pl::shared_address(pl_smem) + PL_HANDLE(page);
  unsigned a[kPagesM][4][4];
#pragma unroll
  for (int i = 0; i < kPagesM + kPagesN; ++i) {
    const unsigned page = pages + stage.slot * kPageBytes;
    pl::ring_wait_full(PL_HANDLE(pages_full), stage);
#pragma unroll
    for (int part = 0; part < 16; ++part) {  // 16 of K and, of B, 16 columns
      const int k = part % 4, column = part / 4 * 16;
      unsigned b[4];
      if (i < kPagesM && part < 4)
        load_matrices(a[i][k], page + pl::swizzle_128(16 * warp + lane % 16, 2 * k + lane / 16));
      if (i < kPagesM) continue;
      load_matrices(b, page + pl::swizzle_128(column + lane % 8 + lane / 16 * 8, 2 * k + lane / 8 % 2));
#pragma unroll
      for (int m = 0; m < kPagesM; ++m) {
        float(&tile)[TILE_N / 8][4] = c[m];
        const int at = ((i - kPagesM) * kPage + column) / 8;
        multiply_add(tile[at], a[m][k], b[0], b[1]);
        multiply_add(tile[at + 1], a[m][k], b[2], b[3]);
      }
    }
    __syncwarp();
    pl::ring_release(PL_HANDLE(pages_empty), stage.slot);
    stage.advance(PL_HANDLE(pages_depth));
  }
}

extern "C" __device__ void gemm_multiply(const gemm_args *args, const pl_context *context, int m, int n, int earlier) {
  if (m * TILE_M >= args->rows || n * TILE_N >= args->columns) return;
  const int thread = threadIdx.x - 32 * PL_HANDLE(first_warp);
  const int warp = thread / 32, lane = thread % 32;
  const unsigned before = earlier * args->k_steps * (kPagesM + kPagesN);
  pl::ring_state stage{before % PL_HANDLE(pages_depth), before / PL_HANDLE(pages_depth) % 2};
  float c[kPagesM][TILE_N / 8][4] = {};
#pragma unroll 1
  for (int k = 0; k < args->k_steps; ++k) multiply_step(c, stage, warp, lane);

  float *own = reinterpret_cast<float *>(pl_smem + PL_HANDLE(scratch)) + 16 * warp * kPitch;  // of this warp alone
#pragma unroll
  for (int i = 0; i < kPagesM; ++i) {
    __syncwarp();
#pragma unroll
    for (int j = 0; j < TILE_N / 8; ++j) {
      float *at = own + lane / 4 * kPitch + 8 * j + lane % 4 * 2;
      *reinterpret_cast<float2 *>(at) = make_float2(c[i][j][0], c[i][j][1]);
      *reinterpret_cast<float2 *>(at + 8 * kPitch) = make_float2(c[i][j][2], c[i][j][3]);
    }
    __syncwarp();
    for (int u = lane; u < 16 * TILE_N / 4; u += 32) {
      const int row = u / (TILE_N / 4), column = u % (TILE_N / 4) * 4;
      const int y = m * TILE_M + i * kPage + 16 * warp + row, x = n * TILE_N + column;
      if (y >= args->rows || x >= args->columns) continue;
      const float4 v = *reinterpret_cast<const float4 *>(own + row * kPitch + column);
      *reinterpret_cast<float4 *>(args->product + static_cast<long long>(y) * args->columns + x) = v;
    }
  }
  pl::barrier_sync(PL_HANDLE(meet), kThreads);
  const int tiles_m = (args->rows + TILE_M - 1) / TILE_M;
  if (thread == 0) counter_raise(pl_counters(context) + PL_HANDLE(done_base) + n * tiles_m + m);
}
PL_CALLABLE(multiply, gemm_multiply)
