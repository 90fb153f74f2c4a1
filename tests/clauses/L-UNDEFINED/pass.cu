#define PL_PACKAGE x
#include <pipelink/contract.cuh>
PL_STAGE("1.0.0")
__device__ int other(int n) { return n; }
extern "C" __device__ void x_step(int *p) { *p = other(*p); }
PL_CALLABLE(step, x_step)
