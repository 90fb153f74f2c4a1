// Package `selected`: each tile of 128 queries visits its own block of 128 keys, up to each query's key, and blocks
// before it that the caller has chosen, another choice for each head of keys: MiniMax's sparse attention.
#define PL_PACKAGE selected
#include <pipelink/contract.cuh>

#include "selected.h"
#include "tile.cuh"

PL_STAGE("1.0.0")
PL_PARAMS(selected_args, counts, blocks, width, tiles, key_heads, ratio, offset, tile_queries, tile_keys)
PL_BUFFER(q, pl::buffer("bf16", 4).read().align(16))
PL_BUFFER(k, pl::buffer("bf16", 4).read().align(16))
PL_BUFFER(counts, pl::buffer("i32", 3).read().align(4))
PL_BUFFER(blocks, pl::buffer("i32", 4).read().align(4))
PL_PROVIDER(selected_provide, "selected_host.c")
PL_USE_FACT(tile_queries, pl::use().field("tile_queries").requires_(kTileQueries))
PL_USE_FACT(tile_keys, pl::use().field("tile_keys").requires_(kTileKeys))

static __device__ __forceinline__ long long choice_of(const selected_args *args, int row, int head, int batch) {
  const long long heads = static_cast<long long>(batch) * args->key_heads + head / args->ratio;
  return heads * args->tiles + row / kTileQueries;
}

extern "C" __device__ void selected_steps(const selected_args *args, int row, int head, int batch, int *partial,
                                          int *all) {
  *partial = 1;
  *all = 1 + min(max(args->counts[choice_of(args, row, head, batch)], 0), args->width);
}
PL_CALLABLE(steps, selected_steps)

extern "C" __device__ int selected_block(const selected_args *args, int row, int head, int batch, int step) {
  if (step == 0) return (row + args->offset) / kTileKeys;
  return args->blocks[choice_of(args, row, head, batch) * args->width + step - 1];
}
PL_CALLABLE(block, selected_block)

extern "C" __device__ int selected_keep(const selected_args *args, int query, int key, int, int) {
  return key <= query + args->offset;
}
PL_CALLABLE(keep, selected_keep)
