// P24. The group that raises is paid for by one that lowers: 80 + 2 x 168 + 88 = 504 of 512.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096,
  registers = 65536, setmaxnreg = 1, smem = 232448, threads = 1024, tmem = 0> fp <> {
  pl.package @flash version "1" digest "d" path "flash.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @load entry "flash_load" <() -> "void"> warps 4 align 4 registers [80, 80] need 80 uses []
    pl.role @core0 entry "flash_core0" <() -> "void"> warps 4 align 4 registers [168, 168] need 168 uses []
    pl.role @core1 entry "flash_core1" <() -> "void"> warps 4 align 4 registers [168, 168] need 168 uses []
    pl.role @core2 entry "flash_core2" <() -> "void"> warps 4 align 4 registers [88, 88] need 88 uses []
  }
}
