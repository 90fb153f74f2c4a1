// P42. A core with 9 named barriers and an epilogue with 6: 15 ids, all but 0, which __syncthreads uses.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096,
  registers = 65536, setmaxnreg = 1, smem = 232448, threads = 1024, tmem = 0> fp <> {
  pl.package @core version "1" digest "d" path "core.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "core_r" <() -> "void"> warps 8 align 4 registers [24, 240] need 128 uses [@b0, @b1, @b2, @b3, @b4, @b5, @b6, @b7, @b8]
    pl.claim @b0 barrier size 1 align 1 lifetime <kernel>
    pl.claim @b1 barrier size 1 align 1 lifetime <kernel>
    pl.claim @b2 barrier size 1 align 1 lifetime <kernel>
    pl.claim @b3 barrier size 1 align 1 lifetime <kernel>
    pl.claim @b4 barrier size 1 align 1 lifetime <kernel>
    pl.claim @b5 barrier size 1 align 1 lifetime <kernel>
    pl.claim @b6 barrier size 1 align 1 lifetime <kernel>
    pl.claim @b7 barrier size 1 align 1 lifetime <kernel>
    pl.claim @b8 barrier size 1 align 1 lifetime <kernel>
  }
  pl.package @epilogue version "1" digest "d" path "epilogue.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @e entry "epilogue_e" <() -> "void"> warps 4 align 4 registers [24, 240] need 64 uses [@b0, @b1, @b2, @b3, @b4, @b5]
    pl.claim @b0 barrier size 1 align 1 lifetime <kernel>
    pl.claim @b1 barrier size 1 align 1 lifetime <kernel>
    pl.claim @b2 barrier size 1 align 1 lifetime <kernel>
    pl.claim @b3 barrier size 1 align 1 lifetime <kernel>
    pl.claim @b4 barrier size 1 align 1 lifetime <kernel>
    pl.claim @b5 barrier size 1 align 1 lifetime <kernel>
  }
}
