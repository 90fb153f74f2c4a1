// Instructions of sm_90a as functions: mbarriers, tensor copies (TMA), fences, barriers, warpgroup products (WGMMA).
// An address is one in the shared window (32 bits) unless it is a pointer. Sections named are those of the PTX ISA.
#pragma once

// Internal linkage: packages built with different versions of these headers may meet in one kernel.
#define PL_DEVICE static __device__ __forceinline__

namespace pl {

PL_DEVICE unsigned shared_address(const void *shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}

// ---- mbarriers: "Parallel Synchronization and Communication Instructions: mbarrier" ---------------------------------
// Arrivals have release and waits acquire semantics at CTA scope, the default. `.release.cluster` is not asked for: it
// costs a memory barrier of the whole GPU.

PL_DEVICE void mbarrier_init(unsigned barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

PL_DEVICE void mbarrier_arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// One arrival that first adds `bytes` to what the phase waits for.
PL_DEVICE void mbarrier_arrive_expect(unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

// Returns once the phase of parity `parity` has completed. A fresh mbarrier is in phase 0, and counts phase -1, of
// parity 1, as completed.
PL_DEVICE void mbarrier_wait(unsigned barrier, unsigned parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "wait_%=:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra wait_%=;\n"
      "}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

// ---- tensor copies: "Data Movement and Conversion Instructions: cp.async.bulk.tensor" -------------------------------
// `map` points to a CUtensorMap, aligned to 64 bytes, in kernel parameters, constant or global memory; `x` counts
// elements of the inner dimension. Loads fill what lies outside of the tensor with zeros, stores leave it out.

// The box of `map` at (x, y) to shared memory; its bytes complete at `barrier`.
PL_DEVICE void tensor_load(unsigned destination, const void *map, int x, int y, unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3}], [%4];" ::"r"(destination),
      "l"(map), "r"(x), "r"(y), "r"(barrier)
      : "memory");
}

// The box of `map` at (x, y) from shared memory; part of the thread's next bulk group.
PL_DEVICE void tensor_store(const void *map, int x, int y, unsigned source) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map), "r"(x),
               "r"(y), "r"(source)
               : "memory");
}

PL_DEVICE void bulk_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

// Returns once all but the `Pending` youngest bulk groups of this thread have been written.
template <int Pending>
PL_DEVICE void bulk_wait() {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(Pending) : "memory");
}

// ---- fences and barriers --------------------------------------------------------------------------------------------

// Orders this thread's accesses to shared memory before later ones of the async proxy: "membar / fence".
PL_DEVICE void fence_proxy_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// Named barrier `id` for `threads` threads of full, converged warps: "bar, barrier".
PL_DEVICE void barrier_sync(unsigned id, unsigned threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// ---- shared memory --------------------------------------------------------------------------------------------------

PL_DEVICE void shared_store(unsigned address, unsigned a) {
  asm volatile("st.shared.b32 [%0], %1;" ::"r"(address), "r"(a) : "memory");
}

PL_DEVICE void shared_store(unsigned address, unsigned a, unsigned b, unsigned c, unsigned d) {
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(a), "r"(b), "r"(c), "r"(d) : "memory");
}

// Offset of 16-byte unit `unit` of row `row` in a tile with rows of 128 bytes under the 128-byte swizzle, whose base is
// aligned to 1024 bytes: the unit's number is XORed with the row's, modulo 8 ("Tensors: Swizzling Modes").
PL_DEVICE unsigned swizzle_128(unsigned row, unsigned unit) { return row * 128 + ((unit ^ (row % 8)) * 16); }

// ---- arithmetic -----------------------------------------------------------------------------------------------------

// 2^x and 1/x to about 22 bits; subnormal results are zero.
PL_DEVICE float exp2_approximate(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

PL_DEVICE float reciprocal_approximate(float x) {
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

// Two bf16 numbers, rounded to nearest even; `low` is the one at the lower address.
PL_DEVICE unsigned pack_bf16(float low, float high) {
  unsigned result;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
  return result;
}

// ---- warpgroup products: "Asynchronous Warpgroup Level Matrix Instructions" -----------------------------------------

// Orders the warpgroup's accesses to accumulators and shared memory before its next products: "wgmma.fence".
PL_DEVICE void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

PL_DEVICE void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

// Returns once all but the `Pending` youngest groups are done: their operands may be overwritten.
template <int Pending>
PL_DEVICE void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}

// Descriptor of an operand with rows of 128 bytes, 64 bf16 of K, under the 128-byte swizzle: "Matrix Descriptor
// Format".
// Bits 0-13 hold the address, 16-29 the leading and 32-45 the stride byte offset, all divided by 16; 62-63 the
// swizzle, 1 for 128 bytes. The stride is that from 8 rows to the next 8, 1024 bytes; the leading offset is not read in
// this mode. Bits 49-51, the base offset, are zero: the tile is aligned to 1024 bytes.
PL_DEVICE unsigned long long wgmma_descriptor(unsigned address) {
  constexpr unsigned long long kStride = 1024 / 16, kSwizzle128 = 1;
  return (address & 0x3ffff) / 16 | 1ull << 16 | kStride << 32 | kSwizzle128 << 62;
}

// What to add to a descriptor for the next 16 elements of K, 32 bytes on within the swizzled row.
constexpr unsigned long long kWgmmaNextK = 32 / 16;

// The registers of a 64 x 256 accumulator as operands of an asm statement.
#define PL_NAMES_10(tens)                                                            \
  "%" #tens "0, %" #tens "1, %" #tens "2, %" #tens "3, %" #tens "4, "                \
  "%" #tens "5, %" #tens "6, %" #tens "7, %" #tens "8, %" #tens "9, "
#define PL_NAMES_128                                                                                             \
  PL_NAMES_10() PL_NAMES_10(1) PL_NAMES_10(2) PL_NAMES_10(3) PL_NAMES_10(4) PL_NAMES_10(5) PL_NAMES_10(6)        \
  PL_NAMES_10(7) PL_NAMES_10(8) PL_NAMES_10(9) PL_NAMES_10(10) PL_NAMES_10(11)                                   \
  "%120, %121, %122, %123, %124, %125, %126, %127"
#define PL_OPERANDS_4(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define PL_OPERANDS_16(d, i) \
  PL_OPERANDS_4(d, i), PL_OPERANDS_4(d, i + 4), PL_OPERANDS_4(d, i + 8), PL_OPERANDS_4(d, i + 12)
#define PL_OPERANDS_64(d, i) \
  PL_OPERANDS_16(d, i), PL_OPERANDS_16(d, i + 16), PL_OPERANDS_16(d, i + 32), PL_OPERANDS_16(d, i + 48)

// d = a b + (accumulate ? d : 0) for a of 64 x 16 and b of 256 x 16 bf16, both with K innermost, by a warpgroup:
// "wgmma.mma_async". Thread t holds in d[r] row t/32*16 + t%32/4 + r/2%2*8, column r/4*8 + t%4*2 + r%2.
PL_DEVICE void wgmma_m64n256k16(float (&d)[128], unsigned long long a, unsigned long long b, bool accumulate) {
  asm volatile(
      "{\n"
      ".reg .pred accumulate;\n"
      "setp.ne.b32 accumulate, %130, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {" PL_NAMES_128 "}, %128, %129, accumulate, 1, 1, 0, 0;\n"
      "}"
      : PL_OPERANDS_64(d, 0), PL_OPERANDS_64(d, 64)
      : "l"(a), "l"(b), "r"(static_cast<unsigned>(accumulate)));
}

#undef PL_NAMES_10
#undef PL_NAMES_128
#undef PL_OPERANDS_4
#undef PL_OPERANDS_16
#undef PL_OPERANDS_64

}  // namespace pl
