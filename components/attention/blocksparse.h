// Parameters of the package `blocksparse`, for its device code and its host provider. Blocks are of kBlock keys.
#pragma once

enum { kBlock = 64 };

struct blocksparse_args {
  int offset;  // keys - queries, whole tiles
  int local;   // blocks that a query sees back from its own, which counts; even
  int stride;  // before those it sees one block of so many; even
  int slide;   // by how many blocks the pattern of a head is ahead of the next's
  int tile_queries;
  int tile_keys;
};
