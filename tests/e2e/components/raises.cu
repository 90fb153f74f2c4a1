#define PL_PACKAGE raises
#include <pipelink/contract.cuh>
struct raises_args { unsigned *out; int n; };
#ifndef ARRIVALS
#define ARRIVALS 2
#endif

PL_STAGE("1.0.0")
PL_PARAMS(raises_args, out, n)
PL_COUNTER(done, pl::raises().on("work").words(4).arrivals(pl::once(ARRIVALS)))
extern "C" __device__ void raises_work(const raises_args *args, const pl_context *context) {
  if (threadIdx.x % 32 == 0) {
    args->out[0] = 7;
    __threadfence();
    atomicAdd(pl_counters(context) + PL_HANDLE(done_base) + 1, ARRIVALS);
  }
}
PL_ROLE(work, raises_work, pl::role().warps(1))
PL_BUFFER(out, pl::buffer("u32", 1).write())
PL_ARGUMENT(n, "i32")
