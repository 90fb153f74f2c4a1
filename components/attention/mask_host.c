/* Host provider of the masks: how many queries and keys there are, and the mask's argument if it has one. */
#include <pipelink/provider.h>

#include "host.h"
#include "mask.h"

int32_t mask_provide(const pl_services *services, pl_request *request) {
  struct mask_args *args = request->region;
  const pl_buffer *q, *k;
  if (check_request(services, request, sizeof *args)) return 1;
  if (find_q_and_k(request, &q, &k)) return 1;
  args->queries = (int)q->shape[1];
  args->keys = (int)k->shape[1];
  args->span = 0;
  if (request->argument_count == 0) return 0;
  const pl_argument *span = request->arguments;
  if (span->value.integer < 1) return refuse(request, span->name, "must be at least 1");
  args->span = (int)span->value.integer;
  return 0;
}
