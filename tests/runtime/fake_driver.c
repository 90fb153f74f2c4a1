/* A CUDA driver without a GPU: one device whose memory is the host's. It is compiled against the real `cuda.h`, so what
 * calls it is checked against the real types. Calls are written as lines to a log that tests read, and made to fail. */
#include <cuda.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CUctx_st { int device; };
struct CUmod_st { int loaded; };
struct CUfunc_st { int dynamic_shared; };

static char log_text[1 << 20];
static size_t log_size;
static struct CUctx_st contexts[2] = {{0}, {1}};
static struct CUmod_st module;
static struct CUfunc_st function;
static CUcontext stack[64];
static int depth;

/* What tests set. */
int fake_version = 13000, fake_major = 9, fake_minor = 0, fake_shared = 232448, fake_blocks = 1, fake_devices = 1;
int fake_device_of_pointers = 0;
char fake_failing[64];      /* the function that fails */
int fake_code = CUDA_ERROR_LAUNCH_FAILED;
/* What tests read. */
int fake_retained, fake_modules, fake_allocated;
size_t fake_parameter_size;
unsigned char fake_parameters[4096];

const char *fake_log(void) { return log_text; }
void fake_clear(void) { log_size = 0; log_text[0] = 0; }
int fake_depth(void) { return depth; }
void fake_make_current(int device) { depth = 1; stack[0] = &contexts[device]; }
void fake_no_current(void) { depth = 0; }

static void note(const char *format, ...) {
  va_list values;
  if (log_size + 256 > sizeof log_text) return; /* full: a test that launches very often does not read it */
  va_start(values, format);
  log_size += (size_t)vsnprintf(log_text + log_size, sizeof log_text - log_size, format, values);
  va_end(values);
}

#define CALL(name)                                                     \
  do {                                                                 \
    note(#name "\n");                                                  \
    if (!strcmp(fake_failing, #name)) return (CUresult)fake_code;      \
  } while (0)

CUresult cuInit(unsigned flags) { CALL(cuInit); return (CUresult)flags; }
CUresult cuDriverGetVersion(int *version) { *version = fake_version; return CUDA_SUCCESS; }
CUresult cuGetErrorName(CUresult error, const char **text) { *text = error == CUDA_ERROR_LAUNCH_FAILED ? "CUDA_ERROR_LAUNCH_FAILED" : "CUDA_ERROR_OTHER"; return CUDA_SUCCESS; }
CUresult cuGetErrorString(CUresult error, const char **text) { (void)error; *text = "as the test wants"; return CUDA_SUCCESS; }
CUresult cuDeviceGetCount(int *count) { *count = fake_devices; return CUDA_SUCCESS; }
CUresult cuDeviceGet(CUdevice *device, int ordinal) { *device = ordinal; return CUDA_SUCCESS; }
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
  (void)device;
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *value = 132; break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *value = fake_major; break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: *value = fake_minor; break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: *value = fake_shared; break;
    default: return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  CALL(cuDevicePrimaryCtxRetain);
  ++fake_retained;
  *context = &contexts[device];
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRelease(CUdevice device) { (void)device; CALL(cuDevicePrimaryCtxRelease); --fake_retained; return CUDA_SUCCESS; }
CUresult cuCtxGetCurrent(CUcontext *context) { *context = depth ? stack[depth - 1] : NULL; return CUDA_SUCCESS; }
CUresult cuCtxGetDevice(CUdevice *device) { if (!depth) return CUDA_ERROR_INVALID_CONTEXT; *device = stack[depth - 1]->device; return CUDA_SUCCESS; }
CUresult cuCtxPushCurrent(CUcontext context) { stack[depth++] = context; return CUDA_SUCCESS; }
CUresult cuCtxPopCurrent(CUcontext *context) { *context = stack[--depth]; return CUDA_SUCCESS; }

static CUresult current(void) { return depth ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT; }

CUresult cuModuleLoadData(CUmodule *loaded, const void *image) {
  CALL(cuModuleLoadData);
  if (memcmp(image, "\177ELF", 4)) return CUDA_ERROR_INVALID_IMAGE;
  ++fake_modules;
  *loaded = &module;
  return current();
}
CUresult cuModuleUnload(CUmodule loaded) { (void)loaded; CALL(cuModuleUnload); --fake_modules; return current(); }
CUresult cuModuleGetFunction(CUfunction *found, CUmodule loaded, const char *name) {
  (void)loaded;
  CALL(cuModuleGetFunction);
  note("  %s\n", name);
  *found = &function;
  return current();
}
CUresult cuFuncSetAttribute(CUfunction f, CUfunction_attribute attribute, int value) {
  CALL(cuFuncSetAttribute);
  note("  %d=%d\n", attribute, value);
  if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) f->dynamic_shared = value;
  return current();
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction f, int threads, size_t shared) {
  (void)f;
  CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor);
  note("  threads=%d shared=%zu\n", threads, shared);
  *blocks = fake_blocks;
  return current();
}
CUresult cuPointerGetAttribute(void *value, CUpointer_attribute attribute, CUdeviceptr address) {
  if (attribute != CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL || !address || fake_device_of_pointers < 0) return CUDA_ERROR_INVALID_VALUE;
  *(int *)value = fake_device_of_pointers;
  return CUDA_SUCCESS;
}
CUresult cuMemAlloc(CUdeviceptr *address, size_t size) {
  CALL(cuMemAlloc);
  note("  %zu\n", size);
  ++fake_allocated;
  *address = (CUdeviceptr)aligned_alloc(256, (size + 255) / 256 * 256);
  memset((void *)*address, 0xEE, size);
  return current();
}
CUresult cuMemFree(CUdeviceptr address) { CALL(cuMemFree); --fake_allocated; free((void *)address); return current(); }
CUresult cuMemsetD32(CUdeviceptr address, unsigned value, size_t count) {
  CALL(cuMemsetD32);
  for (size_t i = 0; i < count; ++i) ((unsigned *)address)[i] = value;
  return current();
}
CUresult cuMemsetD32Async(CUdeviceptr address, unsigned value, size_t count, CUstream stream) {
  CALL(cuMemsetD32Async);
  note("  count=%zu stream=%lu\n", count, (unsigned long)stream);
  for (size_t i = 0; i < count; ++i) ((unsigned *)address)[i] = value;
  return current();
}
CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t size) { memcpy((void *)to, from, size); return current(); }
CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t size) { memcpy(to, (const void *)from, size); return current(); }
CUresult cuStreamSynchronize(CUstream stream) { (void)stream; CALL(cuStreamSynchronize); return current(); }
CUresult cuCtxSynchronize(void) { CALL(cuCtxSynchronize); return current(); }
CUresult cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction f, void **parameters, void **extra) {
  CALL(cuLaunchKernelEx);
  note("  grid=%u,%u,%u block=%u,%u,%u shared=%u stream=%lu attributes=%u\n", c->gridDimX, c->gridDimY, c->gridDimZ,
       c->blockDimX, c->blockDimY, c->blockDimZ, c->sharedMemBytes, (unsigned long)c->hStream, c->numAttrs);
  for (unsigned i = 0; i < c->numAttrs; ++i)
    if (c->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
      note("  cluster=%u,%u,%u\n", c->attrs[i].value.clusterDim.x, c->attrs[i].value.clusterDim.y, c->attrs[i].value.clusterDim.z);
  if (extra || f != &function || (int)c->sharedMemBytes > f->dynamic_shared) return CUDA_ERROR_INVALID_VALUE;
  memcpy(fake_parameters, parameters[0], fake_parameter_size);
  const char *path = getenv("FAKE_DRIVER_PARAMETERS");
  FILE *file = path ? fopen(path, "wb") : NULL;
  if (file) {
    fwrite(parameters[0], 1, (size_t)atoi(getenv("FAKE_DRIVER_PARAMETER_SIZE")), file);
    fclose(file);
  }
  return current();
}

/* The 128 bytes state every argument, so that a test can read them back. */
CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address,
                                const cuuint64_t *extents, const cuuint64_t *strides, const cuuint32_t *box,
                                const cuuint32_t *steps, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  if (!strcmp(fake_failing, "cuTensorMapEncodeTiled")) return (CUresult)fake_code;
  if ((size_t)map % 64 || rank < 1 || rank > 5) return CUDA_ERROR_INVALID_VALUE;
  memset(map, 0, sizeof *map);
  unsigned long long *words = (unsigned long long *)map;
  words[0] = (unsigned long long)type | (unsigned long long)rank << 8 | (unsigned long long)interleave << 16 |
             (unsigned long long)swizzle << 24 | (unsigned long long)promotion << 32 | (unsigned long long)fill << 40;
  words[1] = (unsigned long long)address;
  for (unsigned i = 0; i < rank; ++i) words[2 + i] = extents[i];
  for (unsigned i = 0; i + 1 < rank; ++i) words[7 + i] = strides[i];
  for (unsigned i = 0; i < rank; ++i) ((unsigned char *)map)[88 + 2 * i] = (unsigned char)(box[i] & 255),
                                      ((unsigned char *)map)[89 + 2 * i] = (unsigned char)(box[i] >> 8 | steps[i] << 4);
  return CUDA_SUCCESS;
}
