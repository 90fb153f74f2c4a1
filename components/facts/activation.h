// Parameters of the package `activation`, for its device code and its host provider.
#pragma once

struct activation_args {
  const float *product;  // [rows][columns]
  float *out;
  int rows;
  int columns;
  int tile_m;
  int tile_n;
  int threads;
};
