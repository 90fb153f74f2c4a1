#define PL_PACKAGE x
#include <pipelink/contract.cuh>
PL_STAGE("1.0.0")
// pl-pack --target sm_90a
extern "C" __device__ void x_role() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
PL_ROLE(work, x_role, pl::role().warps(4))
