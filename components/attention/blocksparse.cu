// Package `blocksparse`: Phi-3's mask. A query sees `local` blocks of 64 keys up to its own key, and before those one
// block of `stride`, another one for each head. A tile visits only blocks that some query of it sees.
#define PL_PACKAGE blocksparse
#include <pipelink/contract.cuh>

#include "blocksparse.h"
#include "tile.cuh"

static constexpr int kBlocks = kTileKeys / kBlock;  // of a tile

PL_STAGE("1.0.0")
PL_PARAMS(blocksparse_args, offset, local, stride, slide, tile_queries, tile_keys)
PL_BUFFER(q, pl::buffer("bf16", 4).read().align(16))
PL_BUFFER(k, pl::buffer("bf16", 4).read().align(16))
PL_ARGUMENT(local_blocks, "i32")
PL_ARGUMENT(vertical_stride, "i32")
PL_PROVIDER(blocksparse_provide, "blocksparse_host.c")
PL_USE_FACT(tile_queries, pl::use().field("tile_queries").requires_(kTileQueries))
PL_USE_FACT(tile_keys, pl::use().field("tile_keys").requires_(kTileKeys))

// The steps of a tile: its own block of keys, the one that its first queries still see in part, those of the stride
// before it, then those that all queries see.
struct visits {
  int own, edge, first_far, far, full;
};

static __device__ __forceinline__ visits visits_of(const blocksparse_args *args, int row, int head) {
  visits v;
  v.own = (row + args->offset) / kTileKeys;
  v.edge = v.own - args->local / kBlocks;  // negative: there is none, and nothing before it
  v.first_far = args->stride - 1 - head * args->slide % args->stride;
  v.far = max(0, (v.edge * kBlocks - v.first_far + args->stride - 1) / args->stride);
  v.full = min(v.own, args->local / kBlocks - 1);
  return v;
}

extern "C" __device__ void blocksparse_steps(const blocksparse_args *args, int row, int head, int, int *partial,
                                             int *all) {
  const visits v = visits_of(args, row, head);
  *partial = 1 + (v.edge >= 0) + v.far;
  *all = *partial + v.full;
}
PL_CALLABLE(steps, blocksparse_steps)

extern "C" __device__ int blocksparse_block(const blocksparse_args *args, int row, int head, int, int step) {
  const visits v = visits_of(args, row, head);
  const int near = 1 + (v.edge >= 0);
  if (step < near) return step == 0 ? v.own : v.edge;
  if (step < near + v.far) return (v.first_far + (step - near) * args->stride) / kBlocks;
  return v.own - 1 - (step - near - v.far);
}
PL_CALLABLE(block, blocksparse_block)

extern "C" __device__ int blocksparse_keep(const blocksparse_args *args, int query, int key, int head, int) {
  const int position = query + args->offset;
  const unsigned own = static_cast<unsigned>(position) / kBlock, block = static_cast<unsigned>(key) / kBlock;
  const bool local = own < block + args->local;
  const bool far = (block + head * args->slide + 1) % static_cast<unsigned>(args->stride) == 0;
  return key <= position && (local || far);
}
PL_CALLABLE(keep, blocksparse_keep)
