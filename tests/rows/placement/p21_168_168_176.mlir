// P21. 168/168/176 is 65,536 registers, the whole file, yet measured: it hangs, since the block starts with 64,512.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096,
  registers = 65536, setmaxnreg = 1, smem = 232448, threads = 1024, tmem = 0> fp <> {
  pl.package @flash version "1" digest "d" path "flash.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @load entry "flash_load" <() -> "void"> warps 4 align 4 registers [168, 168] need 168 uses []
    pl.role @core0 entry "flash_core0" <() -> "void"> warps 4 align 4 registers [168, 168] need 168 uses []
    pl.role @core1 entry "flash_core1" <() -> "void"> warps 4 align 4 registers [176, 176] need 176 uses []
  }
}
