/* Host provider of `load`: tensor maps of x[M, K] and w[N, K], tile counts, the grid: one block a tile. */
#include <pipelink/provider.h>

#include "host.h"
#include "load.h"

/* Tiles along M side by side; 16 x 128 rows of x stay in L2 together with the columns of w in flight. */
enum { kGroup = 16 };

int32_t load_provide(const pl_services *services, pl_request *request) {
  struct load_args *args = request->region;
  const pl_buffer *x, *w;
  if (check_request(services, request, sizeof *args)) return 1;
  if (find_matrix(request, "x", &x) || find_matrix(request, "w", &w)) return 1;
  if (x->shape[1] != w->shape[1]) return refuse(request, "w", "its second extent must be that of x (K)");

  const int64_t tiles_m = ceil_div(x->shape[0], args->tile_m);
  const int64_t tiles_n = ceil_div(w->shape[0], args->tile_n);
  if (tiles_m * tiles_n > INT32_MAX) return refuse(request, "w", "M and N make more tiles than a grid has blocks");
  if (encode_matrix(services, request, x, (uint32_t)args->tile_m, args->a)) return 1;
  if (encode_matrix(services, request, w, (uint32_t)args->tile_n, args->b)) return 1;

  args->k_tiles = (int)ceil_div(x->shape[1], args->tile_k);
  args->tiles_m = (int)tiles_m;
  args->tiles_n = (int)tiles_n;
  args->group = kGroup < args->tiles_m ? kGroup : args->tiles_m;
  request->grid[0] = (uint32_t)(tiles_m * tiles_n);
  request->grid[1] = 1;
  request->grid[2] = 1;
  return 0;
}
