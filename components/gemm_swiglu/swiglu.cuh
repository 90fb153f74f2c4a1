// What the SwiGLU epilogues share: the activation, and the way of the output tile from shared to global memory. Columns
// 2j and 2j + 1 of the product are gate and up of output column j.
#pragma once

#include <pipelink/sm90.cuh>

#include "swiglu.h"

static constexpr int kTileM = 128;
static constexpr int kTileN = 256;
static constexpr int kThreads = 256;
static constexpr int kFrame = kTileM * kTileN / kThreads;
static constexpr int kChunks = 8;  // of 32 columns
static constexpr int kPerChunk = kFrame / kChunks;
static constexpr int kHalfColumns = 64;  // of the output tile: 128 bytes, a row of the swizzle
static constexpr unsigned kHalfBytes = kTileM * kHalfColumns * 2;
static constexpr unsigned kOutBytes = 2 * kHalfBytes;

// silu(g0) u0 and silu(g1) u1 in bf16, g0's low; silu(g) = g / (1 + 2^(-g log2 e)). One reciprocal serves both: 1/a is
// b (1/(a b)). The clamp keeps a b finite; where it acts, for g < -41, the result is off by less than 2^-59 |g u|.
static __device__ __forceinline__ unsigned swiglu_pair(float g0, float u0, float g1, float u1) {
  constexpr float kLog2E = 1.4426950408889634f;
  const float a = 1 + pl::exp2_approximate(fminf(-kLog2E * g0, 60));
  const float b = 1 + pl::exp2_approximate(fminf(-kLog2E * g1, 60));
  const float r = pl::reciprocal_approximate(a * b);
  return pl::pack_bf16(g0 * u0 * (r * b), g1 * u1 * (r * a));
}

// Offset of the 16-byte unit `unit`, 8 output columns, of a row of the output tile: two halves of 64 columns, each
// swizzled.
static __device__ __forceinline__ unsigned swiglu_offset(unsigned row, unsigned unit) {
  return unit / 8 * kHalfBytes + pl::swizzle_128(row, unit % 8);
}

// Stores the tile at `out`, to which all of the role's threads have written, as tile (m, n) of the output. Thread 0
// returns once the copy has ended.
static __device__ __forceinline__ void swiglu_store(const swiglu_args *args, int m, int n, unsigned out,
                                                    unsigned barrier, unsigned thread) {
  pl::fence_proxy_async();
  pl::barrier_sync(barrier, kThreads);
  if (thread != 0) return;
  const int x = n * (args->tile_n / 2);
  const int y = m * args->tile_m;
  pl::tensor_store(args->out, x, y, out);
  pl::tensor_store(args->out, x + kHalfColumns, y, out + kHalfBytes);
  pl::bulk_commit();
  pl::bulk_wait<0>();
}
