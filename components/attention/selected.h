// Parameters of the package `selected`, for its device code and its host provider.
#pragma once

struct selected_args {
  const int *counts;  // [batch][key heads][tiles]: blocks that a tile of queries visits besides its own
  const int *blocks;  // [batch][key heads][tiles][width]: which
  int width;
  int tiles;  // of 128 queries, of one head
  int key_heads;
  int ratio;   // query heads of a key head
  int offset;  // keys - queries, whole tiles
  int tile_queries;
  int tile_keys;
};
