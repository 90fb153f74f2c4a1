/* Host provider of `activation`: where it reads and writes. */
#include <pipelink/provider.h>

#include "activation.h"
#include "host.h"

int32_t activation_provide(const pl_services *services, pl_request *request) {
  struct activation_args *args = request->region;
  const pl_buffer *product, *out;
  if (check_request(services, request, sizeof *args)) return 1;
  if (find_matrix(request, "product", &product) || find_matrix(request, "out", &out)) return 1;
  if (check_shape(request, out, product->shape[0], product->shape[1])) return 1;
  args->product = (const float *)(uintptr_t)product->address;
  args->out = (float *)(uintptr_t)out->address;
  args->rows = (int)out->shape[0];
  args->columns = (int)out->shape[1];
  return 0;
}
