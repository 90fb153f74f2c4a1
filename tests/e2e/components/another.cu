// Package `another`: offers the callable of `callee` once more.
#define PL_PACKAGE another
#include <pipelink/contract.cuh>

PL_STAGE("1.0.0")
extern "C" __device__ int another_value(int lane) { return lane; }
PL_CALLABLE(value, another_value)
