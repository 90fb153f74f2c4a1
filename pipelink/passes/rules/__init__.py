"""The rules by which contracts are checked against each other, one file a subject; `pl-verify-contracts` runs them."""

from dataclasses import dataclass

from pipelink.ir.diagnostics import Diagnostics
from pipelink.ir.pl import PipelineOp
from pipelink.ir.symbols import Symbols
from pipelink.passes.reach import Reach


@dataclass(frozen=True)
class Checked:
    """What every rule gets: the pipeline, its symbols, what its roles reach, and where errors go."""

    pipeline: PipelineOp
    symbols: Symbols
    reach: Reach
    errors: Diagnostics
