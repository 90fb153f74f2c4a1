/* What the host providers of this folder share: finding buffers, and refusing with a message. */
#ifndef FACTS_HOST_H
#define FACTS_HOST_H

#include <pipelink/provider.h>

enum { kPage = 64 }; /* M, N and K are described in pages: N and K are multiples */

static inline int same_text(const char *a, const char *b) {
  for (; *a && *a == *b; ++a, ++b) {}
  return *a == *b;
}

/* Sets the message to `subject: problem`, cut to its size. */
static inline int32_t refuse(pl_request *request, const char *subject, const char *problem) {
  const char *parts[] = {subject, ": ", problem};
  size_t size = 0;
  for (int part = 0; part < 3; ++part)
    for (const char *c = parts[part]; *c && size + 1 < sizeof request->message; ++c) request->message[size++] = *c;
  request->message[size] = 0;
  return 1;
}

/* Versions and sizes agree: the first thing that a provider checks. */
static inline int32_t check_request(const pl_services *services, pl_request *request, uint64_t region_size) {
  if (services->abi != PL_PROVIDER_ABI) return refuse(request, "provider", "the interface has another version");
  if (request->region_size != region_size) return refuse(request, "provider", "the parameters have another size");
  return 0;
}

/* The contiguous matrix `name`, whose columns are a multiple of a page; `*matrix` is set on success. */
static inline int32_t find_matrix(pl_request *request, const char *name, const pl_buffer **matrix) {
  for (uint32_t i = 0; i < request->buffer_count; ++i) {
    const pl_buffer *found = &request->buffers[i];
    if (!same_text(found->name, name)) continue;
    if (found->shape[0] < 1 || found->shape[0] * found->shape[1] > INT32_MAX)
      return refuse(request, name, "must have 1 to 2^31 - 1 elements");
    if (found->shape[1] % kPage != 0) return refuse(request, name, "its columns must be a multiple of 64");
    if (found->stride[1] != 1 || found->stride[0] != found->shape[1]) return refuse(request, name, "must be contiguous");
    *matrix = found;
    return 0;
  }
  return refuse(request, name, "no such buffer was given");
}

/* Refuses where `matrix` has not the extents of two others' dimensions. */
static inline int32_t check_shape(pl_request *request, const pl_buffer *matrix, int64_t rows, int64_t columns) {
  if (matrix->shape[0] == rows && matrix->shape[1] == columns) return 0;
  return refuse(request, matrix->name, "its extents do not fit those of the others");
}

static inline int ceil_div(int64_t a, int64_t b) { return (int)((a + b - 1) / b); }

#endif
