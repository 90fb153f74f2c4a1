// A mask in which each query sees the keys of one range, that moves on with the queries. Include it after `seen_by`,
// which says what the query at position `query` sees: query i of a tensor stands at key i + keys - queries.
#include <pipelink/contract.cuh>

#include "mask.h"
#include "tile.cuh"

PL_STAGE("1.0.0")
PL_PARAMS(mask_args, queries, keys, span, tile_queries, tile_keys)
PL_BUFFER(q, pl::buffer("bf16", 4).read().align(16))
PL_BUFFER(k, pl::buffer("bf16", 4).read().align(16))
PL_PROVIDER(mask_provide, "mask_host.c")
PL_USE_FACT(tile_queries, pl::use().field("tile_queries").requires_(kTileQueries))
PL_USE_FACT(tile_keys, pl::use().field("tile_keys").requires_(kTileKeys))

// Blocks of a tile: low to high - 1 hold a key that some query sees, full_low to full_high - 1 only such as all see.
struct blocks {
  int low, full_low, full_high, high;
};

static __device__ __forceinline__ blocks blocks_of(const mask_args *args, int row) {
  const int offset = args->keys - args->queries;
  const range top = seen_by(args, row + offset);
  const range bottom = seen_by(args, min(row + kTileQueries, args->queries) - 1 + offset);
  blocks b;
  b.low = max(top.first, 0) / kTileKeys;
  b.high = max((bottom.last + kTileKeys) / kTileKeys, b.low);
  b.full_low = min((max(bottom.first, 0) + kTileKeys - 1) / kTileKeys, b.high);
  b.full_high = max((top.last + 1) / kTileKeys, b.full_low);
  return b;
}

extern "C" __device__ void mask_steps(const mask_args *args, int row, int, int, int *partial, int *all) {
  const blocks b = blocks_of(args, row);
  *all = b.high - b.low;
  *partial = *all - (b.full_high - b.full_low);
}
PL_CALLABLE(steps, mask_steps)

// First the partial blocks, those at the high end before those at the low end, then the full ones; all downwards.
extern "C" __device__ int mask_block(const mask_args *args, int row, int, int, int step) {
  const blocks b = blocks_of(args, row);
  const int high = b.high - b.full_high, partial = high + b.full_low - b.low;
  if (step < high) return b.high - 1 - step;
  return (step < partial ? b.full_low : b.full_high + b.full_low - b.low) - 1 - (step - high);
}
PL_CALLABLE(block, mask_block)

extern "C" __device__ int mask_keep(const mask_args *args, int query, int key, int, int) {
  const range seen = seen_by(args, query + args->keys - args->queries);
  return key >= seen.first && key <= seen.last;
}
PL_CALLABLE(keep, mask_keep)
