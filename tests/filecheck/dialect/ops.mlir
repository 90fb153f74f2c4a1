// Every operation of the dialect with all of its optional parts, in the form that people write and in the generic one.
// RUN: pl-opt %s | filecheck %s
// RUN: pl-opt %s --print-op-generic | pl-opt - | filecheck %s
// RUN: pl-opt %s --print-op-generic | filecheck %s --check-prefix=GENERIC

// CHECK:      builtin.module {
// CHECK-NEXT:   pl.pipeline @all target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <fma = 1> role_order [@a::@tma] => dropped ["pl.claim 'a.x': no role reaches it"] events ["begin", "end"] threads 128 footprint <smem = 64> proofs <work = "none"> cluster [2, 1, 1] occupancy 1 {
// GENERIC:      "pl.pipeline"() <{sym_name = "all", target = "sm_90a"
pl.pipeline @all target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <fma = 1> role_order [@a::@tma] => dropped ["pl.claim 'a.x': no role reaches it"] events ["begin", "end"] threads 128 footprint <smem = 64> proofs <work = "none"> cluster [2, 1, 1] occupancy 1 {
  // CHECK-NEXT:     pl.package @a version "1" digest "d" path "a.plpkg" target "sm_90a" toolkit "13.5.37" fp <fma = 1> defines ["a_role"] {
  pl.package @a version "1" digest "d" path "a.plpkg" target "sm_90a" toolkit "13.5.37" fp <fma = 1> defines ["a_role"] {
    // CHECK-NEXT:       pl.provider "a_provide" abi 1
    pl.provider "a_provide" abi 1
    // CHECK-NEXT:       pl.param "a_args" size 128 align 64 fields <a = [0, 64], k = [64, 4]> => offset 0
    pl.param "a_args" size 128 align 64 fields <k = [64, 4], a = [0, 64]> => offset 0
    // CHECK-NEXT:       pl.role @tma entry "a_role" <() -> "void", args, context> warps 1 align 1 registers [24, 56] need 24 uses [@ring] => at 0
    pl.role @tma entry "a_role" <() -> "void", args, context> warps 1 align 1 registers [24, 56] need 24 uses [@ring] => at 0
    // CHECK-NEXT:       pl.site @work in @tma threads [0, 32] guarantees ["converged"]
    pl.site @work in @tma threads [0, 32] guarantees ["converged"]
    // CHECK-NEXT:       pl.claim @x smem size 4096 align 1024 ring @ring lifetime <kernel> dtype "bf16" tile [32, 64] swizzle 128 proxy "async" => live [0, 1] shares [@a::@y] at 64
    pl.claim @x smem size 4096 align 1024 ring @ring lifetime <kernel> dtype "bf16" tile [32, 64] swizzle 128 proxy "async" => live [0, 1] shares [@a::@y] at 64
    // CHECK-NEXT:       pl.claim @y barrier size 1 align 1 lifetime <phase "attention">
    pl.claim @y barrier size 1 align 1 lifetime <phase "attention">
    // CHECK-NEXT:       pl.claim @z counter size 1 align 1 lifetime <"begin" to "acc.ready"> scope "gpu" restart "launch"
    pl.claim @z counter size 1 align 1 lifetime <"begin" to "acc.ready"> scope "gpu" restart "launch"
    // CHECK-NEXT:       pl.claim @t tmem size 32 align 32 lifetime <kernel>
    pl.claim @t tmem size 32 align 32 lifetime <"begin" to "end">
    // CHECK-NEXT:       pl.ring @ring producer on @tma buffers [@x] full @full <1> empty @empty <2 per warp> depths [2, 8] bytes 4096 space "smem" scope "cta" proxy "async" priority 0 init "a_init" <() -> "void"> drains => depth 4 arrivals [1, 8]
    pl.ring @ring producer on @tma buffers [@x] full @full <1> empty @empty <2 per warp> depths [2, 8] bytes 4096 space "smem" scope "cta" proxy "async" priority 0 init "a_init" <() -> "void"> drains => depth 4 arrivals [1, 8]
    // CHECK-NEXT:       pl.counter @count consumer on @tma slots @z arrivals <1 per warp> => total 4
    pl.counter @count consumer on @tma slots @z arrivals <1 per warp> => total 4
    // CHECK-NEXT:       pl.stream @interpreter on [@tma] phases ["attention", "gemm"] exclusive {{\[\[}}"attention", "gemm"]] fenced
    pl.stream @interpreter on [@tma] phases ["attention", "gemm"] exclusive [["attention", "gemm"]] fenced
    // CHECK-NEXT:       pl.topology clusters [array<i64: 2, 1, 1>] occupancy [1, 2]
    pl.topology clusters [array<i64: 2, 1, 1>] occupancy [1, 2]
    // CHECK-NEXT:       pl.warp @first of @tma
    pl.warp @first of @tma
    // CHECK-NEXT:       pl.callable @coord symbol "a_coord" <("int *", "const float *") -> "int"> uses [@x, @y]
    pl.callable @coord symbol "a_coord" <("int *", "const float *") -> "int"> uses [@x, @y]
    // CHECK-NEXT:       pl.call @other symbol "a_other" <() -> "void"> site @work
    pl.call @other symbol "a_other" <() -> "void"> site @work
    // CHECK-NEXT:       pl.call @free symbol "a_free" <() -> "void">
    pl.call @free symbol "a_free" <() -> "void">
    // CHECK-NEXT:       pl.export @acc symbol "a_produce" <("float *") -> "void"> dtype "f32" placement "(t:32, r:2) -> (m:64) { m = t*2 + r }" registers 2 threads 32 align 32 requires ["converged"] completion "final" uses [@ring]
    pl.export @acc symbol "a_produce" <("float *") -> "void"> dtype "f32" placement "(t:32, r:2) -> (m:64) { m = t*2 + r }" registers 2 threads 32 align 32 requires ["converged"] completion "final" uses [@ring]
    // CHECK-NEXT:       pl.import @in symbol "a_import" <("const float *", "int", "float *") -> "void"> produce "a_get" <("float *") -> "void"> dtype "f32" demand "(t:32, p:1, c:2) -> (m:64) { m = t*2 + c }" chunk "c" site @work lends frame 2 scratch @x barrier @y completion "final" rendezvous ["ready"]
    pl.import @in symbol "a_import" <("const float *", "int", "float *") -> "void"> produce "a_get" <("float *") -> "void"> dtype "f32" demand "(t:32, p:1, c:2) -> (m:64) { m = t*2 + c }" chunk "c" site @work lends frame 2 scratch @x barrier @y completion "final" rendezvous ["ready"]
    // CHECK-NEXT:       pl.fact @tile : "i32" = "-128"
    pl.fact @tile : "i32" = "-128"
    // CHECK-NEXT:       pl.use_fact @k : "f32" field "k" requires "0.5" => value "0.5"
    pl.use_fact @k : "f32" field "k" requires "0.5" => value "0.5"
    // CHECK-NEXT:       pl.buffer "x" dtype "bf16" rank 2 access "read" align 16
    pl.buffer "x" dtype "bf16" rank 2 access "read" align 16
    // CHECK-NEXT:       pl.argument "rows" : "i64"
    pl.argument "rows" : "i64"
    // CHECK-NEXT:       pl.domain @cp ranks 4 rank_field "rank" ranks_field "ranks"
    pl.domain @cp ranks 4 rank_field "rank" ranks_field "ranks"
    // CHECK-NEXT:       pl.view @kv domain @cp kind "peer" field "peers" allocation "kv"
    pl.view @kv domain @cp kind "peer" field "peers" allocation "kv"
    // CHECK-NEXT:     }
  }
  // CHECK-NEXT:     pl.fact @group : "u32" = "16"
  pl.fact @group : "u32" = "16"
  // CHECK-NEXT:     pl.connect tensor @a::@acc to @a::@in => candidates ["staged"] orders ["ready"] route "staged" schedule <plan = "{}", span = [0, [1, -2]]> reasons ["direct: no"]
  pl.connect tensor @a::@acc to @a::@in => candidates ["staged"] orders ["ready"] route "staged" schedule <span = [0, [1, -2]], plan = "{}"> reasons ["direct: no"]
  // CHECK-NEXT:     pl.connect fact @group to @a::@k
  pl.connect fact @group to @a::@k
  // CHECK-NEXT:     pl.group [@a::@tma] warps [0, 4] need 24 budget 56
  pl.group [@a::@tma] warps [0, 4] need 24 budget 56
  // CHECK-NEXT:     pl.stub "plh_a__x" = 64 reads @a::@x
  pl.stub "plh_a__x" = 64 reads @a::@x
  // CHECK-NEXT:     pl.trampoline "a_other" "call" from @a::@other to @a::@coord
  pl.trampoline "a_other" "call" from @a::@other to @a::@coord
  // CHECK-NEXT:     pl.dispatch "pl_all" threads 128 parameters 128 counters 120 inits [@a::@ring] roles [@a::@tma]
  pl.dispatch "pl_all" threads 128 parameters 128 counters 120 inits [@a::@ring] roles [@a::@tma]
  // CHECK-NEXT:   }
  // CHECK-NEXT: }
}
