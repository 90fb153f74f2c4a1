/* Host provider of `load`: tensor maps of q, k and v. */
#include <pipelink/provider.h>

#include "host.h"
#include "load.h"

int32_t load_provide(const pl_services *services, pl_request *request) {
  struct load_args *args = request->region;
  const pl_buffer *q, *k, *v;
  if (check_request(services, request, sizeof *args)) return 1;
  if (find_q_and_k(request, &q, &k) || find_heads(request, "v", &v)) return 1;
  for (int i = 0; i < 4; ++i)
    if (v->shape[i] != k->shape[i]) return refuse(request, "v", "its shape must be that of k");
  if (encode_heads(services, request, q, (uint32_t)args->tile_queries, args->q)) return 1;
  if (encode_heads(services, request, k, (uint32_t)args->tile_keys, args->k)) return 1;
  return encode_heads(services, request, v, (uint32_t)args->tile_keys, args->v);
}
