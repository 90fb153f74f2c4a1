// Package `core`: two warpgroups attend 128 queries of one head to the blocks of keys that come through rings, in order
// of arrival. What blocks there are, which elements of them count, what becomes of a score and where results go is said
// by callables: `steps`, `block`, `keep`, `score`, `scale`, `store`, `finish`. It owns the extents of tiles.
#define PL_PACKAGE core
#include <pipelink/contract.cuh>
#include <pipelink/ring.cuh>
#include <pipelink/sm90.cuh>

#include "sm90.cuh"
#include "tile.cuh"

static constexpr int kWarps = 8;
static constexpr int kScores = kTileKeys / 2;   // of a thread: 2 rows, 8 apart
static constexpr int kOutputs = kHeadSize / 2;  // of a thread, in the same rows
// Weights are powers of two of scores less a maximum, which may be an old one: bf16 has the range of float, so nothing
// is lost while sums stay finite. A sum above kLimit says that the maximum must be found again.
static constexpr float kLimit = 1ull << 40;
static constexpr float kLowest = -1e38f;  // the maximum of no key: finite, so that no weight is not a number

PL_STAGE("1.0.0")
PL_FACT(tile_queries, pl::fact(kTileQueries))
PL_FACT(tile_keys, pl::fact(kTileKeys))
PL_FACT(head_size, pl::fact(kHeadSize))

PL_RING(work, pl::consumer().on("attend").depth(1, 4).full(pl::once()).empty(pl::per_warp()).proxy("generic"))
PL_RING_BUFFER(work, tile, pl::tile(4).of("i32").bytes(16).align(16))
PL_RING(queries, pl::consumer().on("attend").depth(1, 2).full(pl::once()).empty(pl::per_warp()).bytes(kQueryBytes))
PL_RING_BUFFER(queries, q, pl::tile(kTileQueries, kHeadSize).of("bf16").swizzle(128).bytes(kQueryBytes).align(1024))
PL_RING(keys, pl::consumer().on("attend").depth(2, 4).full(pl::once()).empty(pl::per_warp()).bytes(kBlockBytes))
PL_RING_BUFFER(keys, k, pl::tile(kTileKeys, kHeadSize).of("bf16").swizzle(128).bytes(kBlockBytes).align(1024))
PL_RING(values, pl::consumer().on("attend").depth(2, 4).full(pl::once()).empty(pl::per_warp()).bytes(kBlockBytes))
PL_RING_BUFFER(values, v, pl::tile(kTileKeys, kHeadSize).of("bf16").swizzle(128).bytes(kBlockBytes).align(1024))
PL_WARP(first_warp, "attend")

// The steps of a tile, whose first query is `row`: in steps 0 to *partial - 1 elements may have to be left out, in the
// rest, to *all - 1, none. `block` is the block of keys of a step, `keep` says whether an element counts.
extern "C" __device__ void core_steps(const pl_context *context, int row, int head, int batch, int *partial, int *all);
extern "C" __device__ int core_block(const pl_context *context, int row, int head, int batch, int step);
extern "C" __device__ int core_keep(const pl_context *context, int query, int key, int head, int batch);
// What becomes of the product of a query and a key; the result times `scale` is the exponent of two of its weight.
extern "C" __device__ float core_score(const pl_context *context, float product, int query, int key, int head,
                                       int batch);
extern "C" __device__ float core_scale(const pl_context *context);
// Takes the thread's outputs o[64] of its rows, in a product's order, and for both rows the logarithm of the sum of
// weights.
extern "C" __device__ void core_store(const pl_context *context, const float *o, const float *logarithms, int row,
                                      int head, int batch);
extern "C" __device__ void core_finish();  // after the last tile
PL_CALL(steps, core_steps, pl::call())
PL_CALL(block, core_block, pl::call())
PL_CALL(keep, core_keep, pl::call())
PL_CALL(score, core_score, pl::call())
PL_CALL(scale, core_scale, pl::call())
PL_CALL(store, core_store, pl::call())
PL_CALL(finish, core_finish, pl::call())

// What the loader announces: the first query of a tile, its head and batch; not valid after the last.
struct tile {
  int row, head, batch, valid;
};

// Stages of the rings that are next.
struct position {
  pl::ring_state work, queries, keys, values;
};

// Two values, one a row, in an even and an odd register, which lie in different banks of the register file:
// instructions that take them in turn can reuse what they have read (measured: 5 percent of a causal kernel).
struct row_pair {
  unsigned long long pair;

  __device__ __forceinline__ void set(float first, float second) {
    asm("mov.b64 %0, {%1, %2};" : "=l"(pair) : "f"(first), "f"(second));
  }
  __device__ __forceinline__ float operator[](int row) const {
    float first, second;
    asm("mov.b64 {%0, %1}, %2;" : "=f"(first), "=f"(second) : "l"(pair));
    return row == 0 ? first : second;
  }
};

// Index of the thread within the role, opaque: what follows from it is computed where it is needed, rather than kept in
// registers over the steps of a tile.
static __device__ __forceinline__ unsigned role_thread() {
  unsigned thread = threadIdx.x;
  asm volatile("" : "+r"(thread));
  return thread - 32 * PL_HANDLE(first_warp);
}

// The row of the tile that a thread's first scores and outputs belong to; the others' is 8 below.
static __device__ __forceinline__ int row_of(unsigned thread) {
  return static_cast<int>(thread / 32 * 16 + thread % 32 / 4);
}

// The tile at hand, which stays in shared memory rather than in registers while it is attended.
static __device__ __forceinline__ tile tile_of(const pl::ring_state &at) {
  const int4 read = *reinterpret_cast<const int4 *>(pl_smem + PL_HANDLE(tile) + 16 * at.slot);
  return {read.x, read.y, read.z, read.w};
}

static __device__ __forceinline__ void release_tile(pl::ring_state &at) {
  __syncwarp();
  pl::ring_release(PL_HANDLE(work_empty), at.slot);
  at.advance(PL_HANDLE(work_depth));
}

// The warpgroup's 64 queries as operands of eight products, 16 columns each.
static __device__ __forceinline__ void take_queries(unsigned (&q)[32], pl::ring_state &at) {
  const unsigned thread = role_thread(), lane = thread % 32;
  const unsigned row = thread / 32 * 16 + lane % 16;  // of 16 x 16: the upper and lower half, then the right half
  const unsigned tile = pl::shared_address(pl_smem) + PL_HANDLE(q) + at.slot * kQueryBytes;
  pl::ring_wait_full(PL_HANDLE(queries_full), at);
#pragma unroll
  for (int i = 0; i < 8; ++i)
    load_matrices(q + 4 * i, tile + i / 4 * kQuerySlab + pl::swizzle_128(row, 2 * (i % 4) + lane / 16));
  __syncwarp();
  pl::ring_release(PL_HANDLE(queries_empty), at.slot);
  at.advance(PL_HANDLE(queries_depth));
}

// Starts s = q k^T on the next block of keys, which has come.
static __device__ __forceinline__ void start_scores(float (&s)[kScores], const unsigned (&q)[32], unsigned slot) {
  const unsigned long long keys =
      pl::wgmma_descriptor(pl::shared_address(pl_smem) + PL_HANDLE(k) + slot * kBlockBytes);
  pl::wgmma_fence();
#pragma unroll
  for (int i = 0; i < kHeadSize / 16; ++i)
    wgmma_keys(s, q + 4 * i, keys + i / 4 * (kBlockSlab / 16) + i % 4 * pl::kWgmmaNextK, i != 0);
  pl::wgmma_commit();
}

// Starts o += p v on the next block of values, which has come.
static __device__ __forceinline__ void start_outputs(float (&o)[kOutputs], const unsigned (&p)[kScores / 2],
                                                     unsigned slot) {
  const unsigned long long values =
      wgmma_descriptor_columns(pl::shared_address(pl_smem) + PL_HANDLE(v) + slot * kBlockBytes, kBlockSlab);
#pragma unroll
  for (int i = 0; i < kTileKeys / 16; ++i) wgmma_values(o, p + 4 * i, values + i * (16 * 128 / 16));
  pl::wgmma_commit();
}

static __device__ __forceinline__ void release_keys(pl::ring_state &at) {
  pl::ring_release(PL_HANDLE(keys_empty), at.slot);
  at.advance(PL_HANDLE(keys_depth));
}

static __device__ __forceinline__ void release_values(pl::ring_state &at) {
  pl::ring_release(PL_HANDLE(values_empty), at.slot);
  at.advance(PL_HANDLE(values_depth));
}

// Applies `score` and, where `masked`, `keep`, to the scores of a step.
static __device__ __forceinline__ void modify(const pl_context *context, float (&s)[kScores], const position &at,
                                              int step, bool masked) {
  const tile t = tile_of(at.work);
  const unsigned thread = role_thread();
  const int query = t.row + row_of(thread);
  const int key = core_block(context, t.row, t.head, t.batch, step) * kTileKeys + static_cast<int>(thread % 4 * 2);
#pragma unroll
  for (int i = 0; i < kScores; ++i) {
    const int m = query + i / 2 % 2 * 8, n = key + i / 4 * 8 + i % 2;
    s[i] = core_score(context, s[i], m, n, t.head, t.batch);
    if (masked) s[i] = core_keep(context, m, n, t.head, t.batch) ? s[i] : -INFINITY;
  }
}

// Largest score of each row, over the four threads that share it.
static __device__ __forceinline__ void row_maxima(const float (&s)[kScores], float (&most)[2]) {
#pragma unroll
  for (int row = 0; row < 2; ++row) {
    float a = fmaxf(s[2 * row], s[2 * row + 1]), b = fmaxf(s[2 * row + 4], s[2 * row + 5]);
#pragma unroll
    for (int i = 8; i < kScores; i += 8) {
      a = fmaxf(a, fmaxf(s[i + 2 * row], s[i + 2 * row + 1]));
      b = fmaxf(b, fmaxf(s[i + 2 * row + 4], s[i + 2 * row + 5]));
    }
    most[row] = fmaxf(a, b);
    most[row] = fmaxf(most[row], __shfl_xor_sync(~0u, most[row], 1));
    most[row] = fmaxf(most[row], __shfl_xor_sync(~0u, most[row], 2));
  }
}

// s = 2^(s scale - most); `sums` are the thread's of each row.
static __device__ __forceinline__ void exponentiate(float (&s)[kScores], const row_pair &most, float (&sums)[2],
                                                    float scale) {
#pragma unroll
  for (int row = 0; row < 2; ++row) {
    sums[row] = 0;
#pragma unroll
    for (int i = 2 * row; i < kScores; i += 4) {
      s[i] = pl::exp2_approximate(fmaf(s[i], scale, -most[row]));
      s[i + 1] = pl::exp2_approximate(fmaf(s[i + 1], scale, -most[row]));
      sums[row] += s[i];
      sums[row] += s[i + 1];
    }
  }
}

static __device__ __forceinline__ void round_weights(const float (&s)[kScores], unsigned (&p)[kScores / 2]) {
#pragma unroll
  for (int i = 0; i < kScores / 2; ++i) p[i] = pl::pack_bf16(s[2 * i], s[2 * i + 1]);
}

// Finds the maxima of rows anew, as powers of two; `factor` is what the rows' outputs must be multiplied with, as their
// sums are here. Returns whether any row of the warp has a new one.
static __device__ __forceinline__ bool move_maxima(const float (&s)[kScores], row_pair &most, float (&sums)[2],
                                                   float (&factor)[2], float scale) {
  float found[2], next[2];
  row_maxima(s, found);
  bool moved = false;
#pragma unroll
  for (int row = 0; row < 2; ++row) {
    next[row] = fmaxf(most[row], found[row] * scale);
    moved |= next[row] != most[row];
    factor[row] = pl::exp2_approximate(most[row] - next[row]);
    sums[row] *= factor[row];
  }
  most.set(next[0], next[1]);
  return __any_sync(~0u, moved);
}

// The scores of a block of keys once more, by each warp for itself: its weights did not fit its maxima.
static __device__ __forceinline__ void repeat_scores(float (&s)[kScores], const unsigned (&q)[32], unsigned slot) {
  const unsigned lane = role_thread() % 32, row = lane % 8 + lane / 16 * 8;
  const unsigned keys = pl::shared_address(pl_smem) + PL_HANDLE(k) + slot * kBlockBytes;
#pragma unroll
  for (int i = 0; i < kScores; ++i) s[i] = 0;
#pragma unroll
  for (int i = 0; i < kHeadSize / 16; ++i) {
    __syncwarp();
#pragma unroll
    for (int key = 0; key < kTileKeys; key += 16) {
      unsigned b[4];
      load_matrices(b, keys + i / 4 * kBlockSlab + pl::swizzle_128(key + row, i % 4 * 2 + lane / 8 % 2));
      multiply_add(s + key / 2, q + 4 * i, b[0], b[1]);
      multiply_add(s + key / 2 + 4, q + 4 * i, b[2], b[3]);
    }
  }
}

// One step: the scores of its block are computed beside the outputs of the block before, whose weights are p. A warp
// that is not `careful` takes its maxima for right, and finds by its sums whether they were; where not, it computes the
// scores again, and is careful for the rest of the tile.
static __device__ __forceinline__ void attend_step(const pl_context *context, int step, bool last, bool masked,
                                                   bool &careful, const unsigned (&q)[32], float (&s)[kScores],
                                                   unsigned (&p)[kScores / 2], float (&o)[kOutputs], row_pair &most,
                                                   float (&sums)[2], float scale, position &at) {
  start_scores(s, q, at.keys.slot);
  pl::ring_wait_full(PL_HANDLE(values_full), at.values);
  start_outputs(o, p, at.values.slot);
  wgmma_wait_for<1>(s);
  modify(context, s, at, step, masked);
  float factor[2], of_block[2];
  bool moved = false;
  if (!masked && !careful) {
    exponentiate(s, most, of_block, scale);
    careful = __any_sync(~0u, !(of_block[0] <= kLimit && of_block[1] <= kLimit));
    if (careful) {
      repeat_scores(s, q, at.keys.slot);
      modify(context, s, at, step, masked);
      moved = move_maxima(s, most, sums, factor, scale);
      exponentiate(s, most, of_block, scale);
    }
  } else {
    moved = move_maxima(s, most, sums, factor, scale);
    exponentiate(s, most, of_block, scale);
  }
  release_keys(at.keys);
  sums[0] += of_block[0];
  sums[1] += of_block[1];
  if (!last) pl::ring_wait_full(PL_HANDLE(keys_full), at.keys);  // ends the block that ptxas schedules within
  wgmma_wait_for<0>(o);
  release_values(at.values);
  round_weights(s, p);
  if (!moved) return;
#pragma unroll
  for (int i = 0; i < kOutputs; ++i) o[i] *= factor[i / 2 % 2];
}

// Leaves the outputs of a tile, and the maxima and sums of its rows, in registers.
static __device__ __forceinline__ void attend_tile(const pl_context *context, float (&o)[kOutputs], row_pair &most,
                                                   float (&sums)[2], float scale, position &at) {
  const tile t = tile_of(at.work);
  int partial, all;
  core_steps(context, t.row, t.head, t.batch, &partial, &all);
  unsigned q[32], p[kScores / 2];
  float s[kScores];
  take_queries(q, at.queries);
  if (all == 0) return;
  pl::ring_wait_full(PL_HANDLE(keys_full), at.keys);
  start_scores(s, q, at.keys.slot);
  wgmma_wait_for<0>(s);
  release_keys(at.keys);
  modify(context, s, at, 0, true);
  float factor[2];
  move_maxima(s, most, sums, factor, scale);
  exponentiate(s, most, sums, scale);
  round_weights(s, p);
  if (all > 1) pl::ring_wait_full(PL_HANDLE(keys_full), at.keys);
  int step = 1, left = all - 1;  // the step itself is not kept where no score depends on its keys
  bool careful = false;
#pragma unroll 1
  for (; step < partial; ++step, --left)
    attend_step(context, step, left == 1, true, careful, q, s, p, o, most, sums, scale, at);
#pragma unroll 1
  for (; left > 0; ++step, --left)
    attend_step(context, step, left == 1, false, careful, q, s, p, o, most, sums, scale, at);
  pl::ring_wait_full(PL_HANDLE(values_full), at.values);
  pl::wgmma_fence();
  start_outputs(o, p, at.values.slot);
  wgmma_wait_for<0>(o);
  release_values(at.values);
}

// Divides outputs by their rows' sums; rows without a key give zeros, and -inf for the logarithm.
static __device__ __forceinline__ void normalise(float (&o)[kOutputs], const row_pair &most, float (&sums)[2],
                                                 float (&logarithms)[2]) {
  constexpr float kLn2 = 0.69314718055994531f;
  float factor[2];
#pragma unroll
  for (int row = 0; row < 2; ++row) {
    sums[row] += __shfl_xor_sync(~0u, sums[row], 1);
    sums[row] += __shfl_xor_sync(~0u, sums[row], 2);
    const bool empty = sums[row] == 0;
    factor[row] = empty ? 0 : pl::reciprocal_approximate(sums[row]);
    logarithms[row] = empty ? -INFINITY : (most[row] + log2_approximate(sums[row])) * kLn2;
  }
#pragma unroll
  for (int i = 0; i < kOutputs; ++i) o[i] *= factor[i / 2 % 2];
}

extern "C" __device__ void core_attend(const pl_context *context) {
  const float scale = core_scale(context);
  position at;
  for (;;) {
    pl::ring_wait_full(PL_HANDLE(work_full), at.work);
    if (!tile_of(at.work).valid) break;
    float o[kOutputs], sums[2] = {}, logarithms[2];
    row_pair most;
    most.set(kLowest, kLowest);
#pragma unroll
    for (int i = 0; i < kOutputs; ++i) o[i] = 0;
    attend_tile(context, o, most, sums, scale, at);
    normalise(o, most, sums, logarithms);
    const tile t = tile_of(at.work);
    release_tile(at.work);
    core_store(context, o, logarithms, t.row, t.head, t.batch);
  }
  core_finish();
}
PL_ROLE(attend, core_attend, pl::role().warps(kWarps).align(4).registers(168, 240).need(224))
