// Parameters of the package `load`, for its device code and its host provider.
#pragma once

#ifndef __cplusplus
#include <stdalign.h>
#endif

struct load_args {
  alignas(64) unsigned char a[128];  // CUtensorMap of x[M, K], boxes of tile_m x tile_k
  alignas(64) unsigned char b[128];  // CUtensorMap of w[N, K], boxes of tile_n x tile_k
  int k_tiles;
  int tiles_m;
  int tiles_n;
  int group;  // tiles along M that run side by side
  int tile_m;
  int tile_n;
  int tile_k;
};
