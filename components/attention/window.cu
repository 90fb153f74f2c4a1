// Package `window`: a query sees the last `window` keys, its own included.
#define PL_PACKAGE window
#include "mask.h"

static __device__ __forceinline__ range seen_by(const mask_args *args, int query) {
  return {query - args->span + 1, query};
}

#include "mask.cuh"
PL_ARGUMENT(window, "i32")
