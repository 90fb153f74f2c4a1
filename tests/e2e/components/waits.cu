#define PL_PACKAGE waits
#include <pipelink/contract.cuh>
struct waits_args { unsigned *out; };
PL_STAGE("1.0.0")
PL_PARAMS(waits_args, out)
PL_COUNTER(done, pl::waits().on("work").words(4))
PL_STREAM(ops, pl::stream("work").phases("a", "b").exclusive("a", "b"))
PL_CLAIM_SMEM(xs, pl::claim().bytes(4096).align(16).phase("a"))
PL_CLAIM_SMEM(ys, pl::claim().bytes(4096).align(16).phase("b"))
PL_TOPOLOGY(pl::topology().cluster(2).occupancy(1, 2))
extern "C" __device__ void waits_work(const waits_args *args, const pl_context *context) {
  volatile unsigned *word = pl_counters(context) + PL_HANDLE(done_base) + 1;
  while (*word < PL_HANDLE(done_arrivals) * 2) {}
  __threadfence();
  unsigned *x = (unsigned *)(pl_smem + PL_HANDLE(xs)), *y = (unsigned *)(pl_smem + PL_HANDLE(ys));
  x[threadIdx.x % 32] = args->out[0];
  __syncwarp();
  unsigned v = x[31 - threadIdx.x % 32];
  __syncwarp();
  y[threadIdx.x % 32] = v;
  __syncwarp();
  args->out[1 + threadIdx.x % 32] = y[0];
}
PL_ROLE(work, waits_work, pl::role().warps(1))
PL_BUFFER(out, pl::buffer("u32", 1).update())
