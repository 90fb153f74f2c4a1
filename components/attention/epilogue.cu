// Package `epilogue`: rounds a tile's outputs to bf16 and stores them, with the logarithms of the sums of weights. Each
// warp has 16 rows of the tile and a place in shared memory for them, so that none waits for another.
#define PL_PACKAGE epilogue
#include <pipelink/contract.cuh>
#include <pipelink/sm90.cuh>

#include "epilogue.h"
#include "sm90.cuh"
#include "tile.cuh"

static constexpr int kRows = 16;                   // of a warp
static constexpr unsigned kSlab = kRows * 64 * 2;  // 64 columns of them
static constexpr unsigned kBytes = kRows * kHeadSize * 2;

PL_STAGE("1.0.0")
PL_PARAMS(epilogue_args, out, lse, queries, heads, tile_queries, head_size)
PL_BUFFER(q, pl::buffer("bf16", 4).read().align(16))
PL_BUFFER(out, pl::buffer("bf16", 4).write().align(16))
PL_BUFFER(lse, pl::buffer("f32", 3).write().align(4))
PL_PROVIDER(epilogue_provide, "epilogue_host.c")
PL_USE_FACT(tile_queries, pl::use().field("tile_queries").requires_(kTileQueries))
PL_USE_FACT(head_size, pl::use().field("head_size").requires_(kHeadSize))

PL_CLAIM_SMEM(out, pl::claim().bytes(kQueryBytes).align(1024).proxy("async"))
PL_WARP(first_warp, "store")

// o and logarithms as the core describes them. What lies outside of the tensor, the copy leaves out.
extern "C" __device__ void epilogue_store(const epilogue_args *args, const float *o, const float *logarithms, int row,
                                          int head, int batch) {
  unsigned index = threadIdx.x;
  asm volatile("" : "+r"(index));  // nothing that follows from it is kept in registers while the caller computes
  const unsigned thread = index - 32 * PL_HANDLE(first_warp), lane = thread % 32;
  const unsigned own = pl::shared_address(pl_smem) + PL_HANDLE(out) + thread / 32 * kBytes;
  if (lane == 0) bulk_wait_read();
  __syncwarp();
#pragma unroll
  for (int i = 0; i < kHeadSize / 8; i += 2)
    store_matrices(own + i / 8 * kSlab + pl::swizzle_128(lane % 16, i % 8 + lane / 16),
                   pl::pack_bf16(o[4 * i], o[4 * i + 1]), pl::pack_bf16(o[4 * i + 2], o[4 * i + 3]),
                   pl::pack_bf16(o[4 * i + 4], o[4 * i + 5]), pl::pack_bf16(o[4 * i + 6], o[4 * i + 7]));
  pl::fence_proxy_async();
  __syncwarp();
  const int first = row + static_cast<int>(thread / 32 * kRows);
  if (lane == 0) {
    attention_store(args->out, first, head, batch, own);
    pl::bulk_commit();
  }
  float *lse = args->lse + (static_cast<long long>(batch) * args->heads + head) * args->queries;
  const int query = first + static_cast<int>(lane / 4);
  if (lane % 4 != 0) return;
  if (query < args->queries) lse[query] = logarithms[0];
  if (query + 8 < args->queries) lse[query + 8] = logarithms[1];
}
PL_CALLABLE(store, epilogue_store)

// Returns once all copies have been written: shared memory must live as long.
extern "C" __device__ void epilogue_finish() { pl::bulk_wait<0>(); }
PL_CALLABLE(finish, epilogue_finish)
