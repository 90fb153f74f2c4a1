// P66. 220 KiB of weights and input, for sm_90a.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096,
  registers = 65536, setmaxnreg = 1, smem = 232448, threads = 1024, tmem = 0> fp <> {
  pl.package @linear version "1" digest "d" path "linear.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "linear_r" <() -> "void"> warps 4 align 4 registers [24, 128] need 64 uses [@weights, @input, @full]
    pl.claim @weights smem size 196608 align 1024 lifetime <kernel>
    pl.claim @input smem size 28672 align 128 lifetime <kernel>
    pl.claim @full mbarrier size 4 align 8 lifetime <kernel>
  }
}
