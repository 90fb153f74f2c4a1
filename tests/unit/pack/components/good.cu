// A package with every kind of annotation.
#define PL_PACKAGE good
#include <pipelink/contract.cuh>

#include "good.h"

PL_STAGE("1.2.3")
PL_PARAMS(good_args, map, k_tiles, scale, x, tile_m, rows, peers)
PL_PROVIDER(good_provide, "good_host.c")
PL_BUFFER(x, pl::buffer("bf16", 2).read().align(16))  PL_ARGUMENT(rows, "i64")
PL_DOMAIN(cp, pl::domain().ranks(4))
PL_VIEW(kv, pl::view("cp", "peer").field("peers"))
PL_FACT(scale, pl::fact(0.1f))
PL_FACT(wide, pl::fact(1ll << 40))
PL_FACT(many, pl::fact(3000000000u))
PL_USE_FACT(tile_m, pl::use().field("tile_m").requires_(128))
PL_USE_FACT(rows, pl::use().field("rows"))

PL_RING(ab, pl::producer().on("load").depth(2, 8).full(pl::once()).empty(pl::per_warp(2)).bytes(24576).drains())
PL_RING_BUFFER(ab, a, pl::tile(64, 64).of("bf16").swizzle(128).bytes(8192).align(1024))
PL_RING_BUFFER(ab, b, pl::tile(128, 64)
                          .of("bf16").swizzle(128).bytes(16384).align(1024))
PL_CLAIM_SMEM(scratch, pl::claim().bytes(16384).align(128).between("accumulator.ready", "accumulator.done"))
PL_CLAIM_MBARRIER(gate, pl::claim().slots(2))  PL_CLAIM_BARRIER(exchange, pl::claim().ids(1))
PL_CLAIM_TMEM(acc, pl::claim().columns(256).phase("attention"))
PL_CLAIM_COUNTER(tick, pl::claim().words(1).scope("gpu").restart("launch"))
PL_WARP(first_warp, "epilogue")

extern "C" __device__ float good_foreign(const good_args *args, const pl_context *context, int k, const float *x);
extern "C" __device__ void good_produce(const pl_context *context, float *frame);
extern "C" __device__ void good_import(const float *frame, int chunk, float *dst);

static __device__ __noinline__ void helper(unsigned char value) { pl_smem[PL_HANDLE(a)] = value + PL_HANDLE(tick); }

extern "C" __device__ void good_init() { pl_smem[PL_HANDLE(ab_full)] = PL_HANDLE(ab_full_count); }
PL_RING_INIT(ab, good_init)

extern "C" __device__ int good_coord(const good_args *args, int *m, unsigned n) {
  *m = blockIdx.x / args->k_tiles + n;
  return *m + PL_HANDLE(gate);
}
PL_CALLABLE(coord, good_coord)

extern "C" __device__ void good_load(const good_args *args) {
  int m;
  helper(good_coord(args, &m, PL_HANDLE(ab_depth)));
}
PL_ROLE(load, good_load, pl::role().warps(1).registers(24, 56).need(24))

extern "C" __device__ void good_epilogue(const good_args *args, const pl_context *context) {
  float frame[64], dst[8];
  good_produce(context, frame);
  for (int chunk = 0; chunk < 8; ++chunk) {
    good_import(frame, chunk, dst);
    for (int i = 0; i < 8; ++i) pl_smem[PL_HANDLE(scratch) + i] = dst[i] + threadIdx.x - PL_HANDLE(first_warp);
  }
  pl_smem[0] = good_foreign(args, context, 3, args->x);
}
PL_ROLE(epilogue, good_epilogue, pl::role().warps(4).align(4))
PL_SITE(work, pl::site("epilogue").threads(128).first(0).guarantees("converged", "full warps"))
PL_CALL(foreign, good_foreign, pl::call().site("work"))
PL_IMPORT_TENSOR(accumulator, good_import, good_produce,
                 pl::tensor("f32", 64, 128).chunk("c").site("work").frame(64).scratch("scratch").barrier("exchange")
                     .completion("final"),
                 128, 8, 8, [](int t, int p, int c) { return pl::at{t % 64, 8 * (t / 64 + 2 * c) + p}; })

extern "C" __device__ void good_tile(const good_args *args, float *frame) {
  for (int i = 0; i < 64; ++i) frame[i] = args->scale;
}
PL_EXPORT_TENSOR(tile, good_tile,
                 pl::tensor("f32", 64, 128).frame(64).threads(128).align(128).requires_("converged").completion("final"),
                 128, 64, [](int t, int r) {
                   return pl::at{t / 32 * 16 + t % 32 / 4 + r / 2 % 2 * 8, r / 4 * 8 + t % 4 * 2 + r % 2};
                 })

extern "C" __global__ void __launch_bounds__(256, 1) __cluster_dims__(2, 1, 1) good_kernel(float *x) { x[0] = 1; }
