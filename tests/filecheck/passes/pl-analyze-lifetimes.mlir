// When claims hold their storage, which of them may lie over each other, and which routes could serve.
// RUN: %each %s -p pl-analyze-lifetimes | filecheck %s

// A staged tensor: its scratch lives from `ready` to `done`. What lives from `ready` on may lie over the buffers of the
// ring, whose producer drains; mbarriers and the barrier live throughout, and share with nothing.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> => dropped [] {
  pl.package @load version "1" digest "d" path "load.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @tma entry "load_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 24 uses [@ring]
    pl.claim @a smem size 4096 align 1024 ring @ring lifetime <kernel>
    pl.ring @ring producer on @tma buffers [@a] full @full <1> empty @empty <1 per warp> depths [2, 4] bytes 4096 space "smem" scope "cta" proxy "async" priority 0 init "load_init" <() -> "void"> drains
    pl.claim @full mbarrier size 1 align 8 ring @ring lifetime <kernel>
    pl.claim @empty mbarrier size 1 align 8 ring @ring lifetime <kernel>
  }
  pl.package @mma version "1" digest "d" path "mma.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.claim @a smem size 4096 align 1024 ring @ring lifetime <"begin" to "acc.ready">
    pl.ring @ring consumer on @acc buffers [@a] full @full <1> empty @empty <1 per warp> depths [2, 4] bytes 4096 space "smem" scope "cta" proxy "async" priority 0
    pl.claim @full mbarrier size 1 align 8 ring @ring lifetime <kernel>
    pl.claim @empty mbarrier size 1 align 8 ring @ring lifetime <kernel>
    pl.export @acc symbol "mma_acc" <("float *") -> "void"> dtype "f32" placement "(t:128, r:8) -> (m:128, n:8) { m = t; n = r }" registers 8 threads 128 align 128 requires [] completion "" uses [@ring]
  }
  pl.package @epi version "1" digest "d" path "epi.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "epi_r" <() -> "void"> warps 4 align 4 registers [24, 240] need 64 uses [@acc, @out]
    pl.site @work in @r threads [0, 128] guarantees ["entered once"]
    pl.claim @out smem size 8192 align 1024 lifetime <"acc.ready" to "end">
    pl.claim @scratch smem size 2048 align 128 lifetime <"acc.ready" to "acc.done">
    pl.claim @meet barrier size 1 align 1 lifetime <kernel>
    pl.import @acc symbol "epi_import" <("const float *", "int", "float *") -> "void"> produce "epi_produce" <("float *") -> "void"> dtype "f32" demand "(t:128, p:4, c:2) -> (m:128, n:8) { m = t/2 + t%2*64; n = c*4 + p }" chunk "c" site @work lends frame 8 scratch @scratch barrier @meet completion "" rendezvous ["ready"]
  }
  pl.connect ring @load::@ring to @mma::@ring
  pl.connect tensor @mma::@acc to @epi::@acc
}
// CHECK: => dropped [] events ["begin", "acc.ready", "acc.done", "end"] {
// CHECK:      pl.claim @a {{.*}} lifetime <kernel> => live [0, 1]
// CHECK:      pl.claim @full {{.*}} => live [0, 3]
// CHECK-NEXT: pl.claim @empty {{.*}} => live [0, 3]
// CHECK:      pl.claim @a {{.*}} lifetime <"begin" to "acc.ready"> => live [0, 1]
// CHECK:      pl.claim @out {{.*}} => live [1, 3] shares [@load::@a]
// CHECK-NEXT: pl.claim @scratch {{.*}} => live [1, 2] shares [@load::@a]
// CHECK-NEXT: pl.claim @meet {{.*}} => live [0, 3]
// CHECK:      pl.connect tensor @mma::@acc to @epi::@acc => candidates ["staged"] orders ["ready"]
// CHECK: =====

// -----

// A direct tensor needs no scratch: an empty range.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> => dropped [] {
  pl.package @load version "1" digest "d" path "load.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @tma entry "load_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 24 uses [@ring]
    pl.claim @a smem size 4096 align 1024 ring @ring lifetime <kernel>
    pl.ring @ring producer on @tma buffers [@a] full @full <1> empty @empty <1 per warp> depths [2, 4] bytes 4096 space "smem" scope "cta" proxy "async" priority 0 init "load_init" <() -> "void"> drains
    pl.claim @full mbarrier size 1 align 8 ring @ring lifetime <kernel>
    pl.claim @empty mbarrier size 1 align 8 ring @ring lifetime <kernel>
  }
  pl.package @mma version "1" digest "d" path "mma.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.claim @a smem size 4096 align 1024 ring @ring lifetime <"begin" to "acc.ready">
    pl.ring @ring consumer on @acc buffers [@a] full @full <1> empty @empty <1 per warp> depths [2, 4] bytes 4096 space "smem" scope "cta" proxy "async" priority 0
    pl.claim @full mbarrier size 1 align 8 ring @ring lifetime <kernel>
    pl.claim @empty mbarrier size 1 align 8 ring @ring lifetime <kernel>
    pl.export @acc symbol "mma_acc" <("float *") -> "void"> dtype "f32" placement "(t:128, r:8) -> (m:128, n:8) { m = t; n = r }" registers 8 threads 128 align 128 requires [] completion "" uses [@ring]
  }
  pl.package @epi version "1" digest "d" path "epi.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "epi_r" <() -> "void"> warps 4 align 4 registers [24, 240] need 64 uses [@acc, @out]
    pl.site @work in @r threads [0, 128] guarantees ["entered once"]
    pl.claim @out smem size 8192 align 1024 lifetime <"acc.ready" to "end">
    pl.claim @scratch smem size 2048 align 128 lifetime <"acc.ready" to "acc.done">
    pl.claim @meet barrier size 1 align 1 lifetime <kernel>
    pl.import @acc symbol "epi_import" <("const float *", "int", "float *") -> "void"> produce "epi_produce" <("float *") -> "void"> dtype "f32" demand "(t:128, p:4, c:2) -> (m:128, n:8) { m = t; n = c*4 + p }" chunk "c" site @work lends frame 8 scratch @scratch barrier @meet completion "" rendezvous ["ready"]
  }
  pl.connect ring @load::@ring to @mma::@ring
  pl.connect tensor @mma::@acc to @epi::@acc
}
// CHECK:      pl.claim @out {{.*}} => live [1, 3] shares [@load::@a]
// CHECK-NEXT: pl.claim @scratch {{.*}} => live [1, 1] shares [@load::@a]
// CHECK:      pl.connect tensor @mma::@acc to @epi::@acc => candidates ["direct", "staged"] orders ["ready"]
// CHECK: =====

// -----

// Code that uses the scratch itself needs it placed, whatever the route.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> => dropped [] {
  pl.package @load version "1" digest "d" path "load.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @tma entry "load_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 24 uses [@ring]
    pl.claim @a smem size 4096 align 1024 ring @ring lifetime <kernel>
    pl.ring @ring producer on @tma buffers [@a] full @full <1> empty @empty <1 per warp> depths [2, 4] bytes 4096 space "smem" scope "cta" proxy "async" priority 0 init "load_init" <() -> "void"> drains
    pl.claim @full mbarrier size 1 align 8 ring @ring lifetime <kernel>
    pl.claim @empty mbarrier size 1 align 8 ring @ring lifetime <kernel>
  }
  pl.package @mma version "1" digest "d" path "mma.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.claim @a smem size 4096 align 1024 ring @ring lifetime <"begin" to "acc.ready">
    pl.ring @ring consumer on @acc buffers [@a] full @full <1> empty @empty <1 per warp> depths [2, 4] bytes 4096 space "smem" scope "cta" proxy "async" priority 0
    pl.claim @full mbarrier size 1 align 8 ring @ring lifetime <kernel>
    pl.claim @empty mbarrier size 1 align 8 ring @ring lifetime <kernel>
    pl.export @acc symbol "mma_acc" <("float *") -> "void"> dtype "f32" placement "(t:128, r:8) -> (m:128, n:8) { m = t; n = r }" registers 8 threads 128 align 128 requires [] completion "" uses [@ring]
  }
  pl.package @epi version "1" digest "d" path "epi.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "epi_r" <() -> "void"> warps 4 align 4 registers [24, 240] need 64 uses [@acc, @out, @scratch]
    pl.site @work in @r threads [0, 128] guarantees ["entered once"]
    pl.claim @out smem size 8192 align 1024 lifetime <"acc.ready" to "end">
    pl.claim @scratch smem size 2048 align 128 lifetime <"acc.ready" to "acc.done">
    pl.claim @meet barrier size 1 align 1 lifetime <kernel>
    pl.import @acc symbol "epi_import" <("const float *", "int", "float *") -> "void"> produce "epi_produce" <("float *") -> "void"> dtype "f32" demand "(t:128, p:4, c:2) -> (m:128, n:8) { m = t; n = c*4 + p }" chunk "c" site @work lends frame 8 scratch @scratch barrier @meet completion "" rendezvous ["ready"]
  }
  pl.connect ring @load::@ring to @mma::@ring
  pl.connect tensor @mma::@acc to @epi::@acc
}
// CHECK:      pl.claim @scratch {{.*}} => live [1, 2] shares [@load::@a]
// CHECK: =====

// -----

// One scratch, lent to two imports, is needed where one of them needs it. The producer runs again for the second, after
// `ready` of the first: nothing lies over its buffers.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> => dropped [] {
  pl.package @load version "1" digest "d" path "load.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @tma entry "load_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 24 uses [@ring]
    pl.claim @a smem size 4096 align 1024 ring @ring lifetime <kernel>
    pl.ring @ring producer on @tma buffers [@a] full @full <1> empty @empty <1 per warp> depths [2, 4] bytes 4096 space "smem" scope "cta" proxy "async" priority 0 init "load_init" <() -> "void"> drains
    pl.claim @full mbarrier size 1 align 8 ring @ring lifetime <kernel>
    pl.claim @empty mbarrier size 1 align 8 ring @ring lifetime <kernel>
  }
  pl.package @mma version "1" digest "d" path "mma.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.claim @a smem size 4096 align 1024 ring @ring lifetime <"begin" to "acc.ready">
    pl.ring @ring consumer on @acc buffers [@a] full @full <1> empty @empty <1 per warp> depths [2, 4] bytes 4096 space "smem" scope "cta" proxy "async" priority 0
    pl.claim @full mbarrier size 1 align 8 ring @ring lifetime <kernel>
    pl.claim @empty mbarrier size 1 align 8 ring @ring lifetime <kernel>
    pl.export @acc symbol "mma_acc" <("float *") -> "void"> dtype "f32" placement "(t:128, r:8) -> (m:128, n:8) { m = t; n = r }" registers 8 threads 128 align 128 requires [] completion "" uses [@ring]
  }
  pl.package @epi version "1" digest "d" path "epi.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "epi_r" <() -> "void"> warps 4 align 4 registers [24, 240] need 64 uses [@acc, @acc2, @out]
    pl.site @work in @r threads [0, 128] guarantees ["entered once"]
    pl.claim @out smem size 8192 align 1024 lifetime <"acc.ready" to "end">
    pl.claim @scratch smem size 2048 align 128 lifetime <"acc.ready" to "acc.done">
    pl.claim @meet barrier size 1 align 1 lifetime <kernel>
    pl.import @acc symbol "epi_import" <("const float *", "int", "float *") -> "void"> produce "epi_produce" <("float *") -> "void"> dtype "f32" demand "(t:128, p:4, c:2) -> (m:128, n:8) { m = t; n = c*4 + p }" chunk "c" site @work lends frame 8 scratch @scratch barrier @meet completion "" rendezvous ["ready"]
    pl.import @acc2 symbol "epi_import2" <("const float *", "int", "float *") -> "void"> produce "epi_produce2" <("float *") -> "void"> dtype "f32" demand "(t:128, p:4, c:2) -> (m:128, n:8) { m = t/2 + t%2*64; n = c*4 + p }" chunk "c" site @work lends frame 8 scratch @scratch barrier @meet completion "" rendezvous ["ready"]
  }
  pl.connect ring @load::@ring to @mma::@ring
  pl.connect tensor @mma::@acc to @epi::@acc
  pl.connect tensor @mma::@acc to @epi::@acc2
}
// CHECK:      events ["begin", "acc.ready", "acc.done", "acc2.ready", "acc2.done", "end"]
// CHECK:      pl.claim @out {{.*}} => live [1, 5]{{$}}
// CHECK-NEXT: pl.claim @scratch {{.*}} => live [1, 2]{{$}}
// CHECK:      pl.connect tensor @mma::@acc to @epi::@acc => candidates ["direct", "staged"] orders []
// CHECK-NEXT: pl.connect tensor @mma::@acc to @epi::@acc2 => candidates ["staged"] orders []
// CHECK: =====

// -----

// A producer that does not drain may still write: nothing lies over its buffers.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> => dropped [] {
  pl.package @load version "1" digest "d" path "load.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @tma entry "load_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 24 uses [@ring]
    pl.claim @a smem size 4096 align 1024 ring @ring lifetime <kernel>
    pl.ring @ring producer on @tma buffers [@a] full @full <1> empty @empty <1 per warp> depths [2, 4] bytes 4096 space "smem" scope "cta" proxy "async" priority 0 init "load_init" <() -> "void">
    pl.claim @full mbarrier size 1 align 8 ring @ring lifetime <kernel>
    pl.claim @empty mbarrier size 1 align 8 ring @ring lifetime <kernel>
  }
  pl.package @mma version "1" digest "d" path "mma.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.claim @a smem size 4096 align 1024 ring @ring lifetime <"begin" to "acc.ready">
    pl.ring @ring consumer on @acc buffers [@a] full @full <1> empty @empty <1 per warp> depths [2, 4] bytes 4096 space "smem" scope "cta" proxy "async" priority 0
    pl.claim @full mbarrier size 1 align 8 ring @ring lifetime <kernel>
    pl.claim @empty mbarrier size 1 align 8 ring @ring lifetime <kernel>
    pl.export @acc symbol "mma_acc" <("float *") -> "void"> dtype "f32" placement "(t:128, r:8) -> (m:128, n:8) { m = t; n = r }" registers 8 threads 128 align 128 requires [] completion "" uses [@ring]
  }
  pl.package @epi version "1" digest "d" path "epi.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "epi_r" <() -> "void"> warps 4 align 4 registers [24, 240] need 64 uses [@acc, @out]
    pl.site @work in @r threads [0, 128] guarantees ["entered once"]
    pl.claim @out smem size 8192 align 1024 lifetime <"acc.ready" to "end">
    pl.claim @scratch smem size 2048 align 128 lifetime <"acc.ready" to "acc.done">
    pl.claim @meet barrier size 1 align 1 lifetime <kernel>
    pl.import @acc symbol "epi_import" <("const float *", "int", "float *") -> "void"> produce "epi_produce" <("float *") -> "void"> dtype "f32" demand "(t:128, p:4, c:2) -> (m:128, n:8) { m = t/2 + t%2*64; n = c*4 + p }" chunk "c" site @work lends frame 8 scratch @scratch barrier @meet completion "" rendezvous ["ready"]
  }
  pl.connect ring @load::@ring to @mma::@ring
  pl.connect tensor @mma::@acc to @epi::@acc
}
// CHECK:      pl.claim @a {{.*}} => live [0, 3]
// CHECK:      pl.claim @out {{.*}} => live [1, 3]{{$}}
// CHECK-NEXT: pl.claim @scratch {{.*}} => live [1, 2]{{$}}
// CHECK:      pl.connect tensor @mma::@acc to @epi::@acc => candidates ["staged"] orders []
// CHECK: =====

// -----

// Participants that do not meet order nothing.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> => dropped [] {
  pl.package @load version "1" digest "d" path "load.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @tma entry "load_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 24 uses [@ring]
    pl.claim @a smem size 4096 align 1024 ring @ring lifetime <kernel>
    pl.ring @ring producer on @tma buffers [@a] full @full <1> empty @empty <1 per warp> depths [2, 4] bytes 4096 space "smem" scope "cta" proxy "async" priority 0 init "load_init" <() -> "void"> drains
    pl.claim @full mbarrier size 1 align 8 ring @ring lifetime <kernel>
    pl.claim @empty mbarrier size 1 align 8 ring @ring lifetime <kernel>
  }
  pl.package @mma version "1" digest "d" path "mma.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.claim @a smem size 4096 align 1024 ring @ring lifetime <"begin" to "acc.ready">
    pl.ring @ring consumer on @acc buffers [@a] full @full <1> empty @empty <1 per warp> depths [2, 4] bytes 4096 space "smem" scope "cta" proxy "async" priority 0
    pl.claim @full mbarrier size 1 align 8 ring @ring lifetime <kernel>
    pl.claim @empty mbarrier size 1 align 8 ring @ring lifetime <kernel>
    pl.export @acc symbol "mma_acc" <("float *") -> "void"> dtype "f32" placement "(t:128, r:8) -> (m:128, n:8) { m = t; n = r }" registers 8 threads 128 align 128 requires [] completion "" uses [@ring]
  }
  pl.package @epi version "1" digest "d" path "epi.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "epi_r" <() -> "void"> warps 4 align 4 registers [24, 240] need 64 uses [@acc, @out]
    pl.site @work in @r threads [0, 128] guarantees ["entered once"]
    pl.claim @out smem size 8192 align 1024 lifetime <"acc.ready" to "end">
    pl.claim @scratch smem size 2048 align 128 lifetime <"acc.ready" to "acc.done">
    pl.claim @meet barrier size 1 align 1 lifetime <kernel>
    pl.import @acc symbol "epi_import" <("const float *", "int", "float *") -> "void"> produce "epi_produce" <("float *") -> "void"> dtype "f32" demand "(t:128, p:4, c:2) -> (m:128, n:8) { m = t/2 + t%2*64; n = c*4 + p }" chunk "c" site @work lends frame 8 scratch @scratch barrier @meet completion "" rendezvous []
  }
  pl.connect ring @load::@ring to @mma::@ring
  pl.connect tensor @mma::@acc to @epi::@acc
}
// CHECK:      pl.claim @out {{.*}} => live [1, 3]{{$}}
// CHECK:      pl.connect tensor @mma::@acc to @epi::@acc => candidates ["staged"] orders []
// CHECK: =====

// -----

// A site that is entered again runs the producer again: nothing is ordered.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> => dropped [] {
  pl.package @load version "1" digest "d" path "load.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @tma entry "load_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 24 uses [@ring]
    pl.claim @a smem size 4096 align 1024 ring @ring lifetime <kernel>
    pl.ring @ring producer on @tma buffers [@a] full @full <1> empty @empty <1 per warp> depths [2, 4] bytes 4096 space "smem" scope "cta" proxy "async" priority 0 init "load_init" <() -> "void"> drains
    pl.claim @full mbarrier size 1 align 8 ring @ring lifetime <kernel>
    pl.claim @empty mbarrier size 1 align 8 ring @ring lifetime <kernel>
  }
  pl.package @mma version "1" digest "d" path "mma.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.claim @a smem size 4096 align 1024 ring @ring lifetime <"begin" to "acc.ready">
    pl.ring @ring consumer on @acc buffers [@a] full @full <1> empty @empty <1 per warp> depths [2, 4] bytes 4096 space "smem" scope "cta" proxy "async" priority 0
    pl.claim @full mbarrier size 1 align 8 ring @ring lifetime <kernel>
    pl.claim @empty mbarrier size 1 align 8 ring @ring lifetime <kernel>
    pl.export @acc symbol "mma_acc" <("float *") -> "void"> dtype "f32" placement "(t:128, r:8) -> (m:128, n:8) { m = t; n = r }" registers 8 threads 128 align 128 requires [] completion "" uses [@ring]
  }
  pl.package @epi version "1" digest "d" path "epi.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "epi_r" <() -> "void"> warps 4 align 4 registers [24, 240] need 64 uses [@acc, @out]
    pl.site @work in @r threads [0, 128] guarantees []
    pl.claim @out smem size 8192 align 1024 lifetime <"acc.ready" to "end">
    pl.claim @scratch smem size 2048 align 128 lifetime <"acc.ready" to "acc.done">
    pl.claim @meet barrier size 1 align 1 lifetime <kernel>
    pl.import @acc symbol "epi_import" <("const float *", "int", "float *") -> "void"> produce "epi_produce" <("float *") -> "void"> dtype "f32" demand "(t:128, p:4, c:2) -> (m:128, n:8) { m = t/2 + t%2*64; n = c*4 + p }" chunk "c" site @work lends frame 8 scratch @scratch barrier @meet completion "" rendezvous ["ready"]
  }
  pl.connect ring @load::@ring to @mma::@ring
  pl.connect tensor @mma::@acc to @epi::@acc
}
// CHECK:      pl.claim @out {{.*}} => live [1, 3]{{$}}
// CHECK:      pl.connect tensor @mma::@acc to @epi::@acc => candidates ["staged"] orders []
// CHECK: =====

// -----

// A claim that is used from the beginning shares with nothing.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> => dropped [] {
  pl.package @load version "1" digest "d" path "load.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @tma entry "load_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 24 uses [@ring]
    pl.claim @a smem size 4096 align 1024 ring @ring lifetime <kernel>
    pl.ring @ring producer on @tma buffers [@a] full @full <1> empty @empty <1 per warp> depths [2, 4] bytes 4096 space "smem" scope "cta" proxy "async" priority 0 init "load_init" <() -> "void"> drains
    pl.claim @full mbarrier size 1 align 8 ring @ring lifetime <kernel>
    pl.claim @empty mbarrier size 1 align 8 ring @ring lifetime <kernel>
  }
  pl.package @mma version "1" digest "d" path "mma.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.claim @a smem size 4096 align 1024 ring @ring lifetime <"begin" to "acc.ready">
    pl.ring @ring consumer on @acc buffers [@a] full @full <1> empty @empty <1 per warp> depths [2, 4] bytes 4096 space "smem" scope "cta" proxy "async" priority 0
    pl.claim @full mbarrier size 1 align 8 ring @ring lifetime <kernel>
    pl.claim @empty mbarrier size 1 align 8 ring @ring lifetime <kernel>
    pl.export @acc symbol "mma_acc" <("float *") -> "void"> dtype "f32" placement "(t:128, r:8) -> (m:128, n:8) { m = t; n = r }" registers 8 threads 128 align 128 requires [] completion "" uses [@ring]
  }
  pl.package @epi version "1" digest "d" path "epi.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "epi_r" <() -> "void"> warps 4 align 4 registers [24, 240] need 64 uses [@acc, @out]
    pl.site @work in @r threads [0, 128] guarantees ["entered once"]
    pl.claim @out smem size 8192 align 1024 lifetime <kernel>
    pl.claim @scratch smem size 2048 align 128 lifetime <"acc.ready" to "acc.done">
    pl.claim @meet barrier size 1 align 1 lifetime <kernel>
    pl.import @acc symbol "epi_import" <("const float *", "int", "float *") -> "void"> produce "epi_produce" <("float *") -> "void"> dtype "f32" demand "(t:128, p:4, c:2) -> (m:128, n:8) { m = t/2 + t%2*64; n = c*4 + p }" chunk "c" site @work lends frame 8 scratch @scratch barrier @meet completion "" rendezvous ["ready"]
  }
  pl.connect ring @load::@ring to @mma::@ring
  pl.connect tensor @mma::@acc to @epi::@acc
}
// CHECK:      pl.claim @out {{.*}} => live [0, 3]{{$}}
// CHECK-NEXT: pl.claim @scratch {{.*}} => live [1, 2] shares [@load::@a]
// CHECK: =====

// -----

// Without scratch no route delivers: the error says why each does not.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> => dropped [] {
  pl.package @load version "1" digest "d" path "load.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @tma entry "load_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 24 uses [@ring]
    pl.claim @a smem size 4096 align 1024 ring @ring lifetime <kernel>
    pl.ring @ring producer on @tma buffers [@a] full @full <1> empty @empty <1 per warp> depths [2, 4] bytes 4096 space "smem" scope "cta" proxy "async" priority 0 init "load_init" <() -> "void"> drains
    pl.claim @full mbarrier size 1 align 8 ring @ring lifetime <kernel>
    pl.claim @empty mbarrier size 1 align 8 ring @ring lifetime <kernel>
  }
  pl.package @mma version "1" digest "d" path "mma.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.claim @a smem size 4096 align 1024 ring @ring lifetime <"begin" to "acc.ready">
    pl.ring @ring consumer on @acc buffers [@a] full @full <1> empty @empty <1 per warp> depths [2, 4] bytes 4096 space "smem" scope "cta" proxy "async" priority 0
    pl.claim @full mbarrier size 1 align 8 ring @ring lifetime <kernel>
    pl.claim @empty mbarrier size 1 align 8 ring @ring lifetime <kernel>
    pl.export @acc symbol "mma_acc" <("float *") -> "void"> dtype "f32" placement "(t:128, r:8) -> (m:128, n:8) { m = t; n = r }" registers 8 threads 128 align 128 requires [] completion "" uses [@ring]
  }
  pl.package @epi version "1" digest "d" path "epi.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "epi_r" <() -> "void"> warps 4 align 4 registers [24, 240] need 64 uses [@acc, @out]
    pl.site @work in @r threads [0, 128] guarantees ["entered once"]
    pl.claim @out smem size 8192 align 1024 lifetime <"acc.ready" to "end">
    pl.claim @scratch smem size 2048 align 128 lifetime <"acc.ready" to "acc.done">
    pl.claim @meet barrier size 1 align 1 lifetime <kernel>
    pl.import @acc symbol "epi_import" <("const float *", "int", "float *") -> "void"> produce "epi_produce" <("float *") -> "void"> dtype "f32" demand "(t:128, p:4, c:2) -> (m:128, n:8) { m = t/2 + t%2*64; n = c*4 + p }" chunk "c" site @work lends frame 8 completion "" rendezvous []
  }
  pl.connect ring @load::@ring to @mma::@ring
  pl.connect tensor @mma::@acc to @epi::@acc
}
// CHECK:      <stdin>:[[# @LINE - 5]]:5: error[L-ROUTE]: no route delivers tensor 'mma.acc' to 'epi.acc'
// CHECK-NEXT: <stdin>:[[# @LINE - 14]]:5: note: 'mma.acc' is placed as (t:128, r:8) -> (m:128, n:8) { m = t; n = r }
// CHECK-NEXT: <stdin>:[[# @LINE - 7]]:5: note: direct: element (m=64, n=0): held by thread 64
// CHECK-NEXT: <stdin>:[[# @LINE - 8]]:5: note: staged: {{.*}}
// CHECK-NEXT: <stdin>:[[# @LINE - 9]]:5: help: lend scratch and a barrier in PL_IMPORT_TENSOR, or demand the producer's own layout
// CHECK: =====

// -----

// What must run before is named.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> {
  pl.package @load version "1" digest "d" path "load.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @tma entry "load_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 24 uses [@ring]
    pl.claim @a smem size 4096 align 1024 ring @ring lifetime <kernel>
    pl.ring @ring producer on @tma buffers [@a] full @full <1> empty @empty <1 per warp> depths [2, 4] bytes 4096 space "smem" scope "cta" proxy "async" priority 0 init "load_init" <() -> "void"> drains
    pl.claim @full mbarrier size 1 align 8 ring @ring lifetime <kernel>
    pl.claim @empty mbarrier size 1 align 8 ring @ring lifetime <kernel>
  }
  pl.package @mma version "1" digest "d" path "mma.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.claim @a smem size 4096 align 1024 ring @ring lifetime <"begin" to "acc.ready">
    pl.ring @ring consumer on @acc buffers [@a] full @full <1> empty @empty <1 per warp> depths [2, 4] bytes 4096 space "smem" scope "cta" proxy "async" priority 0
    pl.claim @full mbarrier size 1 align 8 ring @ring lifetime <kernel>
    pl.claim @empty mbarrier size 1 align 8 ring @ring lifetime <kernel>
    pl.export @acc symbol "mma_acc" <("float *") -> "void"> dtype "f32" placement "(t:128, r:8) -> (m:128, n:8) { m = t; n = r }" registers 8 threads 128 align 128 requires [] completion "" uses [@ring]
  }
  pl.package @epi version "1" digest "d" path "epi.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "epi_r" <() -> "void"> warps 4 align 4 registers [24, 240] need 64 uses [@acc, @out]
    pl.site @work in @r threads [0, 128] guarantees ["entered once"]
    pl.claim @out smem size 8192 align 1024 lifetime <"acc.ready" to "end">
    pl.claim @scratch smem size 2048 align 128 lifetime <"acc.ready" to "acc.done">
    pl.claim @meet barrier size 1 align 1 lifetime <kernel>
    pl.import @acc symbol "epi_import" <("const float *", "int", "float *") -> "void"> produce "epi_produce" <("float *") -> "void"> dtype "f32" demand "(t:128, p:4, c:2) -> (m:128, n:8) { m = t/2 + t%2*64; n = c*4 + p }" chunk "c" site @work lends frame 8 scratch @scratch barrier @meet completion "" rendezvous ["ready"]
  }
  pl.connect ring @load::@ring to @mma::@ring
  pl.connect tensor @mma::@acc to @epi::@acc
}
// CHECK:      <stdin>:{{[0-9]+}}:1: error[L-PASS]: pl-analyze-lifetimes cannot run: pl.pipeline 'p' has no 'dropped'
// CHECK-NEXT: {{.*}} help: run pl-eliminate-dead-exports first
// CHECK: =====

// -----

// Phases of a stream that are exclusive share, with whichever is first; not with a phase that may overlap, nor where the
// async proxy accesses one and no fence stands between, nor where a role outside of the stream uses one.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> => dropped [] {
  pl.package @a version "1" digest "d" path "a.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "a_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@gemm, @act, @copy, @tile]
    pl.role @s entry "a_s" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@foreign]
    pl.stream @ops on [@r] phases ["gemm", "act", "copy"] exclusive [["gemm", "act"]]
    pl.claim @gemm smem size 64 align 16 lifetime <phase "gemm">
    pl.claim @act smem size 64 align 16 lifetime <phase "act">
    pl.claim @copy smem size 64 align 16 lifetime <phase "copy">
    pl.claim @tile smem size 64 align 16 lifetime <phase "act"> proxy "async"
    pl.claim @foreign smem size 64 align 16 lifetime <phase "act">
  }
}
// CHECK:      pl.claim @gemm {{.*}} => live [0, 1] shares [@a::@act]
// CHECK-NEXT: pl.claim @act {{.*}} => live [0, 1] shares [@a::@gemm]
// CHECK-NEXT: pl.claim @copy {{.*}} => live [0, 1]{{$}}
// CHECK-NEXT: pl.claim @tile {{.*}} => live [0, 1]{{$}}
// CHECK-NEXT: pl.claim @foreign {{.*}} => live [0, 1]{{$}}
// CHECK: =====

// -----

// A stream that fences shares with what the async proxy accesses too. Barrier ids share like storage, mbarriers never.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> => dropped [] {
  pl.package @a version "1" digest "d" path "a.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "a_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@gemm, @tile, @id, @other, @first, @second]
    pl.stream @ops on [@r] phases ["gemm", "act"] exclusive [["gemm", "act"]] fenced
    pl.claim @gemm smem size 64 align 16 lifetime <phase "gemm">
    pl.claim @tile smem size 64 align 16 lifetime <phase "act"> proxy "async"
    pl.claim @id barrier size 1 align 1 lifetime <phase "gemm">
    pl.claim @other barrier size 1 align 1 lifetime <phase "act">
    pl.claim @first mbarrier size 1 align 8 lifetime <phase "gemm">
    pl.claim @second mbarrier size 1 align 8 lifetime <phase "act">
  }
}
// CHECK:      pl.claim @gemm {{.*}} shares [@a::@tile]
// CHECK-NEXT: pl.claim @tile {{.*}} shares [@a::@gemm]
// CHECK-NEXT: pl.claim @id {{.*}} shares [@a::@other]
// CHECK-NEXT: pl.claim @other {{.*}} shares [@a::@id]
// CHECK-NEXT: pl.claim @first {{.*}} => live [0, 1]{{$}}
// CHECK-NEXT: pl.claim @second {{.*}} => live [0, 1]{{$}}
// CHECK: =====
