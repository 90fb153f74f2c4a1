"""What one thread block of each target has: one table, from the CUDA C++ Programming Guide's compute capabilities."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """Capacities of one thread block: shared memory bytes (dynamic, the system's 1 KiB apart), named barriers (id 0 is
    the dispatcher's), threads, registers of the multiprocessor, tensor-memory columns, kernel parameter bytes."""

    name: str
    smem: int
    tmem: int
    setmaxnreg: bool
    barriers: int = 16
    threads: int = 1024
    registers: int = 65536
    parameters: int = 32764

    def capacities(self) -> dict[str, int]:
        return {
            "smem": self.smem,
            "barrier": self.barriers,
            "tmem": self.tmem,
            "threads": self.threads,
            "registers": self.registers,
            "parameters": self.parameters,
            "setmaxnreg": int(self.setmaxnreg),
        }


TARGETS = {
    t.name: t
    for t in (
        Target("sm_80", smem=166912, tmem=0, setmaxnreg=False),
        Target("sm_90a", smem=232448, tmem=0, setmaxnreg=True),
        Target("sm_100a", smem=232448, tmem=512, setmaxnreg=True),
        Target("sm_103a", smem=232448, tmem=512, setmaxnreg=True),
        Target("sm_120a", smem=101376, tmem=0, setmaxnreg=False),
    )
}
