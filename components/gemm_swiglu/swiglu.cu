// Package `swiglu`: the epilogue of a GEMM with SwiGLU. Each thread takes half a row of a chunk, 16 columns, whichever
// thread the producer left them in: 8 outputs, one 16-byte store.
#define PL_PACKAGE swiglu
#include <pipelink/contract.cuh>
#include <pipelink/sm90.cuh>

#include "swiglu.cuh"

PL_STAGE("1.0.0")
PL_PARAMS(swiglu_args, out, tile_m, tile_n)
PL_BUFFER(x, pl::buffer("bf16", 2).read().align(16))
PL_BUFFER(w, pl::buffer("bf16", 2).read().align(16))
PL_BUFFER(out, pl::buffer("bf16", 2).write().align(16))
PL_PROVIDER(swiglu_provide, "swiglu_host.c")
PL_USE_FACT(tile_m, pl::use().field("tile_m").requires_(kTileM))
PL_USE_FACT(tile_n, pl::use().field("tile_n").requires_(kTileN))

PL_CLAIM_SMEM(out, pl::claim().bytes(kOutBytes).align(1024).tile(kTileM, kTileN / 2).of("bf16").swizzle(128)
                       .between("accumulator.ready", "end"))
PL_CLAIM_SMEM(scratch, pl::claim().bytes(16384).align(128).between("accumulator.ready", "accumulator.done"))
PL_CLAIM_BARRIER(exchange, pl::claim().ids(1))
PL_CLAIM_BARRIER(store, pl::claim().ids(1))
PL_WARP(first_warp, "epilogue")

PL_SITE(tile_work, pl::site("epilogue").threads(kThreads).first(0)
                       .guarantees("entered once", "converged", "full warps", "no early return"))

extern "C" __device__ void swiglu_tile_coord(const pl_context *context, int *m, int *n);
PL_CALL(tile_coord, swiglu_tile_coord, pl::call().site("tile_work"))

extern "C" __device__ void swiglu_produce(const pl_context *context, float *frame);
extern "C" __device__ void swiglu_import(const float *frame, int chunk, float *dst);
PL_IMPORT_TENSOR(accumulator, swiglu_import, swiglu_produce,
                 pl::tensor("f32", kTileM, kTileN).chunk("c").site("tile_work").frame(kFrame).scratch("scratch")
                     .barrier("exchange").completion("final"),
                 kThreads, kPerChunk, kChunks, [](int t, int p, int c) {
                   return pl::at{t % 128, 32 * c + 16 * (t / 128) + p};
                 })

extern "C" __device__ void swiglu_role(const swiglu_args *args, const pl_context *context) {
  const unsigned thread = threadIdx.x - 32 * PL_HANDLE(first_warp);
  const unsigned out = pl::shared_address(pl_smem) + PL_HANDLE(out);
  float frame[kFrame];
  swiglu_produce(context, frame);
#pragma unroll
  for (int chunk = 0; chunk < kChunks; ++chunk) {
    float v[kPerChunk];
    swiglu_import(frame, chunk, v);
    pl::shared_store(out + swiglu_offset(thread % 128, 2 * chunk + thread / 128), swiglu_pair(v[0], v[1], v[2], v[3]),
                     swiglu_pair(v[4], v[5], v[6], v[7]), swiglu_pair(v[8], v[9], v[10], v[11]),
                     swiglu_pair(v[12], v[13], v[14], v[15]));
  }
  int m, n;
  swiglu_tile_coord(context, &m, &n);
  swiglu_store(args, m, n, out, PL_HANDLE(store), thread);
}
PL_ROLE(epilogue, swiglu_role, pl::role().warps(kThreads / 32).align(4).registers(168, 240).need(160))
