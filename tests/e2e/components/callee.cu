// Package `callee`: a callable, in the forms that CALLEE_SIGNATURE selects: 1 fits `caller`, 2 and 3 do not.
#define PL_PACKAGE callee
#include <pipelink/contract.cuh>

#ifndef CALLEE_SIGNATURE
#define CALLEE_SIGNATURE 1
#endif

PL_STAGE("1.0.0")
#if CALLEE_SIGNATURE == 1
extern "C" __device__ int callee_value(int lane) { return 3 * lane + 1; }
#elif CALLEE_SIGNATURE == 2
extern "C" __device__ int callee_value(float lane) { return 3 * lane + 1; }
#else
extern "C" __device__ int callee_value(int lane, int scale) { return scale * lane + 1; }
#endif
PL_CALLABLE(value, callee_value)
