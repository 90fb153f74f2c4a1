#define PL_PACKAGE x
#include <pipelink/contract.cuh>
PL_STAGE("1.0.0")
extern "C" __device__ void x_step(int *p) { *p = undeclared; }
PL_CALLABLE(step, x_step)
