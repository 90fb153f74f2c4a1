// Counters in device memory that operators share, the fence between proxies for what they guard, and copies that keep
// many loads in flight. No guard: a single unit includes it once in the namespace of each package.

#include <pipelink/sm90.cuh>

// Adds one arrival, by one thread; what it has seen written, such as before a barrier, is seen after `counter_wait`.
PL_DEVICE void counter_raise(unsigned *word) {
  asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(word) : "memory");
}

// Returns once `arrivals` have been added.
PL_DEVICE void counter_wait(const unsigned *word, unsigned arrivals) {
  unsigned seen;
  do {
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(word) : "memory");
  } while (seen < arrivals);
}

// Orders generic accesses to global memory with those of tensor copies, which use the async proxy.
PL_DEVICE void fence_async_global() { asm volatile("fence.proxy.async.global;" ::: "memory"); }

// Starts a copy of 16 bytes from global to shared memory, seen by this thread after `copies_wait`: "cp.async".
PL_DEVICE void copy_start(unsigned shared, const void *global) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared), "l"(global) : "memory");
}
PL_DEVICE void copies_wait() { asm volatile("cp.async.wait_all;" ::: "memory"); }

PL_DEVICE uint4 shared_load(unsigned address) {
  uint4 v;
  asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "r"(address)
               : "memory");
  return v;
}
