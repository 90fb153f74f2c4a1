// Parameters of the package `interpreter`, for its device code and its host provider, and the form of an instruction.
#pragma once

#ifndef __cplusplus
#include <stdalign.h>
#endif

enum { kBlocks = 32, kInstructions = 512, kFieldBits = 14 };
enum { kCommunicate, kMultiply, kActivate };

struct interpreter_args {
  alignas(64) unsigned char staged[128];  // CUtensorMap of staged[M, K], boxes of a page
  alignas(64) unsigned char w[128];       // CUtensorMap of w[N, K], boxes of a page
  int tile_m;                             // facts of gemm,
  int tile_n;
  int chunk_rows;  // of communication,
  int pieces;
  int band_rows;  // and of activation
  int k_steps;
  unsigned short first[kBlocks + 1];  // block b runs instructions first[b] to first[b + 1] - 1, in order
  unsigned words[kInstructions];      // operation, a, b: 4, 14 and 14 bits
};
