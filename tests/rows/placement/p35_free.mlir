// P35. Two packages with a named barrier each.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096,
  registers = 65536, setmaxnreg = 1, smem = 232448, threads = 1024, tmem = 0> fp <> {
  pl.package @a version "1" digest "d" path "a.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @correction entry "a_correction" <() -> "void"> warps 4 align 4 registers [24, 240] need 64 uses [@turn]
    pl.claim @turn barrier size 1 align 1 lifetime <kernel>
  }
  pl.package @b version "1" digest "d" path "b.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @softmax entry "b_softmax" <() -> "void"> warps 4 align 4 registers [24, 240] need 64 uses [@turn]
    pl.claim @turn barrier size 1 align 1 lifetime <kernel>
  }
}
