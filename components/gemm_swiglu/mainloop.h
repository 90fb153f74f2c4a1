// Parameters of the package `mainloop`, for its device code and its host provider.
#pragma once

struct mainloop_args {
  int k_tiles;
};
