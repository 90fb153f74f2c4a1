"""Sources of small components and kernels for the tests of the backend."""

from pipelink.backend import nvrtc
from pipelink.backend.nvjitlink import Input

# A component: two handles, one of them behind a local function, one behind a table of function pointers; static shared
# memory; nothing that a link would need beyond the handles.
COMPONENT = """\
extern "C" __device__ unsigned h_smem();
extern "C" __device__ unsigned h_other();
extern "C" __device__ unsigned h_table();
extern __shared__ char memory[];
static __device__ int counter;
static __device__ __noinline__ float helper(float x) { return x + h_other() + counter++; }
extern "C" __device__ unsigned entry(unsigned x) { return x + h_table(); }
__device__ unsigned (*table[2])(unsigned) = {entry, entry};
extern "C" __device__ void body(float *x) {
  __shared__ float stage[48];
  stage[threadIdx.x] = x[0];
  __syncthreads();
  x[threadIdx.x] = stage[threadIdx.x ^ 1] + ((float *)(memory + h_smem()))[0];
}
extern "C" __device__ void second(float *x) { x[0] = helper(x[1]); }
extern "C" __device__ float third(float x) { return x; }
extern "C" __device__ unsigned indirect(int i) { return table[i](i); }
"""

DISPATCH = """\
struct arguments { float *x; int n; };
extern "C" __device__ void light(float *, int), heavy(float *, int);
extern "C" __device__ unsigned h_offset();
extern __shared__ __align__(1024) unsigned char memory[];
extern "C" __global__ void BOUNDS two(const __grid_constant__ arguments a) {
  unsigned warp = __shfl_sync(0xffffffffu, threadIdx.x >> 5, 0);
  if (threadIdx.x == 0) ((float *)(memory + h_offset()))[0] = 1.0f;
  __syncthreads();
  if (warp < 4) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    light(a.x, a.n);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
    heavy(a.x, a.n);
  }
}
"""

PARTS = """\
extern "C" __device__ void light(float *x, int n) {
  x[threadIdx.x] += n;
  asm volatile("bar.sync 3, 128;");
  asm volatile("bar.arrive %0, 64;" ::"r"(n));
}
extern "C" __device__ void heavy(float *x, int n) {
  float r[LIVE];
#pragma unroll
  for (int i = 0; i < LIVE; ++i) r[i] = x[i * 128 + threadIdx.x];
  for (int k = 0; k < n; ++k) {
#pragma unroll
    for (int i = 0; i < LIVE; ++i) r[i] = r[i] * r[(i + 7) % LIVE] + 1.f;
    asm volatile("bar.sync 4, 128;" ::: "memory");
  }
  __threadfence();
  x[0] = r[0] / r[1];
#pragma unroll
  for (int i = 1; i < LIVE; ++i) x[i * 128 + threadIdx.x] = r[i];
}
extern "C" __device__ unsigned h_offset() { return 4096; }
"""


def ltoir(name: str, source: str) -> Input:
    return Input(name, "ltoir", nvrtc.compile_ltoir(source, name=name))


def two_groups(live: int, bounds: str = "__launch_bounds__(256, 1)") -> list[Input]:
    return [
        ltoir("dispatch", DISPATCH.replace("BOUNDS", bounds)),
        ltoir("parts", PARTS.replace("LIVE", str(live))),
    ]


LOCAL_MEMORY = """\
extern "C" __device__ __noinline__ float kept(float x) { return x * x + 1; }
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(128) k(float *x, int n) {
  __shared__ float stage[48];
  volatile float a[128];
  for (int j = 0; j < n; ++j) a[j] = x[j];
  stage[threadIdx.x] = kept(a[n]);
  asm volatile("bar.sync 5, 64;");
  x[0] = stage[n];
}
"""
