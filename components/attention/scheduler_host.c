/* Host provider of `scheduler`: how many tiles there are, and the grid: a block for each multiprocessor. */
#include <pipelink/provider.h>

#include "host.h"
#include "scheduler.h"

enum { kCached = 32 << 20 }; /* bytes of keys and values that L2 holds beside what passes through */

int32_t scheduler_provide(const pl_services *services, pl_request *request) {
  struct scheduler_args *args = request->region;
  const pl_buffer *q, *k;
  if (check_request(services, request, sizeof *args)) return 1;
  if (find_q_and_k(request, &q, &k)) return 1;
  const int64_t rows = ceil_div(q->shape[1], args->tile_queries);
  const int64_t heads = q->shape[0] * q->shape[2];
  if (heads > INT32_MAX || rows * heads > INT32_MAX / 2) return refuse(request, "q", "it makes more than 2^30 tiles");

  const int64_t ratio = q->shape[2] / k->shape[2];
  const int64_t bytes = k->shape[1] * kHead * 4; /* keys and values of one of their heads */
  int64_t group = ratio;
  while (heads % (2 * group) == 0 && 2 * group / ratio * bytes <= kCached) group *= 2;
  args->tiles = (int)(rows * heads);
  args->rows = (int)rows;
  args->heads = (int)q->shape[2];
  args->key_heads = (int)k->shape[2];
  args->group = (int)group;
  request->grid[0] = (uint32_t)args->tiles;
  if (request->multiprocessors < request->grid[0]) request->grid[0] = request->multiprocessors;
  request->grid[1] = request->grid[2] = 1;
  return 0;
}
