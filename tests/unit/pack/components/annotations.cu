// Annotations that are wrong on their own or together. `//~` lists the clauses of the errors on its line.
#define PL_PACKAGE bad
#include <pipelink/contract.cuh>

struct bad_args {
  int tile;
  const void *peers;
};
struct other {
  int x;
};

PL_STAGE("1.0.0")
PL_PARAMS(bad_args, tile, peers)
PL_STAGE("1.0.1")  //~ L-ANNOTATION
PL_PROVIDER(bad_provide, "none.c")  //~ L-FILE

PL_RING(ab, pl::producer().on("tma").depth(3, 2)  //~ L-ANNOTATION L-ANNOTATION L-ANNOTATION
                .full(pl::once()).empty(pl::per_warp()).bytes(200))
PL_RING_BUFFER(ab, a, pl::tile(8, 8).of("bf16").swizzle(128).bytes(128).align(512))  //~ L-ALIGN
PL_RING_BUFFER(cd, b, pl::tile(8, 8).of("bf17").swizzle(48).bytes(64))  //~ L-ANNOTATION L-ANNOTATION L-ANNOTATION
PL_RING(noend, pl::consumer().on("work").depth(2).full(pl::once()))  //~ L-ANNOTATION
PL_CLAIM_BARRIER(ids, pl::claim().ids(16))  PL_CLAIM_BARRIER(a, pl::claim().ids(1))  //~ L-ANNOTATION L-ANNOTATION
PL_CLAIM_SMEM(z, pl::claim().bytes(16).bytes(32).align(48).phase("p")  //~ L-ANNOTATION L-ANNOTATION L-ANNOTATION
                     .between("end", "nowhere"))
PL_CLAIM_SMEM(y, pl::claim().bytes(16).between("end", "nowhere"))  //~ L-ANNOTATION L-ANNOTATION
PL_CLAIM_SMEM(small, pl::tile(8, 8).of("f32").bytes(16).slots(1))  //~ L-ANNOTATION L-ANNOTATION
PL_CLAIM_COUNTER(tick, pl::claim().words(1).scope("system").restart("launch"))  //~ L-RESTART
PL_CLAIM_MBARRIER(bad__name, pl::claim().slots(1))  //~ L-NAME

extern "C" __device__ void bad_role(const other *args, int x) {}
PL_ROLE(work, bad_role, pl::role().warps(0).registers(24, 56).need(80))  //~ L-SIGNATURE L-ANNOTATION L-ANNOTATION
PL_WARP(first, "wrok")  //~ L-ANNOTATION
PL_SITE(site, pl::site("work").threads(64).guarantees("convergd"))  //~ L-ANNOTATION
extern "C" __device__ void bad_call(const pl_context *context, float **x);
PL_CALL(far, bad_call, pl::call().site("sight"))  //~ L-SIGNATURE L-ANNOTATION
PL_RING_INIT(zz, bad_call)  //~ L-SIGNATURE L-ANNOTATION

extern "C" __device__ void bad_import(const float *frame, int chunk, double *dst);
extern "C" __device__ void bad_produce(float *frame);
PL_IMPORT_TENSOR(acc, bad_import, bad_produce,  //~ L-SIGNATURE L-MAP L-ANNOTATION L-ANNOTATION
                 pl::tensor("f32", 8, 8).chunk("c").site("site").frame(8).scratch("scrach").barrier("z"), 32, 2, 1,
                 [](int t, int p, int c) { return pl::at{t / 4, t % 4 + p * 5}; })
extern "C" __device__ void bad_export(float *frame) {}
PL_EXPORT_TENSOR(out, bad_export, pl::tensor("f32", 8, 8).frame(3).threads(64), 32, 2,  //~ L-MAP L-ANNOTATION L-ANNOTATION
                 [](int t, int r) { return pl::at{t / 4, (t * t * 7 + r * t) % 8}; })

PL_FACT(infinite, pl::fact(1e30f * 1e30f))  //~ L-ANNOTATION
PL_USE_FACT(real, pl::use().field("tile").requires_(1.5f))  //~ L-ANNOTATION
PL_USE_FACT(none, pl::use().field("nofield"))  //~ L-ANNOTATION
PL_USE_FACT(pointer, pl::use().field("peers"))  //~ L-ANNOTATION
PL_BUFFER(x, pl::buffer("bf16", 9).read().write())  //~ L-ANNOTATION L-ANNOTATION
PL_ARGUMENT(x, "int")  //~ L-ANNOTATION L-ANNOTATION
PL_VIEW(kv, pl::view("cp", "peers").field("peerz"))  //~ L-ANNOTATION L-ANNOTATION L-ANNOTATION
