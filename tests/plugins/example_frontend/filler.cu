// What another compiler may generate: no annotations. A handle is a function that the linker defines.
extern "C" __device__ unsigned plh_filler__kept();
extern __shared__ __align__(1024) unsigned char pl_smem[];
extern "C" __device__ void filler_role() { pl_smem[plh_filler__kept() + threadIdx.x] = 1; }
