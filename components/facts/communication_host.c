/* Host provider of `communication`: from where and to where it copies. */
#include <pipelink/provider.h>

#include "communication.h"
#include "host.h"

int32_t communication_provide(const pl_services *services, pl_request *request) {
  struct communication_args *args = request->region;
  const pl_buffer *x, *staged;
  if (check_request(services, request, sizeof *args)) return 1;
  if (find_matrix(request, "x", &x) || find_matrix(request, "staged", &staged)) return 1;
  if (check_shape(request, staged, x->shape[0], x->shape[1])) return 1;
  args->x = (const void *)(uintptr_t)x->address;
  args->staged = (void *)(uintptr_t)staged->address;
  args->rows = (int)x->shape[0];
  args->columns = (int)x->shape[1];
  return 0;
}
