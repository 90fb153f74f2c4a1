// Package `load`: one warp copies the operand tiles of x[M, K] w[N, K]^T into a ring in shared memory, and says which
// tile of the product a block computes. Ragged edges need no code: tensor copies fill what lies outside with zeros.
#define PL_PACKAGE load
#include <pipelink/contract.cuh>
#include <pipelink/ring.cuh>
#include <pipelink/sm90.cuh>

#include "load.h"

static constexpr int kTileM = 128;
static constexpr int kTileN = 256;
static constexpr int kTileK = 64;  // 128 bytes of bf16: a row of the swizzle
static constexpr unsigned kBytesA = kTileM * kTileK * 2;
static constexpr unsigned kBytesB = kTileN * kTileK * 2;

PL_STAGE("1.0.0")
PL_PARAMS(load_args, a, b, k_tiles, tiles_m, tiles_n, group, tile_m, tile_n, tile_k)
PL_BUFFER(x, pl::buffer("bf16", 2).read().align(16))
PL_BUFFER(w, pl::buffer("bf16", 2).read().align(16))
PL_PROVIDER(load_provide, "load_host.c")
PL_USE_FACT(tile_m, pl::use().field("tile_m").requires_(kTileM))
PL_USE_FACT(tile_n, pl::use().field("tile_n").requires_(kTileN))
PL_USE_FACT(tile_k, pl::use().field("tile_k").requires_(kTileK))

PL_RING(ab, pl::producer().on("tma").depth(2, 8).full(pl::once()).empty(pl::per_warp()).bytes(kBytesA + kBytesB)
                .drains())
PL_RING_BUFFER(ab, a, pl::tile(kTileM, kTileK).of("bf16").swizzle(128).bytes(kBytesA).align(1024))
PL_RING_BUFFER(ab, b, pl::tile(kTileN, kTileK).of("bf16").swizzle(128).bytes(kBytesB).align(1024))
PL_CLAIM_SMEM(bias, pl::claim().bytes(kTileN * 2 * sizeof(float)).align(16))

// Tile of the product that this block computes. Blocks walk bands of `group` tiles of M, down each column of the band
// first: the blocks that run at one time share few rows of x and w, which stay in L2.
extern "C" __device__ void load_tile_coord(const load_args *args, int *m, int *n) {
  const int band_tiles = args->group * args->tiles_n;
  const int band = static_cast<int>(blockIdx.x) / band_tiles;
  const int within = static_cast<int>(blockIdx.x) % band_tiles;
  const int first = band * args->group;
  const int height = min(args->tiles_m - first, args->group);
  *m = first + within % height;
  *n = within / height;
}
PL_CALLABLE(tile_coord, load_tile_coord)

// Copies scale and bias of the tile's columns to shared memory, by one full warp, and returns them as pairs; columns
// from `columns` on, outside of the product, get zeros.
extern "C" __device__ const float *load_stage_bias(const load_args *args, const float *scale, const float *bias,
                                                   int columns) {
  int m, n;
  load_tile_coord(args, &m, &n);
  float *staged = reinterpret_cast<float *>(pl_smem + PL_HANDLE(bias));
  for (int i = threadIdx.x % 32; i < kTileN; i += 32) {
    const int column = n * args->tile_n + i;
    staged[2 * i] = column < columns ? scale[column] : 0;
    staged[2 * i + 1] = column < columns ? bias[column] : 0;
  }
  __syncwarp();
  return staged;
}
PL_CALLABLE(stage_bias, load_stage_bias)

extern "C" __device__ void load_init() {
  pl::ring_init(PL_HANDLE(ab_full), PL_HANDLE(ab_depth), PL_HANDLE(ab_full_count));
  pl::ring_init(PL_HANDLE(ab_empty), PL_HANDLE(ab_depth), PL_HANDLE(ab_empty_count));
}
PL_RING_INIT(ab, load_init)

extern "C" __device__ void load_role(const load_args *args) {
  if (threadIdx.x % 32 != 0) return;
  int m, n;
  load_tile_coord(args, &m, &n);
  const unsigned a = pl::shared_address(pl_smem) + PL_HANDLE(a);
  const unsigned b = pl::shared_address(pl_smem) + PL_HANDLE(b);
  pl::ring_state stage;
  for (int k = 0; k < args->k_tiles; ++k) {
    pl::ring_wait_empty(PL_HANDLE(ab_empty), stage);
    const unsigned full = pl::ring_expect(PL_HANDLE(ab_full), stage, kBytesA + kBytesB);
    pl::tensor_load(a + stage.slot * kBytesA, args->a, k * args->tile_k, m * args->tile_m, full);
    pl::tensor_load(b + stage.slot * kBytesB, args->b, k * args->tile_k, n * args->tile_n, full);
    stage.advance(PL_HANDLE(ab_depth));
  }
}
PL_ROLE(tma, load_role, pl::role().warps(1).registers(24, 56).need(24))
