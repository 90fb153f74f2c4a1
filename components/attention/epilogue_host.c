/* Host provider of `epilogue`: the tensor map of out, and where the logarithms go: lse[batch, heads, queries]. */
#include <pipelink/provider.h>

#include "epilogue.h"
#include "host.h"

enum { kRowsOfAWarp = 16 };

int32_t epilogue_provide(const pl_services *services, pl_request *request) {
  struct epilogue_args *args = request->region;
  const pl_buffer *q, *out, *lse;
  if (check_request(services, request, sizeof *args)) return 1;
  if (find_heads(request, "q", &q) || find_heads(request, "out", &out)) return 1;
  for (int i = 0; i < 4; ++i)
    if (out->shape[i] != q->shape[i]) return refuse(request, "out", "its shape must be that of q");
  lse = find_buffer(request, "lse");
  if (!lse) return refuse(request, "lse", "no such buffer was given");
  if (lse->dtype != PL_F32 || lse->rank != 3) return refuse(request, "lse", "must be f32 of three dimensions");
  if (lse->shape[0] != q->shape[0] || lse->shape[1] != q->shape[2] || lse->shape[2] != q->shape[1])
    return refuse(request, "lse", "its shape must be batch, heads, queries");
  if (lse->stride[2] != 1 || lse->stride[1] != lse->shape[2] || lse->stride[0] != lse->shape[1] * lse->shape[2])
    return refuse(request, "lse", "must be contiguous");
  args->lse = (float *)(uintptr_t)lse->address;
  args->queries = (int)q->shape[1];
  args->heads = (int)q->shape[2];
  return encode_heads(services, request, out, kRowsOfAWarp, args->out);
}
