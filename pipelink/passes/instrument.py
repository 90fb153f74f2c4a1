"""What watches a pass pipeline: prints the IR, takes the time, counts changes, keeps what reproduces a failure."""

import shlex
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass
from xdsl.printer import Printer


class Instrument:
    """Called around each pass; does nothing by itself. `failed` is called instead of `after`."""

    def before(self, step: ModulePass, module: ModuleOp) -> None: ...

    def after(self, step: ModulePass, module: ModuleOp) -> None: ...

    def failed(self, step: ModulePass, module: ModuleOp, error: BaseException) -> None: ...


def printed(module: ModuleOp, *, generic: bool = False, locations: bool = False) -> str:
    """A module as text that ends in a newline."""
    stream = StringIO()
    Printer(stream, print_generic_format=generic, print_debuginfo=locations).print_op(module)
    return stream.getvalue() + "\n"


@dataclass
class PrintIR(Instrument):
    """Prints the IR around the passes that are named, to stderr or as numbered files of `folder`."""

    show: Callable[[ModuleOp], str]
    names_before: frozenset[str] = frozenset()
    names_after: frozenset[str] = frozenset()
    changed_only: bool = False
    on_failure: bool = False
    folder: Path | None = None
    number: int = field(default=0, init=False)
    text: str = field(default="", init=False)

    def before(self, step: ModulePass, module: ModuleOp) -> None:
        self.number += 1
        self.text = self.show(module) if self.changed_only else ""
        if step.name in self.names_before:
            self._dump("before", step, self.show(module))

    def after(self, step: ModulePass, module: ModuleOp) -> None:
        if step.name not in self.names_after:
            return
        text = self.show(module)
        if text != self.text:
            self._dump("after", step, text)

    def failed(self, step: ModulePass, module: ModuleOp, error: BaseException) -> None:
        if self.on_failure:
            self._dump("failed", step, self.show(module))

    def _dump(self, when: str, step: ModulePass, text: str) -> None:
        if self.folder is None:
            said = {"before": "Before", "after": "After", "failed": "After {} Failed"}[when]
            title = said.format(step.name) if "{}" in said else f"{said} {step.name}"
            print(f"// -----// IR Dump {title} //----- //\n{text}", file=sys.stderr)
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / f"{self.number:02}_{when}_{step.name}.mlir").write_text(text)


@dataclass
class Timing(Instrument):
    """Wall-clock seconds of each pass, its verification included, and of what is measured by `part`."""

    rows: list[tuple[str, float]] = field(default_factory=list[tuple[str, float]])
    start: float = 0

    def before(self, step: ModulePass, module: ModuleOp) -> None:
        self.start = time.perf_counter()

    def after(self, step: ModulePass, module: ModuleOp) -> None:
        self.rows.append((str(step), time.perf_counter() - self.start))

    def failed(self, step: ModulePass, module: ModuleOp, error: BaseException) -> None:
        self.rows.append((f"{step} (failed)", time.perf_counter() - self.start))

    @contextmanager
    def part(self, name: str) -> Generator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.rows.append((name, time.perf_counter() - start))

    def table(self) -> str:
        total = sum(seconds for _, seconds in self.rows)
        rows = [*self.rows, ("total", total)]
        return aligned(["wall ms", "share", "what"], [(f"{1e3 * s:.1f}", f"{s / total:.1%}", n) for n, s in rows])

    def fields(self) -> dict[str, object]:
        parts = [{"name": name, "seconds": round(seconds, 6)} for name, seconds in self.rows]
        return {"seconds": round(sum(s for _, s in self.rows), 6), "parts": parts}


@dataclass(frozen=True)
class Count:
    """What one run of a pass changed."""

    step: str
    added: int
    erased: int
    properties: int


@dataclass
class Statistics(Instrument):
    """Counts the operations that each pass adds and erases, and the properties that it sets, changes or removes."""

    rows: list[Count] = field(default_factory=list[Count])
    known: dict[Operation, dict[str, Attribute]] = field(default_factory=dict[Operation, dict[str, Attribute]])

    def before(self, step: ModulePass, module: ModuleOp) -> None:
        self.known = {op: dict(op.properties) for op in module.walk()}

    def after(self, step: ModulePass, module: ModuleOp) -> None:
        now = set(module.walk())
        kept = [(old, op.properties) for op, old in self.known.items() if op in now]
        changed = sum(old.get(key) != new.get(key) for old, new in kept for key in old.keys() | new.keys())
        self.rows.append(Count(str(step), len(now - self.known.keys()), len(self.known.keys() - now), changed))

    def table(self) -> str:
        rows = [(str(r.added), str(r.erased), str(r.properties), r.step) for r in self.rows]
        return aligned(["ops added", "erased", "properties set", "pass"], rows)

    def fields(self) -> dict[str, object]:
        keys = ("added", "erased", "properties")
        return {"passes": [{"name": r.step, **{key: getattr(r, key) for key in keys}} for r in self.rows]}


@dataclass
class Reproducer(Instrument):
    """Where a pass fails, writes the IR before it, with its locations, below a line of options that fail again."""

    path: Path
    text: str = field(default="", init=False)

    def before(self, step: ModulePass, module: ModuleOp) -> None:
        self.text = printed(module, locations=True)

    def after(self, step: ModulePass, module: ModuleOp) -> None:
        self.text = ""

    def failed(self, step: ModulePass, module: ModuleOp, error: BaseException) -> None:
        self.path.write_text(reproducer([step], self.text or printed(module, locations=True)))
        error.add_note(f"reproducer: pl-opt --run-reproducer {shlex.quote(str(self.path))}")


def reproducer(steps: Sequence[ModulePass], text: str) -> str:
    """IR and the passes to run over it, for `--run-reproducer`."""
    passes = ",".join(map(str, steps)).replace("'", "'\\''")
    return f"// configuration: -p '{passes}'\n{text}"


def aligned(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table as text: numbers to the right, the last column to the left."""
    widths = [max(len(row[i]) for row in (titles, *rows)) for i in range(len(titles) - 1)]
    lines = ("  ".join([*(c.rjust(w) for c, w in zip(row, widths, strict=False)), row[-1]]) for row in (titles, *rows))
    return "\n".join(lines)
