// P24. One group raises to 240, none of the others goes below what it starts with.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096,
  registers = 65536, setmaxnreg = 1, smem = 232448, threads = 1024, tmem = 0> fp <> {
  pl.package @flash version "1" digest "d" path "flash.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @load entry "flash_load" <() -> "void"> warps 4 align 4 registers [128, 128] need 128 uses []
    pl.role @core0 entry "flash_core0" <() -> "void"> warps 4 align 4 registers [128, 128] need 128 uses []
    pl.role @core1 entry "flash_core1" <() -> "void"> warps 4 align 4 registers [128, 128] need 128 uses []
    pl.role @core2 entry "flash_core2" <() -> "void"> warps 4 align 4 registers [240, 240] need 240 uses []
  }
}
