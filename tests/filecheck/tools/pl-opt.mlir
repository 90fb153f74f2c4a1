// The command from a shell: where input comes from, what is printed where, exit statuses.
// RUN: pl-opt %s | filecheck %s
// RUN: pl-opt < %s | filecheck %s
// RUN: cat %s | pl-opt - | filecheck %s
// RUN: pl-opt %s -o %t.mlir && filecheck %s < %t.mlir
// RUN: pl-opt %s --print-debuginfo | filecheck %s --check-prefix=LOC
// RUN: pl-opt %s --print-debuginfo | pl-opt - -p pl-verify-contracts --print-debuginfo | filecheck %s --check-prefix=LOC
// RUN: not pl-opt %s -p pl-verify-contracts,pl-emit-stubs 2>&1 >/dev/null | filecheck %s --check-prefix=FIRST
// RUN: not pl-opt %s -p pl-verify 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: not pl-opt %t.none.mlir 2>&1 | filecheck %s --check-prefix=NOFILE
// RUN: not pl-opt %s --debug -p pl-emit-stubs 2>&1 | filecheck %s --check-prefix=DEBUG
// RUN: echo 'pl.fact @a = 3' | not pl-opt - 2>&1 | filecheck %s --check-prefix=SYNTAX
// RUN: pl-opt --help | filecheck %s --check-prefix=HELP
// RUN: pl-opt --version | filecheck %s --check-prefix=VERSION

// CHECK:      builtin.module {
// CHECK-NEXT:   pl.pipeline @p
// CHECK-NEXT:     pl.fact @a : "i32" = "3"
// LOC: pl.fact @a : "i32" = "3" loc("{{.*}}pl-opt.mlir":[[# @LINE + 14]]:3)
// FIRST:      {{.*}}pl-opt.mlir:[[# @LINE + 12]]:1: error[L-PASS]: pl-emit-stubs cannot run: pl.pipeline 'p' has no 'threads'
// FIRST-NEXT: {{.*}} help: run pl-relocate first
// UNKNOWN:      pl-opt: error[L-USAGE]: unknown pass 'pl-verify'
// UNKNOWN-NEXT: pl-opt: help: {{.*}}pl-verify-contracts
// NOFILE: {{.*}}.none.mlir: error[L-FILE]: No such file or directory
// DEBUG: Traceback
// SYNTAX: <stdin>:1:12: error[L-SYNTAX]: Expected ':'
// SYNTAX-NOT: {{.}}
// HELP: usage:
// HELP: --link-passes
// VERSION: pl-opt {{[0-9.]+}} (xdsl 0.{{[0-9.]+}})

pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> {
  pl.fact @a : "i32" = "3"
}
