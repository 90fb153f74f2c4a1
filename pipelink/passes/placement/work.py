"""The work limit of one solve, in search nodes and z3 resource units: never in time, so that it decides nothing."""

from dataclasses import dataclass, field

RLIMIT_PER_NODE = 100  # about equal time


@dataclass
class Work:
    limit: int
    nodes: int = 0
    rlimit: int = 0
    z3: str = field(default="")

    @property
    def rlimit_limit(self) -> int:
        return self.limit * RLIMIT_PER_NODE

    def nodes_for(self, share: int) -> int:
        return max(0, min(share, self.limit - self.nodes))

    def rlimit_for(self, share: int) -> int:
        return max(0, min(share, self.rlimit_limit - self.rlimit))
