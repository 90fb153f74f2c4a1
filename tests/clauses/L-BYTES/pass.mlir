pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096,
  registers = 65536, setmaxnreg = 1, smem = 232448, threads = 1024, tmem = 0> fp <> {
pl.package @a version "1" digest "d" path "p" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
  pl.role @r entry "r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@ab]
  pl.claim @tile smem size 4096 align 1024 ring @ab lifetime <kernel>
  pl.claim @full mbarrier size 1 align 8 ring @ab lifetime <kernel>
  pl.claim @empty mbarrier size 1 align 8 ring @ab lifetime <kernel>
  pl.ring @ab producer on @r buffers [@tile] full @full <1> empty @empty <1> depths [2, 4] bytes 4096
    space "smem" scope "cta" proxy "async" priority 0 init "a_init" <() -> "void">
}
pl.package @b version "1" digest "d" path "p" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
  pl.role @r entry "r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@ab]
  pl.claim @tile smem size 4096 align 1024 ring @ab lifetime <kernel>
  pl.claim @full mbarrier size 1 align 8 ring @ab lifetime <kernel>
  pl.claim @empty mbarrier size 1 align 8 ring @ab lifetime <kernel>
  pl.ring @ab consumer on @r buffers [@tile] full @full <1> empty @empty <1> depths [2, 4] bytes 4096
    space "smem" scope "cta" proxy "async" priority 0
}
pl.connect ring @a::@ab to @b::@ab
}
