/* Host provider of `selected`: where the choices are. What they hold is the caller's to get right: a block that is not
 * before the tile's own counts as if all queries saw all of it. */
#include <pipelink/provider.h>

#include "host.h"
#include "selected.h"

/* The contiguous i32 tensor `name` whose first three extents are batch, key heads and tiles. */
static int32_t find_choices(pl_request *request, const char *name, int rank, const int64_t *extents,
                            const pl_buffer **found) {
  const pl_buffer *buffer = find_buffer(request, name);
  if (!buffer) return refuse(request, name, "no such buffer was given");
  if (buffer->dtype != PL_I32 || buffer->rank != rank) return refuse(request, name, "has another type or rank");
  for (int i = 0; i < 3; ++i)
    if (buffer->shape[i] != extents[i]) return refuse(request, name, "its extents must be batch, key heads, tiles");
  int64_t stride = 1;
  for (int i = rank - 1; i >= 0; --i) {
    if (buffer->shape[i] > 1 && buffer->stride[i] != stride) return refuse(request, name, "must be contiguous");
    stride *= buffer->shape[i];
  }
  *found = buffer;
  return 0;
}

int32_t selected_provide(const pl_services *services, pl_request *request) {
  struct selected_args *args = request->region;
  const pl_buffer *q, *k, *counts, *blocks;
  if (check_request(services, request, sizeof *args)) return 1;
  if (find_q_and_k(request, &q, &k)) return 1;
  const int64_t offset = k->shape[1] - q->shape[1];
  if (offset < 0 || offset % args->tile_keys != 0)
    return refuse(request, "k", "its length must be that of q, or longer by a multiple of 128");
  const int64_t extents[3] = {q->shape[0], k->shape[2], ceil_div(q->shape[1], args->tile_queries)};
  if (find_choices(request, "counts", 3, extents, &counts) || find_choices(request, "blocks", 4, extents, &blocks))
    return 1;
  if (blocks->shape[3] > INT32_MAX) return refuse(request, "blocks", "has more than 2^31 - 1 blocks a tile");
  args->counts = (const int *)(uintptr_t)counts->address;
  args->blocks = (const int *)(uintptr_t)blocks->address;
  args->width = (int)blocks->shape[3];
  args->tiles = (int)extents[2];
  args->key_heads = (int)k->shape[2];
  args->ratio = (int)(q->shape[2] / k->shape[2]);
  args->offset = (int)offset;
  return 0;
}
