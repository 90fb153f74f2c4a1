"""What every link pass is: a module pass that says which properties of the IR it requires and which it produces."""

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from pipelink.ir.attributes import Link
from pipelink.ir.diagnostics import Diagnostics, fail
from pipelink.ir.locations import place_of
from pipelink.ir.pl import ConnectOp, PipelineOp
from pipelink.ir.symbols import pipeline_of, qualified


@dataclass(frozen=True)
class LinkPass(ModulePass):
    """A pass over the one pipeline of a module.

    `requires` and `produces` name properties (`pl.claim.live`: on each such operation) or operations (`pl.dispatch`: at
    least one). A pass replaces what it produced before, so that it can run again.
    """

    requires: ClassVar[tuple[str, ...]] = ()
    produces: ClassVar[tuple[str, ...]] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        try:
            pipeline = pipeline_of(op)
        except KeyError as error:
            found = [*(o for o in op.walk() if isinstance(o, PipelineOp)), op]
            raise fail("L-IR", str(error.args[0]), place_of(found[1] if len(found) > 2 else op)) from None
        errors = Diagnostics()
        self.run(pipeline, errors)
        errors.check()

    def run(self, pipeline: PipelineOp, errors: Diagnostics) -> None:
        """Change `pipeline`; report what is wrong to `errors`, which are raised together afterwards."""
        raise NotImplementedError


def missing(module: Operation, requirement: str) -> str:
    """What lacks `requirement`, in words; "" where the module has it."""
    dialect, kind, *prop = requirement.split(".")
    found = [op for op in module.walk() if op.name == f"{dialect}.{kind}"]
    if not prop:
        return "" if found else f"there is no {requirement}"
    for op in found:
        if isinstance(op, ConnectOp) and op.link.data is not Link.tensor:
            continue  # all that is learnt of a connection is learnt of tensors
        if prop[0] not in op.properties:
            what = f"of {op.user}" if isinstance(op, ConnectOp) else f"'{qualified(op)}'"
            return f"{op.name} {what} has no '{prop[0]}'"
    return ""
