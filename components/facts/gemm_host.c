/* Host provider of `gemm`: where the product goes, and how many steps of K it has. */
#include <pipelink/provider.h>

#include "gemm.h"
#include "host.h"

int32_t gemm_provide(const pl_services *services, pl_request *request) {
  struct gemm_args *args = request->region;
  const pl_buffer *x, *product;
  if (check_request(services, request, sizeof *args)) return 1;
  if (find_matrix(request, "x", &x) || find_matrix(request, "product", &product)) return 1;
  if (check_shape(request, product, x->shape[0], product->shape[1])) return 1;
  args->product = (float *)(uintptr_t)product->address;
  args->rows = (int)product->shape[0];
  args->columns = (int)product->shape[1];
  args->k_steps = (int)(x->shape[1] / kPage);
  return 0;
}
