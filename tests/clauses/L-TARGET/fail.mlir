pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096,
  registers = 65536, setmaxnreg = 1, smem = 232448, threads = 1024, tmem = 0> fp <> {
pl.package @a version "1" digest "d" path "p" target "sm_100a" toolkit "13.5.37" fp <> defines [] {
}
}
