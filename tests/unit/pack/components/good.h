// Parameters of the package `good`.
#pragma once

struct good_args {
  unsigned char map[128];
  int k_tiles;
  float scale;
  const float *x;
  int tile_m;
  long long rows;
  void *peers;
};
