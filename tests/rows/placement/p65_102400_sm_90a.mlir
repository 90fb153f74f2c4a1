// P65. A Hopper pipeline of 102,400 bytes, for sm_90a.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096,
  registers = 65536, setmaxnreg = 1, smem = 232448, threads = 1024, tmem = 0> fp <> {
  pl.package @mainloop version "1" digest "d" path "mainloop.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @m entry "mainloop_m" <() -> "void"> warps 4 align 4 registers [24, 128] need 64 uses [@tiles]
    pl.claim @tiles smem size 69632 align 1024 lifetime <kernel>
  }
  pl.package @epilogue version "1" digest "d" path "epilogue.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @e entry "epilogue_e" <() -> "void"> warps 4 align 4 registers [24, 128] need 64 uses [@out]
    pl.claim @out smem size 32768 align 1024 lifetime <kernel>
  }
}
