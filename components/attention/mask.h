// Parameters of the packages of masks, for their device code and their host provider.
#pragma once

struct mask_args {
  int queries;
  int keys;
  int span;  // the package's only argument: keys of a window or a chunk; 0 where it has none
  int tile_queries;
  int tile_keys;
};

#ifdef __cplusplus
struct range {
  int first, last;
};
#endif
