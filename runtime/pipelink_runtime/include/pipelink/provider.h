/* Host providers: native code of a package that turns the caller's buffers and arguments into the package's kernel
 * parameters, once, when a session is opened. C11, freestanding: a provider links nothing and calls only what it is
 * lent. It exports one function of the type `pl_provider`. All of this is version PL_PROVIDER_ABI of the interface. */
#ifndef PIPELINK_PROVIDER_H
#define PIPELINK_PROVIDER_H

#include <stddef.h>
#include <stdint.h>

#define PL_PROVIDER_ABI 1
#define PL_MAX_RANK 5

/* Element types, numbered as CUtensorMapDataType is. Buffers of other types arrive under a number of their width: i8 and
 * the 8-bit floating-point types as u8, i16 as u16, tf32 as f32. */
enum pl_dtype {
  PL_U8 = 0,
  PL_U16 = 1,
  PL_U32 = 2,
  PL_I32 = 3,
  PL_U64 = 4,
  PL_I64 = 5,
  PL_F16 = 6,
  PL_F32 = 7,
  PL_F64 = 8,
  PL_BF16 = 9
};

/* CUtensorMapSwizzle. */
enum pl_swizzle { PL_SWIZZLE_NONE = 0, PL_SWIZZLE_32 = 1, PL_SWIZZLE_64 = 2, PL_SWIZZLE_128 = 3 };

/* CUtensorMapL2promotion. */
enum pl_l2_promotion { PL_L2_NONE = 0, PL_L2_64 = 1, PL_L2_128 = 2, PL_L2_256 = 3 };

/* Device memory lent by the caller: outermost dimension first, strides in elements. */
typedef struct pl_buffer {
  const char *name;
  uint64_t address;
  int32_t dtype;
  int32_t rank;
  int64_t shape[PL_MAX_RANK];
  int64_t stride[PL_MAX_RANK];
} pl_buffer;

/* A value given by the caller: `real` for floating-point arguments, else `integer`. */
typedef struct pl_argument {
  const char *name;
  union {
    int64_t integer;
    double real;
  } value;
} pl_argument;

/* What a provider may call. */
typedef struct pl_services {
  uint32_t abi; /* PL_PROVIDER_ABI of the caller */

  /* cuTensorMapEncodeTiled: `map` is 128 bytes aligned to 64; extents innermost first; strides in bytes, of all
   * dimensions but the innermost. Returns 0, or a CUresult. */
  int32_t (*encode_tiled)(void *map, int32_t dtype, uint32_t rank, uint64_t address, const uint64_t *extents,
                          const uint64_t *strides, const uint32_t *box, const uint32_t *element_strides,
                          int32_t interleave, int32_t swizzle, int32_t l2_promotion, int32_t out_of_bounds_fill);
} pl_services;

typedef struct pl_request {
  /* In. The region arrives zeroed but for the fields that are sourced from facts, which hold the facts' values and are
   * not the provider's to write. Only the buffers and arguments that the package declares are there. */
  void *region;
  uint64_t region_size;
  const pl_buffer *buffers;
  uint32_t buffer_count;
  const pl_argument *arguments;
  uint32_t argument_count;
  uint32_t multiprocessors;

  /* Out. The grid, left zero by providers that do not decide it; and after a failure why, ended by a zero byte. */
  uint32_t grid[3];
  char message[256];
} pl_request;

/* Fills the region. Returns 0, or another value after it has set the message. */
typedef int32_t (*pl_provider)(const pl_services *services, pl_request *request);

#endif
