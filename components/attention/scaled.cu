// Package `scaled`: a score is the product of query and key times `scale`. It costs nothing: the exponent's factor.
#define PL_PACKAGE scaled
#include <pipelink/contract.cuh>

#include "score.h"

PL_STAGE("1.0.0")
PL_PARAMS(score_args, before, exponent)
PL_ARGUMENT(scale, "f32")
PL_PROVIDER(scaled_provide, "scaled_host.c")

extern "C" __device__ float scaled_score(float product, int, int, int, int) { return product; }
PL_CALLABLE(score, scaled_score)

extern "C" __device__ float scaled_scale(const score_args *args) { return args->exponent; }
PL_CALLABLE(scale, scaled_scale)
