// What each operation's verifier refuses. All errors of a module are reported, each with its place.
// RUN: %each %s | filecheck %s

// CHECK: <stdin>:[[# @LINE + 1]]:1: error[L-IR]: 'pl.pipeline' needs a capacity tmem of at least 0, not None
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024> fp <> {
  // CHECK-NEXT: <stdin>:[[# @LINE + 1]]:3: error[L-IR]: 'pl.package' needs integers in fp, and 'fma' is none
  pl.package @a version "1" digest "d" path "a.plpkg" target "sm_90a" toolkit "13.5.37" fp <fma = "yes"> defines [] {
    // CHECK-NEXT: <stdin>:[[# @LINE + 1]]:5: error[L-IR]: 'pl.param' needs size of at least 1, not 0
    pl.param "a" size 0 align 64 fields <>
  }
  // CHECK-NEXT: <stdin>:[[# @LINE + 1]]:3: error[L-IR]: 'pl.package' has one pl.param at most
  pl.package @b version "1" digest "d" path "b.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    // CHECK-NEXT: <stdin>:[[# @LINE + 1]]:5: error[L-IR]: 'pl.param' needs an alignment that is a power of two, not 48
    pl.param "b" size 8 align 48 fields <>
    // CHECK-NEXT: <stdin>:[[# @LINE + 1]]:5: error[L-IR]: 'pl.param' needs fields as [offset, size], and 'x' is none
    pl.param "b" size 8 align 8 fields <x = 4>
  }
  // CHECK-NEXT: <stdin>:[[# @LINE + 1]]:3: error[L-IR]: 'pl.package' has one pl.provider at most
  pl.package @c version "1" digest "d" path "c.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.provider "c" abi 1
    pl.provider "d" abi 1
    // CHECK-NEXT: <stdin>:[[# @LINE + 1]]:5: error[L-IR]: 'pl.role' needs sym_name of the grammar {{.*}}, not "no name"
    pl.role @"no name" entry "r" <() -> "void"> warps 1 align 1 registers [24, 56] need 24 uses []
    // CHECK-NEXT: <stdin>:[[# @LINE + 1]]:5: error[L-IR]: 'pl.role' needs entry of the grammar {{.*}}, not "r(); evil"
    pl.role @r1 entry "r(); evil" <() -> "void"> warps 1 align 1 registers [24, 56] need 24 uses []
    // CHECK-NEXT: <stdin>:[[# @LINE + 1]]:5: error[L-IR]: 'pl.role' needs warps of at least 1, not 0
    pl.role @r2 entry "r" <() -> "void"> warps 0 align 1 registers [24, 56] need 24 uses []
    // CHECK-NEXT: <stdin>:[[# @LINE + 1]]:5: error[L-IR]: 'pl.role' needs align of at least 1, not 0
    pl.role @r3 entry "r" <() -> "void"> warps 1 align 0 registers [24, 56] need 24 uses []
    // CHECK-NEXT: <stdin>:[[# @LINE + 1]]:5: error[L-IR]: 'pl.role' needs registers as [least, most], not [56, 24]
    pl.role @r4 entry "r" <() -> "void"> warps 1 align 1 registers [56, 24] need 24 uses []
    // CHECK-NEXT: <stdin>:[[# @LINE + 1]]:5: error[L-IR]: 'pl.role' needs registers of 24 to 256, not [8, 300]
    pl.role @r5 entry "r" <() -> "void"> warps 1 align 1 registers [8, 300] need 24 uses []
    // CHECK-NEXT: <stdin>:[[# @LINE + 1]]:5: error[L-IR]: 'pl.role' needs need of 0 to 256, not -1
    pl.role @r6 entry "r" <() -> "void"> warps 1 align 1 registers [24, 56] need -1 uses []
    // CHECK-NEXT: <stdin>:[[# @LINE + 1]]:5: error[L-IR]: 'pl.site' needs threads of at least 0, not [-1, 32]
    pl.site @s1 in @r threads [-1, 32] guarantees []
    // CHECK-NEXT: <stdin>:[[# @LINE + 1]]:5: error[L-IR]: 'pl.site' needs threads as [least, most], not [0, 32, 64]
    pl.site @s2 in @r threads [0, 32, 64] guarantees []
    // CHECK-NEXT: <stdin>:[[# @LINE + 1]]:5: error[L-IR]: 'pl.claim' needs size of at least 1, not 0
    pl.claim @c1 smem size 0 align 1 lifetime <kernel>
    // CHECK-NEXT: <stdin>:[[# @LINE + 1]]:5: error[L-IR]: 'pl.claim' needs an alignment that is a power of two, not 12
    pl.claim @c2 smem size 1 align 12 lifetime <kernel>
    // CHECK-NEXT: <stdin>:[[# @LINE + 1]]:5: error[L-IR]: 'pl.claim' needs a tile of positive extents, not [8, 0]
    pl.claim @c3 smem size 1 align 1 lifetime <kernel> tile [8, 0]
    // CHECK-NEXT: <stdin>:[[# @LINE + 1]]:5: error[L-IR]: 'pl.claim' needs live as [least, most], not [3]
    pl.claim @c4 smem size 1 align 1 lifetime <kernel> => live [3]
    // CHECK-NEXT: <stdin>:[[# @LINE + 1]]:5: error[L-IR]: 'pl.ring' needs depths of at least 1, not [0, 4]
    pl.ring @g1 producer on @r buffers [] full @f <1> empty @e <1> depths [0, 4] bytes 4 space "smem" scope "cta" proxy "async" priority 0
    // CHECK-NEXT: <stdin>:[[# @LINE + 1]]:5: error[L-IR]: 'pl.ring' needs arrivals of 1 to 1048575, not 0
    pl.ring @g2 producer on @r buffers [] full @f <0> empty @e <1> depths [1, 4] bytes 4 space "smem" scope "cta" proxy "async" priority 0
    // CHECK-NEXT: <stdin>:[[# @LINE + 1]]:5: error[L-IR]: 'pl.ring' needs arrivals as [full, empty], not [1]
    pl.ring @g3 producer on @r buffers [] full @f <1> empty @e <1> depths [1, 4] bytes 4 space "smem" scope "cta" proxy "async" priority 0 => depth 2 arrivals [1]
    // CHECK-NEXT: <stdin>:[[# @LINE + 1]]:5: error[L-IR]: 'pl.export' needs registers of at least 1, not 0
    pl.export @e1 symbol "e" <() -> "void"> dtype "f32" placement "(t:2) -> (m:2) { m = t }" registers 0 threads 2 align 1 requires [] completion "" uses []
    // CHECK-NEXT: <stdin>:[[# @LINE + 1]]:5: error[L-IR]: 'pl.export' needs an exact map as placement: m = 2 at (t=2) is outside its range 0..1
    pl.export @e2 symbol "e" <() -> "void"> dtype "f32" placement "(t:4) -> (m:2) { m = t }" registers 1 threads 2 align 1 requires [] completion "" uses []
    // CHECK-NEXT: <stdin>:[[# @LINE + 1]]:5: error[L-IR]: 'pl.import' needs an exact map as demand: not a map {{.*}}: 'none'
    pl.import @i1 symbol "i" <() -> "void"> produce "p" <() -> "void"> dtype "f32" demand "none" chunk "" site @s lends frame 1 completion "" rendezvous []
    // CHECK-NEXT: <stdin>:[[# @LINE + 1]]:5: error[L-IR]: 'pl.import' is chunked by 'c', which its demand does not have
    pl.import @i2 symbol "i" <() -> "void"> produce "p" <() -> "void"> dtype "f32" demand "(t:2) -> (m:2) { m = t }" chunk "c" site @s lends frame 1 completion "" rendezvous []
    // CHECK-NEXT: <stdin>:[[# @LINE + 1]]:5: error[L-IR]: 'pl.import' needs frame of at least 0, not -1
    pl.import @i3 symbol "i" <() -> "void"> produce "p" <() -> "void"> dtype "f32" demand "(t:2) -> (m:2) { m = t }" chunk "" site @s lends frame -1 completion "" rendezvous []
    // CHECK-NEXT: <stdin>:[[# @LINE + 1]]:5: error[L-IR]: 'pl.import' has a rendezvous, and so needs a barrier
    pl.import @i4 symbol "i" <() -> "void"> produce "p" <() -> "void"> dtype "f32" demand "(t:2) -> (m:2) { m = t }" chunk "" site @s lends frame 1 completion "" rendezvous ["ready"]
    // CHECK-NEXT: <stdin>:[[# @LINE + 1]]:5: error[L-IR]: 'pl.fact' needs a type of i32, u32, i64, f32, not f64
    pl.fact @f1 : "f64" = "1"
    // CHECK-NEXT: <stdin>:[[# @LINE + 1]]:5: error[L-IR]: 'pl.fact': "4294967296" is no u32
    pl.fact @f2 : "u32" = "4294967296"
    // CHECK-NEXT: <stdin>:[[# @LINE + 1]]:5: error[L-IR]: 'pl.fact': "inf" is no f32
    pl.fact @f3 : "f32" = "inf"
    // CHECK-NEXT: <stdin>:[[# @LINE + 1]]:5: error[L-IR]: 'pl.use_fact': "1.5" is no i32
    pl.use_fact @f4 : "i32" field "x" requires "1.5"
  }
  // CHECK-NEXT: <stdin>:[[# @LINE + 1]]:3: error[L-IR]: 'pl.group' needs warps as [least, most], not [4, 0]
  pl.group [@c::@r1] warps [4, 0] need 24
  // CHECK-NEXT: <stdin>:[[# @LINE + 1]]:3: error[L-IR]: 'pl.stub' needs symbol of the grammar {{.*}}, not "1st"
  pl.stub "1st" = 3 reads @c::@c1
  // CHECK-NEXT: <stdin>:[[# @LINE + 1]]:3: error[L-IR]: 'pl.connect' has candidates, and so needs all of candidates, orders
  "pl.connect"() <{link = #pl.link tensor, provider = @a, user = @b, candidates = []}> : () -> ()
  // CHECK-NEXT: <stdin>:[[# @LINE + 1]]:3: error[L-IR]: 'pl.connect' has route, reasons, and so needs all of route, schedule, reasons
  "pl.connect"() <{link = #pl.link tensor, provider = @a, user = @b, route = "direct", reasons = []}> : () -> ()
  // CHECK-NEXT: <stdin>:[[# @LINE + 1]]:3: error[L-IR]: 'pl.warp' expects parent op 'pl.package'
  pl.warp @w of @c::@r1
}
// CHECK-NOT:  error
// CHECK:      =====

// -----

// CHECK: <stdin>:[[# @LINE + 1]]:1: error[L-IR]: 'pl.pipeline' has threads, and so needs all of threads, footprint, proofs
"pl.pipeline"() <{sym_name = "p", target = "sm_90a", toolkit = "13.5.37", capacities = #pl.values<>, fp = #pl.values<>, threads = 128 : i64}> ({
}) : () -> ()

// -----

// CHECK: <stdin>:[[# @LINE + 1]]:1: error[L-IR]: Redefinition of symbol "a"
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> {
  pl.fact @a : "i32" = "1"
  pl.fact @a : "i32" = "1"
}

// -----

// CHECK: <stdin>:[[# @LINE + 1]]:1: error[L-IR]: 'pl.fact' expects parent op to be one of 'pl.package', 'pl.pipeline'
pl.fact @a : "i32" = "1"
