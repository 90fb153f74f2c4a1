"""One run of pl-opt: what its options ask for, and what is done with each part of the input."""

import argparse
import dataclasses
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from io import BytesIO, StringIO
from pathlib import Path
from typing import TypeVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Dialect
from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec, ArgSpecConvertible, parse_pipeline, parse_spec
from xdsl.utils.frontend import Frontend
from xdsl.utils.target import Target

from pipelink.frontends.xdsl import LocatedFrontend, read_text
from pipelink.ir.diagnostics import Diagnostic, Line, PipelinkError, Place, fail
from pipelink.ir.locations import parse_module
from pipelink.ir.suggest import nearest
from pipelink.passes import LINK
from pipelink.passes.instrument import Instrument, PrintIR, Reproducer, Statistics, Timing, printed, reproducer
from pipelink.passes.pipeline import LinkPipeline, registry
from pipelink.plugins import joined, plugins
from pipelink.tools.common import diagnose, say
from pipelink.tools.spelling import unanchored
from pipelink.universe import get_all_dialects, get_all_frontends, get_all_targets

SpecT = TypeVar("SpecT", bound=ArgSpecConvertible)
SPLIT = re.compile(r"^// -----[^\S\n]*\n?", re.MULTILINE)
CONFIGURATION = re.compile(r"// configuration: -p '((?:[^'\n]|'\\'')*)'[^\S\n]*$", re.MULTILINE)


def frontends() -> dict[str, Callable[[], type[Frontend]]]:
    """By extension: those of pipelink, `.mlir`, and plug-ins."""
    return joined({**get_all_frontends(), "mlir": lambda: LocatedFrontend}, plugins().frontends)


def _mlir_target() -> type[Target]:
    from xdsl.targets.mlir import MLIRTarget

    return MLIRTarget


def targets() -> dict[str, Callable[[], type[Target]]]:
    return joined({**get_all_targets(), "mlir": _mlir_target}, plugins().targets)


def dialects() -> dict[str, Callable[[], Dialect]]:
    from xdsl.dialects.builtin import Builtin

    return {"builtin": lambda: Builtin, **get_all_dialects()}


def made(kind: str, spec: ArgSpec, known: Mapping[str, Callable[[], type[SpecT]]]) -> SpecT:
    """The pass, frontend or target of `name{options}`. Raises PipelinkError, L-USAGE."""
    if spec.name not in known:
        raise fail("L-USAGE", f"unknown {kind} '{spec.name}'", hint=nearest(spec.name, known))
    cls = known[spec.name]()
    try:
        return cls.from_spec(spec)
    except (ValueError, TypeError) as error:
        options = [f.name for f in dataclasses.fields(cls)]  # pyright: ignore[reportArgumentType]
        said = f"its options: {', '.join(options)}" if options else "it takes no options"
        text = str(error).strip().partition("\n")[0]
        raise fail("L-USAGE", f"{kind} '{spec.name}': {text}", hint=said.replace("_", "-")) from None


def steps_of(options: argparse.Namespace) -> tuple[ModulePass, ...]:
    """The passes, in order."""
    passes: list[str] = [unanchored(text) for text in options.passes]
    text = ",".join([*passes, *(LINK if options.link_passes else ())])
    known = registry()
    return tuple(made("pass", spec, known) for spec in parse_pipeline(text))


def _named(values: Sequence[str], everything: bool) -> frozenset[str]:
    """The passes of an option such as --print-ir-after=a,b. Raises PipelinkError where there is none of a name."""
    known = registry()
    names = {name for value in values for name in value.split(",")}
    for name in sorted(names - known.keys()):
        raise fail("L-USAGE", f"unknown pass '{name}'", hint=nearest(name, known))
    return frozenset(known if everything else names)


def print_ir(options: argparse.Namespace) -> list[Instrument]:
    """What --print-ir-... ask for."""
    before = _named(options.print_ir_before, options.print_ir_before_all)
    changed, failure, folder = options.print_ir_after_change, options.print_ir_after_failure, options.print_ir_tree_dir
    every = options.print_ir_after_all or (changed and not options.print_ir_after)
    every = every or (folder is not None and not (before or failure or options.print_ir_after))
    after = _named(options.print_ir_after, every)
    if not (before or after or failure):
        return []
    show = partial(printed, generic=options.print_op_generic, locations=options.print_debuginfo)
    return [PrintIR(show, before, after, changed, failure, folder)]


def emitted(options: argparse.Namespace, context: Context, module: ModuleOp) -> str:
    """What the target prints."""
    target = made("target", parse_spec(options.target), targets())
    if target.name == "mlir" and target.name not in plugins().targets:
        asked = {
            "print_debuginfo": options.print_debuginfo,
            "print_generic_format": options.print_op_generic,
            "print_properties_as_attributes": options.print_no_properties,
            "syntax_highlight": options.syntax_highlight,
        }
        target = dataclasses.replace(target, **{name: True for name, on in asked.items() if on})
    stream = StringIO()
    target.emit(context, module, stream)
    return stream.getvalue()


def read(options: argparse.Namespace) -> tuple[bytes, str]:
    """The input and the name by which errors call it."""
    if options.input_file == "-":
        return sys.stdin.buffer.read(), "<stdin>"
    return Path(options.input_file).read_bytes(), options.input_file


def frontend_of(options: argparse.Namespace, name: str) -> Frontend:
    """What reads the input. Raises PipelinkError where nothing reads its extension."""
    known = frontends()
    extension = "mlir" if options.input_file == "-" else name.rpartition(".")[2]
    if not options.frontend and extension not in known:
        hint = f"known: {', '.join('.' + f for f in known)}, or name one with -f"
        raise fail("L-USAGE", f"'{name}': no frontend reads this extension", hint=hint)
    return made("frontend", parse_spec(options.frontend or extension), known)


def chunks(data: bytes, split: bool) -> Iterator[bytes]:
    """The parts of an input, each below as many empty lines as were before it: places stay those of the file."""
    if not split:
        yield data
        return
    text, start, lines = data.decode(errors="surrogateescape"), 0, 0
    for end, following in [*((m.start(), m.end()) for m in SPLIT.finditer(text)), (len(text), len(text))]:
        yield ("\n" * lines + text[start:end]).encode(errors="surrogateescape")
        lines += text.count("\n", start, following)
        start = following


def check_roundtrip(context: Context, module: ModuleOp, name: str) -> None:
    """Raises PipelinkError where a printed form does not read back, or reads back as another module."""
    for generic in (False, True):
        form = "generic" if generic else "pretty"
        text = printed(module, generic=generic, locations=True)
        try:
            again = parse_module(context, text, name)
        except PipelinkError as error:
            said = error.diagnostics[0].message
            raise fail("L-IR", f"the {form} form does not read back: {said}", Place(name)) from None
        if not again.is_structurally_equivalent(module):
            raise fail("L-IR", f"the {form} form reads back as another module", Place(name))


class Session:
    """One run of the command: its passes and what watches them; `said` is what there is to say of the present chunk."""

    def __init__(self, options: argparse.Namespace):
        self.options = options
        self.timing, self.statistics = Timing(), Statistics()
        self.said: list[Line] = []
        self.outputs: list[str] = []
        self.data, self.name = read(options)
        self.frontend = frontend_of(options, self.name)
        if options.run_reproducer:
            self._configure(read_text(BytesIO(self.data), self.name))
        self.context = Context(allow_unregistered=options.allow_unregistered_dialect)
        for name, get in dialects().items():
            self.context.register_dialect(name, get)
        watching = self._watching()
        self.pipeline = LinkPipeline(
            steps_of(options), verify_each=not options.disable_verify, instruments=tuple(watching)
        )
        made("target", parse_spec(options.target), targets())

    def _configure(self, text: str) -> None:
        found = CONFIGURATION.match(text)
        if found is None:
            hint = "--crash-reproducer and --generate-reproducer write such files"
            text = "the input's first line is no `// configuration: -p '...'`"
            raise fail("L-USAGE", text, Place(self.name, 1, 1), hint=hint)
        self.options.passes = [found[1].replace("'\\''", "'")]

    def _watching(self) -> Iterator[Instrument]:
        options = self.options
        yield from print_ir(options)
        if options.crash_reproducer:
            yield Reproducer(options.crash_reproducer)
        if options.statistics or options.statistics_json:
            yield self.statistics
        if options.timing or options.timing_json:
            yield self.timing

    def chunk(self, data: bytes) -> None:
        """Read, run and print one. Raises what it fails with."""
        with self.timing.part("read"):
            module = self.frontend.parse(self.context, BytesIO(data), self.name)
        if self.options.generate_reproducer:
            text = reproducer(self.pipeline.passes, printed(module, locations=True))
            self.options.generate_reproducer.write_text(text)
        if self.options.verify_roundtrip:
            check_roundtrip(self.context, module, self.name)
        self.pipeline.apply(self.context, module)
        if self.options.verify_roundtrip:
            check_roundtrip(self.context, module, self.name)
        if self.options.remarks:
            from pipelink.tools.remarks import remarks

            self.said += remarks(module)
        with self.timing.part("print"):
            self.outputs.append(emitted(self.options, self.context, module))

    def attempt(self, data: bytes) -> list[Diagnostic]:
        """One chunk; what is wrong with it, or, with --verify-diagnostics, with what it said."""
        self.said = []
        errors: list[Diagnostic] = []
        notes: list[str] = []
        try:
            self.chunk(data)
        except BaseException as error:
            found = diagnose(error)
            if found is None or (self.options.debug and not self.options.verify_diagnostics):
                raise
            errors += found
            notes += getattr(error, "__notes__", [])
        if self.options.verify_diagnostics:
            return self._unexpected(data, errors)
        say("pl-opt", self.options.format, *self.said, *errors, *(Line("note", note) for note in notes))
        return errors

    def _unexpected(self, data: bytes, errors: Sequence[Diagnostic]) -> list[Diagnostic]:
        from pipelink.tools.expected import expectations, mismatches

        said = [line for error in errors for line in error.lines()]
        expected = expectations(data.decode(errors="replace"), self.name)
        wrong = list(mismatches(expected, [*self.said, *said], self.name))
        say("pl-opt", self.options.format, *wrong)
        return wrong

    def report(self) -> None:
        """The tables that were asked for."""
        for asked, file, watch in (
            (self.options.statistics, self.options.statistics_json, self.statistics),
            (self.options.timing, self.options.timing_json, self.timing),
        ):
            if asked:
                print(watch.table(), file=sys.stderr)
            if file:
                file.write_text(json.dumps(watch.fields(), indent=1) + "\n")
