/* Host provider of `swiglu` and `swiglu_fragment`: the tensor map of out[M, N/2]. */
#include <pipelink/provider.h>

#include "host.h"
#include "swiglu.h"

int32_t swiglu_provide(const pl_services *services, pl_request *request) {
  struct swiglu_args *args = request->region;
  const pl_buffer *x, *w, *out;
  if (check_request(services, request, sizeof *args)) return 1;
  if (find_matrix(request, "x", &x) || find_matrix(request, "w", &w)) return 1;
  if (find_matrix(request, "out", &out)) return 1;
  if (w->shape[0] % 2 != 0) return refuse(request, "w", "its rows must be pairs of gate and up");
  if (out->shape[0] != x->shape[0]) return refuse(request, "out", "its first extent must be that of x (M)");
  if (out->shape[1] != w->shape[0] / 2)
    return refuse(request, "out", "its second extent must be half the rows of w (N/2)");
  return encode_matrix(services, request, out, (uint32_t)args->tile_m, args->out);
}
