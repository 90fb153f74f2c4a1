pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096,
  registers = 65536, setmaxnreg = 1, smem = 232448, threads = 1024, tmem = 0> fp <> {
pl.package @a version "1" digest "d" path "p" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
  pl.role @r entry "r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@t]
  pl.site @work in @r threads [0, 32] guarantees []
  pl.import @t symbol "a_t" <("const float *", "int", "float *") -> "void"> produce "a_p" <("float *") -> "void">
    dtype "f32" demand "(t:32, p:1, c:2) -> (m:64) { m = t*2 + c }" chunk "c" site @work lends frame 2
    completion "final" rendezvous []
}
pl.package @b version "1" digest "d" path "p" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
  pl.export @t symbol "b_t" <("float *") -> "void"> dtype "f32" placement "(t:32, r:2) -> (m:64) { m = t*2 + r }"
    registers 2 threads 32 align 32 requires ["converged"] completion "final" uses []
}
pl.connect tensor @b::@t to @a::@t
}
