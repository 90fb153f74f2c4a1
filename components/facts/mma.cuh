// Products of a warp: 16 x 8 f32 += 16 x 16 bf16 by 16 x 8 bf16, both with K innermost. PTX ISA, "Warp Level Matrix
// Multiply-Accumulate Instructions".

#include <pipelink/sm90.cuh>

// Four matrices of 8 x 8 bf16; lane l gives the address of row l % 8 of matrix l / 8.
PL_DEVICE void load_matrices(unsigned (&d)[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
               : "r"(address)
               : "memory");
}

// Lane l holds in d[r] row l / 4 + r / 2 * 8, column l % 4 * 2 + r % 2.
PL_DEVICE void multiply_add(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
