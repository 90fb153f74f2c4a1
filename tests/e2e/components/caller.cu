// Package `caller`: one warp that keeps in shared memory what a foreign callable gives.
#define PL_PACKAGE caller
#include <pipelink/contract.cuh>

PL_STAGE("1.0.0")
PL_CLAIM_SMEM(slots, pl::claim().bytes(128).align(16))
PL_WARP(first_warp, "keep")

extern "C" __device__ int caller_value(int lane);
PL_CALL(value, caller_value, pl::call())

extern "C" __device__ void caller_role() {
  const int lane = threadIdx.x - 32 * PL_HANDLE(first_warp);
  reinterpret_cast<volatile int *>(pl_smem + PL_HANDLE(slots))[lane] = caller_value(lane);
}
PL_ROLE(keep, caller_role, pl::role().warps(1).registers(24, 240).need(24))
