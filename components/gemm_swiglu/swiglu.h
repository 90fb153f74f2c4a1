// Parameters of the packages `swiglu` and `swiglu_fragment`, for their device code and their host provider.
#pragma once

#ifndef __cplusplus
#include <stdalign.h>
#endif

struct swiglu_args {
  alignas(64) unsigned char out[128];  // CUtensorMap of out[M, N/2], boxes of tile_m x 64
  int tile_m;
  int tile_n;
};
