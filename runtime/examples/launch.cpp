// Launches an image without Python, from the folder that `python -m pipelink_runtime unpack IMAGE FOLDER` writes.
//
//   g++ -std=c++17 launch.cpp -I HEADERS -I CUDA/include -lcuda -ldl -o launch
//   ./launch FOLDER x=4096x512:x.bin w=1024x512:w.bin out=4096x512:out.bin [alpha=0.5] [--grid X,Y,Z]
//
// HEADERS is what `pipelink_runtime.headers()` says. A buffer is NAME=EXTENTS[:FILE], dense and row-major: its file is
// read before the launch, or written after it where the kernel writes the buffer; without a file it starts as zeros. An
// argument is NAME=VALUE. The folder holds native code (the host providers): run what you trust.
#include <cuda.h>
#include <dlfcn.h>
#include <pipelink/provider.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

using std::string;

[[noreturn]] static void fail(const string &what) { throw std::runtime_error(what); }

static void check(CUresult code, const char *what) {
  if (code == CUDA_SUCCESS) return;
  const char *name = nullptr;
  cuGetErrorName(code, &name);
  fail(string(what) + ": " + (name ? name : std::to_string(code)));
}

static string read_file(const string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail("cannot read " + path);
  return string(std::istreambuf_iterator<char>(file), {});
}

// ---- JSON: what a record holds, numbers and words kept as text -----------------------------------------------------

struct Json {
  string text;
  std::vector<Json> items;
  std::map<string, Json> fields;

  const Json &operator[](const string &name) const {
    const auto found = fields.find(name);
    if (found == fields.end()) fail("record.json lacks " + name);
    return found->second;
  }
  long long number() const { return std::stoll(text); }
};

class Parser {
 public:
  explicit Parser(const string &source) : at_(source.c_str()) {}

  Json value() {
    Json result;
    if (take('{')) {
      while (!take('}')) {
        const string name = quoted();
        expect(':');
        result.fields[name] = value();
        take(',');
      }
    } else if (take('[')) {
      while (!take(']')) {
        result.items.push_back(value());
        take(',');
      }
    } else if (peek() == '"') {
      result.text = quoted();
    } else {
      while (*at_ && !strchr(" \n\t\r,]}", *at_)) result.text += *at_++;
      if (result.text.empty()) fail("record.json is damaged");
    }
    return result;
  }

 private:
  const char *at_;

  char peek() {
    while (*at_ && strchr(" \n\t\r", *at_)) ++at_;
    return *at_;
  }
  bool take(char wanted) {
    if (peek() != wanted) return false;
    ++at_;
    return true;
  }
  void expect(char wanted) {
    if (!take(wanted)) fail("record.json is damaged");
  }
  // Escapes are kept as they are: only prose has any.
  string quoted() {
    expect('"');
    string result;
    while (*at_ && *at_ != '"') {
      if (*at_ == '\\') result += *at_++;
      if (*at_) result += *at_++;
    }
    expect('"');
    return result;
  }
};

// ---- buffers and arguments ------------------------------------------------------------------------------------------

struct Type {
  int32_t number;  // enum pl_dtype
  size_t size;
};

static Type type_of(const string &name) {
  static const std::map<string, Type> types = {
      {"u8", {PL_U8, 1}},    {"u16", {PL_U16, 2}},  {"u32", {PL_U32, 4}},  {"i32", {PL_I32, 4}},  {"u64", {PL_U64, 8}},
      {"i64", {PL_I64, 8}},  {"f16", {PL_F16, 2}},  {"f32", {PL_F32, 4}},  {"f64", {PL_F64, 8}},  {"bf16", {PL_BF16, 2}},
      {"i8", {PL_U8, 1}},    {"i16", {PL_U16, 2}},  {"tf32", {PL_F32, 4}}, {"e4m3", {PL_U8, 1}}, {"e5m2", {PL_U8, 1}},
      {"e8m0", {PL_U8, 1}}};
  const auto found = types.find(name);
  if (found == types.end()) fail("no element type " + name);
  return found->second;
}

struct Buffer {
  CUdeviceptr address = 0;
  Type type{};
  size_t bytes = 0;
  std::vector<int64_t> shape;
  string file;
  bool written = false;
};

using Texts = std::map<string, string>;

// `4096x512:x.bin` in device memory.
static Buffer make_buffer(const string &name, const string &dtype, size_t rank, bool written, const string &given) {
  Buffer buffer;
  buffer.type = type_of(dtype);
  buffer.written = written;
  const size_t colon = given.find(':');
  if (colon != string::npos) buffer.file = given.substr(colon + 1);
  buffer.bytes = buffer.type.size;
  const string extents = given.substr(0, colon);
  for (size_t start = 0; start <= extents.size() && !extents.empty();) {
    const size_t end = std::min(extents.find('x', start), extents.size());
    buffer.shape.push_back(std::stoll(extents.substr(start, end - start)));
    if (buffer.shape.back() < 1) fail(name + ": its extents must be at least 1");
    buffer.bytes *= (size_t)buffer.shape.back();
    start = end + 1;
  }
  if (buffer.shape.size() != rank) fail(name + ": its rank must be " + std::to_string(rank));
  check(cuMemAlloc(&buffer.address, buffer.bytes), "cuMemAlloc");
  string content(buffer.bytes, '\0');
  if (!written && !buffer.file.empty()) content = read_file(buffer.file);
  if (content.size() != buffer.bytes) fail(buffer.file + ": needs " + std::to_string(buffer.bytes) + " bytes");
  check(cuMemcpyHtoD(buffer.address, content.data(), content.size()), "cuMemcpyHtoD");
  return buffer;
}

static std::map<string, Buffer> make_buffers(const Json &record, const Texts &given) {
  std::map<string, bool> written;
  for (const Json &need : record["buffers"].items) written[need["name"].text] |= need["access"].text != "read";
  std::map<string, Buffer> buffers;
  for (const Json &need : record["buffers"].items) {
    const string &name = need["name"].text;
    if (buffers.count(name)) continue;
    if (!given.count(name)) fail("buffer " + name + " is missing");
    const size_t rank = (size_t)need["rank"].number();
    buffers[name] = make_buffer(name, need["dtype"].text, rank, written[name], given.at(name));
  }
  return buffers;
}

// ---- the parameter block --------------------------------------------------------------------------------------------

using Bytes = std::vector<unsigned char>;

static void put(unsigned char *field, const string &type, const string &value) {
  if (type == "f32") {
    const float real = std::stof(value);
    memcpy(field, &real, sizeof real);
    return;
  }
  const uint64_t integer = type == "u64" ? std::stoull(value) : (uint64_t)std::stoll(value);
  memcpy(field, &integer, type == "i64" || type == "u64" ? 8 : 4);
}

static int32_t encode_tiled(void *map, int32_t dtype, uint32_t rank, uint64_t address, const uint64_t *extents,
                            const uint64_t *strides, const uint32_t *box, const uint32_t *element_strides,
                            int32_t interleave, int32_t swizzle, int32_t l2_promotion, int32_t out_of_bounds_fill) {
  static_assert(sizeof(cuuint64_t) == sizeof(uint64_t) && sizeof(cuuint32_t) == sizeof(uint32_t));
  return cuTensorMapEncodeTiled((CUtensorMap *)map, (CUtensorMapDataType)dtype, rank, (void *)address,
                                (const cuuint64_t *)extents, (const cuuint64_t *)strides, box, element_strides,
                                (CUtensorMapInterleave)interleave, (CUtensorMapSwizzle)swizzle,
                                (CUtensorMapL2promotion)l2_promotion, (CUtensorMapFloatOOBfill)out_of_bounds_fill);
}

struct Kernel {
  const string &folder;
  const Json &record;
  const Texts &given;
  const std::map<string, Buffer> &buffers;
  uint32_t multiprocessors;
  Bytes storage;
  unsigned char *block = nullptr;  // aligned to 128
  uint32_t grid[3] = {0, 0, 0};

  const string &value_of(const string &name) const {
    if (!given.count(name)) fail("argument " + name + " is missing");
    return given.at(name);
  }

  void build() {
    const size_t size = (size_t)record["parameters"]["size"].number();
    storage.assign(size + 128, 0);
    block = storage.data() + (128 - (uintptr_t)storage.data() % 128) % 128;
    std::map<string, const Json *> regions;
    for (const Json &region : record["parameters"]["regions"].items) {
      regions[region["package"].text] = &region;
      for (const Json &fact : region["facts"].items)
        put(block + region["offset"].number() + fact["offset"].number(), fact["type"].text, fact["value"].text);
    }
    for (const Json &provider : record["providers"].items) {
      const string &package = provider["package"].text;
      provide(package, provider["symbol"].text, regions.count(package) ? regions[package] : nullptr);
      regions.erase(package);
    }
    for (const auto &[package, region] : regions) fill(package, *region);
  }

  // Lets the package's own native code fill its region.
  void provide(const string &package, const string &symbol, const Json *region) {
    void *library = dlopen((folder + "/providers/" + package + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) fail(dlerror());
    const auto function = (pl_provider)dlsym(library, symbol.c_str());
    if (!function) fail(package + ": its provider lacks " + symbol);
    std::vector<pl_buffer> lent;
    for (const Json &need : record["buffers"].items)
      if (need["package"].text == package) lent.push_back(describe(need["name"].text));
    std::vector<pl_argument> arguments;
    for (const Json &need : record["arguments"].items)
      if (need["package"].text == package) arguments.push_back(argument(need));
    const pl_services services = {PL_PROVIDER_ABI, encode_tiled};
    pl_request request = {};
    request.region = region ? block + (*region)["offset"].number() : nullptr;
    request.region_size = region ? (uint64_t)(*region)["size"].number() : 0;
    request.buffers = lent.data();
    request.buffer_count = (uint32_t)lent.size();
    request.arguments = arguments.data();
    request.argument_count = (uint32_t)arguments.size();
    request.multiprocessors = multiprocessors;
    if (function(&services, &request)) fail(package + ": " + request.message);
    if (!request.grid[0]) return;
    if (grid[0] && memcmp(grid, request.grid, sizeof grid)) fail(package + ": sets another grid");
    memcpy(grid, request.grid, sizeof grid);
  }

  // A package without a provider: fields are named after what they hold.
  void fill(const string &package, const Json &region) {
    std::map<string, string> types;
    for (const Json &need : record["arguments"].items)
      if (need["package"].text == package) types[need["name"].text] = need["type"].text;
    for (const auto &[name, span] : region["fields"].fields) {
      unsigned char *field = block + region["offset"].number() + span.items.at(0).number();
      if (buffers.count(name)) memcpy(field, &buffers.at(name).address, 8);
      if (types.count(name)) put(field, types[name], value_of(name));
    }
  }

  pl_buffer describe(const string &name) const {
    const auto found = buffers.find(name);
    const Buffer &buffer = found->second;
    pl_buffer result = {found->first.c_str(), buffer.address, buffer.type.number, (int32_t)buffer.shape.size(), {}, {}};
    int64_t step = 1;
    for (size_t i = buffer.shape.size(); i-- > 0; step *= buffer.shape[i]) {
      result.shape[i] = buffer.shape[i];
      result.stride[i] = step;
    }
    return result;
  }

  pl_argument argument(const Json &need) const {
    pl_argument result = {need["name"].text.c_str(), {}};
    const string &value = value_of(need["name"].text), &type = need["type"].text;
    if (type == "f32")
      result.value.real = std::stod(value);
    else
      result.value.integer = type == "u64" ? (int64_t)std::stoull(value) : std::stoll(value);
    return result;
  }
};

// Counters start as zeros; those that restart by launch are reset before this only launch anyway.
static void place_counters(const Json &record, unsigned char *block) {
  long long words = 0;
  for (const Json &claim : record["claims"].items)
    if (claim["kind"].text == "counter" && claim["base"].text != "null")
      words = std::max(words, claim["base"].number() + claim["size"].number());
  if (!words) return;
  CUdeviceptr address;
  check(cuMemAlloc(&address, 4 * (size_t)words), "cuMemAlloc");
  check(cuMemsetD32(address, 0, (size_t)words), "cuMemsetD32");
  memcpy(block + record["parameters"]["counters"].number(), &address, sizeof address);
}

static void launch(const Json &record, const string &cubin, Kernel &kernel) {
  CUmodule module;
  CUfunction function;
  check(cuModuleLoadData(&module, cubin.data()), "cuModuleLoadData");
  check(cuModuleGetFunction(&function, module, record["kernel"].text.c_str()), "cuModuleGetFunction");
  const int shared = (int)record["dynamic_shared"].number();
  check(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared), "cuFuncSetAttribute");
  CUlaunchAttribute cluster = {};
  cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  unsigned *extents[] = {&cluster.value.clusterDim.x, &cluster.value.clusterDim.y, &cluster.value.clusterDim.z};
  for (int i = 0; i < 3; ++i) *extents[i] = (unsigned)record["cluster"].items.at((size_t)i).number();
  const unsigned blocks = *extents[0] * *extents[1] * *extents[2];
  if (blocks > 8)
    check(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1), "cuFuncSetAttribute");
  CUlaunchConfig config = {};
  config.gridDimX = kernel.grid[0];
  config.gridDimY = kernel.grid[1];
  config.gridDimZ = kernel.grid[2];
  config.blockDimX = (unsigned)record["threads"].number();
  config.blockDimY = config.blockDimZ = 1;
  config.sharedMemBytes = (unsigned)shared;
  config.attrs = &cluster;
  config.numAttrs = blocks > 1;
  void *parameters[] = {kernel.block};
  check(cuLaunchKernelEx(&config, function, parameters, nullptr), "cuLaunchKernelEx");
  check(cuCtxSynchronize(), record["kernel"].text.c_str());
}

static void read_grid(const string &text, uint32_t *grid) {
  grid[0] = grid[1] = grid[2] = 1;
  if (sscanf(text.c_str(), "%u,%u,%u", grid, grid + 1, grid + 2) < 1) fail("--grid needs X,Y,Z");
}

static void run(int count, char **words) {
  if (count < 2) fail("usage: launch FOLDER NAME=EXTENTS[:FILE]... NAME=VALUE... [--grid X,Y,Z]");
  const string folder = words[1];
  const string text = read_file(folder + "/record.json"), cubin = read_file(folder + "/kernel.cubin");
  const Json record = Parser(text).value();
  if (record["schema"].text != "1") fail("record.json has another schema");
  Texts given;
  uint32_t grid[3] = {0, 0, 0};
  for (int i = 2; i < count; ++i) {
    const string word = words[i];
    const size_t equals = word.find('=');
    if (word == "--grid" && i + 1 < count)
      read_grid(words[++i], grid);
    else if (equals == string::npos)
      fail("what is " + word + "?");
    else
      given[word.substr(0, equals)] = word.substr(equals + 1);
  }
  CUdevice device;
  CUcontext context;
  int multiprocessors = 0;
  check(cuInit(0), "cuInit");
  check(cuDeviceGet(&device, 0), "cuDeviceGet");
  check(cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device), "cuDeviceGetAttribute");
  check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  check(cuCtxPushCurrent(context), "cuCtxPushCurrent");

  const std::map<string, Buffer> buffers = make_buffers(record, given);
  Kernel kernel{folder, record, given, buffers, (uint32_t)multiprocessors, {}};
  memcpy(kernel.grid, grid, sizeof grid);
  kernel.build();
  if (!kernel.grid[0]) fail("no provider sets the grid: give --grid X,Y,Z");
  place_counters(record, kernel.block);
  launch(record, cubin, kernel);
  for (const auto &[name, buffer] : buffers) {
    if (!buffer.written || buffer.file.empty()) continue;
    Bytes content(buffer.bytes);
    check(cuMemcpyDtoH(content.data(), buffer.address, content.size()), "cuMemcpyDtoH");
    std::ofstream(buffer.file, std::ios::binary).write((const char *)content.data(), (std::streamsize)content.size());
  }
  printf("%s: launched %u x %u x %u blocks\n", record["kernel"].text.c_str(), kernel.grid[0], kernel.grid[1], kernel.grid[2]);
}

int main(int count, char **words) {
  try {
    run(count, words);
    return 0;
  } catch (const std::exception &error) {
    fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
