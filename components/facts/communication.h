// Parameters of the package `communication`, for its device code and its host provider.
#pragma once

struct communication_args {
  const void *x;  // bf16 [rows][columns]
  void *staged;
  int rows;
  int columns;
  int threads;
};
