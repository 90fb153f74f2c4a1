/* Host provider of `audit`: where records go, audit[blocks][4] of i64. Without that buffer nothing is recorded. */
#include <pipelink/provider.h>

#include "audit.h"
#include "host.h"

int32_t audit_provide(const pl_services *services, pl_request *request) {
  struct audit_args *args = request->region;
  if (check_request(services, request, sizeof *args)) return 1;
  const pl_buffer *audit = find_buffer(request, "audit");
  args->records = 0;
  args->blocks = 0;
  if (!audit) return 0;
  if (audit->dtype != PL_I64) return refuse(request, "audit", "must be i64");
  if (audit->rank != 2) return refuse(request, "audit", "must have two dimensions");
  if (audit->shape[1] != kAuditWords) return refuse(request, "audit", "its second extent must be 4");
  if (!is_int(audit->shape[0])) return refuse(request, "audit", "its first extent must be within 1 and 2^31 - 1");
  if (audit->stride[0] != kAuditWords || audit->stride[1] != 1) return refuse(request, "audit", "must be contiguous");
  if (audit->address % 8 != 0) return refuse(request, "audit", "its address must be a multiple of 8");
  args->records = (long long *)(uintptr_t)audit->address;
  args->blocks = (int)audit->shape[0];
  return 0;
}
