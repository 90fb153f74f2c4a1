// Parameters of the package `scheduler`, for its device code and its host provider.
#pragma once

struct scheduler_args {
  int tiles;  // of all heads and batches
  int rows;   // tiles of one head
  int heads;
  int key_heads;
  int group;  // heads of all batches that are walked side by side
  int tile_queries;
};
