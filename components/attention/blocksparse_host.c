/* Host provider of `blocksparse`. */
#include <pipelink/provider.h>

#include "blocksparse.h"
#include "host.h"

int32_t blocksparse_provide(const pl_services *services, pl_request *request) {
  struct blocksparse_args *args = request->region;
  const pl_buffer *q, *k;
  const pl_argument *local, *stride;
  if (check_request(services, request, sizeof *args)) return 1;
  if (find_q_and_k(request, &q, &k)) return 1;
  if (find_argument(request, "local_blocks", &local) || find_argument(request, "vertical_stride", &stride)) return 1;
  if (local->value.integer < 2 || local->value.integer % 2 != 0 || local->value.integer > INT32_MAX / 2)
    return refuse(request, "local_blocks", "must be even, and at least 2");
  if (stride->value.integer < 2 || stride->value.integer % 2 != 0 || stride->value.integer > INT32_MAX / 2)
    return refuse(request, "vertical_stride", "must be even, and at least 2");
  const int64_t offset = k->shape[1] - q->shape[1];
  if (offset < 0 || offset % args->tile_keys != 0)
    return refuse(request, "k", "its length must be that of q, or longer by a multiple of 128");
  args->offset = (int)offset;
  args->local = (int)local->value.integer;
  args->stride = (int)stride->value.integer;
  args->slide = args->stride / (int)q->shape[2] > 1 ? args->stride / (int)q->shape[2] : 1;
  return 0;
}
