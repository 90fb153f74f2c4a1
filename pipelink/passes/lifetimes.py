"""The events of a kernel and their order: `begin`, `ready` then `done` of each tensor connection, `end`.

Events of different connections are not ordered with each other.
"""

from dataclasses import dataclass

from pipelink.ir.pl import ExportOp, ImportOp
from pipelink.ir.symbols import symbol_name
from pipelink.passes.reach import Reach


@dataclass(frozen=True)
class Events:
    names: tuple[str, ...]

    @staticmethod
    def of(reach: Reach) -> "Events":
        """`TENSOR.ready` and `TENSOR.done` by the name of the import."""
        tensors = sorted({symbol_name(user) for _, _, user in reach.connected(ExportOp, ImportOp)})
        return Events(("begin", *(f"{t}.{e}" for t in tensors for e in ("ready", "done")), "end"))

    def before(self, a: str, b: str) -> bool:
        """Whether `a` is `b` or always happens before it."""
        if a == b or a == "begin" or b == "end":
            return True
        (tensor, _, event), (other, _, _) = a.partition("."), b.partition(".")
        return tensor == other and event == "ready"

    def index(self, event: str) -> int:
        return self.names.index(event)
