// What pl-opt shows of its passes: the IR around them, how they are listed, what they changed, MLIR's spellings.
// RUN: pl-opt %s --link-passes --print-ir-after=pl-eliminate-dead-exports -o /dev/null 2>&1 | filecheck %s --check-prefix=AFTER
// RUN: pl-opt %s --link-passes --print-ir-after-change -o /dev/null 2>&1 | filecheck %s --check-prefix=CHANGE
// RUN: pl-opt %s --pass-pipeline='builtin.module(pl-verify-contracts, pl-eliminate-dead-exports)' -mlir-print-ir-before-all -o /dev/null 2>&1 | filecheck %s --check-prefix=BEFORE
// RUN: rm -rf %t.dir && pl-opt %s --link-passes --mlir-print-ir-tree-dir=%t.dir -o /dev/null && ls %t.dir | filecheck %s --check-prefix=TREE
// RUN: pl-opt %t.dir/03_after_pl-analyze-lifetimes.mlir -p pl-relocate,pl-select-routes,pl-emit-stubs > %t.rest && pl-opt %s --link-passes | diff - %t.rest
// RUN: not pl-opt %s -p pl-eliminate-dead-exports,pl-relocate --crash-reproducer %t.crash.mlir 2>&1 | filecheck %s --check-prefix=CRASH
// RUN: not pl-opt --run-reproducer %t.crash.mlir 2>&1 | filecheck %s --check-prefix=AGAIN
// RUN: pl-opt %s --link-passes --statistics -o /dev/null 2>&1 | filecheck %s --check-prefix=STATISTICS
// RUN: pl-opt %s --link-passes --timing -o /dev/null 2>&1 | filecheck %s --check-prefix=TIMING
// RUN: pl-opt %s --link-passes --verify-roundtrip --remarks -o /dev/null 2>&1 | filecheck %s --check-prefix=REMARKS
// RUN: pl-opt --list-passes | filecheck %s --check-prefix=LIST
// RUN: pl-opt --show-dialects | filecheck %s --check-prefix=DIALECTS
// RUN: pl-opt --explain L-WARPS | filecheck %s --check-prefix=EXPLAIN

// AFTER:     // -----// IR Dump After pl-eliminate-dead-exports //----- //
// AFTER:     dropped ["pl.callable 'a.dead': no role reaches it"]
// AFTER-NOT: IR Dump

// CHANGE-NOT: After pl-verify-contracts
// CHANGE:     After pl-eliminate-dead-exports
// CHANGE:     After pl-analyze-lifetimes

// BEFORE: // -----// IR Dump Before pl-verify-contracts //----- //
// BEFORE: // -----// IR Dump Before pl-eliminate-dead-exports //----- //

// TREE:      01_after_pl-verify-contracts.mlir
// TREE-NEXT: 02_after_pl-eliminate-dead-exports.mlir
// TREE-NEXT: 03_after_pl-analyze-lifetimes.mlir
// TREE-NEXT: 04_after_pl-relocate.mlir
// TREE-NEXT: 05_after_pl-select-routes.mlir
// TREE-NEXT: 06_after_pl-emit-stubs.mlir

// CRASH:      {{.*}}passes.mlir:[[# @LINE + 29]]:1: error[L-PASS]: pl-relocate cannot run: pl.pipeline 'p' has no 'events'
// CRASH-NEXT: help: run pl-analyze-lifetimes first
// CRASH-NEXT: pl-opt: note: reproducer: pl-opt --run-reproducer {{.*}}.crash.mlir
// AGAIN:      {{.*}}passes.mlir:[[# @LINE + 26]]:1: error[L-PASS]: pl-relocate cannot run: pl.pipeline 'p' has no 'events'

// STATISTICS:      ops added  erased  properties set  pass
// STATISTICS-NEXT:         0       0               0  pl-verify-contracts
// STATISTICS-NEXT:         0       1               1  pl-eliminate-dead-exports

// TIMING:      wall ms   share  what
// TIMING-NEXT: read
// TIMING-NEXT: pl-verify-contracts
// TIMING:      100.0%  total

// REMARKS: {{.*}}passes.mlir:[[# @LINE + 15]]:1: remark: dropped pl.callable 'a.dead': no role reaches it
// REMARKS: remark: placement, footprint of smem: 0, proven

// LIST:      pl-relocate
// LIST-NEXT:   Place shared memory
// LIST-NEXT:   option    work-limit: int = 200000
// LIST-NEXT:   requires  pl.pipeline.events, pl.claim.live
// LIST-NEXT:   produces  pl.pipeline.threads

// DIALECTS: Available Dialects: builtin, pl

// EXPLAIN: L-WARPS: the roles fit the warps of one thread block
// EXPLAIN: Fix: 

// The module of this file:
pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> {
  pl.package @a version "1" digest "d" path "a.plpkg" target "sm_90a" toolkit "13.5.37" fp <> defines [] {
    pl.role @r entry "a_r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses []
    pl.callable @dead symbol "a_dead" <() -> "void"> uses []
  }
}
