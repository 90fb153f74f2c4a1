// P27. Where the block has room, roles without a common budget get a warpgroup each.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096,
  registers = 65536, setmaxnreg = 1, smem = 232448, threads = 1024, tmem = 0> fp <> {
  pl.package @a version "1" digest "d" path "a.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @load entry "a_load" <() -> "void"> warps 1 align 1 registers [24, 24] need 24 uses []
  }
  pl.package @b version "1" digest "d" path "b.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @store entry "b_store" <() -> "void"> warps 1 align 1 registers [40, 48] need 24 uses []
  }
  pl.package @c version "1" digest "d" path "c.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @core entry "c_core" <() -> "void"> warps 4 align 4 registers [96, 240] need 160 uses []
  }
}
