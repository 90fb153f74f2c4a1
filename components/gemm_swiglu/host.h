/* What the host providers of this folder share: looking up buffers, refusing with a message, describing a matrix. */
#ifndef GEMM_SWIGLU_HOST_H
#define GEMM_SWIGLU_HOST_H

#include <pipelink/provider.h>

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

/* Null where the caller lent no buffer of this name. */
static inline const pl_buffer *find_buffer(const pl_request *request, const char *name) {
  for (uint32_t i = 0; i < request->buffer_count; ++i)
    if (same_text(request->buffers[i].name, name)) return &request->buffers[i];
  return 0;
}

/* Versions and sizes agree: the first thing that a provider checks. */
static inline int32_t check_request(const pl_services *services, pl_request *request, uint64_t region_size) {
  if (services->abi != PL_PROVIDER_ABI) return refuse(request, "provider", "the interface has another version");
  if (request->region_size != region_size) return refuse(request, "provider", "the parameters have another size");
  return 0;
}

/* An extent that device code can hold in an int: tensor copies take coordinates of 32 bits. */
static inline int is_int(int64_t extent) { return extent >= 1 && extent <= INT32_MAX; }

/* The row-major bf16 matrix `name`, as tensor copies can move it; `*matrix` is set on success. A tensor map needs an
 * address and strides of whole 16 bytes (CUDA driver API, cuTensorMapEncodeTiled). */
static inline int32_t find_matrix(pl_request *request, const char *name, const pl_buffer **matrix) {
  const pl_buffer *found = find_buffer(request, name);
  if (!found) return refuse(request, name, "no such buffer was given");
  if (found->dtype != PL_BF16) return refuse(request, name, "must be bf16");
  if (found->rank != 2) return refuse(request, name, "must have two dimensions");
  if (!is_int(found->shape[0]) || !is_int(found->shape[1]))
    return refuse(request, name, "its extents must be within 1 and 2^31 - 1");
  if (found->stride[1] != 1) return refuse(request, name, "the elements of a row must be adjacent");
  if (found->stride[0] < found->shape[1]) return refuse(request, name, "its rows must not overlap");
  if (found->stride[0] % 8 != 0) return refuse(request, name, "its rows must be a multiple of 16 bytes apart");
  if (found->address % 16 != 0) return refuse(request, name, "its address must be a multiple of 16");
  *matrix = found;
  return 0;
}

/* Encodes `matrix` in boxes of `rows` x 64 elements under the 128-byte swizzle. */
static inline int32_t encode_matrix(const pl_services *services, pl_request *request, const pl_buffer *matrix,
                                    uint32_t rows, void *map) {
  const uint64_t extents[2] = {(uint64_t)matrix->shape[1], (uint64_t)matrix->shape[0]};
  const uint64_t strides[1] = {(uint64_t)matrix->stride[0] * 2};
  const uint32_t box[2] = {64, rows};
  const uint32_t steps[2] = {1, 1};
  const int32_t status = services->encode_tiled(map, PL_BF16, 2, matrix->address, extents, strides, box, steps, 0,
                                                PL_SWIZZLE_128, PL_L2_128, 0);
  return status == 0 ? 0 : refuse(request, matrix->name, "the driver refused to encode its tensor map");
}

static inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

#endif
