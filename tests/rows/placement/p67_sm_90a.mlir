// P67. Operators of one stream take 13, 2, 5 and 3 pages of 16 KiB, one at a time, for sm_90a.
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096,
  registers = 65536, setmaxnreg = 1, smem = 232448, threads = 1024, tmem = 0> fp <> {
  pl.package @ops version "1" digest "d" path "ops.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @worker entry "ops_worker" <() -> "void"> warps 4 align 4 registers [24, 128] need 64 uses [@matvec, @rope, @attention, @norm, @instructions]
    pl.stream @ops on [@worker] phases ["matvec", "rope", "attention", "norm"] exclusive [["matvec", "rope", "attention", "norm"]] fenced
    pl.claim @matvec smem size 212992 align 1024 lifetime <phase "matvec">
    pl.claim @rope smem size 32768 align 1024 lifetime <phase "rope">
    pl.claim @attention smem size 81920 align 1024 lifetime <phase "attention">
    pl.claim @norm smem size 49152 align 1024 lifetime <phase "norm">
    pl.claim @instructions smem size 4096 align 128 lifetime <kernel>
  }
}
