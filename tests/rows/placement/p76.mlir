// P76. Tiles of 192 columns fill tensor memory to the last one. Whether its numbers are right, a run must show.
pl.pipeline @p target "sm_100a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096,
  registers = 65536, setmaxnreg = 1, smem = 232448, threads = 1024, tmem = 512> fp <> {
  pl.package @a version "1" digest "d" path "a.plpkg" target "sm_100a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "a_r" <() -> "void"> warps 4 align 4 registers [24, 240] need 64 uses [@acc0, @acc1, @acc2]
    pl.claim @acc0 tmem size 192 align 32 lifetime <kernel>
    pl.claim @acc1 tmem size 192 align 32 lifetime <kernel>
    pl.claim @acc2 tmem size 128 align 32 lifetime <kernel>
  }
}
