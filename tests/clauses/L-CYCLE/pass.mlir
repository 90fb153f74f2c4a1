pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096,
  registers = 65536, setmaxnreg = 1, smem = 232448, threads = 1024, tmem = 0> fp <> {
pl.package @a version "1" digest "d" path "p" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
  pl.role @r entry "r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses [@f]
  pl.call @f symbol "a_calls_f" <() -> "void">
  pl.call @back symbol "a_back" <() -> "void">
  pl.callable @g symbol "a_g" <() -> "void"> uses []
}
pl.package @b version "1" digest "d" path "p" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
  pl.callable @f symbol "b_f" <() -> "void"> uses [@g]
  pl.call @g symbol "b_calls_g" <() -> "void">
}
pl.connect call @b::@f to @a::@f
pl.connect call @a::@g to @b::@g
pl.connect call @b::@f to @a::@back
}
