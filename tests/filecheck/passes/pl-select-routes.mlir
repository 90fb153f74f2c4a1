// The cheapest route that serves, proven where it was placed.
// RUN: %each %s -p pl-select-routes | filecheck %s

// A direct route copies registers: no address and no scratch.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> => dropped [] events ["begin", "acc.ready", "acc.done", "end"] threads 256 footprint <barrier = 2, smem = 4096> proofs <> {
  pl.package @mma version "1" digest "d" path "mma.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.export @acc symbol "mma_acc" <("float *") -> "void"> dtype "f32" placement "(t:128, r:8) -> (m:128, n:8) { m = t; n = r }" registers 8 threads 128 align 128 requires [] completion "" uses []
  }
  pl.package @epi version "1" digest "d" path "epi.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "epi_r" <() -> "void"> warps 4 align 4 registers [24, 240] need 64 uses [@acc] => at 4
    pl.site @work in @r threads [0, 128] guarantees []
    pl.claim @scratch smem size 2048 align 128 lifetime <"acc.ready" to "acc.done"> => live [1, 1]
    pl.claim @meet barrier size 1 align 1 lifetime <kernel> => live [0, 3] at 1
    pl.import @acc symbol "epi_import" <("const float *", "int", "float *") -> "void"> produce "epi_produce" <("float *") -> "void"> dtype "f32" demand "(t:128, p:4, c:2) -> (m:128, n:8) { m = t; n = c*4 + p }" chunk "c" site @work lends frame 8 scratch @scratch barrier @meet completion "" rendezvous ["ready"]
  }
  pl.connect tensor @mma::@acc to @epi::@acc => candidates ["direct", "staged"] orders ["ready"]
}
// CHECK: route "direct" schedule <plan = "{{.*}}", sync = "none", threads = 128> reasons ["every thread holds the elements that it wants"]
// CHECK: =====

// -----

// A staged route goes through shared memory, without bank conflicts; the reasons say why nothing cheaper serves.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> => dropped [] events ["begin", "acc.ready", "acc.done", "end"] threads 256 footprint <barrier = 2, smem = 4096> proofs <> {
  pl.package @mma version "1" digest "d" path "mma.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.export @acc symbol "mma_acc" <("float *") -> "void"> dtype "f32" placement "(t:128, r:8) -> (m:128, n:8) { m = t; n = r }" registers 8 threads 128 align 128 requires [] completion "" uses []
  }
  pl.package @epi version "1" digest "d" path "epi.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "epi_r" <() -> "void"> warps 4 align 4 registers [24, 240] need 64 uses [@acc] => at 4
    pl.site @work in @r threads [0, 128] guarantees []
    pl.claim @scratch smem size 2048 align 128 lifetime <"acc.ready" to "acc.done"> => live [1, 2] at 2048
    pl.claim @meet barrier size 1 align 1 lifetime <kernel> => live [0, 3] at 1
    pl.import @acc symbol "epi_import" <("const float *", "int", "float *") -> "void"> produce "epi_produce" <("float *") -> "void"> dtype "f32" demand "(t:128, p:4, c:2) -> (m:128, n:8) { m = t/2 + t%2*64; n = c*4 + p }" chunk "c" site @work lends frame 8 scratch @scratch barrier @meet completion "" rendezvous ["ready"]
  }
  pl.connect tensor @mma::@acc to @epi::@acc => candidates ["staged"] orders ["ready"]
}
// CHECK: route "staged" schedule <address = "(m:128, n:4) -> (byte:2048) { byte = {{.*}} }", load_bytes = 16, load_wavefronts = {{[0-9]+}}, plan = "{{.*}}", scratch_bytes = 2048, store_bytes = 16, store_wavefronts = {{[0-9]+}}, sync = "cta", threads = 128> reasons ["direct: element (m=64, n=0): held by thread 64
// CHECK: =====

// -----

// What was chosen before is chosen again.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> => dropped [] events ["begin", "acc.ready", "acc.done", "end"] threads 256 footprint <barrier = 2, smem = 4096> proofs <> {
  pl.package @mma version "1" digest "d" path "mma.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.export @acc symbol "mma_acc" <("float *") -> "void"> dtype "f32" placement "(t:128, r:8) -> (m:128, n:8) { m = t; n = r }" registers 8 threads 128 align 128 requires [] completion "" uses []
  }
  pl.package @epi version "1" digest "d" path "epi.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "epi_r" <() -> "void"> warps 4 align 4 registers [24, 240] need 64 uses [@acc] => at 4
    pl.site @work in @r threads [0, 128] guarantees []
    pl.claim @scratch smem size 2048 align 128 lifetime <"acc.ready" to "acc.done"> => live [1, 2] at 2048
    pl.claim @meet barrier size 1 align 1 lifetime <kernel> => live [0, 3] at 1
    pl.import @acc symbol "epi_import" <("const float *", "int", "float *") -> "void"> produce "epi_produce" <("float *") -> "void"> dtype "f32" demand "(t:128, p:4, c:2) -> (m:128, n:8) { m = t/2 + t%2*64; n = c*4 + p }" chunk "c" site @work lends frame 8 scratch @scratch barrier @meet completion "" rendezvous ["ready"]
  }
  pl.connect tensor @mma::@acc to @epi::@acc => candidates ["staged"] orders ["ready"] route "direct" schedule <> reasons []
}
// CHECK: route "staged" schedule
// CHECK: =====

// -----

// Only the candidates that the analysis wrote are taken.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> => dropped [] events ["begin", "acc.ready", "acc.done", "end"] threads 256 footprint <barrier = 2, smem = 4096> proofs <> {
  pl.package @mma version "1" digest "d" path "mma.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.export @acc symbol "mma_acc" <("float *") -> "void"> dtype "f32" placement "(t:128, r:8) -> (m:128, n:8) { m = t; n = r }" registers 8 threads 128 align 128 requires [] completion "" uses []
  }
  pl.package @epi version "1" digest "d" path "epi.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "epi_r" <() -> "void"> warps 4 align 4 registers [24, 240] need 64 uses [@acc] => at 4
    pl.site @work in @r threads [0, 128] guarantees []
    pl.claim @scratch smem size 2048 align 128 lifetime <"acc.ready" to "acc.done"> => live [1, 2] at 2048
    pl.claim @meet barrier size 1 align 1 lifetime <kernel> => live [0, 3] at 1
    pl.import @acc symbol "epi_import" <("const float *", "int", "float *") -> "void"> produce "epi_produce" <("float *") -> "void"> dtype "f32" demand "(t:128, p:4, c:2) -> (m:128, n:8) { m = t; n = c*4 + p }" chunk "c" site @work lends frame 8 scratch @scratch barrier @meet completion "" rendezvous ["ready"]
  }
  pl.connect tensor @mma::@acc to @epi::@acc => candidates ["staged"] orders ["ready"]
}
// CHECK: route "staged" schedule
// CHECK: =====

// -----

// The scratch has no place.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> => dropped [] events ["begin", "acc.ready", "acc.done", "end"] threads 256 footprint <barrier = 2, smem = 4096> proofs <> {
  pl.package @mma version "1" digest "d" path "mma.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.export @acc symbol "mma_acc" <("float *") -> "void"> dtype "f32" placement "(t:128, r:8) -> (m:128, n:8) { m = t; n = r }" registers 8 threads 128 align 128 requires [] completion "" uses []
  }
  pl.package @epi version "1" digest "d" path "epi.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "epi_r" <() -> "void"> warps 4 align 4 registers [24, 240] need 64 uses [@acc] => at 4
    pl.site @work in @r threads [0, 128] guarantees []
    pl.claim @scratch smem size 2048 align 128 lifetime <"acc.ready" to "acc.done"> => live [1, 2]
    pl.claim @meet barrier size 1 align 1 lifetime <kernel> => live [0, 3] at 1
    pl.import @acc symbol "epi_import" <("const float *", "int", "float *") -> "void"> produce "epi_produce" <("float *") -> "void"> dtype "f32" demand "(t:128, p:4, c:2) -> (m:128, n:8) { m = t/2 + t%2*64; n = c*4 + p }" chunk "c" site @work lends frame 8 scratch @scratch barrier @meet completion "" rendezvous ["ready"]
  }
  pl.connect tensor @mma::@acc to @epi::@acc => candidates ["staged"] orders ["ready"]
}
// CHECK: <stdin>:{{[0-9]+}}:5: error[L-ROUTE]: the scratch of 'epi.acc' has no place
// CHECK: =====

// -----

// The place is not aligned: the proof fails, and no other route is tried.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> => dropped [] events ["begin", "acc.ready", "acc.done", "end"] threads 256 footprint <barrier = 2, smem = 4096> proofs <> {
  pl.package @mma version "1" digest "d" path "mma.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.export @acc symbol "mma_acc" <("float *") -> "void"> dtype "f32" placement "(t:128, r:8) -> (m:128, n:8) { m = t; n = r }" registers 8 threads 128 align 128 requires [] completion "" uses []
  }
  pl.package @epi version "1" digest "d" path "epi.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "epi_r" <() -> "void"> warps 4 align 4 registers [24, 240] need 64 uses [@acc] => at 4
    pl.site @work in @r threads [0, 128] guarantees []
    pl.claim @scratch smem size 2048 align 128 lifetime <"acc.ready" to "acc.done"> => live [1, 2] at 2056
    pl.claim @meet barrier size 1 align 1 lifetime <kernel> => live [0, 3] at 1
    pl.import @acc symbol "epi_import" <("const float *", "int", "float *") -> "void"> produce "epi_produce" <("float *") -> "void"> dtype "f32" demand "(t:128, p:4, c:2) -> (m:128, n:8) { m = t; n = c*4 + p }" chunk "c" site @work lends frame 8 scratch @scratch barrier @meet completion "" rendezvous ["ready"]
  }
  pl.connect tensor @mma::@acc to @epi::@acc => candidates ["staged"] orders ["ready"]
}
// CHECK:      <stdin>:{{[0-9]+}}:5: error[L-ROUTE]: route 'staged' of tensor 'epi.acc' does not hold where it was placed
// CHECK-NEXT: <stdin>:{{[0-9]+}}:5: note:
// CHECK: =====

// -----

// No candidate is one that serves.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> => dropped [] events ["begin", "acc.ready", "acc.done", "end"] threads 256 footprint <barrier = 2, smem = 4096> proofs <> {
  pl.package @mma version "1" digest "d" path "mma.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.export @acc symbol "mma_acc" <("float *") -> "void"> dtype "f32" placement "(t:128, r:8) -> (m:128, n:8) { m = t; n = r }" registers 8 threads 128 align 128 requires [] completion "" uses []
  }
  pl.package @epi version "1" digest "d" path "epi.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "epi_r" <() -> "void"> warps 4 align 4 registers [24, 240] need 64 uses [@acc] => at 4
    pl.site @work in @r threads [0, 128] guarantees []
    pl.claim @scratch smem size 2048 align 128 lifetime <"acc.ready" to "acc.done"> => live [1, 2] at 2048
    pl.claim @meet barrier size 1 align 1 lifetime <kernel> => live [0, 3] at 1
    pl.import @acc symbol "epi_import" <("const float *", "int", "float *") -> "void"> produce "epi_produce" <("float *") -> "void"> dtype "f32" demand "(t:128, p:4, c:2) -> (m:128, n:8) { m = t/2 + t%2*64; n = c*4 + p }" chunk "c" site @work lends frame 8 scratch @scratch barrier @meet completion "" rendezvous ["ready"]
  }
  pl.connect tensor @mma::@acc to @epi::@acc => candidates ["direct", "teleport"] orders []
}
// CHECK: error[L-ROUTE]: no route of ['direct', 'teleport'] serves tensor 'epi.acc'
// CHECK: =====

// -----

// A pass before is missing.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> => dropped [] events ["begin", "acc.ready", "acc.done", "end"] threads 256 footprint <barrier = 2, smem = 4096> proofs <> {
  pl.package @mma version "1" digest "d" path "mma.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.export @acc symbol "mma_acc" <("float *") -> "void"> dtype "f32" placement "(t:128, r:8) -> (m:128, n:8) { m = t; n = r }" registers 8 threads 128 align 128 requires [] completion "" uses []
  }
  pl.package @epi version "1" digest "d" path "epi.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "epi_r" <() -> "void"> warps 4 align 4 registers [24, 240] need 64 uses [@acc] => at 4
    pl.site @work in @r threads [0, 128] guarantees []
    pl.claim @scratch smem size 2048 align 128 lifetime <"acc.ready" to "acc.done"> => live [1, 2] at 2048
    pl.claim @meet barrier size 1 align 1 lifetime <kernel> => live [0, 3] at 1
    pl.import @acc symbol "epi_import" <("const float *", "int", "float *") -> "void"> produce "epi_produce" <("float *") -> "void"> dtype "f32" demand "(t:128, p:4, c:2) -> (m:128, n:8) { m = t/2 + t%2*64; n = c*4 + p }" chunk "c" site @work lends frame 8 scratch @scratch barrier @meet completion "" rendezvous ["ready"]
  }
  pl.connect tensor @mma::@acc to @epi::@acc
}
// CHECK:      error[L-PASS]: pl-select-routes cannot run: pl.connect of @epi::@acc has no 'candidates'
// CHECK-NEXT: {{.*}} help: run pl-analyze-lifetimes first
// CHECK: =====
