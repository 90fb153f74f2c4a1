"""Runs passes over a module: checks what each requires, verifies the module around it, names the pass that failed.

No pass starts where contracts do not fit: they are verified first, asked for or not.
"""

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass, PassPipeline
from xdsl.utils.exceptions import VerifyException

from pipelink.ir.diagnostics import Diagnostics, PipelinkError, fail
from pipelink.ir.locations import place_of
from pipelink.ir.pl import PipelineOp
from pipelink.passes import LINK, get_all_passes
from pipelink.passes.base import LinkPass, missing
from pipelink.passes.instrument import Instrument
from pipelink.plugins import joined, plugins


def registry() -> dict[str, Callable[[], type[ModulePass]]]:
    """All passes, plug-ins among them; one that replaces a built-in pass has its name and place."""
    return joined({**get_all_passes()}, plugins().passes)


def verify(module: ModuleOp, after: str = "") -> None:
    """The verifiers of all operations; raises PipelinkError with all their errors."""
    errors = Diagnostics()
    for op in module.walk():
        try:
            op.verify(verify_nested_ops=False)
        except VerifyException as error:
            text = str(error).strip().splitlines()[0] + (f" (after {after})" if after else "")
            errors.error("L-IR", text, place_of(op))
    errors.check()


def _check_requirements(step: LinkPass, module: ModuleOp) -> None:
    for requirement in step.requires:
        if lack := missing(module, requirement):
            makers = [n for n, get in registry().items() if requirement in getattr(get(), "produces", ())]
            hint = f"run {makers[0]} first" if makers else ""
            place = place_of(next((op for op in module.walk() if isinstance(op, PipelineOp)), module))
            raise fail("L-PASS", f"{step.name} cannot run: {lack}", place, hint=hint)


@dataclass(frozen=True)
class LinkPipeline(PassPipeline):
    """A pass pipeline with the checks above; `instruments` watch it."""

    verify_each: bool = True
    instruments: tuple[Instrument, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.verify_each:
            verify(op)
        for step in self.passes:
            try:
                if self.verify_each and step is self.passes[0]:
                    self._check_contracts(ctx, op)
                for instrument in self.instruments:
                    instrument.before(step, op)
                self._run(step, ctx, op)
            except BaseException as error:
                if not isinstance(error, PipelinkError):
                    error.add_note(f"while running {step}")
                for instrument in self.instruments:
                    instrument.failed(step, op, error)
                raise
            for instrument in reversed(self.instruments):
                instrument.after(step, op)

    def _run(self, step: ModulePass, ctx: Context, op: ModuleOp) -> None:
        if isinstance(step, LinkPass):
            _check_requirements(step, op)
        step.apply(ctx, op)
        if self.verify_each:
            verify(op, step.name)

    def _check_contracts(self, ctx: Context, op: ModuleOp) -> None:
        first = next((step.name for step in self.passes if isinstance(step, LinkPass)), LINK[0])
        if first != LINK[0]:
            registry()[LINK[0]]()().apply(ctx, op)


def link_pipeline(first: str = LINK[0]) -> LinkPipeline:
    """The passes of a link, from `first` on, for a driver that proves what comes out: see `backend/postlink.py`."""
    options: dict[str, dict[str, bool]] = {"pl-select-routes": {"prove": False}}
    known = registry()
    steps = [known[name]()(**options.get(name, {})) for name in LINK[LINK.index(first) :]]
    return LinkPipeline(tuple(steps), verify_each=False)
