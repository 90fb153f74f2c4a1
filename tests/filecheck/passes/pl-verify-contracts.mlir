// Every clause by which contracts are refused, and pipelines that are not.
// RUN: %each %s -p pl-verify-contracts | filecheck %s

// A pipeline with nothing wrong passes.
// CHECK: pl.pipeline @p
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> {
  pl.package @a version "1" digest "d" path "a.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "a_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses []
  }
}
// CHECK-NOT:  error
// CHECK:      =====

// -----

// L-TARGET, L-TOOLKIT, L-FPMODE and L-DUPLICATE (a definition): all of them are reported.
// CHECK: <stdin>:[[# @LINE + 5]]:3: error[L-TARGET]: package 'b' is built for sm_100a, the pipeline for sm_90a
// CHECK-NEXT: <stdin>:[[# @LINE + 1]]:1: note: the pipeline's target is sm_90a
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <fma = 1, ftz = 0> {
  pl.package @a version "1" digest "d" path "a.plpkg" target "sm_90a" toolkit "13.5.37" fp <fma = 1, ftz = 0> defines ["init", "a_r"] {
  }
  pl.package @b version "1" digest "d" path "b.plpkg" target "sm_100a" toolkit "13.6.1" fp <fma = 1, ftz = 1> defines ["b_r", "init"] {
  }
  pl.package @c version "1" digest "d" path "c.plpkg" target "sm_90a" toolkit "12.9.0" fp <fma = 1, ftz = 0> defines [] {
  }
}
// CHECK-NEXT: <stdin>:[[# @LINE - 5]]:3: help: pack it with --target sm_90a
// CHECK-NEXT: <stdin>:[[# @LINE - 6]]:3: error[L-TOOLKIT]: package 'b' is built by toolkit 13.6.1, this linker has 13.5.37
// CHECK-NEXT: <stdin>:[[# @LINE - 7]]:3: help: pack it again with toolkit 13.5.37, or link with 13.6.1 or newer of the same major version
// CHECK-NEXT: <stdin>:[[# @LINE - 6]]:3: error[L-TOOLKIT]: package 'c' is built by toolkit 12.9.0, this linker has 13.5.37
// CHECK-NEXT: {{.*}} help:
// CHECK-NEXT: <stdin>:[[# @LINE - 10]]:3: error[L-FPMODE]: package 'b' is compiled with ftz=1
// CHECK-NEXT: <stdin>:[[# @LINE - 13]]:3: note: package 'a' is compiled with ftz=0
// CHECK-NEXT: {{.*}} help: nvJitLink applies one floating-point mode to all: pack both with the same -use_fast_math options
// CHECK-NEXT: <stdin>:[[# @LINE - 13]]:3: error[L-DUPLICATE]: 'init' is defined by packages 'a' and 'b'
// CHECK-NEXT: <stdin>:[[# @LINE - 16]]:3: note: package 'a' defines 'init' too
// CHECK-NEXT: {{.*}} help: make a private helper or variable static, or rename one of the exports
// CHECK-NOT:  error
// CHECK:      =====

// -----

// L-UNRESOLVED: references inside a package and between packages.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> {
  pl.package @a version "1" digest "d" path "a.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    // CHECK: <stdin>:[[# @LINE + 2]]:5: error[L-UNRESOLVED]: 'uses' of 'a.r' names @bufer, which is not declared
    // CHECK-NEXT: <stdin>:[[# @LINE + 1]]:5: help: did you mean 'buffer'?
    pl.role @r entry "a_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@bufer]
    pl.claim @buffer smem size 16 align 16 lifetime <kernel>
    // CHECK-NEXT: <stdin>:[[# @LINE + 1]]:5: error[L-UNRESOLVED]: 'role' of 'a.work' names @buffer, which is no pl.role
    pl.site @work in @buffer threads [0, 32] guarantees []
    // CHECK-NEXT: {{.*}} help: known: r
    // CHECK-NEXT: <stdin>:[[# @LINE + 1]]:5: error[L-UNRESOLVED]: 'of' of 'a.first' names @b::@f, which is not declared
    pl.warp @first of @b::@f
    // CHECK-NEXT: {{.*}} help:
  }
  pl.package @b version "1" digest "d" path "b.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.callable @f symbol "b_f" <() -> "void"> uses []
  }
  // CHECK-NEXT: <stdin>:[[# @LINE + 1]]:3: error[L-UNRESOLVED]: a call connection needs a pl.call, and @a::@buffer is none
  pl.connect call @b::@f to @a::@buffer
  // CHECK-NEXT: <stdin>:[[# @LINE + 1]]:3: error[L-UNRESOLVED]: a tensor connection needs a pl.export, and @z::@t is none
  pl.connect tensor @z::@t to @a::@buffer
  // CHECK-NEXT: <stdin>:[[# @LINE - 1]]:3: error[L-UNRESOLVED]: a tensor connection needs a pl.import, and @a::@buffer is none
  // CHECK-NEXT: <stdin>:[[# @LINE - 2]]:3: error[L-DUPLICATE]: 'a.buffer' is connected twice
  // CHECK-NEXT: <stdin>:[[# @LINE - 5]]:3: note: it is connected here too
}

// -----

// L-UNRESOLVED: nobody provides what a role reaches; what no role reaches may lack its provider.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> {
  pl.package @a version "1" digest "d" path "a.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "a_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@coord]
    // CHECK: <stdin>:[[# @LINE + 1]]:5: error[L-UNRESOLVED]: nothing provides 'coord', which package 'a' calls
    pl.call @coord symbol "a_coord" <() -> "void">
    // CHECK-NEXT: <stdin>:[[# @LINE - 3]]:5: note: used by 'a.r'
    // CHECK-NEXT: <stdin>:[[# @LINE - 2]]:5: help: did you mean 'coords'?
    pl.call @unreached symbol "a_unreached" <() -> "void">
    // CHECK-NEXT: <stdin>:[[# @LINE + 1]]:5: error[L-UNRESOLVED]: nothing provides 'tile', which package 'a' schedules against
    pl.use_fact @tile : "i32" field "tile"
    // CHECK-NEXT: <stdin>:[[# @LINE - 1]]:5: help: add a package that provides it
  }
  pl.package @b version "1" digest "d" path "b.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.callable @coords symbol "b_coords" <() -> "void"> uses []
  }
}

// -----

// L-UNRESOLVED and L-DUPLICATE: the order of roles.
// CHECK: <stdin>:[[# @LINE + 3]]:1: error[L-UNRESOLVED]: 'role_order' of 'p' names @a::@q, which is not declared
// CHECK-NEXT: {{.*}} help: did you mean 'a.r'?
// CHECK-NEXT: <stdin>:[[# @LINE + 1]]:1: error[L-DUPLICATE]: 'role_order' names @a::@r twice
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> role_order [@a::@r, @a::@q, @a::@r] {
  pl.package @a version "1" digest "d" path "a.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "a_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses []
  }
}

// -----

// L-PAIR, L-ARRIVALS, L-BYTES, L-DEPTH, L-INIT: every field of a ring on which two endpoints must agree.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> {
  pl.package @p1 version "1" digest "d" path "p1.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "p1_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@ab]
    pl.claim @a smem size 4096 align 1024 ring @ab lifetime <kernel> dtype "bf16" tile [32, 64] swizzle 128
    pl.ring @ab producer on @r buffers [@a] full @ab_full <1> empty @ab_empty <1 per warp> depths [2, 4] bytes 4096 space "smem" scope "cta" proxy "async" priority 0 init "init" <() -> "void">
    pl.claim @ab_full mbarrier size 1 align 8 ring @ab lifetime <kernel>
    pl.claim @ab_empty mbarrier size 1 align 8 ring @ab lifetime <kernel>
  }
  pl.package @c1 version "1" digest "d" path "c1.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "c1_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@ab]
    pl.claim @a smem size 4096 align 1024 ring @ab lifetime <kernel> dtype "bf16" tile [32, 64] swizzle 128
    pl.ring @ab consumer on @r buffers [@a] full @ab_full <2> empty @ab_empty <1> depths [5, 8] bytes 8192 space "dsmem" scope "cluster" proxy "generic" priority 0 init "init" <() -> "void">
    pl.claim @ab_full mbarrier size 1 align 8 ring @ab lifetime <kernel>
    pl.claim @ab_empty mbarrier size 1 align 8 ring @ab lifetime <kernel>
  }
  pl.connect ring @p1::@ab to @c1::@ab
}
// CHECK:      <stdin>:[[# @LINE - 6]]:5: error[L-PAIR]: the endpoints of 'ab' disagree on memory space: "dsmem" against "smem"
// CHECK-NEXT: <stdin>:[[# @LINE - 7]]:5: note: 'c1.ab' says memory space "dsmem"
// CHECK-NEXT: <stdin>:[[# @LINE - 15]]:5: note: 'p1.ab' says memory space "smem"
// CHECK-NEXT: <stdin>:[[# @LINE - 9]]:5: help: make memory space "smem" in both, or "dsmem"
// CHECK:      error[L-PAIR]: the endpoints of 'ab' disagree on scope: "cluster" against "cta"
// CHECK:      error[L-PAIR]: the endpoints of 'ab' disagree on proxy: "generic" against "async"
// CHECK:      error[L-ARRIVALS]: the endpoints of 'ab' disagree on arrivals on empty: 1 against 1 per warp
// CHECK:      error[L-BYTES]: the endpoints of 'ab' disagree on transaction bytes: 8192 against 4096
// CHECK:      error[L-ARRIVALS]: the endpoints of 'ab' disagree on arrivals on full: 2 against 1
// CHECK:      error[L-DEPTH]: no depth of ring 'ab' suits both endpoints: [5, 8] against [2, 4]
// CHECK-NEXT: {{.*}} note: 'p1.ab' takes depths 2 to 4
// CHECK-NEXT: {{.*}} note: 'c1.ab' takes depths 5 to 8
// CHECK-NEXT: {{.*}} error[L-INIT]: both endpoints of ring 'ab' initialise its mbarriers
// CHECK-NEXT: {{.*}} note: 'p1.ab' initialises
// CHECK-NEXT: {{.*}} note: 'c1.ab' initialises
// CHECK-NEXT: {{.*}} help: let exactly one of them state PL_RING_INIT
// CHECK-NOT:  error
// CHECK:      =====

// -----

// L-PAIR: every field of its buffers, their names, and the bytes of a stage.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> {
  pl.package @p1 version "1" digest "d" path "p1.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "p1_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@ab]
    pl.claim @a smem size 4096 align 1024 ring @ab lifetime <kernel> dtype "bf16" tile [32, 64] swizzle 128
    pl.claim @b smem size 16 align 16 ring @ab lifetime <kernel>
    pl.ring @ab producer on @r buffers [@a, @b] full @ab_full <1> empty @ab_empty <1 per warp> depths [2, 4] bytes 4000 space "smem" scope "cta" proxy "async" priority 0 init "init" <() -> "void">
    pl.claim @ab_full mbarrier size 1 align 8 ring @ab lifetime <kernel>
    pl.claim @ab_empty mbarrier size 1 align 8 ring @ab lifetime <kernel>
  }
  pl.package @c1 version "1" digest "d" path "c1.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "c1_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@ab]
    pl.claim @a smem size 8192 align 1024 ring @ab lifetime <kernel> dtype "f16" tile [64, 64]
    pl.claim @c smem size 16 align 16 ring @ab lifetime <kernel>
    pl.ring @ab consumer on @r buffers [@a, @c] full @ab_full <1> empty @ab_empty <1 per warp> depths [2, 4] bytes 4000 space "smem" scope "cta" proxy "async" priority 0
    pl.claim @ab_full mbarrier size 1 align 8 ring @ab lifetime <kernel>
    pl.claim @ab_empty mbarrier size 1 align 8 ring @ab lifetime <kernel>
  }
  pl.connect ring @p1::@ab to @c1::@ab
}
// CHECK:      error[L-BYTES]: ring 'p1.ab' expects 4000 transaction bytes a stage, its buffers hold 4112 (a 4096 + b 16)
// CHECK-NEXT: {{.*}} help: state .bytes(4112), or the right size of each buffer
// CHECK:      error[L-PAIR]: ring 'ab': 'p1.ab' has a buffer 'b', 'c1.ab' has none
// CHECK-NEXT: {{.*}} note: 'p1.ab' has it
// CHECK:      error[L-PAIR]: ring 'ab': 'c1.ab' has a buffer 'c', 'p1.ab' has none
// CHECK:      <stdin>:[[# @LINE - 13]]:5: error[L-PAIR]: the endpoints of 'a' disagree on bytes a stage: 8192 against 4096
// CHECK:      error[L-PAIR]: the endpoints of 'a' disagree on element type of a stage: "f16" against "bf16"
// CHECK:      error[L-PAIR]: the endpoints of 'a' disagree on tile of a stage: 64, 64 against 32, 64
// CHECK:      error[L-PAIR]: the endpoints of 'a' disagree on swizzle of a stage: nothing against 128
// CHECK-NOT:  error
// CHECK:      =====

// -----

// L-PAIR: the ends the wrong way round.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> {
  pl.package @p1 version "1" digest "d" path "p1.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "p1_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@ab]
    pl.claim @a smem size 4096 align 1024 ring @ab lifetime <kernel> dtype "bf16" tile [32, 64] swizzle 128
    pl.ring @ab consumer on @r buffers [@a] full @ab_full <1> empty @ab_empty <1 per warp> depths [2, 4] bytes 4096 space "smem" scope "cta" proxy "async" priority 0
    pl.claim @ab_full mbarrier size 1 align 8 ring @ab lifetime <kernel>
    pl.claim @ab_empty mbarrier size 1 align 8 ring @ab lifetime <kernel>
  }
  pl.package @c1 version "1" digest "d" path "c1.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "c1_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@ab]
    pl.claim @a smem size 4096 align 1024 ring @ab lifetime <kernel> dtype "bf16" tile [32, 64] swizzle 128
    pl.ring @ab producer on @r buffers [@a] full @ab_full <1> empty @ab_empty <1 per warp> depths [2, 4] bytes 4096 space "smem" scope "cta" proxy "async" priority 0
    pl.claim @ab_full mbarrier size 1 align 8 ring @ab lifetime <kernel>
    pl.claim @ab_empty mbarrier size 1 align 8 ring @ab lifetime <kernel>
  }
  // CHECK: <stdin>:[[# @LINE + 1]]:3: error[L-PAIR]: ring 'ab' connects a consumer to a producer
  pl.connect ring @p1::@ab to @c1::@ab
}
// CHECK-NEXT: {{.*}} help: connect a producer to a consumer
// CHECK-NOT:  error
// CHECK:      =====

// -----

// L-INIT: nobody initialises. L-SITE: an endpoint that no role runs.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> {
  pl.package @p1 version "1" digest "d" path "p1.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "p1_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@ab]
    pl.callable @idle symbol "idle" <() -> "void"> uses []
    pl.claim @a smem size 4096 align 1024 ring @ab lifetime <kernel> dtype "bf16" tile [32, 64] swizzle 128
    pl.ring @ab producer on @idle buffers [@a] full @ab_full <1> empty @ab_empty <1 per warp> depths [2, 4] bytes 4096 space "smem" scope "cta" proxy "async" priority 0
    pl.claim @ab_full mbarrier size 1 align 8 ring @ab lifetime <kernel>
    pl.claim @ab_empty mbarrier size 1 align 8 ring @ab lifetime <kernel>
  }
  pl.package @c1 version "1" digest "d" path "c1.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "c1_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@ab]
    pl.claim @a smem size 4096 align 1024 ring @ab lifetime <kernel> dtype "bf16" tile [32, 64] swizzle 128
    pl.ring @ab consumer on @r buffers [@a] full @ab_full <1> empty @ab_empty <1 per warp> depths [2, 4] bytes 4096 space "smem" scope "cta" proxy "async" priority 0
    pl.claim @ab_full mbarrier size 1 align 8 ring @ab lifetime <kernel>
    pl.claim @ab_empty mbarrier size 1 align 8 ring @ab lifetime <kernel>
  }
  pl.connect ring @p1::@ab to @c1::@ab
}
// CHECK:      <stdin>:[[# @LINE - 13]]:5: error[L-SITE]: ring 'p1.ab' acts in 'p1.idle', which no role runs
// CHECK-NEXT: {{.*}} help: call it from a role, or let a role be the endpoint
// CHECK-NEXT: <stdin>:[[# @LINE - 8]]:5: error[L-INIT]: neither endpoint of ring 'ab' initialise its mbarriers

// -----

// L-UNRESOLVED: a ring with one end. L-DUPLICATE: a ring with two consumers. L-ANNOTATION: a ring and its claims.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> {
  pl.package @p1 version "1" digest "d" path "p1.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "p1_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@ab]
    pl.claim @a smem size 4096 align 1024 ring @ab lifetime <kernel> dtype "bf16" tile [32, 64] swizzle 128
    pl.ring @ab producer on @r buffers [@a] full @ab_full <1> empty @ab_empty <1 per warp> depths [2, 4] bytes 4096 space "smem" scope "cta" proxy "async" priority 0
    pl.claim @ab_full mbarrier size 1 align 8 ring @ab lifetime <kernel>
    pl.claim @ab_empty mbarrier size 1 align 8 ring @ab lifetime <kernel>
  }
}
// CHECK: error[L-UNRESOLVED]: ring 'p1.ab' has no consumer
// CHECK-NEXT: {{.*}} help: add a package whose ring 'ab' is a consumer

// -----

pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> {
  pl.package @p1 version "1" digest "d" path "p1.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "p1_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@ab]
    pl.claim @a smem size 4096 align 1024 ring @ab lifetime <kernel> dtype "bf16" tile [32, 64] swizzle 128
    pl.ring @ab producer on @r buffers [@a] full @ab_full <1> empty @ab_empty <1 per warp> depths [2, 4] bytes 4096 space "smem" scope "cta" proxy "async" priority 0
    pl.claim @ab_full mbarrier size 1 align 8 ring @ab lifetime <kernel>
    pl.claim @ab_empty mbarrier size 1 align 8 ring @ab lifetime <kernel>
  }
  pl.package @c1 version "1" digest "d" path "c1.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "c1_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@ab]
    pl.claim @a smem size 4096 align 1024 ring @ab lifetime <kernel> dtype "bf16" tile [32, 64] swizzle 128
    pl.ring @ab consumer on @r buffers [@a] full @ab_full <1> empty @ab_empty <1 per warp> depths [2, 4] bytes 4096 space "smem" scope "cta" proxy "async" priority 0
    pl.claim @ab_full mbarrier size 1 align 8 ring @ab lifetime <kernel>
    pl.claim @ab_empty mbarrier size 1 align 8 ring @ab lifetime <kernel>
  }
  pl.package @c2 version "1" digest "d" path "c2.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "c2_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@ab]
    pl.claim @a smem size 4096 align 1024 ring @ab lifetime <kernel> dtype "bf16" tile [32, 64] swizzle 128
    pl.ring @ab consumer on @r buffers [@a] full @ab_full <1> empty @ab_empty <1 per warp> depths [2, 4] bytes 4096 space "smem" scope "cta" proxy "async" priority 0
    pl.claim @ab_full mbarrier size 1 align 8 ring @ab lifetime <kernel>
    pl.claim @ab_empty mbarrier size 1 align 8 ring @ab lifetime <kernel>
  }
  pl.connect ring @p1::@ab to @c1::@ab
  // CHECK: <stdin>:[[# @LINE + 1]]:3: error[L-DUPLICATE]: 'p1.ab' is connected twice
  pl.connect ring @p1::@ab to @c2::@ab
}

// -----

pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> {
  pl.package @p1 version "1" digest "d" path "p1.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "p1_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@ab]
    pl.claim @a barrier size 1 align 1 ring @ab lifetime <kernel>
    // CHECK: <stdin>:[[# @LINE - 1]]:5: error[L-ANNOTATION]: 'p1.a' of ring 'ab' is a claim of barrier, not smem
    // CHECK: <stdin>:[[# @LINE + 1]]:5: error[L-ANNOTATION]: 'p1.b' and ring 'ab' do not name each other
    pl.claim @b smem size 16 align 16 ring @ab lifetime <kernel>
    pl.ring @ab producer on @r buffers [@a] full @ab_full <1> empty @ab_empty <1 per warp> depths [2, 4] bytes 4096 space "smem" scope "cta" proxy "async" priority 0
    pl.claim @ab_full mbarrier size 1 align 8 ring @ab lifetime <kernel>
    pl.claim @ab_empty mbarrier size 1 align 8 ring @ab lifetime <kernel>
  }
}

// -----

// L-SIGNATURE: the number of arguments, a type, the result, parameters that the call does not pass.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> {
  pl.package @a version "1" digest "d" path "a.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "a_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@f]
    // CHECK: <stdin>:[[# @LINE + 4]]:5: error[L-SIGNATURE]: 'a.f' calls void (int), 'b.f' is void (int, int)
    // CHECK-NEXT: <stdin>:[[# @LINE + 3]]:5: note: 'a.f' calls void (int)
    // CHECK-NEXT: <stdin>:[[# @LINE + 5]]:5: note: 'b.f' is void (int, int)
    // CHECK-NEXT: <stdin>:[[# @LINE + 1]]:5: help: declare it as void (int, int)
    pl.call @f symbol "a_f" <("int") -> "void">
  }
  pl.package @b version "1" digest "d" path "b.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.callable @f symbol "b_f" <("int", "int") -> "void"> uses []
  }
  pl.connect call @b::@f to @a::@f
}

// -----

pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> {
  pl.package @a version "1" digest "d" path "a.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "a_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@f]
    // CHECK: error[L-SIGNATURE]: 'a.f' calls void (int), 'b.f' is void (float)
    pl.call @f symbol "a_f" <("int") -> "void">
  }
  pl.package @b version "1" digest "d" path "b.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.callable @f symbol "b_f" <("float") -> "void"> uses []
  }
  pl.connect call @b::@f to @a::@f
}

// -----

pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> {
  pl.package @a version "1" digest "d" path "a.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "a_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@f]
    // CHECK: error[L-SIGNATURE]: 'a.f' calls float (int), 'b.f' is int (int)
    pl.call @f symbol "a_f" <("int") -> "float">
  }
  pl.package @b version "1" digest "d" path "b.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.callable @f symbol "b_f" <("int") -> "int"> uses []
  }
  pl.connect call @b::@f to @a::@f
}

// -----

pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> {
  pl.package @a version "1" digest "d" path "a.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "a_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@f]
    // CHECK: error[L-SIGNATURE]: 'b.f' needs kernel parameters, and the call 'a.f' passes none
    pl.call @f symbol "a_f" <() -> "void">
  }
  pl.package @b version "1" digest "d" path "b.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.callable @f symbol "b_f" <() -> "void", args> uses []
  }
  pl.connect call @b::@f to @a::@f
}
// CHECK: help: let the call's first parameter be a const pl_context *

// -----

// A call with a context reaches a callable with parameters.
// CHECK-NOT: error
// CHECK: pl.pipeline
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> {
  pl.package @a version "1" digest "d" path "a.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "a_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@f]
    pl.call @f symbol "a_f" <() -> "void", context>
  }
  pl.package @b version "1" digest "d" path "b.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.callable @f symbol "b_f" <() -> "void", args> uses []
  }
  pl.connect call @b::@f to @a::@f
}

// -----

// A tensor with nothing wrong passes.
// CHECK-NOT: error
// CHECK: pl.pipeline
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> {
  pl.package @a version "1" digest "d" path "a.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "a_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@t, @c]
    pl.site @work in @r threads [0, 32] guarantees ["converged"]
    pl.claim @c smem size 64 align 16 lifetime <"t.ready" to "end">
    pl.import @t symbol "a_t" <("const float *", "int", "float *") -> "void"> produce "a_p" <("float *") -> "void"> dtype "f32" demand "(t:32, p:1, c:2) -> (m:64) { m = t*2 + c }" chunk "c" site @work lends frame 2 completion "final" rendezvous []
  }
  pl.package @b version "1" digest "d" path "b.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.export @t symbol "b_t" <("float *") -> "void"> dtype "f32" placement "(t:32, r:2) -> (m:64) { m = t*2 + r }" registers 2 threads 32 align 32 requires ["converged"] completion "final" uses []
  }
  pl.connect tensor @b::@t to @a::@t
}

// -----

// L-TENSOR: element type, completion, tile, frame. L-SIGNATURE: of the three functions of a tensor.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> {
  pl.package @a version "1" digest "d" path "a.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "a_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@t, @c]
    pl.site @work in @r threads [0, 32] guarantees ["converged"]
    pl.claim @c smem size 64 align 16 lifetime <"t.ready" to "end">
    pl.import @t symbol "a_t" <("float *") -> "void"> produce "a_p" <("float *", "int") -> "void"> dtype "i32" demand "(t:32, p:1, c:1) -> (m:32) { m = t + c }" chunk "c" site @work lends frame 1 completion "partial" rendezvous []
  }
  pl.package @b version "1" digest "d" path "b.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.export @t symbol "b_t" <("int *") -> "void", args> dtype "f32" placement "(t:32, r:2) -> (m:64) { m = t*2 + r }" registers 2 threads 32 align 32 requires ["converged"] completion "final" uses []
  }
  pl.connect tensor @b::@t to @a::@t
}
// CHECK:      <stdin>:[[# @LINE - 4]]:5: error[L-SIGNATURE]: 'b.t' is void (int *) where a tensor of f32 needs void (float *)
// CHECK:      error[L-SIGNATURE]: 'a.t' is void (float *, int) where a tensor of f32 needs void (float *)
// CHECK:      error[L-SIGNATURE]: 'a.t' is void (float *) where a tensor of f32 needs void (const float *, int, float *)
// CHECK:      error[L-SIGNATURE]: 'b.t' needs kernel parameters, and 'a_p' passes none
// CHECK:      error[L-TENSOR]: tensor 'a.t': element type i32, where 'b.t' has f32
// CHECK-NEXT: {{.*}} note: 'b.t' has element type f32
// CHECK-NEXT: {{.*}} note: 'a.t' has element type i32
// CHECK-NEXT: {{.*}} error[L-TENSOR]: tensor 'a.t': completion partial, where 'b.t' has final
// CHECK:      error[L-TENSOR]: tensor 'a.t': tile {'m': 32}, where 'b.t' has {'m': 64}
// CHECK:      error[L-TENSOR]: tensor 'a.t': frame registers 1, where 'b.t' has 2
// CHECK-NOT:  error
// CHECK:      =====

// -----

// L-TENSOR: an element type that registers do not hold.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> {
  pl.package @a version "1" digest "d" path "a.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "a_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@t, @c]
    pl.site @work in @r threads [0, 32] guarantees ["converged"]
    pl.claim @c smem size 64 align 16 lifetime <"t.ready" to "end">
    pl.import @t symbol "a_t" <("const float *", "int", "float *") -> "void"> produce "a_p" <("float *") -> "void"> dtype "f64" demand "(t:32, p:1, c:2) -> (m:64) { m = t*2 + c }" chunk "c" site @work lends frame 2 completion "final" rendezvous []
  }
  pl.package @b version "1" digest "d" path "b.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.export @t symbol "b_t" <("float *") -> "void"> dtype "f64" placement "(t:32, r:2) -> (m:64) { m = t*2 + r }" registers 2 threads 32 align 32 requires ["converged"] completion "final" uses []
  }
  pl.connect tensor @b::@t to @a::@t
}
// CHECK: error[L-TENSOR]: tensor 'b.t' has element type f64
// CHECK-NEXT: {{.*}} help: register tensors hold f32, i32, u32

// -----

// L-SITE: participants, alignment, guarantees.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> {
  pl.package @a version "1" digest "d" path "a.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "a_r" <() -> "void"> warps 2 align 1 registers [24, 240] need 0 uses [@t, @c]
    pl.site @work in @r threads [32, 96] guarantees ["full warps"]
    pl.claim @c smem size 64 align 16 lifetime <"t.ready" to "end">
    pl.import @t symbol "a_t" <("const float *", "int", "float *") -> "void"> produce "a_p" <("float *") -> "void"> dtype "f32" demand "(t:32, p:1, c:2) -> (m:64) { m = t*2 + c }" chunk "c" site @work lends frame 2 completion "final" rendezvous []
  }
  pl.package @b version "1" digest "d" path "b.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.export @t symbol "b_t" <("float *") -> "void"> dtype "f32" placement "(t:32, r:2) -> (m:64) { m = t*2 + r }" registers 2 threads 32 align 128 requires ["converged"] completion "final" uses []
  }
  pl.connect tensor @b::@t to @a::@t
}
// CHECK:      error[L-SITE]: tensor 'a.t': threads 64 at its site, 32 in its demand, where 'b.t' has 32
// CHECK:      <stdin>:[[# @LINE - 10]]:5: error[L-SITE]: site 'a.work' names threads up to 96 of role 'a.r', which has 64
// CHECK-NEXT: {{.*}} note: the role is here
// CHECK-NEXT: {{.*}} error[L-SITE]: tensor 'a.t': first thread aligned to thread 32 of a role that is aligned to 32 threads, where 'b.t' has 128
// CHECK:      error[L-SITE]: site 'a.work' does not guarantee 'converged', which 'b.t' requires
// CHECK-NEXT: {{.*}} note: 'b.t' requires it
// CHECK-NEXT: {{.*}} help: add 'converged' to the site's guarantees if it holds
// CHECK-NOT:  error
// CHECK:      =====

// -----

// L-SITE: code that reads its role's first warp has one role.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> {
  pl.package @a version "1" digest "d" path "a.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "a_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@f]
    pl.call @f symbol "a_f" <() -> "void">
  }
  pl.package @b version "1" digest "d" path "b.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "b_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@f]
    pl.call @f symbol "b_f" <() -> "void">
  }
  pl.package @c version "1" digest "d" path "c.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.callable @f symbol "c_f" <() -> "void"> uses [@first]
    // CHECK: <stdin>:[[# @LINE + 1]]:5: error[L-SITE]: 'c.f' reads its role's first warp and is run by roles 'a.r' and 'b.r'
    pl.warp @first of @f
  }
  pl.connect call @c::@f to @a::@f
  pl.connect call @c::@f to @b::@f
}
// CHECK-NEXT: {{.*}} note: 'a.r' runs it
// CHECK-NEXT: {{.*}} note: 'b.r' runs it
// CHECK-NEXT: {{.*}} help: a handle has one value in a kernel: pass the thread index as an argument instead

// -----

// L-LIFETIME: an event that is not there, and an order that is none.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> {
  pl.package @a version "1" digest "d" path "a.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "a_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@t, @c]
    pl.site @work in @r threads [0, 32] guarantees ["converged"]
    pl.claim @c smem size 64 align 16 lifetime <"u.ready" to "end">
    pl.import @t symbol "a_t" <("const float *", "int", "float *") -> "void"> produce "a_p" <("float *") -> "void"> dtype "f32" demand "(t:32, p:1, c:2) -> (m:64) { m = t*2 + c }" chunk "c" site @work lends frame 2 completion "final" rendezvous []
  }
  pl.package @b version "1" digest "d" path "b.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.export @t symbol "b_t" <("float *") -> "void"> dtype "f32" placement "(t:32, r:2) -> (m:64) { m = t*2 + r }" registers 2 threads 32 align 32 requires ["converged"] completion "final" uses []
  }
  pl.connect tensor @b::@t to @a::@t
}
// CHECK: error[L-LIFETIME]: the lifetime of 'a.c' names 'u.ready', no event of its package's tensors
// CHECK-NEXT: {{.*}} help: did you mean 't.ready'?

// -----

pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> {
  pl.package @a version "1" digest "d" path "a.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "a_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@t, @c]
    pl.site @work in @r threads [0, 32] guarantees ["converged"]
    pl.claim @c smem size 64 align 16 lifetime <"t.done" to "t.ready">
    pl.import @t symbol "a_t" <("const float *", "int", "float *") -> "void"> produce "a_p" <("float *") -> "void"> dtype "f32" demand "(t:32, p:1, c:2) -> (m:64) { m = t*2 + c }" chunk "c" site @work lends frame 2 completion "final" rendezvous []
  }
  pl.package @b version "1" digest "d" path "b.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.export @t symbol "b_t" <("float *") -> "void"> dtype "f32" placement "(t:32, r:2) -> (m:64) { m = t*2 + r }" registers 2 threads 32 align 32 requires ["converged"] completion "final" uses []
  }
  pl.connect tensor @b::@t to @a::@t
}
// CHECK: error[L-LIFETIME]: the lifetime of 'a.c' starts at 't.done', which is not before its end 't.ready'

// -----

pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> {
  pl.package @a version "1" digest "d" path "a.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "a_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@t, @c]
    pl.site @work in @r threads [0, 32] guarantees ["converged"]
    pl.claim @c smem size 64 align 16 lifetime <"t.ready" to "t.ready">
    pl.import @t symbol "a_t" <("const float *", "int", "float *") -> "void"> produce "a_p" <("float *") -> "void"> dtype "f32" demand "(t:32, p:1, c:2) -> (m:64) { m = t*2 + c }" chunk "c" site @work lends frame 2 completion "final" rendezvous []
  }
  pl.package @b version "1" digest "d" path "b.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.export @t symbol "b_t" <("float *") -> "void"> dtype "f32" placement "(t:32, r:2) -> (m:64) { m = t*2 + r }" registers 2 threads 32 align 32 requires ["converged"] completion "final" uses []
  }
  pl.connect tensor @b::@t to @a::@t
}
// CHECK: error[L-LIFETIME]: the lifetime of 'a.c' starts at 't.ready', which is not before its end 't.ready'

// -----

// L-FACT: type, value, field.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> {
  pl.package @a version "1" digest "d" path "a.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.param "a_args" size 16 align 8 fields <tile = [0, 4], wide = [8, 8]>
    // CHECK: <stdin>:[[# @LINE + 1]]:5: error[L-FACT]: 'a.tile' requires 128, 'b.tile' is 64
    pl.use_fact @tile : "i32" field "tile" requires "128"
    // CHECK-NEXT: <stdin>:[[# @LINE + 11]]:5: note: 'b.tile' is i32 64
    // CHECK-NEXT: <stdin>:[[# @LINE - 2]]:5: note: 'a.tile' schedules against it
    // CHECK-NEXT: <stdin>:[[# @LINE - 3]]:5: help: use a package whose fact is 128, or one that does not require it
    // CHECK-NEXT: <stdin>:[[# @LINE + 1]]:5: error[L-FACT]: fact 'a.scale' is used as i32 and owned as f32
    pl.use_fact @scale : "i32" field "wide"
    // CHECK: <stdin>:[[# @LINE - 1]]:5: error[L-FACT]: fact 'a.scale' of 4 bytes goes to field 'wide' of 8 bytes
    // CHECK-NEXT: <stdin>:[[# @LINE + 1]]:5: error[L-FACT]: fact 'a.lost' goes to field 'tiles', which the package's parameters lack
    pl.use_fact @lost : "i32" field "tiles"
    // CHECK-NEXT: {{.*}} help: did you mean 'tile'?
  }
  pl.package @b version "1" digest "d" path "b.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.fact @tile : "i32" = "64"
    pl.fact @scale : "f32" = "0.5"
    pl.fact @lost : "i32" = "1"
  }
  pl.connect fact @b::@tile to @a::@tile
  pl.connect fact @b::@scale to @a::@scale
  pl.connect fact @b::@lost to @a::@lost
}
// CHECK-NOT:  error
// CHECK:      =====

// -----

// L-ANNOTATION: a lent claim of another kind.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> {
  pl.package @a version "1" digest "d" path "a.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "a_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@t, @c]
    pl.site @work in @r threads [0, 32] guarantees ["converged"]
    pl.claim @c smem size 64 align 16 lifetime <"t.ready" to "end">
    pl.import @t symbol "a_t" <("const float *", "int", "float *") -> "void"> produce "a_p" <("float *") -> "void"> dtype "f32" demand "(t:32, p:1, c:2) -> (m:64) { m = t*2 + c }" chunk "c" site @work lends frame 2 barrier @c completion "final" rendezvous []
  }
  pl.package @b version "1" digest "d" path "b.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.export @t symbol "b_t" <("float *") -> "void"> dtype "f32" placement "(t:32, r:2) -> (m:64) { m = t*2 + r }" registers 2 threads 32 align 32 requires ["converged"] completion "final" uses []
  }
  pl.connect tensor @b::@t to @a::@t
}
// CHECK: error[L-ANNOTATION]: 'a.t' lends 'a.c', a claim of smem, as barrier
// CHECK-NEXT: {{.*}} note: it is claimed here

// -----

// L-FPMODE: the pipeline's own mode is that of the link.
// CHECK: <stdin>:[[# @LINE + 2]]:1: error[L-FPMODE]: the pipeline's floating-point mode is not that of its packages: ftz=1 against ftz=0
// CHECK-NEXT: <stdin>:[[# @LINE + 2]]:3: note: package 'a' states its own
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <ftz = 1> {
  pl.package @a version "1" digest "d" path "a.plpkg" target "sm_90a" toolkit "13.5.37" fp <ftz = 0> defines [] {
  }
}

// -----

// L-SITE: what is called at a site is called by the site's role.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> {
  pl.package @a version "1" digest "d" path "a.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "a_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses []
    pl.role @q entry "a_q" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@f]
    pl.site @work in @r threads [0, 32] guarantees []
    // CHECK: <stdin>:[[# @LINE + 1]]:5: error[L-SITE]: 'a.q' uses 'a.f' on 'a.q', its site is in 'a.r'
    pl.call @f symbol "a_f" <() -> "void"> site @work
    // CHECK-NEXT: <stdin>:[[# @LINE - 3]]:5: note: the site is here
  }
  pl.package @b version "1" digest "d" path "b.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.callable @f symbol "b_f" <() -> "void"> uses []
  }
  pl.connect call @b::@f to @a::@f
}

// -----

// L-CYCLE: packages that call each other without end.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> {
  pl.package @a version "1" digest "d" path "a.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "a_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@f]
    pl.call @f symbol "a_f" <() -> "void">
    // CHECK: <stdin>:[[# @LINE + 1]]:5: error[L-CYCLE]: 'a.g' calls itself through other packages
    pl.callable @g symbol "a_g" <() -> "void"> uses [@f]
    // CHECK-NEXT: <stdin>:[[# @LINE + 3]]:5: note: by way of 'b.f'
  }
  pl.package @b version "1" digest "d" path "b.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.callable @f symbol "b_f" <() -> "void"> uses [@g]
    pl.call @g symbol "b_g" <() -> "void">
  }
  pl.connect call @b::@f to @a::@f
  pl.connect call @a::@g to @b::@g
}

// -----

// L-ARRIVALS, L-PAIR: counters, with two producers.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> {
  pl.package @p1 version "1" digest "d" path "p1.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "p1_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@done]
    pl.claim @words counter size 4 align 1 lifetime <kernel> scope "gpu" restart "launch"
    pl.counter @done producer on @r slots @words arrivals <1 per warp>
  }
  pl.package @p2 version "1" digest "d" path "p2.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "p2_r" <() -> "void"> warps 2 align 1 registers [24, 240] need 0 uses [@done]
    pl.claim @words counter size 8 align 1 lifetime <kernel> scope "system" restart "epoch"
    pl.counter @done producer on @r slots @words arrivals <2>
  }
  pl.package @c1 version "1" digest "d" path "c1.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "c1_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@done, @late]
    pl.claim @words counter size 4 align 1 lifetime <kernel> scope "gpu" restart "launch"
    pl.counter @done consumer on @r slots @words arrivals <4>
    pl.claim @other counter size 1 align 1 lifetime <kernel> scope "gpu" restart "launch"
    // CHECK: <stdin>:[[# @LINE + 1]]:5: error[L-UNRESOLVED]: counter 'c1.late' has no producer
    pl.counter @late consumer on @r slots @other
  }
  pl.connect counter @p1::@done to @c1::@done
  pl.connect counter @p2::@done to @c1::@done
}

// -----

// The same, connected.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> {
  pl.package @p1 version "1" digest "d" path "p1.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "p1_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@done]
    pl.claim @words counter size 4 align 1 lifetime <kernel> scope "gpu" restart "launch"
    pl.counter @done producer on @r slots @words arrivals <1 per warp>
  }
  pl.package @p2 version "1" digest "d" path "p2.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "p2_r" <() -> "void"> warps 2 align 1 registers [24, 240] need 0 uses [@done]
    pl.claim @words counter size 8 align 1 lifetime <kernel> scope "system" restart "launch"
    pl.counter @done producer on @r slots @words arrivals <2>
  }
  pl.package @c1 version "1" digest "d" path "c1.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "c1_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@done]
    pl.claim @words counter size 4 align 1 lifetime <kernel> scope "gpu" restart "launch"
    pl.counter @done consumer on @r slots @words arrivals <4>
  }
  pl.connect counter @p1::@done to @c1::@done
  pl.connect counter @p2::@done to @c1::@done
}
// CHECK:      error[L-PAIR]: the endpoints of 'done' disagree on words: 4 against 8
// CHECK:      error[L-PAIR]: the endpoints of 'done' disagree on scope: "gpu" against "system"
// CHECK:      error[L-ARRIVALS]: counter 'c1.done' waits for 4 arrivals on a word, its producers add 3
// CHECK-NEXT: {{.*}} note: 'p1.done' adds 1
// CHECK-NEXT: {{.*}} note: 'p2.done' adds 2
// CHECK:      error[L-RESTART]: 'p2.words' of scope system restarts by launch: a fast peer's next push would race it
// CHECK:      =====

// -----

// A ring with two producers: each fills one of the buffers.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> {
  pl.package @p1 version "1" digest "d" path "p1.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "p1_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@ab]
    pl.claim @a smem size 4096 align 128 ring @ab lifetime <kernel>
    pl.ring @ab producer on @r buffers [@a] full @ab_full <1> empty @ab_empty <1> depths [2, 4] bytes 4096 space "smem" scope "cta" proxy "async" priority 0 init "p1_init" <() -> "void">
    pl.claim @ab_full mbarrier size 1 align 8 ring @ab lifetime <kernel>
    pl.claim @ab_empty mbarrier size 1 align 8 ring @ab lifetime <kernel>
  }
  pl.package @p2 version "1" digest "d" path "p2.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "p2_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@ab]
    pl.claim @b smem size 2048 align 128 ring @ab lifetime <kernel>
    pl.ring @ab producer on @r buffers [@b] full @ab_full <1> empty @ab_empty <1> depths [2, 4] bytes 2048 space "smem" scope "cta" proxy "async" priority 0
    pl.claim @ab_full mbarrier size 1 align 8 ring @ab lifetime <kernel>
    pl.claim @ab_empty mbarrier size 1 align 8 ring @ab lifetime <kernel>
  }
  pl.package @c1 version "1" digest "d" path "c1.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "c1_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@ab]
    pl.claim @a smem size 4096 align 128 ring @ab lifetime <kernel>
    pl.claim @b smem size 2048 align 128 ring @ab lifetime <kernel>
    pl.ring @ab consumer on @r buffers [@a, @b] full @ab_full <2> empty @ab_empty <1> depths [2, 4] bytes 6144 space "smem" scope "cta" proxy "async" priority 0 producers 2
    pl.claim @ab_full mbarrier size 1 align 8 ring @ab lifetime <kernel>
    pl.claim @ab_empty mbarrier size 1 align 8 ring @ab lifetime <kernel>
  }
  pl.connect ring @p1::@ab to @c1::@ab
  pl.connect ring @p2::@ab to @c1::@ab
}
// CHECK:      builtin.module
// CHECK-NOT:  error
// CHECK:      =====

// -----

// L-BYTES, L-ARRIVALS, L-PAIR: a ring whose producers fill it otherwise than its consumer thinks.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> {
  pl.package @p1 version "1" digest "d" path "p1.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "p1_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@ab]
    pl.claim @a smem size 4096 align 128 ring @ab lifetime <kernel>
    pl.ring @ab producer on @r buffers [@a] full @ab_full <1> empty @ab_empty <1> depths [2, 4] bytes 4096 space "smem" scope "cta" proxy "async" priority 0 init "p1_init" <() -> "void">
    pl.claim @ab_full mbarrier size 1 align 8 ring @ab lifetime <kernel>
    pl.claim @ab_empty mbarrier size 1 align 8 ring @ab lifetime <kernel>
  }
  pl.package @p2 version "1" digest "d" path "p2.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "p2_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@ab]
    pl.claim @a smem size 4096 align 128 ring @ab lifetime <kernel>
    pl.ring @ab producer on @r buffers [@a] full @ab_full <2> empty @ab_empty <1> depths [2, 4] bytes 4096 space "smem" scope "cta" proxy "async" priority 0
    pl.claim @ab_full mbarrier size 1 align 8 ring @ab lifetime <kernel>
    pl.claim @ab_empty mbarrier size 1 align 8 ring @ab lifetime <kernel>
  }
  pl.package @c1 version "1" digest "d" path "c1.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "c1_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@ab]
    pl.claim @a smem size 4096 align 128 ring @ab lifetime <kernel>
    pl.claim @b smem size 2048 align 128 ring @ab lifetime <kernel>
    pl.ring @ab consumer on @r buffers [@a, @b] full @ab_full <2> empty @ab_empty <1> depths [2, 4] bytes 6144 space "smem" scope "cta" proxy "async" priority 0 producers 2
    pl.claim @ab_full mbarrier size 1 align 8 ring @ab lifetime <kernel>
    pl.claim @ab_empty mbarrier size 1 align 8 ring @ab lifetime <kernel>
  }
  pl.connect ring @p1::@ab to @c1::@ab
  pl.connect ring @p2::@ab to @c1::@ab
}
// CHECK:      error[L-ARRIVALS]: ring 'ab': arrivals on full are 1 + 2 by its producers, 2 for its consumer
// CHECK:      help: let the consumer count 3
// CHECK-NEXT: {{.*}} error[L-BYTES]: ring 'ab': transaction bytes are 4096 + 4096 by its producers, 6144 for its consumer
// CHECK:      error[L-PAIR]: ring 'ab': two producers fill the buffer 'a'
// CHECK-NEXT: {{.*}} note: 'p1.ab' fills it too
// CHECK-NEXT: {{.*}} error[L-PAIR]: ring 'ab': 'c1.ab' has a buffer 'b', 'p1.ab' has none
// CHECK:      =====

// -----

// L-PAIR: a producer more than the consumer counts on.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> {
  pl.package @p1 version "1" digest "d" path "p1.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "p1_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@ab]
    pl.claim @a smem size 4096 align 128 ring @ab lifetime <kernel>
    pl.ring @ab producer on @r buffers [@a] full @ab_full <1> empty @ab_empty <1> depths [2, 4] bytes 4096 space "smem" scope "cta" proxy "async" priority 0 init "p1_init" <() -> "void">
    pl.claim @ab_full mbarrier size 1 align 8 ring @ab lifetime <kernel>
    pl.claim @ab_empty mbarrier size 1 align 8 ring @ab lifetime <kernel>
  }
  pl.package @p2 version "1" digest "d" path "p2.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "p2_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@ab]
    pl.claim @b smem size 2048 align 128 ring @ab lifetime <kernel>
    pl.ring @ab producer on @r buffers [@b] full @ab_full <1> empty @ab_empty <1> depths [2, 4] bytes 2048 space "smem" scope "cta" proxy "async" priority 0
    pl.claim @ab_full mbarrier size 1 align 8 ring @ab lifetime <kernel>
    pl.claim @ab_empty mbarrier size 1 align 8 ring @ab lifetime <kernel>
  }
  pl.package @c1 version "1" digest "d" path "c1.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "c1_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@ab]
    pl.claim @a smem size 4096 align 128 ring @ab lifetime <kernel>
    pl.claim @b smem size 2048 align 128 ring @ab lifetime <kernel>
    pl.ring @ab consumer on @r buffers [@a, @b] full @ab_full <2> empty @ab_empty <1> depths [2, 4] bytes 6144 space "smem" scope "cta" proxy "async" priority 0
    pl.claim @ab_full mbarrier size 1 align 8 ring @ab lifetime <kernel>
    pl.claim @ab_empty mbarrier size 1 align 8 ring @ab lifetime <kernel>
  }
  pl.connect ring @p1::@ab to @c1::@ab
  pl.connect ring @p2::@ab to @c1::@ab
}
// CHECK:      error[L-PAIR]: ring 'c1.ab' is filled by 1 producers, 2 are connected
// CHECK-NEXT: {{.*}} note: 'p1.ab' is one
// CHECK-NEXT: {{.*}} note: 'p2.ab' is one
// CHECK-NEXT: {{.*}} help: list them all under [connect]
// CHECK-NOT:  error
// CHECK:      =====

// -----

// L-TOPOLOGY: shapes of clusters, blocks a multiprocessor, and a ring that needs a cluster.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> {
  pl.package @a version "1" digest "d" path "a.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.topology clusters [array<i64: 2, 1, 1>] occupancy [2, 4]
    pl.role @r entry "a_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses []
  }
  pl.package @b version "1" digest "d" path "b.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.topology clusters [array<i64: 1, 1, 1>, array<i64: 4, 1, 1>] occupancy [1, 1]
    pl.role @r entry "b_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses []
  }
}
// CHECK:      <stdin>:[[# @LINE - 4]]:5: error[L-TOPOLOGY]: no shape of cluster suits all packages: package 'a' takes clusters of 2x1x1; package 'b' takes clusters of 1x1x1 or 4x1x1
// CHECK:      help: let them share one shape
// CHECK-NEXT: {{.*}} error[L-TOPOLOGY]: 'a' needs 2 blocks on a multiprocessor, 'b' allows 1
// CHECK-NEXT: {{.*}} note: 'a' needs at least 2
// CHECK-NEXT: {{.*}} note: 'b' allows at most 1
// CHECK-NOT:  error
// CHECK:      =====

// -----

// L-LIFETIME, L-DUPLICATE: phases that no stream runs, or that two run.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> {
  pl.package @a version "1" digest "d" path "a.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "a_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@x]
    pl.stream @s on [@r] phases ["gemm", "act"] exclusive [["gemm", "act"]]
    // CHECK: error[L-DUPLICATE]: phase 'act' is declared by streams 'a.s' and 'b.s'
    // CHECK-NEXT: <stdin>:[[# @LINE - 2]]:5: note: 'a.s' is here
    // CHECK-NEXT: {{.*}} help: rename one of them
    // CHECK-NEXT: <stdin>:[[# @LINE + 1]]:5: error[L-LIFETIME]: the lifetime of 'a.x' is the phase 'gem', which no stream runs
    pl.claim @x smem size 16 align 16 lifetime <phase "gem">
    // CHECK-NEXT: {{.*}} help: did you mean 'gemm'?
  }
  pl.package @b version "1" digest "d" path "b.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "b_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses []
    pl.stream @s on [@r] phases ["act"] exclusive []
  }
}
// CHECK:      =====

// -----

// L-DOMAIN: ranks, fields and allocations.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> {
  pl.package @a version "1" digest "d" path "a.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "a_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses []
    pl.param "a_args" size 32 align 8 fields <peers = [0, 16], rank = [16, 8], local = [24, 8]>
    pl.domain @world ranks 4 rank_field "rank" ranks_field "size"
    pl.view @kv domain @world kind "peer" field "peers" allocation "kv"
  }
  pl.package @b version "1" digest "d" path "b.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "b_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses []
    pl.param "b_args" size 8 align 8 fields <kv = [0, 8]>
    pl.domain @world ranks 2
    pl.domain @row ranks 0
    pl.view @kv domain @row kind "local" field "kv" allocation "kv"
  }
}
// CHECK:      error[L-DOMAIN]: domain 'world' has 2 ranks for 'b.world', 4 before
// CHECK-NEXT: {{.*}} note: 'a.world' has 4
// CHECK-NEXT: {{.*}} error[L-DOMAIN]: 'a.world' needs 4 bytes in field 'rank', which has 8
// CHECK:      error[L-DOMAIN]: 'a.world' goes to field 'size', which the package's parameters lack
// CHECK:      error[L-DOMAIN]: 'a.kv' needs 8 bytes a rank, 32 in all in field 'peers', which has 16
// CHECK:      error[L-DOMAIN]: allocation 'kv' is of domain 'world' and of domain 'row'
// CHECK-NEXT: {{.*}} note: 'a.kv' views it in 'world'
// CHECK-NEXT: {{.*}} help: one allocation lies in one domain
// CHECK-NOT:  error
// CHECK:      =====

// -----

// One cause is one error: two endpoints whose names were meant to be one, an owner whose fact several use otherwise, a
// name that several packages call.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> {
  pl.package @p1 version "1" digest "d" path "p1.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "p1_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@ab]
    pl.claim @a smem size 4096 align 128 ring @ab lifetime <kernel>
    pl.ring @ab producer on @r buffers [@a] full @ab_full <1> empty @ab_empty <1> depths [2, 4] bytes 4096 space "smem" scope "cta" proxy "async" priority 0 init "p1_init" <() -> "void">
    pl.claim @ab_full mbarrier size 1 align 8 ring @ab lifetime <kernel>
    pl.claim @ab_empty mbarrier size 1 align 8 ring @ab lifetime <kernel>
  }
  pl.package @c1 version "1" digest "d" path "c1.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "c1_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@abx]
    pl.claim @a smem size 4096 align 128 ring @abx lifetime <kernel>
    pl.ring @abx consumer on @r buffers [@a] full @ab_full <1> empty @ab_empty <1> depths [2, 4] bytes 4096 space "smem" scope "cta" proxy "async" priority 0
    pl.claim @ab_full mbarrier size 1 align 8 ring @abx lifetime <kernel>
    pl.claim @ab_empty mbarrier size 1 align 8 ring @abx lifetime <kernel>
  }
  pl.package @u1 version "1" digest "d" path "u1.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "u1_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@f]
    pl.call @f symbol "u1_f" <() -> "void">
  }
  pl.package @u2 version "1" digest "d" path "u2.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "u2_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@f]
    pl.call @f symbol "u2_f" <() -> "void">
  }
}
// CHECK:      error[L-UNRESOLVED]: nothing provides 'f', which package 'u1' calls
// CHECK:      note: so too: nothing provides 'f', which package 'u2' calls
// CHECK:      error[L-UNRESOLVED]: ring 'p1.ab' has no consumer
// CHECK-NEXT: {{.*}} note: so too: ring 'c1.abx' has no producer
// CHECK-NEXT: {{.*}} help: did you mean 'abx'?
// CHECK-NOT:  error
// CHECK:      =====

// -----

pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> {
  pl.package @u1 version "1" digest "d" path "u1.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "u1_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses []
    pl.param "u1_args" size 4 align 4 fields <n = [0, 4]>
    pl.use_fact @n : "i32" field "n" requires "1"
  }
  pl.package @u2 version "1" digest "d" path "u2.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "u2_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses []
    pl.param "u2_args" size 4 align 4 fields <n = [0, 4]>
    pl.use_fact @n : "i32" field "n" requires "2"
  }
  pl.package @o version "1" digest "d" path "o.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "o_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses []
    pl.fact @n : "i32" = "3"
  }
  pl.connect fact @o::@n to @u1::@n
  pl.connect fact @o::@n to @u2::@n
}
// CHECK:      error[L-FACT]: 'u1.n' requires 1, 'o.n' is 3
// CHECK:      note: so too: 'u2.n' requires 2, 'o.n' is 3
// CHECK-NOT:  error
