// P25. The same with one block a multiprocessor.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096,
  registers = 65536, setmaxnreg = 1, smem = 232448, threads = 1024, tmem = 0> fp <> {
  pl.package @attention version "1" digest "d" path "attention.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @load entry "attention_load" <() -> "void"> warps 3 align 4 registers [24, 24] need 24 uses []
    pl.role @core entry "attention_core" <() -> "void"> warps 8 align 4 registers [240, 240] need 240 uses []
  }
  pl.package @mask version "1" digest "d" path "mask.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.topology clusters [] occupancy [1, 2]
    pl.role @mask entry "mask_mask" <() -> "void"> warps 1 align 1 registers [24, 240] need 24 uses []
  }
}
