// The contract of a component, stated beside its code. `pl-pack` compiles the file twice: with PL_PACK, where every
// annotation becomes a constant array that the packer reads from the compiled object, and without it, where annotations
// are nothing but the declarations of the handles that they name. C++17. Name the package before the include:
//
//   #define PL_PACKAGE load
//   #include <pipelink/contract.cuh>
#pragma once

#ifndef PL_PACKAGE
#error "define PL_PACKAGE, the package's identifier, before <pipelink/contract.cuh>"
#endif

#define PL_JOIN_(a, b, c, d) a##b##c##d
#define PL_JOIN(a, b, c, d) PL_JOIN_(a, b, c, d)
#define PL_HANDLE_SYMBOL_(name) PL_JOIN(plh_, PL_PACKAGE, __, name)
#ifdef PL_DIRECT  // a single unit as a person would write it: decisions are macros, no function reads them
#define PL_HANDLE_DECLARATION_(name)
#else
#define PL_HANDLE_DECLARATION_(name) extern "C" __device__ unsigned PL_HANDLE_SYMBOL_(name)();
#endif
#define PL_RING_DECLARATION_(name)                                                                                     \
  PL_HANDLE_DECLARATION_(name##_full) PL_HANDLE_DECLARATION_(name##_empty) PL_HANDLE_DECLARATION_(name##_depth)        \
  PL_HANDLE_DECLARATION_(name##_full_count) PL_HANDLE_DECLARATION_(name##_empty_count)
#define PL_COUNTER_DECLARATION_(name) PL_HANDLE_DECLARATION_(name##_base) PL_HANDLE_DECLARATION_(name##_arrivals)

// The value that the linker decides for a handle: an offset, slot, id, depth, count or warp. It folds into a constant.
#ifdef PL_DIRECT
#define PL_HANDLE(name) PL_JOIN(PLV_, PL_PACKAGE, __, name)
#else
#define PL_HANDLE(name) (PL_HANDLE_SYMBOL_(name)())
#endif

// What the linker passes through where a function runs code of other packages; opaque to components.
struct pl_context;

// All counters of the kernel, words in device memory: a handle of counters is an index into them. The linker defines it.
extern "C" __device__ unsigned *pl_counters(const pl_context *context);

// The shared memory of the kernel: handles of shared-memory claims are byte offsets from here.
extern __shared__ __align__(1024) unsigned char pl_smem[];

// ---- annotations ---------------------------------------------------------------------------------------------------
// Each takes its name, the function or type that it describes, and a chain that says what the compiler cannot see.

#define PL_STAGE(version) PL_NOTE_("stage", PL_NAME_(PL_PACKAGE), pl::contract::text().add("version", version))
#define PL_PARAMS(type, ...)                                                                                           \
  PL_NOTE_("params", #type,                                                                                            \
           pl::contract::text().add("layout", sizeof(type), alignof(type)) PL_EACH_(PL_FIELD_, type, __VA_ARGS__))

#define PL_ROLE(name, entry, ...) PL_NOTE_("role", #name, __VA_ARGS__, PL_FUNCTION_("entry", entry))
#define PL_CALLABLE(name, function) PL_NOTE_("callable", #name, pl::contract::text(), PL_FUNCTION_("symbol", function))
#define PL_SITE(name, ...) PL_NOTE_("site", #name, __VA_ARGS__)
#define PL_CALL(name, function, ...) PL_NOTE_("call", #name, __VA_ARGS__, PL_FUNCTION_("symbol", function))

#define PL_RING(name, ...) PL_RING_DECLARATION_(name) PL_NOTE_("ring", #name, __VA_ARGS__)
#define PL_RING_INIT(name, function)                                                                                   \
  PL_NOTE_("ring_init", #name, pl::contract::text(), PL_FUNCTION_("symbol", function))
#define PL_RING_BUFFER(ring, name, ...)                                                                                \
  PL_HANDLE_DECLARATION_(name) PL_NOTE_("ring_buffer", #name, __VA_ARGS__, pl::contract::text().add("ring", #ring))

#define PL_CLAIM_SMEM(name, ...) PL_HANDLE_DECLARATION_(name) PL_NOTE_("smem", #name, __VA_ARGS__)
#define PL_CLAIM_MBARRIER(name, ...) PL_HANDLE_DECLARATION_(name) PL_NOTE_("mbarrier", #name, __VA_ARGS__)
#define PL_CLAIM_BARRIER(name, ...) PL_HANDLE_DECLARATION_(name) PL_NOTE_("barrier", #name, __VA_ARGS__)
#define PL_CLAIM_TMEM(name, ...) PL_HANDLE_DECLARATION_(name) PL_NOTE_("tmem", #name, __VA_ARGS__)
#define PL_CLAIM_COUNTER(name, ...) PL_HANDLE_DECLARATION_(name) PL_NOTE_("counter", #name, __VA_ARGS__)
// An endpoint of counters that packages share: producers raise them, consumers wait. Its handles are NAME_base, the index
// of its first word, and NAME_arrivals, what all producers together add to one word.
#define PL_COUNTER(name, ...) PL_COUNTER_DECLARATION_(name) PL_NOTE_("counter_end", #name, __VA_ARGS__)
#define PL_WARP(name, of) PL_HANDLE_DECLARATION_(name) PL_NOTE_("warp", #name, pl::contract::text().add("of", of))

// Placement: thread t, register r -> pl::at. Demand: thread t, position p, chunk c -> pl::at.
#define PL_EXPORT_TENSOR(name, function, chain, threads, registers, ...)                                               \
  PL_MAP_NOTE_((pl::contract::enumerate<threads, registers>(__VA_ARGS__)), "export", #name, chain,                     \
               PL_FUNCTION_("symbol", function))
#define PL_IMPORT_TENSOR(name, function, produce_function, chain, threads, positions, chunks, ...)                     \
  PL_MAP_NOTE_((pl::contract::enumerate<threads, positions, chunks>(__VA_ARGS__)), "import", #name, chain,             \
               PL_FUNCTION_("symbol", function), PL_FUNCTION_("produce", produce_function))

#define PL_FACT(name, ...) PL_NOTE_("fact", #name, __VA_ARGS__)
#define PL_USE_FACT(name, ...) PL_NOTE_("use_fact", #name, __VA_ARGS__)
// A stream of instructions that a role runs, in phases; and the launches that this component can live with.
#define PL_STREAM(name, ...) PL_NOTE_("stream", #name, __VA_ARGS__)
#define PL_TOPOLOGY(...) PL_NOTE_("topology", "topology", __VA_ARGS__)
#define PL_BUFFER(name, ...) PL_NOTE_("buffer", #name, __VA_ARGS__)
#define PL_ARGUMENT(name, type) PL_NOTE_("argument", #name, pl::contract::text().add("type", type))
#define PL_DOMAIN(name, ...) PL_NOTE_("domain", #name, __VA_ARGS__)
#define PL_VIEW(name, ...) PL_NOTE_("view", #name, __VA_ARGS__)
#define PL_PROVIDER(symbol, file) PL_NOTE_("provider", #symbol, pl::contract::text().add("file", file))

#ifndef PL_PACK

#define PL_NOTE_(...)
#define PL_MAP_NOTE_(...)

#else

#include <cstddef>

namespace pl {

// A point of a tile.
struct at {
  int m, n;
};

namespace contract {

// Text of a fixed capacity, built at compile time: units separated by 0x1f, entries (key, values) ended by 0x1e.
template <class Self, int Capacity>
struct notes {
  double real = 0;  // a floating-point value of the entry, which has no exact text in C++17
  int size = 0;
  char content[Capacity] = {};

  template <class... Values>
  constexpr Self add(const char *key, Values... values) const {
    Self result = static_cast<const Self &>(*this);
    result.put(key);
    (result.unit(values), ...);
    result.content[result.size++] = '\x1e';
    return result;
  }

  template <class Other>
  constexpr void append(const Other &other) {
    for (int i = 0; i < other.size; ++i) content[size++] = other.content[i];
    if (other.real != 0) real = other.real;
  }
  constexpr void put(const char *text) {
    for (; *text; ++text) content[size++] = static_cast<unsigned char>(*text) < ' ' ? '?' : *text;
  }
  constexpr void unit(const char *text) {
    content[size++] = '\x1f';
    put(text);
  }
  template <class Integer>
  constexpr void unit(Integer value) {
    content[size++] = '\x1f';
    char digits[20] = {};
    int count = 0;
    if (value < 0) content[size++] = '-';
    do {
      int digit = static_cast<int>(value % 10);
      digits[count++] = static_cast<char>('0' + (digit < 0 ? -digit : digit));
      value /= 10;
    } while (value != 0);
    while (count > 0) content[size++] = digits[--count];
  }
};

struct text : notes<text, 4096> {};

// ---- what the compiler sees ----------------------------------------------------------------------------------------

template <class Type>
constexpr const char *type_name() { return __PRETTY_FUNCTION__; }

template <class Function>
constexpr text function(const char *key, const char *symbol) {
  return text().add(key, symbol, type_name<Function>());
}

template <class... Parts>
constexpr text annotation(const char *file, int line, const char *kind, const char *name, const Parts &...parts) {
  text result = text().add("at", file, line).add("is", kind, name);
  (result.append(parts), ...);
  return result;
}

template <int Threads, int Positions, int Chunks>
struct points {
  int domain[3];
  at values[Threads * Positions * Chunks];
};

template <int Threads, int Registers, class Map>
constexpr points<Threads, Registers, 1> enumerate(Map map) {
  points<Threads, Registers, 1> result{{Threads, Registers, 1}, {}};
  for (int t = 0; t < Threads; ++t)
    for (int r = 0; r < Registers; ++r) result.values[t * Registers + r] = map(t, r);
  return result;
}

template <int Threads, int Positions, int Chunks, class Map>
constexpr points<Threads, Positions, Chunks> enumerate(Map map) {
  points<Threads, Positions, Chunks> result{{Threads, Positions, Chunks}, {}};
  for (int t = 0; t < Threads; ++t)
    for (int p = 0; p < Positions; ++p)
      for (int c = 0; c < Chunks; ++c) result.values[(t * Positions + p) * Chunks + c] = map(t, p, c);
  return result;
}

}  // namespace contract

// ---- chains --------------------------------------------------------------------------------------------------------

struct role : contract::notes<role, 1024> {
  constexpr role warps(int n) const { return add("warps", n); }
  constexpr role align(int warps) const { return add("align", warps); }
  constexpr role registers(int low, int high) const { return add("registers", low, high); }
  constexpr role need(int registers) const { return add("need", registers); }
};

// Arrivals on one mbarrier a phase: `times`, or `times` for each warp or thread of the side that arrives.
struct count {
  const char *per;
  int times;
};
constexpr count once(int times = 1) { return {"once", times}; }
constexpr count per_warp(int times = 1) { return {"warp", times}; }
constexpr count per_thread(int times = 1) { return {"thread", times}; }

struct ring : contract::notes<ring, 1024> {
  constexpr ring on(const char *name) const { return add("on", name); }
  constexpr ring depth(int n) const { return add("depth", n, n); }
  constexpr ring depth(int least, int most) const { return add("depth", least, most); }
  constexpr ring full(count c) const { return add("full", c.per, c.times); }
  constexpr ring empty(count c) const { return add("empty", c.per, c.times); }
  constexpr ring bytes(long long of_a_stage) const { return add("bytes", of_a_stage); }
  constexpr ring drains() const { return add("drains"); }
  constexpr ring scope(const char *name) const { return add("scope", name); }
  constexpr ring proxy(const char *name) const { return add("proxy", name); }
  constexpr ring priority(int n) const { return add("priority", n); }
  constexpr ring producers(int n) const { return add("producers", n); }
};
constexpr ring producer() { return ring().add("side", "producer"); }
constexpr ring consumer() { return ring().add("side", "consumer"); }

struct counter : contract::notes<counter, 1024> {
  constexpr counter on(const char *name) const { return add("on", name); }
  constexpr counter words(int n) const { return add("words", n); }
  constexpr counter scope(const char *name) const { return add("scope", name); }
  constexpr counter restart(const char *rule) const { return add("restart", rule); }
  constexpr counter arrivals(count c) const { return add("arrivals", c.per, c.times); }
};
constexpr counter raises() { return counter().add("side", "producer"); }
constexpr counter waits() { return counter().add("side", "consumer"); }

struct stream : contract::notes<stream, 2048> {
  constexpr stream() = default;
  template <class... Names>
  constexpr explicit stream(Names... roles) { *this = stream().add("roles", roles...); }
  template <class... Names>
  constexpr stream phases(Names... names) const { return add("phases", names...); }
  template <class... Names>
  constexpr stream exclusive(Names... phases) const { return add("exclusive", phases...); }
  constexpr stream fenced() const { return add("fenced"); }
};

struct topology : contract::notes<topology, 1024> {
  constexpr topology cluster(int x, int y = 1, int z = 1) const { return add("cluster", x, y, z); }
  constexpr topology occupancy(int least, int most) const { return add("occupancy", least, most); }
};

struct claim : contract::notes<claim, 1024> {
  constexpr claim bytes(long long n) const { return add("bytes", n); }
  constexpr claim slots(int n) const { return add("slots", n); }
  constexpr claim ids(int n) const { return add("ids", n); }
  constexpr claim columns(int n) const { return add("columns", n); }
  constexpr claim words(int n) const { return add("words", n); }
  constexpr claim align(int n) const { return add("align", n); }
  template <class... Extents>
  constexpr claim tile(Extents... extents) const { return add("tile", extents...); }
  constexpr claim of(const char *dtype) const { return add("dtype", dtype); }
  constexpr claim swizzle(int bytes) const { return add("swizzle", bytes); }
  constexpr claim proxy(const char *name) const { return add("proxy", name); }
  constexpr claim phase(const char *name) const { return add("phase", name); }
  constexpr claim between(const char *start, const char *end) const { return add("between", start, end); }
  constexpr claim scope(const char *name) const { return add("scope", name); }
  constexpr claim restart(const char *rule) const { return add("restart", rule); }
};
template <class... Extents>
constexpr claim tile(Extents... extents) { return claim().tile(extents...); }

struct site : contract::notes<site, 1024> {
  constexpr site() = default;
  constexpr explicit site(const char *role) { *this = site().add("role", role); }
  constexpr site threads(int n) const { return add("threads", n); }
  constexpr site first(int thread) const { return add("first", thread); }
  template <class... Names>
  constexpr site guarantees(Names... names) const { return add("guarantees", names...); }
};

struct call : contract::notes<call, 1024> {
  constexpr call site(const char *name) const { return add("site", name); }
};

struct tensor : contract::notes<tensor, 1024> {
  constexpr tensor() = default;
  constexpr tensor(const char *dtype, int m, int n) { *this = tensor().add("dtype", dtype).add("extent", m, n); }
  constexpr tensor frame(int elements) const { return add("frame", elements); }
  constexpr tensor threads(int n) const { return add("threads", n); }
  constexpr tensor align(int threads) const { return add("align", threads); }
  template <class... Names>
  constexpr tensor requires_(Names... names) const { return add("requires", names...); }
  constexpr tensor completion(const char *policy) const { return add("completion", policy); }
  constexpr tensor chunk(const char *name) const { return add("chunk", name); }
  constexpr tensor site(const char *name) const { return add("site", name); }
  constexpr tensor scratch(const char *claim) const { return add("scratch", claim); }
  constexpr tensor barrier(const char *claim) const { return add("barrier", claim); }
};

struct number : contract::notes<number, 1024> {
  constexpr number value(const char *key, int v) const { return add(key, "i32", v); }
  constexpr number value(const char *key, unsigned v) const { return add(key, "u32", v); }
  constexpr number value(const char *key, long long v) const { return add(key, "i64", v); }
  constexpr number value(const char *key, float v) const {
    number result = add(key, "f32");
    result.real = v;
    return result;
  }
  constexpr number field(const char *name) const { return add("field", name); }
  template <class Number>
  constexpr number requires_(Number v) const { return value("required", v); }
};
template <class Number>
constexpr number fact(Number v) { return number().value("value", v); }
constexpr number use() { return number(); }

struct buffer : contract::notes<buffer, 1024> {
  constexpr buffer() = default;
  constexpr buffer(const char *dtype, int rank) { *this = buffer().add("dtype", dtype).add("rank", rank); }
  constexpr buffer read() const { return add("access", "read"); }
  constexpr buffer write() const { return add("access", "write"); }
  constexpr buffer update() const { return add("access", "update"); }
  constexpr buffer align(int bytes) const { return add("align", bytes); }
};

struct domain : contract::notes<domain, 1024> {
  constexpr domain ranks(int n) const { return add("ranks", n); }
  constexpr domain rank_field(const char *name) const { return add("rank_field", name); }
  constexpr domain ranks_field(const char *name) const { return add("ranks_field", name); }
};

struct view : contract::notes<view, 1024> {
  constexpr view() = default;
  constexpr view(const char *domain, const char *kind) { *this = view().add("domain", domain).add("kind", kind); }
  constexpr view of(const char *allocation) const { return add("allocation", allocation); }
  constexpr view field(const char *name) const { return add("field", name); }
};

}  // namespace pl

// ---- emission: one constant array an annotation, one more for its map ----------------------------------------------

#define PL_STRING_(token) #token
#define PL_NAME_(token) PL_STRING_(token)
#define PL_CONSTANT_(symbol, ...)                                                                                      \
  namespace pl_notes {                                                                                                 \
  constexpr auto symbol##_value = __VA_ARGS__;                                                                         \
  }                                                                                                                    \
  extern "C" {                                                                                                         \
  extern __device__ const decltype(pl_notes::symbol##_value) symbol;                                                   \
  __device__ const decltype(pl_notes::symbol##_value) symbol = pl_notes::symbol##_value;                               \
  }

#define PL_NOTE_(...) PL_NOTE__(__COUNTER__, __VA_ARGS__)
#define PL_NOTE__(number, ...) PL_NOTE___(number, __VA_ARGS__)
#define PL_NOTE___(number, ...)                                                                                       \
  PL_CONSTANT_(pl_note_##number, pl::contract::annotation(__FILE__, __LINE__, __VA_ARGS__))
#define PL_MAP_NOTE_(map, ...) PL_MAP_NOTE__(__COUNTER__, map, __VA_ARGS__)
#define PL_MAP_NOTE__(number, map, ...) PL_MAP_NOTE___(number, map, __VA_ARGS__)
#define PL_MAP_NOTE___(number, map, ...) PL_NOTE___(number, __VA_ARGS__) PL_CONSTANT_(pl_map_##number, map)

#define PL_FUNCTION_(key, symbol) pl::contract::function<decltype(symbol)>(key, #symbol)
#define PL_FIELD_(type, field)                                                                                         \
  .add("field", #field, offsetof(type, field), sizeof(type::field), pl::contract::type_name<decltype(type::field)>())

// PL_EACH_(macro, x, a, b, ...): macro(x, a) macro(x, b) ..., up to 32.
#define PL_EACH_(macro, x, ...)                                                                                        \
  PL_PICK_(__VA_ARGS__, PL_E32_, PL_E31_, PL_E30_, PL_E29_, PL_E28_, PL_E27_, PL_E26_, PL_E25_, PL_E24_, PL_E23_,      \
           PL_E22_, PL_E21_, PL_E20_, PL_E19_, PL_E18_, PL_E17_, PL_E16_, PL_E15_, PL_E14_, PL_E13_, PL_E12_,          \
           PL_E11_, PL_E10_, PL_E9_, PL_E8_, PL_E7_, PL_E6_, PL_E5_, PL_E4_, PL_E3_, PL_E2_, PL_E1_, )                 \
  (macro, x, __VA_ARGS__)
#define PL_PICK_(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, bb, cc, dd, ee,     \
                 ff, pick, ...)                                                                                        \
  pick
#define PL_E1_(m, x, a) m(x, a)
#define PL_E2_(m, x, a, ...) m(x, a) PL_E1_(m, x, __VA_ARGS__)
#define PL_E3_(m, x, a, ...) m(x, a) PL_E2_(m, x, __VA_ARGS__)
#define PL_E4_(m, x, a, ...) m(x, a) PL_E3_(m, x, __VA_ARGS__)
#define PL_E5_(m, x, a, ...) m(x, a) PL_E4_(m, x, __VA_ARGS__)
#define PL_E6_(m, x, a, ...) m(x, a) PL_E5_(m, x, __VA_ARGS__)
#define PL_E7_(m, x, a, ...) m(x, a) PL_E6_(m, x, __VA_ARGS__)
#define PL_E8_(m, x, a, ...) m(x, a) PL_E7_(m, x, __VA_ARGS__)
#define PL_E9_(m, x, a, ...) m(x, a) PL_E8_(m, x, __VA_ARGS__)
#define PL_E10_(m, x, a, ...) m(x, a) PL_E9_(m, x, __VA_ARGS__)
#define PL_E11_(m, x, a, ...) m(x, a) PL_E10_(m, x, __VA_ARGS__)
#define PL_E12_(m, x, a, ...) m(x, a) PL_E11_(m, x, __VA_ARGS__)
#define PL_E13_(m, x, a, ...) m(x, a) PL_E12_(m, x, __VA_ARGS__)
#define PL_E14_(m, x, a, ...) m(x, a) PL_E13_(m, x, __VA_ARGS__)
#define PL_E15_(m, x, a, ...) m(x, a) PL_E14_(m, x, __VA_ARGS__)
#define PL_E16_(m, x, a, ...) m(x, a) PL_E15_(m, x, __VA_ARGS__)
#define PL_E17_(m, x, a, ...) m(x, a) PL_E16_(m, x, __VA_ARGS__)
#define PL_E18_(m, x, a, ...) m(x, a) PL_E17_(m, x, __VA_ARGS__)
#define PL_E19_(m, x, a, ...) m(x, a) PL_E18_(m, x, __VA_ARGS__)
#define PL_E20_(m, x, a, ...) m(x, a) PL_E19_(m, x, __VA_ARGS__)
#define PL_E21_(m, x, a, ...) m(x, a) PL_E20_(m, x, __VA_ARGS__)
#define PL_E22_(m, x, a, ...) m(x, a) PL_E21_(m, x, __VA_ARGS__)
#define PL_E23_(m, x, a, ...) m(x, a) PL_E22_(m, x, __VA_ARGS__)
#define PL_E24_(m, x, a, ...) m(x, a) PL_E23_(m, x, __VA_ARGS__)
#define PL_E25_(m, x, a, ...) m(x, a) PL_E24_(m, x, __VA_ARGS__)
#define PL_E26_(m, x, a, ...) m(x, a) PL_E25_(m, x, __VA_ARGS__)
#define PL_E27_(m, x, a, ...) m(x, a) PL_E26_(m, x, __VA_ARGS__)
#define PL_E28_(m, x, a, ...) m(x, a) PL_E27_(m, x, __VA_ARGS__)
#define PL_E29_(m, x, a, ...) m(x, a) PL_E28_(m, x, __VA_ARGS__)
#define PL_E30_(m, x, a, ...) m(x, a) PL_E29_(m, x, __VA_ARGS__)
#define PL_E31_(m, x, a, ...) m(x, a) PL_E30_(m, x, __VA_ARGS__)
#define PL_E32_(m, x, a, ...) m(x, a) PL_E31_(m, x, __VA_ARGS__)

#endif
