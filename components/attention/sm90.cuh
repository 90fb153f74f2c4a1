// Instructions of sm_90a that attention needs beyond <pipelink/sm90.cuh>. Sections named are those of the PTX ISA.
#pragma once

#include <pipelink/sm90.cuh>

// ---- tensor copies of five dimensions: "cp.async.bulk.tensor" -------------------------------------------------------
// Coordinates count, innermost first: column within a slab, row, slab of 64 columns, head, batch.

PL_DEVICE void attention_load(unsigned destination, const void *map, int row, int head, int batch, unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3, %2, %4, %5}], [%6];" ::"r"(destination),
      "l"(map), "r"(0), "r"(row), "r"(head), "r"(batch), "r"(barrier)
      : "memory");
}

PL_DEVICE void attention_store(const void *map, int row, int head, int batch, unsigned source) {
  asm volatile(
      "cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group [%0, {%1, %2, %1, %3, %4}], [%5];" ::"l"(map), "r"(0),
      "r"(row), "r"(head), "r"(batch), "r"(source)
      : "memory");
}

// Returns once this thread's bulk groups have read their sources: those may be overwritten.
PL_DEVICE void bulk_wait_read() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }

// ---- matrices of 8 x 8: "ldmatrix", "stmatrix" ----------------------------------------------------------------------
// Lane l gives the address of row l % 8 of matrix l / 8.

PL_DEVICE void load_matrices(unsigned *d, unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
               : "r"(address)
               : "memory");
}

PL_DEVICE void store_matrices(unsigned address, unsigned a, unsigned b, unsigned c, unsigned d) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(a), "r"(b),
               "r"(c), "r"(d)
               : "memory");
}

// 16 x 8 f32 += 16 x 16 bf16 by 16 x 8, K innermost in both, by a warp: "mma.sync". Lane l holds in d[r] row
// l / 4 + r / 2 * 8, column l % 4 * 2 + r % 2.
PL_DEVICE void multiply_add(float *d, const unsigned *a, unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// ---- arithmetic -----------------------------------------------------------------------------------------------------

PL_DEVICE float log2_approximate(float x) {
  float result;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

PL_DEVICE float tanh_approximate(float x) {
  float result;
  asm("tanh.approx.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

// ---- warpgroup products: "Asynchronous Warpgroup Level Matrix Instructions" -----------------------------------------
// 64 x 128 f32, by a warpgroup: thread t holds in d[r] row t/32*16 + t%32/4 + r/2%2*8, column r/4*8 + t%4*2 + r%2.

#define AT_NAMES_10(tens)                                             \
  "%" #tens "0, %" #tens "1, %" #tens "2, %" #tens "3, %" #tens "4, " \
  "%" #tens "5, %" #tens "6, %" #tens "7, %" #tens "8, %" #tens "9, "
#define AT_NAMES_64                                                                                       \
  AT_NAMES_10() AT_NAMES_10(1) AT_NAMES_10(2) AT_NAMES_10(3) AT_NAMES_10(4) AT_NAMES_10(5)                \
  "%60, %61, %62, %63"
#define AT_4(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define AT_16(d, i) AT_4(d, i), AT_4(d, i + 4), AT_4(d, i + 8), AT_4(d, i + 12)
#define AT_64(d) AT_16(d, 0), AT_16(d, 16), AT_16(d, 32), AT_16(d, 48)

// Returns once all but the `Pending` youngest groups are done; `d` is not read before.
template <int Pending>
PL_DEVICE void wgmma_wait_for(float (&d)[64]) {
  asm volatile("wgmma.wait_group.sync.aligned %64;" : AT_64(d) : "n"(Pending) : "memory");
}

// d = a b + (accumulate ? d : 0) for a of 64 x 16 in registers, as a warpgroup's product leaves it, and b of 128 x 16,
// K innermost.
PL_DEVICE void wgmma_keys(float (&d)[64], const unsigned *a, unsigned long long b, bool accumulate) {
  asm volatile(
      "{\n"
      ".reg .pred accumulate;\n"
      "setp.ne.b32 accumulate, %69, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {" AT_NAMES_64
      "}, {%64, %65, %66, %67}, %68, accumulate, 1, 1, 0;\n"
      "}"
      : AT_64(d)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(static_cast<unsigned>(accumulate)));
}

// As `wgmma_keys` with accumulation, for b of 16 x 128, its 128 columns innermost.
PL_DEVICE void wgmma_values(float (&d)[64], const unsigned *a, unsigned long long b) {
  asm volatile(
      "{\n"
      ".reg .pred accumulate;\n"
      "setp.ne.b32 accumulate, 1, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {" AT_NAMES_64
      "}, {%64, %65, %66, %67}, %68, accumulate, 1, 1, 1;\n"
      "}"
      : AT_64(d)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

#undef AT_NAMES_10
#undef AT_NAMES_64
#undef AT_4
#undef AT_16
#undef AT_64

// Descriptor of an operand whose columns are innermost, in slabs of 64 that lie `slab` bytes apart: the leading offset
// is that from slab to slab, the stride that from 8 rows to the next 8 ("Matrix Descriptor Format").
PL_DEVICE unsigned long long wgmma_descriptor_columns(unsigned address, unsigned slab) {
  constexpr unsigned long long kStride = 1024 / 16, kSwizzle128 = 1;
  return (address & 0x3ffff) / 16 | static_cast<unsigned long long>(slab / 16) << 16 | kStride << 32 |
         kSwizzle128 << 62;
}
