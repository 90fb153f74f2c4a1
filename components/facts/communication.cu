// Package `communication`: copies x to where the product reads it, chunk by chunk of rows, each in pieces of its
// columns, and raises a chunk's counter for every piece that is there. It owns the shape of chunks.
#define PL_PACKAGE communication
#include <pipelink/contract.cuh>
#include <pipelink/sm90.cuh>

#include "communication.h"
#include "counters.cuh"

#ifndef CHUNK_ROWS
#define CHUNK_ROWS 32
#endif
#ifndef PIECES
#define PIECES 4
#endif

static constexpr int kThreads = 128;
static constexpr int kFlights = 4;        // copies of 16 bytes that a thread has in flight
static constexpr int kElements = 16 / 2;  // of bf16, in a copy

PL_STAGE("1.0.0")
PL_PARAMS(communication_args, x, staged, rows, columns, threads)
PL_BUFFER(x, pl::buffer("bf16", 2).read().align(16))
PL_BUFFER(staged, pl::buffer("bf16", 2).write().align(16))
PL_PROVIDER(communication_provide, "communication_host.c")
PL_FACT(chunk_rows, pl::fact(CHUNK_ROWS))
PL_FACT(pieces, pl::fact(PIECES))
PL_USE_FACT(threads, pl::use().field("threads").requires_(kThreads))

#ifdef PEER  // as it would be for a copy to another device
PL_COUNTER(staged_rows, pl::raises().on("communicate").words(512).scope("system").restart("epoch")
                            .arrivals(pl::once(PIECES)))
#else
PL_COUNTER(staged_rows, pl::raises().on("communicate").words(512).scope("gpu").restart("launch")
                            .arrivals(pl::once(PIECES)))
#endif
PL_CLAIM_SMEM(scratch, pl::claim().bytes(kThreads * kFlights * 16).align(16).phase("communicate"))
PL_CLAIM_BARRIER(meet, pl::claim().ids(1).phase("communicate"))
PL_WARP(first_warp, "communicate")

// Each thread reads from the scratch only what it has copied there itself.
extern "C" __device__ void communication_communicate(const communication_args *args, const pl_context *context,
                                                     int chunk, int piece) {
  const int row = chunk * CHUNK_ROWS;
  if (row >= args->rows || piece >= PIECES) return;
  const int thread = threadIdx.x - 32 * PL_HANDLE(first_warp);
  const unsigned scratch = pl::shared_address(pl_smem) + PL_HANDLE(scratch) + thread * 16;
  const int width = args->columns / PIECES / kElements;
  const int copies = min(CHUNK_ROWS, args->rows - row) * width;
  const int pitch = args->columns / kElements;
  const int first = row * pitch + piece * width;
  const uint4 *x = static_cast<const uint4 *>(args->x);
  uint4 *staged = static_cast<uint4 *>(args->staged);
  for (int base = thread; base < copies; base += kThreads * kFlights) {
#pragma unroll
    for (int flight = 0; flight < kFlights; ++flight) {
      const int i = base + flight * kThreads;
      if (i < copies) copy_start(scratch + flight * kThreads * 16, x + first + i / width * pitch + i % width);
    }
    copies_wait();
#pragma unroll
    for (int flight = 0; flight < kFlights; ++flight) {
      const int i = base + flight * kThreads;
      if (i < copies) staged[first + i / width * pitch + i % width] = shared_load(scratch + flight * kThreads * 16);
    }
  }
  fence_async_global();
  pl::barrier_sync(PL_HANDLE(meet), kThreads);
  if (thread == 0) counter_raise(pl_counters(context) + PL_HANDLE(staged_rows_base) + chunk);
}
PL_CALLABLE(communicate, communication_communicate)
