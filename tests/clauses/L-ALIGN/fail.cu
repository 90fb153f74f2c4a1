#define PL_PACKAGE x
#include <pipelink/contract.cuh>
PL_STAGE("1.0.0")
extern "C" __device__ void x_role() {}
PL_ROLE(work, x_role, pl::role().warps(1))
PL_RING(ab, pl::producer().on("work").depth(2, 4).full(pl::once()).empty(pl::once()).bytes(1024))
PL_RING_BUFFER(ab, a, pl::tile(8, 64).of("bf16").swizzle(128).bytes(1024).align(512))
