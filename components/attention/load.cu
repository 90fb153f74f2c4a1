// Package `load`: one warp copies the queries of each tile, and the blocks of keys and values that its steps visit,
// into rings in shared memory. Ragged ends need no code: tensor copies fill what lies outside with zeros.
#define PL_PACKAGE load
#include <pipelink/contract.cuh>
#include <pipelink/ring.cuh>
#include <pipelink/sm90.cuh>

#include "load.h"
#include "sm90.cuh"
#include "tile.cuh"

PL_STAGE("1.0.0")
PL_PARAMS(load_args, q, k, v, tile_queries, tile_keys, head_size)
PL_BUFFER(q, pl::buffer("bf16", 4).read().align(16))
PL_BUFFER(k, pl::buffer("bf16", 4).read().align(16))
PL_BUFFER(v, pl::buffer("bf16", 4).read().align(16))
PL_PROVIDER(load_provide, "load_host.c")
PL_USE_FACT(tile_queries, pl::use().field("tile_queries").requires_(kTileQueries))
PL_USE_FACT(tile_keys, pl::use().field("tile_keys").requires_(kTileKeys))
PL_USE_FACT(head_size, pl::use().field("head_size").requires_(kHeadSize))

// Keys are deepened first, by their name: a stage of them is held until its weights have been found right, and the core
// gives queries back at once.
PL_RING(work, pl::producer().on("tma").depth(2, 2).full(pl::once()).empty(pl::per_warp()).proxy("generic"))
PL_RING_BUFFER(work, tile, pl::tile(4).of("i32").bytes(16).align(16))
PL_RING(queries, pl::producer().on("tma").depth(1, 2).full(pl::once()).empty(pl::per_warp()).bytes(kQueryBytes)
                     .drains())
PL_RING_BUFFER(queries, q, pl::tile(kTileQueries, kHeadSize).of("bf16").swizzle(128).bytes(kQueryBytes).align(1024))
PL_RING(keys, pl::producer().on("tma").depth(2, 4).full(pl::once()).empty(pl::per_warp()).bytes(kBlockBytes).drains())
PL_RING_BUFFER(keys, k, pl::tile(kTileKeys, kHeadSize).of("bf16").swizzle(128).bytes(kBlockBytes).align(1024))
PL_RING(values, pl::producer().on("tma").depth(2, 4).full(pl::once()).empty(pl::per_warp()).bytes(kBlockBytes).drains())
PL_RING_BUFFER(values, v, pl::tile(kTileKeys, kHeadSize).of("bf16").swizzle(128).bytes(kBlockBytes).align(1024))

// The tile after `previous`, or the first of this block of threads where that is negative; negative: no more.
extern "C" __device__ int load_next(const pl_context *context, int previous);
extern "C" __device__ void load_locate(const pl_context *context, int tile, int *row, int *head, int *key_head,
                                       int *batch);
// As the core sees a tile's steps.
extern "C" __device__ void load_steps(const pl_context *context, int row, int head, int batch, int *partial, int *all);
extern "C" __device__ int load_block(const pl_context *context, int row, int head, int batch, int step);
PL_CALL(next, load_next, pl::call())
PL_CALL(locate, load_locate, pl::call())
PL_CALL(steps, load_steps, pl::call())
PL_CALL(block, load_block, pl::call())

extern "C" __device__ void load_init() {
  pl::ring_init(PL_HANDLE(work_full), PL_HANDLE(work_depth), PL_HANDLE(work_full_count));
  pl::ring_init(PL_HANDLE(work_empty), PL_HANDLE(work_depth), PL_HANDLE(work_empty_count));
  pl::ring_init(PL_HANDLE(queries_full), PL_HANDLE(queries_depth), PL_HANDLE(queries_full_count));
  pl::ring_init(PL_HANDLE(queries_empty), PL_HANDLE(queries_depth), PL_HANDLE(queries_empty_count));
  pl::ring_init(PL_HANDLE(keys_full), PL_HANDLE(keys_depth), PL_HANDLE(keys_full_count));
  pl::ring_init(PL_HANDLE(keys_empty), PL_HANDLE(keys_depth), PL_HANDLE(keys_empty_count));
  pl::ring_init(PL_HANDLE(values_full), PL_HANDLE(values_depth), PL_HANDLE(values_full_count));
  pl::ring_init(PL_HANDLE(values_empty), PL_HANDLE(values_depth), PL_HANDLE(values_empty_count));
}
PL_RING_INIT(work, load_init)
PL_RING_INIT(queries, load_init)
PL_RING_INIT(keys, load_init)
PL_RING_INIT(values, load_init)

// Says which tile comes next, or that none does: the fourth word.
static __device__ __forceinline__ void announce(pl::ring_state &at, int4 tile) {
  pl::ring_wait_empty(PL_HANDLE(work_empty), at);
  *reinterpret_cast<int4 *>(pl_smem + PL_HANDLE(tile) + 16 * at.slot) = tile;
  pl::mbarrier_arrive(pl::ring_barrier(PL_HANDLE(work_full), at.slot));
  at.advance(PL_HANDLE(work_depth));
}

static __device__ __forceinline__ void load_queries(const load_args *args, pl::ring_state &at, int row, int head,
                                                    int batch) {
  pl::ring_wait_empty(PL_HANDLE(queries_empty), at);
  const unsigned full = pl::ring_expect(PL_HANDLE(queries_full), at, kQueryBytes);
  attention_load(pl::shared_address(pl_smem) + PL_HANDLE(q) + at.slot * kQueryBytes, args->q, row, head, batch, full);
  at.advance(PL_HANDLE(queries_depth));
}

static __device__ __forceinline__ void load_keys(const load_args *args, pl::ring_state &at, int block, int head,
                                                 int batch) {
  pl::ring_wait_empty(PL_HANDLE(keys_empty), at);
  const unsigned full = pl::ring_expect(PL_HANDLE(keys_full), at, kBlockBytes);
  attention_load(pl::shared_address(pl_smem) + PL_HANDLE(k) + at.slot * kBlockBytes, args->k, block * kTileKeys, head,
                 batch, full);
  at.advance(PL_HANDLE(keys_depth));
}

static __device__ __forceinline__ void load_values(const load_args *args, pl::ring_state &at, int block, int head,
                                                   int batch) {
  pl::ring_wait_empty(PL_HANDLE(values_empty), at);
  const unsigned full = pl::ring_expect(PL_HANDLE(values_full), at, kBlockBytes);
  attention_load(pl::shared_address(pl_smem) + PL_HANDLE(v) + at.slot * kBlockBytes, args->v, block * kTileKeys, head,
                 batch, full);
  at.advance(PL_HANDLE(values_depth));
}

// Keys run one block ahead of values, as the core consumes them.
extern "C" __device__ void load_role(const load_args *args, const pl_context *context) {
  if (threadIdx.x % 32 != 0) return;
  pl::ring_state work, queries, keys, values;
  for (int tile = load_next(context, -1); tile >= 0; tile = load_next(context, tile)) {
    int row, head, key_head, batch, partial, all;
    load_locate(context, tile, &row, &head, &key_head, &batch);
    load_steps(context, row, head, batch, &partial, &all);
    announce(work, make_int4(row, head, batch, 1));
    load_queries(args, queries, row, head, batch);
    int previous = 0;
    for (int step = 0; step < all; ++step) {
      const int block = load_block(context, row, head, batch, step);
      load_keys(args, keys, block, key_head, batch);
      if (step > 0) load_values(args, values, previous, key_head, batch);
      previous = block;
    }
    if (all > 0) load_values(args, values, previous, key_head, batch);
  }
  announce(work, make_int4(0, 0, 0, 0));
}
PL_ROLE(tma, load_role, pl::role().warps(1).registers(24, 40).need(40))
