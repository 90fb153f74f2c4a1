// Package `audit`: two warps watch memory of their own for writes of others. They fill it with a pattern, read each
// other's half some rounds long, and record for each block where and when they ran and how many changed words they saw.
#define PL_PACKAGE audit
#include <pipelink/contract.cuh>
#include <pipelink/sm90.cuh>

#include "audit.h"

static constexpr unsigned kThreads = 64;
static constexpr unsigned kBytes = 4096;
static constexpr unsigned kWords = kBytes / sizeof(unsigned);
static constexpr int kRounds = 8;
static constexpr unsigned kPause = 256;  // nanoseconds between rounds

PL_STAGE("1.0.0")
PL_PARAMS(audit_args, records, blocks)
PL_BUFFER(audit, pl::buffer("i64", 2).write().align(8))
PL_PROVIDER(audit_provide, "audit_host.c")
PL_CLAIM_SMEM(guarded, pl::claim().bytes(kBytes).align(1024))
PL_CLAIM_BARRIER(meet, pl::claim().ids(1))
PL_WARP(first_warp, "watch")

// Differs between words and between blocks.
static __device__ unsigned pattern(unsigned word) { return (blockIdx.x * kWords + word) * 2654435761u + 1; }

static __device__ long long multiprocessor() {
  unsigned id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
}

// How many words of the other warp's half no longer hold the pattern; the same on all lanes.
static __device__ unsigned changed_words(const volatile unsigned *guarded, unsigned thread) {
  unsigned changed = 0;
#pragma unroll 1
  for (unsigned word = (thread + 32) % kThreads; word < kWords; word += kThreads)
    changed += guarded[word] != pattern(word);
  return __reduce_add_sync(~0u, changed);
}

extern "C" __device__ void audit_role(const audit_args *args) {
  const unsigned thread = threadIdx.x - 32 * PL_HANDLE(first_warp);
  volatile unsigned *guarded = reinterpret_cast<volatile unsigned *>(pl_smem + PL_HANDLE(guarded));
  const long long start = clock64();
#pragma unroll 1
  for (unsigned word = thread; word < kWords; word += kThreads) guarded[word] = pattern(word);
  unsigned changed = 0;
#pragma unroll 1
  for (int round = 0; round < kRounds; ++round) {
    pl::barrier_sync(PL_HANDLE(meet), kThreads);
    changed += changed_words(guarded, thread);
    __nanosleep(kPause);
  }
  pl::barrier_sync(PL_HANDLE(meet), kThreads);  // nobody reads the pattern any more
  if (thread == 32) guarded[0] = changed;
  pl::barrier_sync(PL_HANDLE(meet), kThreads);
  if (thread != 0 || args->records == nullptr || static_cast<int>(blockIdx.x) >= args->blocks) return;
  long long *record = args->records + static_cast<long long>(blockIdx.x) * kAuditWords;
  record[0] = multiprocessor();
  record[1] = start;
  record[2] = clock64();
  record[3] = changed + guarded[0];
}
PL_ROLE(watch, audit_role, pl::role().warps(2).registers(24, 56).need(24))
