// A ring of stages in shared memory, each guarded by a full and an empty mbarrier. Its depth is a decision of the
// linker: positions advance by what the depth's handle returns. `first` is the handle of the full or empty mbarriers.
#pragma once

#include <pipelink/contract.cuh>
#include <pipelink/sm90.cuh>

namespace pl {

// Position of one endpoint: a stage, and the parity of the passes made over the ring.
struct ring_state {
  unsigned slot = 0;
  unsigned phase = 0;

  __device__ __forceinline__ void advance(unsigned depth) {
    if (++slot == depth) {
      slot = 0;
      phase ^= 1;
    }
  }
};

PL_DEVICE unsigned ring_barrier(unsigned first, unsigned slot) { return shared_address(pl_smem) + first + 8 * slot; }

// Initialises the `depth` mbarriers at `first`, by one thread.
PL_DEVICE void ring_init(unsigned first, unsigned depth, unsigned arrivals) {
  for (unsigned slot = 0; slot < depth; ++slot) mbarrier_init(ring_barrier(first, slot), arrivals);
}

// Consumer: waits until the stage has been filled.
PL_DEVICE void ring_wait_full(unsigned first, const ring_state &state) {
  mbarrier_wait(ring_barrier(first, state.slot), state.phase);
}

// Producer: waits until the stage has been emptied. On the first pass it waits for the phase before the first, which
// counts as completed: all stages start empty.
PL_DEVICE void ring_wait_empty(unsigned first, const ring_state &state) {
  mbarrier_wait(ring_barrier(first, state.slot), state.phase ^ 1);
}

// Producer: arrives at the stage's full mbarrier, which then waits for `bytes` of copies; returns it for them.
PL_DEVICE unsigned ring_expect(unsigned first, const ring_state &state, unsigned bytes) {
  const unsigned barrier = ring_barrier(first, state.slot);
  mbarrier_arrive_expect(barrier, bytes);
  return barrier;
}

// Consumer: this warp has done with the stage. One lane arrives for all, which must have converged.
PL_DEVICE void ring_release(unsigned first, unsigned slot) {
  if (threadIdx.x % 32 == 0) mbarrier_arrive(ring_barrier(first, slot));
}

}  // namespace pl
