// An object that is not what its annotations say. `//~` lists the clauses of the errors on its line.
#define PL_PACKAGE bad
#include <pipelink/contract.cuh>

#include <cassert>
#include <cstdio>

PL_STAGE("1.0.0")
PL_CLAIM_SMEM(stage, pl::claim().bytes(128))
extern "C" __device__ unsigned plh_bad__stge();  //~ L-UNDEFINED
extern __device__ int elsewhere;                 //~ L-UNDEFINED
namespace deep {
__device__ int other(int *x);  //~ L-UNDEFINED
}

extern "C" __device__ __noinline__ void bad_role() {
  __shared__ float staged[48];  //~ L-STATIC-SHARED
  staged[threadIdx.x] = plh_bad__stge();
  __syncthreads();
  pl_smem[PL_HANDLE(stage)] = staged[threadIdx.x ^ 1] + elsewhere + deep::other(nullptr);
  printf("x");  //~ L-UNDEFINED
  assert(threadIdx.x < 3);  //~ L-UNDEFINED
}
PL_ROLE(work, bad_role, pl::role().warps(1))  //~ L-INLINE
extern "C" __device__ inline void bad_inline(int *m) { *m = 1; }
PL_CALLABLE(hidden, bad_inline)  //~ L-INLINE
static __device__ void bad_static(int *m) { *m = 1; }
PL_CALLABLE(local, bad_static)  //~ L-INLINE
__device__ void bad_mangled(int *m) { *m = 1; }
PL_CALLABLE(mangled, bad_mangled)  //~ L-INLINE
extern "C" __device__ int bad_recursive(int m) { return m < 2 ? m : bad_recursive(m - 1) + bad_recursive(m - 2); }
PL_CALLABLE(recursive, bad_recursive)  //~ L-INLINE
extern "C" __device__ int bad_fine(int *m) { return m[1]; }
PL_CALLABLE(fine, bad_fine)
extern "C" __device__ void bad_far(int m) {}
PL_CALL(far, bad_far, pl::call())  //~ L-ANNOTATION
