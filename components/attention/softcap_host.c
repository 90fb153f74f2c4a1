/* Host provider of `softcap`. */
#include <pipelink/provider.h>

#include "score_host.h"

int32_t softcap_provide(const pl_services *services, pl_request *request) {
  struct score_args *args = request->region;
  double scale, cap;
  if (check_request(services, request, sizeof *args)) return 1;
  if (find_positive(request, "scale", &scale) || find_positive(request, "softcap", &cap)) return 1;
  args->before = (float)(scale / cap);
  args->exponent = (float)(cap * kLog2E);
  return 0;
}
