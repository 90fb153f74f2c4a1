// What no role reaches is dropped with its claims, and a package of which nothing is left with it.
// RUN: %each %s -p pl-eliminate-dead-exports | filecheck %s
// RUN: pl-opt %s --split-input-file -p pl-eliminate-dead-exports | pl-opt - --split-input-file -p pl-eliminate-dead-exports | filecheck %s --check-prefix=AGAIN

// CHECK:      pl.pipeline @p {{.*}} => dropped ["pl.callable 'b.dead': no role reaches it", "pl.claim 'b.bias': no role reaches it", "pl.warp 'b.first': no role reaches it", "pl.claim 'c.a': no role reaches it", "pl.ring 'c.ab': no role reaches it", "pl.claim 'c.ab_full': no role reaches it", "pl.claim 'c.ab_empty': no role reaches it", "pl.callable 'd.f': no role reaches it", "pl.call 'd.g': no role reaches it", "pl.package 'd': no role reaches any of its exports", "pl.package 'e': no role reaches any of its exports"] {
// CHECK-NEXT:   pl.package @a
// CHECK-NEXT:     pl.role @r
// CHECK-NEXT:     pl.call @f
// CHECK-NEXT:     pl.use_fact @tile
// CHECK-NEXT:     pl.param
// CHECK-NEXT:   }
// CHECK-NEXT:   pl.package @b
// CHECK-NEXT:     pl.callable @f
// CHECK-NEXT:     pl.claim @both
// CHECK-NEXT:     pl.fact @tile
// CHECK-NEXT:   }
// CHECK-NEXT:   pl.package @c
// CHECK-NEXT:     pl.role @r
// CHECK-NEXT:   }
// CHECK-NEXT:   pl.connect call @b::@f to @a::@f
// CHECK-NEXT:   pl.connect fact @b::@tile to @a::@tile
// CHECK-NEXT: }

// Running again finds nothing more and forgets nothing.
// AGAIN:      => dropped ["pl.callable 'b.dead': no role reaches it", "pl.claim 'b.bias': no role reaches it", "pl.warp 'b.first': no role reaches it", "pl.claim 'c.a': no role reaches it", "pl.ring 'c.ab': no role reaches it", "pl.claim 'c.ab_full': no role reaches it", "pl.claim 'c.ab_empty': no role reaches it", "pl.callable 'd.f': no role reaches it", "pl.call 'd.g': no role reaches it", "pl.package 'd': no role reaches any of its exports", "pl.package 'e': no role reaches any of its exports"] {

pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> {
  pl.package @a version "1" digest "d" path "a.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "a_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@f]
    pl.call @f symbol "a_f" <() -> "void">
    pl.use_fact @tile : "i32" field "tile"
    pl.param "a_args" size 4 align 4 fields <tile = [0, 4]>
  }
  pl.package @b version "1" digest "d" path "b.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.callable @f symbol "b_f" <() -> "void"> uses [@both]
    pl.callable @dead symbol "b_dead" <() -> "void"> uses [@both, @bias, @first]
    pl.claim @both smem size 16 align 16 lifetime <kernel>
    pl.claim @bias smem size 16 align 16 lifetime <kernel>
    pl.warp @first of @dead
    pl.fact @tile : "i32" = "1"
  }
  // A ring that nobody's code names is dead, whatever its other end.
  pl.package @c version "1" digest "d" path "c.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "c_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses []
    pl.claim @a smem size 4096 align 1024 ring @ab lifetime <kernel>
    pl.ring @ab producer on @r buffers [@a] full @ab_full <1> empty @ab_empty <1> depths [2, 4] bytes 4096 space "smem" scope "cta" proxy "async" priority 0
    pl.claim @ab_full mbarrier size 1 align 8 ring @ab lifetime <kernel>
    pl.claim @ab_empty mbarrier size 1 align 8 ring @ab lifetime <kernel>
  }
  // Only facts are left of `e`, and who used them, `d`, is dropped: so is `e`, though it stands first.
  pl.package @e version "1" digest "d" path "e.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.fact @width : "i32" = "1"
  }
  pl.package @d version "1" digest "d" path "d.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.param "d_args" size 4 align 4 fields <width = [0, 4]>
    pl.callable @f symbol "d_f" <() -> "void"> uses [@g]
    pl.call @g symbol "d_g" <() -> "void">
    pl.use_fact @width : "i32" field "width"
  }
  pl.connect call @b::@f to @a::@f
  pl.connect call @b::@dead to @d::@g
  pl.connect fact @b::@tile to @a::@tile
  pl.connect fact @e::@width to @d::@width
}

// -----

// Where everything is reached, that is said too.
// CHECK: pl.pipeline @all {{.*}} => dropped [] {
// AGAIN: pl.pipeline @all {{.*}} => dropped [] {
pl.pipeline @all target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> {
  pl.package @a version "1" digest "d" path "a.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "a_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses []
  }
}
