"""What the blocks of a multiprocessor share, by target: what one block has at most is in `ir/targets.py`.

Sources: CUDA C++ Programming Guide, compute capabilities (shared memory, threads and blocks of a multiprocessor; 1 KiB
of shared memory is the system's in each block) and `cuda_occupancy.h` (grains; the barriers of a multiprocessor are
twice its blocks, as many as its blocks on sm_120). Tensor memory: PTX ISA, tcgen05.alloc.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from pipelink.passes.placement.model import WARP, Domain

SYSTEM_BYTES = 1024
SMEM_GRAIN = 128
TMEM_LEAST = 32
COUNTER_WORDS = 1 << 20  # counters live in device memory, which the session allocates: a bound, not a capacity
COUNTER_LINE = 32  # words of 4 bytes in a cache line of 128


@dataclass(frozen=True)
class Multiprocessor:
    """Bytes of shared memory, threads, blocks and named barriers of one multiprocessor."""

    smem: int
    threads: int
    blocks: int
    barriers: int

    @property
    def warps(self) -> int:
        return self.threads // WARP


MULTIPROCESSORS = {
    "sm_80": Multiprocessor(164 << 10, 2048, 32, 64),
    "sm_90a": Multiprocessor(228 << 10, 2048, 32, 64),
    "sm_100a": Multiprocessor(228 << 10, 2048, 32, 64),
    "sm_103a": Multiprocessor(228 << 10, 2048, 32, 64),
    "sm_120a": Multiprocessor(100 << 10, 1536, 24, 24),
}


def of_target(name: str) -> Multiprocessor:
    """Of a target that is not known, that of sm_90a."""
    return MULTIPROCESSORS.get(name, MULTIPROCESSORS["sm_90a"])


def domains(capacities: Mapping[str, int], own: Multiprocessor) -> tuple[Domain, ...]:
    """The address spaces of a kernel whose blocks have `capacities` (smem, barrier, tmem) at most."""
    smem, barrier, tmem = (capacities[name] for name in ("smem", "barrier", "tmem"))
    return (
        Domain("smem", smem, unit="bytes", multiprocessor=own.smem, reserved=SYSTEM_BYTES, grain=SMEM_GRAIN),
        Domain(
            "barrier", barrier, base=min(1, barrier), unit="ids", multiprocessor=own.barriers
        ),  # 0: the dispatcher's
        Domain("tmem", tmem, unit="columns", multiprocessor=tmem, least_power=TMEM_LEAST),
        Domain("counter", COUNTER_WORDS, unit="words"),
    )
