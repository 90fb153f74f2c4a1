#define PL_PACKAGE x
#include <pipelink/contract.cuh>
PL_STAGE("1.0.0")
extern "C" __device__ __noinline__ void x_step(int *p) { *p = 1; }
PL_CALLABLE(step, x_step)
