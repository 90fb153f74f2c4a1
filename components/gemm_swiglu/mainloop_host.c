/* Host provider of `mainloop`: how many tiles of K it multiplies. The last may be partial: copies add zeros. */
#include <pipelink/provider.h>

#include "host.h"
#include "mainloop.h"

enum { kTileK = 64 }; /* the package's own fact */

int32_t mainloop_provide(const pl_services *services, pl_request *request) {
  struct mainloop_args *args = request->region;
  const pl_buffer *x;
  if (check_request(services, request, sizeof *args)) return 1;
  if (find_matrix(request, "x", &x)) return 1;
  args->k_tiles = (int)ceil_div(x->shape[1], kTileK);
  return 0;
}
