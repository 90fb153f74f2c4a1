/* What the host providers of this folder share: looking up buffers and arguments, refusing with a message, describing
 * q[batch, queries, heads, 128], k and v[batch, keys, key heads, 128]. Strides are free but for the last. */
#ifndef ATTENTION_HOST_H
#define ATTENTION_HOST_H

#include <pipelink/provider.h>

enum { kHead = 128, kSlabColumns = 64 };

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

/* Null where the caller lent no buffer of this name. */
static inline const pl_buffer *find_buffer(const pl_request *request, const char *name) {
  for (uint32_t i = 0; i < request->buffer_count; ++i)
    if (same_text(request->buffers[i].name, name)) return &request->buffers[i];
  return 0;
}

/* The argument `name`, which the package declares; `*argument` is set on success. */
static inline int32_t find_argument(pl_request *request, const char *name, const pl_argument **argument) {
  for (uint32_t i = 0; i < request->argument_count; ++i) {
    *argument = &request->arguments[i];
    if (same_text((*argument)->name, name)) return 0;
  }
  return refuse(request, name, "no such argument was given");
}

/* The tensor `name` of four dimensions and heads of 128, as tensor copies can move it; `*tensor` is set on success.
 * They need an address and strides of whole 16 bytes (CUDA driver API, cuTensorMapEncodeTiled). */
static inline int32_t find_heads(pl_request *request, const char *name, const pl_buffer **tensor) {
  const pl_buffer *found = find_buffer(request, name);
  if (!found) return refuse(request, name, "no such buffer was given");
  if (found->dtype != PL_BF16) return refuse(request, name, "must be bf16");
  if (found->rank != 4) return refuse(request, name, "must have four dimensions: batch, length, heads, head size");
  if (found->shape[3] != kHead) return refuse(request, name, "its heads must have size 128");
  if (found->stride[3] != 1) return refuse(request, name, "the elements of a head must be adjacent");
  for (int i = 0; i < 3; ++i) {
    if (found->shape[i] < 1 || found->shape[i] > INT32_MAX - 2 * kHead)
      return refuse(request, name, "its extents must be within 1 and 2^31 - 257");
    if (found->stride[i] % 8 != 0) return refuse(request, name, "its strides must be multiples of 16 bytes");
  }
  if (found->address % 16 != 0) return refuse(request, name, "its address must be a multiple of 16");
  *tensor = found;
  return 0;
}

/* q and k, whose heads must fit each other; both are set on success. */
static inline int32_t find_q_and_k(pl_request *request, const pl_buffer **q, const pl_buffer **k) {
  if (find_heads(request, "q", q) || find_heads(request, "k", k)) return 1;
  if ((*k)->shape[0] != (*q)->shape[0]) return refuse(request, "k", "its batch must be that of q");
  if ((*q)->shape[2] % (*k)->shape[2] != 0) return refuse(request, "k", "its heads must divide those of q");
  return 0;
}

/* Encodes `tensor` in boxes of `rows` x 128 elements: two slabs of 64 columns, each under the 128-byte swizzle. */
static inline int32_t encode_heads(const pl_services *services, pl_request *request, const pl_buffer *tensor,
                                   uint32_t rows, void *map) {
  const uint64_t extents[5] = {kSlabColumns, (uint64_t)tensor->shape[1], kHead / kSlabColumns,
                               (uint64_t)tensor->shape[2], (uint64_t)tensor->shape[0]};
  const uint64_t strides[4] = {(uint64_t)tensor->stride[1] * 2, kSlabColumns * 2, (uint64_t)tensor->stride[2] * 2,
                               (uint64_t)tensor->stride[0] * 2};
  const uint32_t box[5] = {kSlabColumns, rows, kHead / kSlabColumns, 1, 1};
  const uint32_t steps[5] = {1, 1, 1, 1, 1};
  const int32_t status = services->encode_tiled(map, PL_BF16, 5, tensor->address, extents, strides, box, steps, 0,
                                                PL_SWIZZLE_128, PL_L2_256, 0);
  return status == 0 ? 0 : refuse(request, tensor->name, "the driver refused to encode its tensor map");
}

static inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

#endif
