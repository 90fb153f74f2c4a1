"""A plug-in of pipelink: a pass, a frontend, a target, and a built-in pass replaced."""

import gzip
from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.frontend import Frontend
from xdsl.utils.target import Target

from pipelink.ir.attributes import Kind
from pipelink.ir.diagnostics import Diagnostics
from pipelink.ir.locations import parse_module, place_of
from pipelink.ir.pl import ClaimOp, PipelineOp
from pipelink.ir.symbols import qualified
from pipelink.passes.base import LinkPass
from pipelink.passes.relocate import Relocate


@dataclass(frozen=True)
class LimitShared(LinkPass):
    """Refuse claims of more than `most` bytes of shared memory."""

    name = "example-limit-shared"
    most: int = 65536

    def run(self, pipeline: PipelineOp, errors: Diagnostics) -> None:
        for op in pipeline.walk():
            if isinstance(op, ClaimOp) and op.kind.data is Kind.smem and op.size.value.data > self.most:
                errors.error("L-OVERLAP", f"'{qualified(op)}' claims over {self.most} bytes", place_of(op))


class GzipFrontend(Frontend):
    """`.gz`: compressed `.mlir`."""

    name = "gz"

    def parse(self, ctx: Context, input: IO[bytes], input_name: str) -> ModuleOp:
        return parse_module(ctx, gzip.decompress(input.read()).decode(), input_name)


class BasesTarget(Target):
    """Where each claim was placed, one a line."""

    name = "bases"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        for op in module.walk():
            if isinstance(op, ClaimOp) and op.base is not None:
                print(op.kind.data, op.base.value.data, qualified(op), file=output)


@dataclass(frozen=True)
class QuickRelocate(Relocate):
    """The built-in placement, which gives up early."""

    replaces = True  # it has the name of a built-in pass, and takes its place
    work_limit: int = 20
