// P60. A tile with a 128-byte swizzle repeats every 1,024 bytes; this one asks for 128.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096,
  registers = 65536, setmaxnreg = 1, smem = 232448, threads = 1024, tmem = 0> fp <> {
  pl.package @a version "1" digest "d" path "a.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "a_r" <() -> "void"> warps 4 align 4 registers [24, 240] need 64 uses [@head, @tile0, @tile1]
    pl.claim @head smem size 768 align 256 lifetime <kernel>
    pl.claim @tile0 smem size 8320 align 128 lifetime <kernel> dtype "bf16" tile [65, 64] swizzle 128 proxy "async"
    pl.claim @tile1 smem size 8320 align 128 lifetime <kernel> dtype "bf16" tile [65, 64] swizzle 128 proxy "async"
  }
}
