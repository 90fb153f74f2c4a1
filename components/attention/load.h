// Parameters of the package `load`, for its device code and its host provider.
#pragma once

#ifndef __cplusplus
#include <stdalign.h>
#endif

struct load_args {
  alignas(64) unsigned char q[128];  // CUtensorMaps, as host.h encodes them
  alignas(64) unsigned char k[128];
  alignas(64) unsigned char v[128];
  int tile_queries;
  int tile_keys;
  int head_size;
};
