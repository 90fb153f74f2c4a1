// Package `mainloop`: two warpgroups multiply the tiles of a ring and leave the product, 128 x 256 f32, in the
// registers of their caller. It owns the extents of the tile.
#define PL_PACKAGE mainloop
#include <pipelink/contract.cuh>
#include <pipelink/ring.cuh>
#include <pipelink/sm90.cuh>

#include "mainloop.h"

static constexpr int kTileM = 128;
static constexpr int kTileN = 256;
static constexpr int kTileK = 64;
static constexpr int kThreads = 256;
static constexpr int kRegisters = kTileM * kTileN / kThreads;
static constexpr unsigned kBytesA = kTileM * kTileK * 2;
static constexpr unsigned kBytesB = kTileN * kTileK * 2;

PL_STAGE("1.0.0")
PL_PARAMS(mainloop_args, k_tiles)
PL_BUFFER(x, pl::buffer("bf16", 2).read().align(16))
PL_PROVIDER(mainloop_provide, "mainloop_host.c")
PL_FACT(tile_m, pl::fact(kTileM))
PL_FACT(tile_n, pl::fact(kTileN))
PL_FACT(tile_k, pl::fact(kTileK))

PL_RING(ab, pl::consumer().on("accumulator").depth(2, 8).full(pl::once()).empty(pl::per_warp())
                .bytes(kBytesA + kBytesB))
PL_RING_BUFFER(ab, a, pl::tile(kTileM, kTileK).of("bf16").swizzle(128).bytes(kBytesA).align(1024)
                          .between("begin", "accumulator.ready"))
PL_RING_BUFFER(ab, b, pl::tile(kTileN, kTileK).of("bf16").swizzle(128).bytes(kBytesB).align(1024)
                          .between("begin", "accumulator.ready"))
PL_WARP(first_warp, "accumulator")

// A stage's four products run while the next stage is awaited, so the stage before is released one step late. The first
// product overwrites the frame, which needs no zeros.
extern "C" __device__ void mainloop_produce(const mainloop_args *args, float *frame) {
  float(&accumulator)[kRegisters] = *reinterpret_cast<float(*)[kRegisters]>(frame);
  const unsigned warpgroup = __shfl_sync(~0u, (threadIdx.x / 32 - PL_HANDLE(first_warp)) / 4, 0);
  const unsigned a = pl::shared_address(pl_smem) + PL_HANDLE(a) + warpgroup * (kBytesA / 2);
  const unsigned b = pl::shared_address(pl_smem) + PL_HANDLE(b);
  pl::ring_state stage;
  unsigned previous = 0;
  for (int k = 0; k < args->k_tiles; ++k) {
    pl::ring_wait_full(PL_HANDLE(ab_full), stage);
    const unsigned long long a_tile = pl::wgmma_descriptor(a + stage.slot * kBytesA);
    const unsigned long long b_tile = pl::wgmma_descriptor(b + stage.slot * kBytesB);
    pl::wgmma_fence();
#pragma unroll
    for (int i = 0; i < kTileK / 16; ++i)
      pl::wgmma_m64n256k16(accumulator, a_tile + i * pl::kWgmmaNextK, b_tile + i * pl::kWgmmaNextK, k > 0 || i > 0);
    pl::wgmma_commit();
    pl::wgmma_wait<1>();
    if (k > 0) pl::ring_release(PL_HANDLE(ab_empty), previous);
    previous = stage.slot;
    stage.advance(PL_HANDLE(ab_depth));
  }
  pl::wgmma_wait<0>();
  pl::ring_release(PL_HANDLE(ab_empty), previous);
}
PL_EXPORT_TENSOR(accumulator, mainloop_produce,
                 pl::tensor("f32", kTileM, kTileN).frame(kRegisters).threads(kThreads).align(128)
                     .requires_("converged", "full warps").completion("final"),
                 kThreads, kRegisters, [](int t, int r) {
                   return pl::at{t / 32 * 16 + t % 32 / 4 + r / 2 % 2 * 8, r / 4 * 8 + t % 4 * 2 + r % 2};
                 })
