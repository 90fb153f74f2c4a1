// Needs sm_90a.
#define PL_PACKAGE feature
#include <pipelink/contract.cuh>

PL_STAGE("1.0.0")
extern "C" __device__ void feature_role() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");           //~ L-FEATURE
  asm volatile("setmaxnreg.inc.sync.aligned.u32 40;" ::: "memory");  //~ L-FEATURE
}
PL_ROLE(work, feature_role, pl::role().warps(1))
