// One placement of everything that is claimed, and why there is none.
// RUN: %each %s -p pl-relocate | filecheck %s

// Rings take the depth that fits; both endpoints and both of each claim get one answer; claims that may lie over each other
// do; parameters follow each other, aligned; facts are frozen; roles that share a warpgroup are one group.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 4160, threads = 1024, tmem = 0> fp <> => dropped [] events ["begin", "acc.ready", "acc.done", "end"] {
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
    pl.claim @over smem size 2048 align 1024 lifetime <kernel> => live [1, 3] shares [@p1::@a]
    pl.claim @apart smem size 900 align 16 lifetime <kernel> => live [1, 3] shares [@p1::@a]
    pl.claim @bar barrier size 2 align 1 lifetime <kernel> => live [0, 3]
    pl.claim @unused smem size 9999 align 16 lifetime <kernel> => live [1, 1]
  }
  pl.fact @k : "i32" = "7"
  pl.connect ring @p1::@ring to @c1::@ring
  pl.connect fact @k to @p1::@k
}
// CHECK: =====

// -----

// One role alone needs no register budget.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> => dropped [] events ["begin", "acc.ready", "acc.done", "end"] {
  pl.package @a version "1" digest "d" path "a.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "r" <() -> "void"> warps 3 align 1 registers [24, 240] need 24 uses []
  }
}
// CHECK: =====

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
// CHECK: =====

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
// CHECK: =====

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
// CHECK: =====

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
// CHECK: =====

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
// CHECK: =====

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
// CHECK: =====

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
// CHECK: =====

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
// CHECK: =====

// -----

// A pass before is missing.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> => dropped [] {
  pl.package @a version "1" digest "d" path "a.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "r" <() -> "void"> warps 1 align 1 registers [24, 240] need 24 uses []
  }
}
// CHECK: =====
