// Package `softcap`: a score is softcap tanh(product scale / softcap). The last factor is the exponent's.
#define PL_PACKAGE softcap
#include <pipelink/contract.cuh>

#include "score.h"
#include "sm90.cuh"

PL_STAGE("1.0.0")
PL_PARAMS(score_args, before, exponent)
PL_ARGUMENT(scale, "f32")
PL_ARGUMENT(softcap, "f32")
PL_PROVIDER(softcap_provide, "softcap_host.c")

extern "C" __device__ float softcap_score(const score_args *args, float product, int, int, int, int) {
  return tanh_approximate(product * args->before);
}
PL_CALLABLE(score, softcap_score)

extern "C" __device__ float softcap_scale(const score_args *args) { return args->exponent; }
PL_CALLABLE(scale, softcap_scale)
