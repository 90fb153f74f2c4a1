// Parameters of the package `epilogue`, for its device code and its host provider.
#pragma once

#ifndef __cplusplus
#include <stdalign.h>
#endif

struct epilogue_args {
  alignas(64) unsigned char out[128];  // CUtensorMap of boxes of 16 rows, as host.h encodes them
  float *lse;                          // [batch][heads][queries], contiguous
  int queries;
  int heads;
  int tile_queries;
  int head_size;
};
