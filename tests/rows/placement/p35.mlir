builtin.module {
  pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 232448, threads = 1024, tmem = 0> fp <> => dropped [] events ["begin", "end"] threads 256 footprint <barrier = 2, counter = 0, smem = 0, tmem = 0> proofs <"footprint of barrier" = "3, proven: clique bound 3 met", "footprint of counter" = "0, proven: clique bound 0 met", "footprint of smem" = "0, proven: clique bound 0 met", "footprint of tmem" = "0, proven: clique bound 0 met", "least register surplus" = "176, proven: fewest warpgroups (2), all teams over them exhausted", work = "6 of 200000 nodes, 0 of rlimit"> cluster [1, 1, 1] occupancy 1 {
    pl.package @a version "1" digest "d" path "a.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
      pl.role @correction entry "a_correction" <() -> "void"> warps 4 align 4 registers [24, 240] need 64 uses [@turn] => at 0
      pl.claim @turn barrier size 1 align 1 lifetime <kernel> => live [0, 1] at 1
    }
    pl.package @b version "1" digest "d" path "b.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
      pl.role @softmax entry "b_softmax" <() -> "void"> warps 4 align 4 registers [24, 240] need 64 uses [@turn] => at 4
      pl.claim @turn barrier size 1 align 1 lifetime <kernel> => live [0, 1] at 1
    }
    pl.group [@a::@correction] warps [0, 4] need 64 budget 240
    pl.group [@b::@softmax] warps [4, 8] need 64 budget 240
    pl.stub "plh_a__turn" = 1 reads @a::@turn
    pl.stub "plh_b__turn" = 2 reads @b::@turn
    pl.dispatch "pl_p" threads 256 parameters 0 inits [] roles [@a::@correction, @b::@softmax]
  }
}

