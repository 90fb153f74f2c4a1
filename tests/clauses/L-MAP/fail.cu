#define PL_PACKAGE x
#include <pipelink/contract.cuh>
PL_STAGE("1.0.0")
extern "C" __device__ void x_export(float *frame) {}
PL_EXPORT_TENSOR(out, x_export, pl::tensor("f32", 8, 8).frame(2).threads(32), 32, 2,
                 [](int t, int r) { return pl::at{t / 4, (t * t * 7 + r * t) % 8}; })
