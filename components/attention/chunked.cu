// Package `chunked`: keys come in chunks of `chunk`; a query sees those of its own chunk, up to its own key.
#define PL_PACKAGE chunked
#include "mask.h"

static __device__ __forceinline__ range seen_by(const mask_args *args, int query) {
  return {query / args->span * args->span, query};
}

#include "mask.cuh"
PL_ARGUMENT(chunk, "i32")
