// A file that says which diagnostics it gives, as in MLIR: each is on its line, and there are no others.
// RUN: pl-opt %s -p pl-verify-contracts --split-input-file --verify-diagnostics | filecheck %s
// RUN: pl-opt %s -pl-verify-contracts -split-input-file -verify-diagnostics | filecheck %s
// RUN: sed 's/expected-note @/expected-remark @/' %s | not pl-opt - -p pl-verify-contracts --split-input-file --verify-diagnostics 2>&1 >/dev/null | filecheck %s --check-prefix=WRONG

// A part without errors is printed; the others are not.
// CHECK:     pl.pipeline @fits
// CHECK-NOT: pl.pipeline @

// WRONG:      <stdin>:[[# @LINE + 10]]:1: error[L-EXPECT]: unexpected note: the pipeline's target is sm_90a
// WRONG-NEXT: <stdin>:[[# @LINE + 8]]:1: error[L-EXPECT]: expected remark "target is sm_90a" on line [[# @LINE + 9]] was not produced
// WRONG-NOT:  error

pl.pipeline @fits target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> {
}

// -----

// expected-note @below {{target is sm_90a}}
pl.pipeline @other target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> {
  // expected-error @+2 {{L-TARGET}}
  // expected-help @+1 {{--target sm_90a}}
  pl.package @a version "1" digest "d" path "a.plpkg" target "sm_100a" toolkit "13.5.37" fp <> defines [] {
  }
}

// -----

pl.pipeline @malformed target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096, registers = 65536, setmaxnreg = 1, smem = 65536, threads = 1024, tmem = 0> fp <> {
  pl.fact @a : "u32" = "-1"
  // expected-error-re @above {{L-IR]: 'pl.fact': {{.*}} is no u32}}
}
