#define PL_PACKAGE x
#include <pipelink/contract.cuh>
PL_STAGE("1.0.0")
extern "C" __device__ void x_step(int *p) {
  __shared__ int staged[32];
  staged[threadIdx.x] = *p;
  __syncthreads();
  *p = staged[threadIdx.x ^ 1];
}
PL_CALLABLE(step, x_step)
