"""The events of a kernel and their order: `begin`, `ready` then `done` of each tensor connection, `end`.

Events of different connections are not ordered with each other. A contract names the events of its own tensors, those
that its package exports or imports; what another package calls by the same name is another event.
"""

from collections import Counter
from dataclasses import dataclass

from xdsl.ir import Operation

from pipelink.ir.pl import ClaimOp, ExportOp, ImportOp
from pipelink.ir.symbols import package_of, qualified, symbol_name
from pipelink.passes.reach import Reach


@dataclass(frozen=True)
class Events:
    """`names` in order; `imports` by the label that its events carry: its name, qualified where that is not alone."""

    names: tuple[str, ...]
    imports: dict[str, ImportOp]
    tensors: dict[Operation, str]

    @staticmethod
    def of(reach: Reach) -> "Events":
        pairs = [(export, import_) for _, export, import_ in reach.connected(ExportOp, ImportOp)]
        named = Counter(symbol_name(import_) for _, import_ in pairs)
        served = Counter(export for export, _ in pairs)
        imports: dict[str, ImportOp] = {}
        tensors: dict[Operation, str] = {}
        for export, import_ in pairs:
            label = symbol_name(import_) if named[symbol_name(import_)] == 1 else qualified(import_)
            imports[label] = import_
            tensors[import_] = label
            tensors[export] = label if served[export] == 1 else ""  # else its `ready` is several events
        names = ("begin", *(f"{t}.{e}" for t in sorted(imports) for e in ("ready", "done")), "end")
        return Events(names, imports, tensors)

    def resolve(self, claim: ClaimOp, event: str) -> str | None:
        """The event that `claim` names: None where its package has no such tensor that is connected, "" where it
        exports the tensor to several imports, so that no single event is meant."""
        if event in ("begin", "end"):
            return event
        tensor, _, moment = event.rpartition(".")
        package = package_of(claim)
        for op in package.body.block.ops if package else ():
            if op in self.tensors and symbol_name(op) == tensor and moment in ("ready", "done"):
                return self.tensors[op] and f"{self.tensors[op]}.{moment}"
        return None

    def before(self, a: str, b: str) -> bool:
        """Whether `a` is `b` or always happens before it."""
        if a == b or a == "begin" or b == "end":
            return True
        (tensor, _, event), (other, _, _) = a.rpartition("."), b.rpartition(".")
        return tensor == other and event == "ready"

    def index(self, event: str) -> int:
        return self.names.index(event)
