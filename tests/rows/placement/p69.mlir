// P69. Half a gibibyte of shared memory.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096,
  registers = 65536, setmaxnreg = 1, smem = 232448, threads = 1024, tmem = 0> fp <> {
  pl.package @a version "1" digest "d" path "a.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "a_r" <() -> "void"> warps 4 align 4 registers [24, 240] need 64 uses [@tiles, @bar]
    pl.claim @tiles smem size 536870912 align 1024 lifetime <kernel>
    pl.claim @bar smem size 64 align 8 lifetime <kernel>
  }
}
