// Package `scheduler`: which tile a block of threads takes next. Blocks stay, and fetch tiles from a counter, the
// longest first, in groups of heads whose keys and values L2 holds together.
#define PL_PACKAGE scheduler
#include <pipelink/contract.cuh>

#include "scheduler.h"
#include "tile.cuh"

PL_STAGE("1.0.0")
PL_PARAMS(scheduler_args, tiles, rows, heads, key_heads, group, tile_queries)
PL_BUFFER(q, pl::buffer("bf16", 4).read().align(16))
PL_BUFFER(k, pl::buffer("bf16", 4).read().align(16))
PL_PROVIDER(scheduler_provide, "scheduler_host.c")
PL_USE_FACT(tile_queries, pl::use().field("tile_queries").requires_(kTileQueries))
PL_CLAIM_COUNTER(fetched, pl::claim().words(1).restart("self"))

// Every block fetches until there are no more, so a launch fetches `tiles` times, and the last fetch leaves zero.
extern "C" __device__ int scheduler_next(const scheduler_args *args, const pl_context *context, int previous) {
  if (previous < 0) return static_cast<int>(blockIdx.x);
  unsigned *fetched = pl_counters(context) + PL_HANDLE(fetched);
  const int count = static_cast<int>(atomicAdd(fetched, 1));
  if (count == args->tiles - 1) atomicExch(fetched, 0);
  const int tile = count + static_cast<int>(gridDim.x);
  return tile < args->tiles ? tile : -1;
}
PL_CALLABLE(next, scheduler_next)

extern "C" __device__ void scheduler_locate(const scheduler_args *args, int tile, int *row, int *head, int *key_head,
                                            int *batch) {
  const int of_group = args->group * args->rows;
  const int within = tile % of_group;
  const int any_head = tile / of_group * args->group + within % args->group;
  *batch = any_head / args->heads;
  *head = any_head % args->heads;
  *key_head = *head / (args->heads / args->key_heads);
  *row = (args->rows - 1 - within / args->group) * kTileQueries;
}
PL_CALLABLE(locate, scheduler_locate)
