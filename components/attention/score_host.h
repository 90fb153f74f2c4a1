/* What the host providers of scores share: arguments that must be positive. */
#ifndef ATTENTION_SCORE_HOST_H
#define ATTENTION_SCORE_HOST_H

#include "host.h"
#include "score.h"

static const double kLog2E = 1.4426950408889634;

static inline int32_t find_positive(pl_request *request, const char *name, double *value) {
  const pl_argument *argument;
  if (find_argument(request, name, &argument)) return 1;
  if (!(argument->value.real > 0 && argument->value.real < 1e30)) return refuse(request, name, "must be positive");
  *value = argument->value.real;
  return 0;
}

#endif
