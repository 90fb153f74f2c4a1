/* Host provider of `scaled`. */
#include <pipelink/provider.h>

#include "score_host.h"

int32_t scaled_provide(const pl_services *services, pl_request *request) {
  struct score_args *args = request->region;
  double scale;
  if (check_request(services, request, sizeof *args)) return 1;
  if (find_positive(request, "scale", &scale)) return 1;
  args->before = 1;
  args->exponent = (float)(scale * kLog2E);
  return 0;
}
