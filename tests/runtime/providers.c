/* Providers for tests: one that reads all that it is given, and some that break a rule each. */
#include <pipelink/provider.h>

static void say(pl_request *request, const char *text) {
  for (size_t i = 0; text[i]; ++i) request->message[i] = text[i];
}

/* The layout of the region in the tests' records. */
struct args {
  int tile;
  int rank;
  int64_t total;
  uint64_t addresses[2];
  int64_t shape[2], stride[2];
  double scale;
  uint32_t multiprocessors;
  int32_t dtype;
};

int32_t reads_all(const pl_services *services, pl_request *request) {
  struct args *args = request->region;
  if (services->abi != PL_PROVIDER_ABI || request->region_size != sizeof *args) return 1;
  if (request->buffer_count != 2 || request->argument_count != 2) return 1;
  if (args->rank || args->total) return 1; /* the region arrives zeroed */
  args->rank = request->buffers[0].rank;
  args->dtype = request->buffers[0].dtype;
  for (int i = 0; i < 2; ++i) {
    args->addresses[i] = request->buffers[i].address;
    args->shape[i] = request->buffers[0].shape[i];
    args->stride[i] = request->buffers[0].stride[i];
  }
  args->total = request->arguments[0].value.integer;
  args->scale = request->arguments[1].value.real;
  args->multiprocessors = request->multiprocessors;
  request->grid[0] = (uint32_t)args->tile;
  request->grid[1] = 2;
  request->grid[2] = 1;
  return 0;
}

int32_t sets_no_grid(const pl_services *services, pl_request *request) {
  int32_t status = reads_all(services, request);
  request->grid[0] = request->grid[1] = request->grid[2] = 0;
  return status;
}

int32_t refuses(const pl_services *services, pl_request *request) {
  (void)services;
  say(request, "x: too large");
  return 3;
}

int32_t refuses_silently(const pl_services *services, pl_request *request) {
  (void)services;
  (void)request;
  return 1;
}

int32_t writes_before(const pl_services *services, pl_request *request) {
  (void)services;
  ((volatile char *)request->region)[-1] ^= 1;
  return 0;
}

int32_t writes_after(const pl_services *services, pl_request *request) {
  (void)services;
  ((volatile char *)request->region)[request->region_size] ^= 1;
  return 0;
}

int32_t changes_a_fact(const pl_services *services, pl_request *request) {
  (void)services;
  ((struct args *)request->region)->tile += 1;
  return 0;
}
