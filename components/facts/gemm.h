// Parameters of the package `gemm`, for its device code and its host provider.
#pragma once

struct gemm_args {
  float *product;  // [rows][columns]
  int rows;
  int columns;
  int k_steps;
  int chunk_rows;
  int page_size;
  int threads;
};
