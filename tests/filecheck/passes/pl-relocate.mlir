// One placement of everything that is claimed, and why there is none.
// RUN: %each %s -p pl-relocate | filecheck %s

// Rings take the depth that fits; both endpoints and both of each claim get one answer; parameters follow each other, aligned; facts are frozen; roles that share a warpgroup are one group.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 8192, threads = 1024, tmem = 0> fp <> => dropped [] events ["begin", "acc.ready", "acc.done", "end"] {
  pl.package @p1 version "1" digest "d" path "p1.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "r" <() -> "void"> warps 1 align 1 registers [24, 56] need 24 uses [@ring]
    pl.param "p1_args" size 68 align 64 fields <k = [0, 4]>
    pl.use_fact @k : "i32" field "k"
    pl.claim @a smem size 1024 align 1024 ring @ring lifetime <kernel> => live [0, 1]
    pl.ring @ring producer on @r buffers [@a] full @full <1> empty @empty <1 per warp> depths [2, 8] bytes 1024 space "smem" scope "cta" proxy "async" priority 0 init "init" <() -> "void"> drains
    pl.claim @full mbarrier size 1 align 8 ring @ring lifetime <kernel> => live [0, 3]
    pl.claim @empty mbarrier size 1 align 8 ring @ring lifetime <kernel> => live [0, 3]
  }
  pl.package @c1 version "1" digest "d" path "c1.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.param "c1_args" size 4 align 4 fields <>
    pl.role @r entry "r" <() -> "void"> warps 2 align 1 registers [64, 240] need 80 uses [@ring, @over, @apart, @bar]
    pl.claim @a smem size 1024 align 1024 ring @ring lifetime <kernel> => live [0, 1]
    pl.ring @ring consumer on @r buffers [@a] full @full <1> empty @empty <1 per warp> depths [1, 6] bytes 1024 space "smem" scope "cta" proxy "async" priority 0
    pl.claim @full mbarrier size 1 align 8 ring @ring lifetime <kernel> => live [0, 3]
    pl.claim @empty mbarrier size 1 align 8 ring @ring lifetime <kernel> => live [0, 3]
    pl.claim @over smem size 2048 align 1024 lifetime <kernel> => live [1, 3]
    pl.claim @apart smem size 900 align 16 lifetime <kernel> => live [1, 3]
    pl.claim @bar barrier size 2 align 1 lifetime <kernel> => live [0, 3]
    pl.claim @unused smem size 9999 align 16 lifetime <kernel> => live [1, 1]
  }
  pl.fact @k : "i32" = "7"
  pl.connect ring @p1::@ring to @c1::@ring
  pl.connect fact @k to @p1::@k
}
// CHECK: threads 96 footprint <barrier = 3, counter = 0, smem = 8148, tmem = 0> proofs <"depth of ring p1.ring" = "5, proven: depth 6 refuted: smem clique bound 9188 over 8192"
// CHECK-NEXT: pl.package @p1
// CHECK-NEXT:   pl.role @r {{.*}} => at 2
// CHECK-NEXT:   pl.param "p1_args" size 68 align 64 {{.*}} => offset 64
// CHECK-NEXT:   pl.use_fact @k {{.*}} => value "7"
// CHECK-NEXT:   pl.claim @a {{.*}} => live [0, 1] at 0
// CHECK-NEXT:   pl.ring @ring producer {{.*}} => depth 5 arrivals [1, 2]
// CHECK-NEXT:   pl.claim @full {{.*}} at 7208
// CHECK-NEXT:   pl.claim @empty {{.*}} at 7168
// CHECK-NEXT: }
// CHECK-NEXT: pl.package @c1
// CHECK-NEXT:   pl.param "c1_args" size 4 align 4 {{.*}} => offset 0
// CHECK-NEXT:   pl.role @r {{.*}} => at 0
// CHECK-NEXT:   pl.claim @a {{.*}} => live [0, 1] at 0
// CHECK-NEXT:   pl.ring @ring consumer {{.*}} => depth 5 arrivals [1, 2]
// CHECK-NEXT:   pl.claim @full {{.*}} at 7208
// CHECK-NEXT:   pl.claim @empty {{.*}} at 7168
// CHECK-NEXT:   pl.claim @over {{.*}} at 5120
// CHECK-NEXT:   pl.claim @apart {{.*}} at 7248
// CHECK-NEXT:   pl.claim @bar {{.*}} at 1
// CHECK-NEXT:   pl.claim @unused {{.*}} => live [1, 1]{{$}}
// CHECK:      pl.group [@c1::@r, @p1::@r] warps [0, 3] need 80{{$}}
// CHECK:      =====

// -----

// What may lie over each other does, where that saves storage: `out` and `scratch` over the ring, not over each other.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 10368, threads = 1024, tmem = 0> fp <> => dropped [] events ["begin", "acc.ready", "acc.done", "end"] {
  pl.package @load version "1" digest "d" path "load.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @tma entry "load_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 24 uses [@ring]
    pl.claim @a smem size 4096 align 1024 ring @ring lifetime <kernel> => live [0, 1]
    pl.ring @ring producer on @tma buffers [@a] full @full <1> empty @empty <1 per warp> depths [2, 4] bytes 4096 space "smem" scope "cta" proxy "async" priority 0 init "load_init" <() -> "void"> drains
    pl.claim @full mbarrier size 1 align 8 ring @ring lifetime <kernel> => live [0, 3]
    pl.claim @empty mbarrier size 1 align 8 ring @ring lifetime <kernel> => live [0, 3]
  }
  pl.package @mma version "1" digest "d" path "mma.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.claim @a smem size 4096 align 1024 ring @ring lifetime <"begin" to "acc.ready"> => live [0, 1]
    pl.ring @ring consumer on @acc buffers [@a] full @full <1> empty @empty <1 per warp> depths [2, 4] bytes 4096 space "smem" scope "cta" proxy "async" priority 0
    pl.claim @full mbarrier size 1 align 8 ring @ring lifetime <kernel> => live [0, 3]
    pl.claim @empty mbarrier size 1 align 8 ring @ring lifetime <kernel> => live [0, 3]
    pl.export @acc symbol "mma_acc" <("float *") -> "void"> dtype "f32" placement "(t:128, r:8) -> (m:128, n:8) { m = t; n = r }" registers 8 threads 128 align 128 requires [] completion "" uses [@ring]
  }
  pl.package @epi version "1" digest "d" path "epi.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "epi_r" <() -> "void"> warps 4 align 4 registers [24, 240] need 64 uses [@acc, @out]
    pl.site @work in @r threads [0, 128] guarantees ["entered once"]
    pl.claim @out smem size 8192 align 1024 lifetime <"acc.ready" to "end"> => live [1, 3] shares [@load::@a]
    pl.claim @scratch smem size 2048 align 128 lifetime <"acc.ready" to "acc.done"> => live [1, 2] shares [@load::@a]
    pl.claim @meet barrier size 1 align 1 lifetime <kernel> => live [0, 3]
    pl.import @acc symbol "epi_import" <("const float *", "int", "float *") -> "void"> produce "epi_produce" <("float *") -> "void"> dtype "f32" demand "(t:128, p:4, c:2) -> (m:128, n:8) { m = t/2 + t%2*64; n = c*4 + p }" chunk "c" site @work lends frame 8 scratch @scratch barrier @meet completion "" rendezvous ["ready"]
  }
  pl.connect ring @load::@ring to @mma::@ring
  pl.connect tensor @mma::@acc to @epi::@acc => candidates ["staged"] orders ["ready"]
}
// CHECK:      footprint <barrier = 2, counter = 0, smem = 10272, tmem = 0> proofs <"depth of ring load.ring" = "2, proven: depth 3 refuted: smem clique bound 12336 over 10368"
// CHECK:      pl.claim @a {{.*}} at 0
// CHECK:      pl.claim @out {{.*}} at 0
// CHECK-NEXT: pl.claim @scratch {{.*}} at 8192
// CHECK-NEXT: pl.claim @meet {{.*}} at 1
// CHECK:      =====

// -----

// One role alone needs no register budget.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> => dropped [] events ["begin", "acc.ready", "acc.done", "end"] {
  pl.package @a version "1" digest "d" path "a.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "r" <() -> "void"> warps 3 align 1 registers [24, 240] need 24 uses []
  }
}
// CHECK:      threads 96
// CHECK:      pl.role @r {{.*}} => at 0
// CHECK:      pl.group [@a::@r] warps [0, 3] need 24{{$}}
// CHECK:      =====

// -----

// Two warpgroups: budgets are multiples of 8 that fit the register file.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> => dropped [] events ["begin", "acc.ready", "acc.done", "end"] {
  pl.package @a version "1" digest "d" path "a.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "r" <() -> "void"> warps 4 align 4 registers [24, 56] need 24 uses []
  }
  pl.package @b version "1" digest "d" path "b.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @s entry "s" <() -> "void"> warps 4 align 4 registers [64, 240] need 168 uses []
  }
}
// CHECK:      threads 256
// CHECK:      pl.group [@a::@r] warps [0, 4] need 24 budget 56
// CHECK-NEXT: pl.group [@b::@s] warps [4, 8] need 168 budget 240
// CHECK:      =====

// -----

// A target without register budgets.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 0, smem = 65536, threads = 1024, tmem = 0> fp <> => dropped [] events ["begin", "acc.ready", "acc.done", "end"] {
  pl.package @a version "1" digest "d" path "a.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "r" <() -> "void"> warps 4 align 4 registers [24, 56] need 24 uses []
  }
  pl.package @b version "1" digest "d" path "b.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @s entry "s" <() -> "void"> warps 4 align 4 registers [64, 240] need 168 uses []
  }
}
// CHECK:      pl.group [@a::@r] warps [0, 4] need 24{{$}}
// CHECK-NEXT: pl.group [@b::@s] warps [4, 8] need 168{{$}}
// CHECK:      =====

// -----

// The lowest warps go to the roles that the pipeline names.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> role_order [@b::@s, @a::@r] => dropped [] events ["begin", "acc.ready", "acc.done", "end"] {
  pl.package @a version "1" digest "d" path "a.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "r" <() -> "void"> warps 4 align 1 registers [24, 240] need 24 uses []
  }
  pl.package @b version "1" digest "d" path "b.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @s entry "s" <() -> "void"> warps 4 align 4 registers [64, 240] need 64 uses []
  }
  pl.package @c version "1" digest "d" path "c.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @q entry "q" <() -> "void"> warps 4 align 4 registers [64, 240] need 64 uses []
  }
}
// CHECK:      pl.group [@b::@s] warps [0, 4]
// CHECK-NEXT: pl.group [@a::@r] warps [4, 8]
// CHECK-NEXT: pl.group [@c::@q] warps [8, 12]
// CHECK:      =====

// -----

// L-OVERLAP: what lives together does not fit, in two domains at once.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 4096, threads = 1024, tmem = 0> fp <> => dropped [] events ["begin", "acc.ready", "acc.done", "end"] {
  pl.package @a version "1" digest "d" path "a.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "r" <() -> "void"> warps 1 align 1 registers [24, 240] need 24 uses [@x, @y, @b1, @b2]
    pl.claim @x smem size 3000 align 16 lifetime <kernel> => live [0, 3]
    pl.claim @y smem size 2000 align 16 lifetime <kernel> => live [0, 3]
    pl.claim @b1 barrier size 10 align 1 lifetime <kernel> => live [0, 3]
    pl.claim @b2 barrier size 6 align 1 lifetime <kernel> => live [0, 3]
  }
}
// CHECK:      <stdin>:[[# @LINE - 4]]:5: error[L-OVERLAP]: barrier: needs 16 ids live at once, has 15, over by 1; minimal conflicting set (2 of 2 live): a.b1 10, a.b2 6
// CHECK-NEXT: <stdin>:[[# @LINE - 5]]:5: note: 'a.b1' takes 10 ids, live from begin to end
// CHECK-NEXT: <stdin>:[[# @LINE - 5]]:5: note: 'a.b2' takes 6 ids, live from begin to end
// CHECK-NEXT: {{.*}} help: claim a.b1 of 9 ids; or claims a.b1 and a.b2 with disjoint lifetimes
// CHECK-NEXT: <stdin>:[[# @LINE - 10]]:5: error[L-OVERLAP]: smem: needs 5,000 bytes live at once, has 4,096, over by 904; minimal conflicting set (2 of 2 live): a.x 3,000, a.y 2,000
// CHECK-NEXT: <stdin>:[[# @LINE - 11]]:5: note: 'a.x' takes 3,000 bytes, live from begin to end
// CHECK-NEXT: <stdin>:[[# @LINE - 11]]:5: note: 'a.y' takes 2,000 bytes, live from begin to end
// CHECK-NEXT: {{.*}} help: claim a.x of 2,096 bytes; or claims a.x and a.y with disjoint lifetimes
// CHECK-NEXT: =====

// -----

// L-OVERLAP: not even the least depth fits.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 4096, threads = 1024, tmem = 0> fp <> => dropped [] events ["begin", "acc.ready", "acc.done", "end"] {
  pl.package @p1 version "1" digest "d" path "p1.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "r" <() -> "void"> warps 1 align 1 registers [24, 56] need 24 uses [@ring]
    pl.claim @a smem size 1024 align 1024 ring @ring lifetime <kernel> => live [0, 1]
    pl.ring @ring producer on @r buffers [@a] full @full <1> empty @empty <1 per warp> depths [5, 8] bytes 1024 space "smem" scope "cta" proxy "async" priority 0 init "init" <() -> "void"> drains
    pl.claim @full mbarrier size 1 align 8 ring @ring lifetime <kernel> => live [0, 3]
    pl.claim @empty mbarrier size 1 align 8 ring @ring lifetime <kernel> => live [0, 3]
  }
  pl.package @c1 version "1" digest "d" path "c1.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "r" <() -> "void"> warps 1 align 1 registers [24, 240] need 24 uses [@ring]
    pl.claim @a smem size 1024 align 1024 ring @ring lifetime <kernel> => live [0, 1]
    pl.ring @ring consumer on @r buffers [@a] full @full <1> empty @empty <1 per warp> depths [1, 8] bytes 1024 space "smem" scope "cta" proxy "async" priority 0
    pl.claim @full mbarrier size 1 align 8 ring @ring lifetime <kernel> => live [0, 3]
    pl.claim @empty mbarrier size 1 align 8 ring @ring lifetime <kernel> => live [0, 3]
  }
  pl.connect ring @p1::@ring to @c1::@ring
}
// CHECK:      <stdin>:[[# @LINE - 14]]:5: error[L-OVERLAP]: smem: needs 5,200 bytes live at once, has 4,096, over by 1,104; minimal conflicting set (1 of 3 live): p1.a 5,120 (ring p1.ring at its least depth 5)
// CHECK-NEXT: <stdin>:[[# @LINE - 15]]:5: note: 'p1.a' takes 5,120 bytes, live from begin to acc.ready
// CHECK-NEXT: {{.*}} note: live with them: 80 bytes of 'p1.empty' 40, 'p1.full' 40
// CHECK-NEXT: {{.*}} help: ring p1.ring at depth 3; or claim p1.a of 803 bytes a stage
// CHECK-NEXT: =====

// -----

// L-WARPS.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 128, tmem = 0> fp <> => dropped [] events ["begin", "acc.ready", "acc.done", "end"] {
  pl.package @a version "1" digest "d" path "a.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "r" <() -> "void"> warps 3 align 1 registers [24, 240] need 24 uses []
  }
  pl.package @b version "1" digest "d" path "b.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @s entry "s" <() -> "void"> warps 2 align 1 registers [24, 240] need 24 uses []
  }
}
// CHECK:      <stdin>:[[# @LINE - 6]]:5: error[L-WARPS]: warps: roles need 5, the block has 4, over by 1: a.r 3, b.s 2
// CHECK-NEXT: <stdin>:[[# @LINE - 7]]:5: note: 'a.r' takes 3
// CHECK-NEXT: <stdin>:[[# @LINE - 5]]:5: note: 'b.s' takes 2
// CHECK-NEXT: {{.*}} help: role a.r with 2 warps
// CHECK-NEXT: =====

// -----

// L-REGS.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> => dropped [] events ["begin", "acc.ready", "acc.done", "end"] {
  pl.package @a version "1" digest "d" path "a.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "r" <() -> "void"> warps 8 align 4 registers [200, 240] need 200 uses []
  }
  pl.package @b version "1" digest "d" path "b.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @s entry "s" <() -> "void"> warps 4 align 4 registers [160, 240] need 160 uses []
  }
}
// CHECK:      <stdin>:[[# @LINE - 6]]:5: error[L-REGS]: registers: least budgets need 71,680, 384 threads start with 168 each = 64,512, over by 7,168: a.r 200 a thread = 51,200, b.s 160 a thread = 20,480
// CHECK-NEXT: <stdin>:[[# @LINE - 7]]:5: note: 'a.r' takes 200
// CHECK-NEXT: <stdin>:[[# @LINE - 5]]:5: note: 'b.s' takes 160
// CHECK-NEXT: {{.*}} help: role a.r with at least 168 registers
// CHECK-NEXT: =====

// -----

// L-OVERLAP: more parameters than a kernel has.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 100, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> => dropped [] events ["begin", "acc.ready", "acc.done", "end"] {
  pl.package @a version "1" digest "d" path "a.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.param "a_args" size 64 align 64 fields <>
    pl.role @r entry "r" <() -> "void"> warps 1 align 1 registers [24, 240] need 24 uses []
  }
  pl.package @b version "1" digest "d" path "b.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.param "b_args" size 64 align 64 fields <>
  }
}
// CHECK:      <stdin>:[[# @LINE - 9]]:1: error[L-OVERLAP]: parameters need 128 bytes, a kernel has 100
// CHECK-NEXT: <stdin>:[[# @LINE - 8]]:5: note: a_args holds 64 bytes
// CHECK-NEXT: <stdin>:[[# @LINE - 5]]:5: note: b_args holds 64 bytes
// CHECK-NEXT: =====

// -----

// A pass before is missing.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> => dropped [] {
  pl.package @a version "1" digest "d" path "a.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "r" <() -> "void"> warps 1 align 1 registers [24, 240] need 24 uses []
  }
}
// CHECK:      error[L-PASS]: pl-relocate cannot run: pl.pipeline 'p' has no 'events'
// CHECK-NEXT: {{.*}} help: run pl-analyze-lifetimes first
// CHECK:      =====

// -----

// A ring that two producers fill: one block for each buffer and barrier, arrivals of both, a depth that suits all three.
// Endpoints of counters share their words, and know what all producers add. The launch suits all packages.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> => dropped [] events ["begin", "end"] {
  pl.package @p1 version "1" digest "d" path "p1.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.topology clusters [array<i64: 2, 1, 1>, array<i64: 1, 1, 1>] occupancy [1, 2]
    pl.role @r entry "p1_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@ab, @done]
    pl.claim @a smem size 64 align 128 ring @ab lifetime <kernel> => live [0, 1]
    pl.ring @ab producer on @r buffers [@a] full @f <1> empty @e <1 per warp> depths [2, 4] bytes 64 space "smem" scope "cta" proxy "async" priority 0 init "i" <() -> "void">
    pl.claim @f mbarrier size 1 align 8 ring @ab lifetime <kernel> => live [0, 1]
    pl.claim @e mbarrier size 1 align 8 ring @ab lifetime <kernel> => live [0, 1]
    pl.claim @w counter size 4 align 1 lifetime <kernel> scope "gpu" restart "launch" => live [0, 1]
    pl.counter @done producer on @r slots @w arrivals <1>
  }
  pl.package @p2 version "1" digest "d" path "p2.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "p2_r" <() -> "void"> warps 2 align 1 registers [24, 240] need 0 uses [@ab, @done]
    pl.claim @b smem size 32 align 16 ring @ab lifetime <kernel> => live [0, 1]
    pl.ring @ab producer on @r buffers [@b] full @f <1 per warp> empty @e <1 per warp> depths [1, 3] bytes 32 space "smem" scope "cta" proxy "async" priority 0
    pl.claim @f mbarrier size 1 align 8 ring @ab lifetime <kernel> => live [0, 1]
    pl.claim @e mbarrier size 1 align 8 ring @ab lifetime <kernel> => live [0, 1]
    pl.claim @w counter size 4 align 1 lifetime <kernel> scope "gpu" restart "launch" => live [0, 1]
    pl.counter @done producer on @r slots @w arrivals <2 per warp>
  }
  pl.package @c1 version "1" digest "d" path "c1.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.topology clusters [array<i64: 1, 1, 1>] occupancy [2, 4]
    pl.role @r entry "c1_r" <() -> "void"> warps 3 align 1 registers [24, 240] need 0 uses [@ab, @done, @own]
    pl.claim @a smem size 64 align 16 ring @ab lifetime <kernel> => live [0, 1]
    pl.claim @b smem size 32 align 256 ring @ab lifetime <kernel> => live [0, 1]
    pl.ring @ab consumer on @r buffers [@a, @b] full @f <3> empty @e <1 per warp> depths [2, 4] bytes 96 space "smem" scope "cta" proxy "async" priority 0 producers 2
    pl.claim @f mbarrier size 1 align 8 ring @ab lifetime <kernel> => live [0, 1]
    pl.claim @e mbarrier size 1 align 8 ring @ab lifetime <kernel> => live [0, 1]
    pl.claim @w counter size 4 align 1 lifetime <kernel> scope "gpu" restart "launch" => live [0, 1]
    pl.counter @done consumer on @r slots @w
    pl.claim @own counter size 2 align 1 lifetime <kernel> scope "gpu" restart "self" => live [0, 1]
  }
  pl.connect ring @p1::@ab to @c1::@ab
  pl.connect ring @p2::@ab to @c1::@ab
  pl.connect counter @p1::@done to @c1::@done
  pl.connect counter @p2::@done to @c1::@done
}
// CHECK:      cluster [1, 1, 1] occupancy 2 {
// CHECK:      pl.claim @a {{.*}} at [[A:[0-9]+]]{{$}}
// CHECK-NEXT: pl.ring @ab producer {{.*}} => depth 3 arrivals [3, 3]
// CHECK-NEXT: pl.claim @f {{.*}} at [[F:[0-9]+]]{{$}}
// CHECK-NEXT: pl.claim @e {{.*}} at [[E:[0-9]+]]{{$}}
// CHECK-NEXT: pl.claim @w {{.*}} at [[W:[0-9]+]]{{$}}
// CHECK-NEXT: pl.counter @done {{.*}} => total 5
// CHECK:      pl.claim @b {{.*}} at [[B:[0-9]+]]{{$}}
// CHECK-NEXT: pl.ring @ab producer {{.*}} => depth 3 arrivals [3, 3]
// CHECK-NEXT: pl.claim @f {{.*}} at [[F]]{{$}}
// CHECK-NEXT: pl.claim @e {{.*}} at [[E]]{{$}}
// CHECK-NEXT: pl.claim @w {{.*}} at [[W]]{{$}}
// CHECK-NEXT: pl.counter @done {{.*}} => total 5
// CHECK:      pl.claim @a {{.*}} at [[A]]{{$}}
// CHECK-NEXT: pl.claim @b {{.*}} at [[B]]{{$}}
// CHECK-NEXT: pl.ring @ab consumer {{.*}} => depth 3 arrivals [3, 3]
// CHECK-NEXT: pl.claim @f {{.*}} at [[F]]{{$}}
// CHECK-NEXT: pl.claim @e {{.*}} at [[E]]{{$}}
// CHECK-NEXT: pl.claim @w {{.*}} at [[W]]{{$}}
// CHECK-NEXT: pl.counter @done {{.*}} => total 5
// CHECK-NEXT: pl.claim @own {{.*}} at {{[0-9]+$}}
