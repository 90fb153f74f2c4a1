// Package `swiglu_fragment`: the epilogue of a GEMM with SwiGLU, written for a producer that leaves its tile as WGMMA
// does. It demands just that order, so that nothing need move; pairs of lanes join their outputs to 4-byte stores.
#define PL_PACKAGE swiglu_fragment
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
PL_CLAIM_BARRIER(store, pl::claim().ids(1))
PL_WARP(first_warp, "epilogue")

PL_SITE(tile_work, pl::site("epilogue").threads(kThreads).first(0)
                       .guarantees("entered once", "converged", "full warps", "no early return"))

extern "C" __device__ void swiglu_fragment_tile_coord(const pl_context *context, int *m, int *n);
PL_CALL(tile_coord, swiglu_fragment_tile_coord, pl::call().site("tile_work"))

extern "C" __device__ void swiglu_fragment_produce(const pl_context *context, float *frame);
extern "C" __device__ void swiglu_fragment_import(const float *frame, int chunk, float *dst);
PL_IMPORT_TENSOR(accumulator, swiglu_fragment_import, swiglu_fragment_produce,
                 pl::tensor("f32", kTileM, kTileN).chunk("c").site("tile_work").frame(kFrame).barrier("store")
                     .completion("final"),
                 kThreads, kPerChunk, kChunks, [](int t, int p, int c) {
                   return pl::at{t / 32 * 16 + t % 32 / 4 + p / 2 % 2 * 8,
                                 32 * c + p / 4 * 8 + t % 4 * 2 + p % 2};
                 })

// Stores the outputs of v[0..7]: the 8 columns at `unit` of one row and of the row 8 below, whose swizzle is the same.
// Lane q of a quad has columns q (from v[0..3]) and 4 + q (v[4..7]). Even lanes take their odd neighbour's column next
// to their first, odd lanes the even neighbour's next to their second.
static __device__ __forceinline__ void store_unit(unsigned unit, unsigned quad_lane, const float *v) {
  const bool odd = quad_lane % 2 != 0;
  const unsigned first = swiglu_pair(v[0], v[1], v[2], v[3]);   // column q: row, row + 8
  const unsigned second = swiglu_pair(v[4], v[5], v[6], v[7]);  // column 4 + q
  const unsigned own = odd ? second : first;
  const unsigned other = __shfl_xor_sync(~0u, odd ? first : second, 1);
  const unsigned low = odd ? other : own;
  const unsigned high = odd ? own : other;
  const unsigned word = unit + (odd ? 8 + 2 * (quad_lane - 1) : 2 * quad_lane);
  pl::shared_store(word, __byte_perm(low, high, 0x5410));
  pl::shared_store(word + 8 * 128, __byte_perm(low, high, 0x7632));
}

extern "C" __device__ void swiglu_fragment_role(const swiglu_args *args, const pl_context *context) {
  const unsigned thread = threadIdx.x - 32 * PL_HANDLE(first_warp);
  const unsigned row = thread / 32 * 16 + thread % 32 / 4;
  const unsigned out = pl::shared_address(pl_smem) + PL_HANDLE(out);
  float frame[kFrame];
  swiglu_fragment_produce(context, frame);
#pragma unroll
  for (int chunk = 0; chunk < kChunks; ++chunk) {
    float v[kPerChunk];
    swiglu_fragment_import(frame, chunk, v);
    store_unit(out + swiglu_offset(row, 2 * chunk), thread % 4, v);
    store_unit(out + swiglu_offset(row, 2 * chunk + 1), thread % 4, v + 8);
  }
  int m, n;
  swiglu_fragment_tile_coord(context, &m, &n);
  swiglu_store(args, m, n, out, PL_HANDLE(store), thread);
}
PL_ROLE(epilogue, swiglu_fragment_role, pl::role().warps(kThreads / 32).align(4).registers(168, 240).need(160))
