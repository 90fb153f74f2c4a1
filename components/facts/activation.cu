// Package `activation`: out = silu(product), band by band of rows, each once all tiles of the product that have rows of
// it are there. It owns the height of a band.
#define PL_PACKAGE activation
#include <pipelink/contract.cuh>
#include <pipelink/sm90.cuh>

#include "activation.h"
#include "counters.cuh"

#ifndef BAND_ROWS
#define BAND_ROWS 64
#endif
#ifndef PHASE
#define PHASE "activate"
#endif

static constexpr int kThreads = 128;
static constexpr int kFlights = 4;  // copies of 16 bytes that a thread has in flight

PL_STAGE("1.0.0")
PL_PARAMS(activation_args, product, out, rows, columns, tile_m, tile_n, threads)
PL_BUFFER(product, pl::buffer("f32", 2).read().align(16))
PL_BUFFER(out, pl::buffer("f32", 2).write().align(16))
PL_PROVIDER(activation_provide, "activation_host.c")
PL_FACT(band_rows, pl::fact(BAND_ROWS))
PL_USE_FACT(tile_m, pl::use().field("tile_m"))
PL_USE_FACT(tile_n, pl::use().field("tile_n"))
PL_USE_FACT(threads, pl::use().field("threads").requires_(kThreads))

PL_COUNTER(done, pl::waits().on("activate").words(512).scope("gpu").restart("launch"))
PL_CLAIM_SMEM(scratch, pl::claim().bytes(kThreads * kFlights * 16).align(16).phase(PHASE))
PL_CLAIM_BARRIER(meet, pl::claim().ids(1).phase("activate"))
PL_WARP(first_warp, "activate")

// x / (1 + 2^(-x log2 e)); where the power overflows the result is 0.
static __device__ float silu(float x) {
  return x * pl::reciprocal_approximate(1 + pl::exp2_approximate(-1.4426950408889634f * x));
}

static __device__ void wait_for_tiles(const activation_args *args, const unsigned *words, int row, int end, int thread) {
  const int tiles_m = (args->rows + args->tile_m - 1) / args->tile_m;
  const int tiles_n = (args->columns + args->tile_n - 1) / args->tile_n;
  const int first = row / args->tile_m;
  const int height = (end - 1) / args->tile_m - first + 1;
  for (int i = thread; i < height * tiles_n; i += kThreads)
    counter_wait(words + i / height * tiles_m + first + i % height, PL_HANDLE(done_arrivals));
  pl::barrier_sync(PL_HANDLE(meet), kThreads);
}

#ifdef BY_TILE  // an operator that wants to be told the columns too
extern "C" __device__ void activation_activate(const activation_args *args, const pl_context *context, int band, int) {
#else
extern "C" __device__ void activation_activate(const activation_args *args, const pl_context *context, int band) {
#endif
  const int row = band * BAND_ROWS, end = min(row + BAND_ROWS, args->rows);
  if (row >= end) return;
  const int thread = threadIdx.x - 32 * PL_HANDLE(first_warp);
  wait_for_tiles(args, pl_counters(context) + PL_HANDLE(done_base), row, end, thread);
  const unsigned scratch = pl::shared_address(pl_smem) + PL_HANDLE(scratch) + thread * 16;
  const long long first = static_cast<long long>(row) * args->columns;
  const float4 *product = reinterpret_cast<const float4 *>(args->product + first);
  float4 *out = reinterpret_cast<float4 *>(args->out + first);
  const int copies = (end - row) * (args->columns / 4);
  for (int base = thread; base < copies; base += kThreads * kFlights) {
#pragma unroll
    for (int flight = 0; flight < kFlights; ++flight)
      if (base + flight * kThreads < copies)
        copy_start(scratch + flight * kThreads * 16, product + base + flight * kThreads);
    copies_wait();
#pragma unroll
    for (int flight = 0; flight < kFlights; ++flight) {
      if (base + flight * kThreads >= copies) continue;
      const uint4 v = shared_load(scratch + flight * kThreads * 16);
      out[base + flight * kThreads] = make_float4(silu(__uint_as_float(v.x)), silu(__uint_as_float(v.y)),
                                                  silu(__uint_as_float(v.z)), silu(__uint_as_float(v.w)));
    }
  }
}
PL_CALLABLE(activate, activation_activate)
