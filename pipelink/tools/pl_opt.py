"""`pl-opt`: run passes over a manifest or `.mlir`, and print the IR or a target's text."""

import argparse
import dataclasses
import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from io import BytesIO, StringIO
from pathlib import Path
from typing import TypeVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass, get_pass_option_infos
from xdsl.utils.arg_spec import ArgSpec, ArgSpecConvertible, parse_pipeline, parse_spec
from xdsl.utils.frontend import Frontend
from xdsl.utils.target import Target

from pipelink.frontends.xdsl import LocatedFrontend, read_text
from pipelink.ir.diagnostics import Diagnostic, Diagnostics, Line, PipelinkError, Place, fail
from pipelink.ir.locations import parse_module
from pipelink.ir.suggest import nearest
from pipelink.passes import LINK
from pipelink.passes.instrument import Instrument, PrintIR, Reproducer, Statistics, Timing, printed, reproducer
from pipelink.passes.pipeline import LinkPipeline, registry
from pipelink.plugins import joined, plugins
from pipelink.tools.common import add_diagnostic_options, diagnose, run, say
from pipelink.tools.spelling import translated, unanchored
from pipelink.universe import get_all_dialects, get_all_frontends, get_all_targets

SpecT = TypeVar("SpecT", bound=ArgSpecConvertible)
SPLIT = re.compile(r"^// -----[^\S\n]*\n?", re.MULTILINE)
CONFIGURATION = re.compile(r"// configuration: (.*)")


def frontends() -> dict[str, Callable[[], type[Frontend]]]:
    """By extension: those of pipelink, `.mlir`, and plug-ins."""
    return joined({**get_all_frontends(), "mlir": lambda: LocatedFrontend}, plugins().frontends)


def _mlir_target() -> type[Target]:
    from xdsl.targets.mlir import MLIRTarget

    return MLIRTarget


def targets() -> dict[str, Callable[[], type[Target]]]:
    return joined({**get_all_targets(), "mlir": _mlir_target}, plugins().targets)


def _version() -> str:
    from importlib.metadata import version

    return f"pl-opt {version('pipelink')} (xdsl {version('xdsl')})"


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        print(_version())
        parser.exit()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "pl-opt",
        description="Run pipelink passes over a manifest (.toml) or IR (.mlir).",
        epilog="MLIR's spellings work too: --mlir-timing, -split-input-file, --pass-pipeline='builtin.module(a,b)', --PASS.",
        allow_abbrev=False,
    )
    add = parser.add_argument
    names = ", ".join(frontends())
    add("input_file", nargs="?", default="-", help="the input; - or nothing is stdin, taken for .mlir")
    add("-o", "--output-file", metavar="FILE", help="where to print; nothing is written where anything fails")
    add("-f", "--frontend", help=f"what reads the input, by default that of its extension: {names}")
    add("-t", "--target", default="mlir", help=f"what to print: {', '.join(targets())} (default: %(default)s)")
    add("-p", "--passes", action="append", default=[], help="passes to run, with commas between: a,b{option=1}")
    add("--link-passes", action="store_true", help=f"run the passes of a link: {','.join(LINK)}")
    add("--split-input-file", action="store_true", help="take the parts between lines of `// -----` one by one")
    add("--allow-unregistered-dialect", action="store_true", help="read operations of dialects that are not known")
    add("--disable-verify", action="store_true", help="verify neither the module around passes nor its contracts")
    _add_printing(parser)
    _add_watching(parser)
    add_diagnostic_options(parser)
    add("--remarks", action="store_true", help="say why each route was taken, what was dropped, what proves the placement")
    add("--verify-diagnostics", action="store_true", help="match what is said with `// expected-error@+1 {{text}}` comments")
    add("--verify-roundtrip", action="store_true", help="read back what is printed, before and after the passes")
    add("--crash-reproducer", metavar="FILE", type=Path, help="where a pass fails, keep what makes it fail again")
    add("--generate-reproducer", metavar="FILE", type=Path, help="keep the input and the passes, whatever happens")
    add("--run-reproducer", action="store_true", help="run the passes that the input's first line names")
    add("--list-passes", action="store_true", help="list the passes, with what they need, make and take, and stop")
    add("--show-dialects", action="store_true", help="list the dialects, and stop")
    add("--debug", action="store_true", help="show tracebacks")
    add("-v", "--version", action=_Version, nargs=0, help="show the versions, and stop")
    return parser


def _add_printing(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--print-op-generic", action="store_true", help="print operations in their generic form")
    add("--print-no-properties", action="store_true", help="print properties among the attributes")
    add("--print-debuginfo", action="store_true", help="print the locations of operations")
    add("--syntax-highlight", action="store_true", help="print in colour")
    add("--print-ir-before", metavar="PASSES", action="append", default=[], help="print the IR before these, to stderr")
    add("--print-ir-before-all", action="store_true", help="... before every pass")
    add("--print-ir-after", metavar="PASSES", action="append", default=[], help="print the IR after these, to stderr")
    add("--print-ir-after-all", action="store_true", help="... after every pass")
    add("--print-ir-after-change", action="store_true", help="... after every pass (or those named) that changed it")
    add("--print-ir-after-failure", action="store_true", help="... after a pass that failed")
    add("--print-ir-tree-dir", metavar="DIR", type=Path, help="print to NN_after_PASS.mlir there; by default after all")


def _add_watching(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--timing", action="store_true", help="print a table of times to stderr")
    add("--timing-json", metavar="FILE", type=Path, help="... as JSON to a file")
    add("--statistics", action="store_true", help="print a table of what each pass changed to stderr")
    add("--statistics-json", metavar="FILE", type=Path, help="... as JSON to a file")


# ---- what the options ask for ---------------------------------------------------------------------------------------


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
        names = ("print_debuginfo", "syntax_highlight")
        asked = {name: getattr(options, name) for name in names} | {
            "print_generic_format": options.print_op_generic,
            "print_properties_as_attributes": options.print_no_properties,
        }
        target = dataclasses.replace(target, **{name: True for name, on in asked.items() if on})
    stream = StringIO()
    target.emit(context, module, stream)
    return stream.getvalue()


# ---- one run --------------------------------------------------------------------------------------------------------


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
            raise fail("L-USAGE", "the input's first line is no `// configuration: -p '...'`", Place(self.name, 1, 1), hint=hint)
        parser = argparse.ArgumentParser(add_help=False, exit_on_error=False)
        parser.add_argument("-p", "--passes", action="append", default=[])
        self.options.passes = parser.parse_known_args(shlex.split(found[1]))[0].passes

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


def opt(options: argparse.Namespace) -> int:
    """The whole command. Raises PipelinkError where nothing can be run."""
    if options.list_passes or options.show_dialects:
        print(*(list_passes() if options.list_passes else show_dialects()), sep="\n")
        return 0
    session = Session(options)
    if options.output_file:
        _check_output(Path(options.output_file))
    try:
        wrong = [error for part in chunks(session.data, options.split_input_file) for error in session.attempt(part)]
    finally:
        session.report()
    _write(options.output_file, "// -----\n".join(session.outputs), bool(wrong))
    return 1 if wrong else 0


def _check_output(path: Path) -> None:
    if not path.parent.is_dir():
        raise fail("L-FILE", os.strerror(2), Place(str(path)))


def _write(file: str | None, text: str, failed: bool) -> None:
    """What succeeded, to stdout; a file whole or not at all."""
    if file in (None, "-"):
        sys.stdout.write(text)
    elif not failed:
        from pipelink.backend.archive import write_atomically

        path = Path(str(file))
        if path.exists() and not path.is_file():  # such as /dev/null
            path.write_text(text)
        else:
            write_atomically(path, text.encode())


# ---- lists ----------------------------------------------------------------------------------------------------------


def dialects() -> dict[str, Callable[[], object]]:
    from xdsl.dialects.builtin import Builtin

    return {"builtin": lambda: Builtin, **get_all_dialects()}


def list_passes() -> Iterator[str]:
    """Each pass: what it does, its options, the properties that it needs and makes, and where it is from."""
    for name, get in registry().items():
        step = get()
        yield name
        yield f"  {(step.__doc__ or '').strip().partition(chr(10))[0]}"
        for option in get_pass_option_infos(step):
            yield f"  option    {option.name.replace('_', '-')}: {option.expected_type} = {option.default_value}"
        for label in ("requires", "produces"):
            if listed := getattr(step, label, ()):
                yield f"  {label}  {', '.join(listed)}"
        if name in plugins().passes:
            yield f"  from      {plugins().origin[name]}"


def show_dialects() -> Iterator[str]:
    yield f"Available Dialects: {', '.join(sorted(dialects()))}"


def main(args: Sequence[str] | None = None) -> None:
    given = list(sys.argv[1:] if args is None else args)
    sys.exit(run("pl-opt", lambda: _main(given), "--debug" in given, _format(given)))


def _main(given: Sequence[str]) -> int:
    parser = _parser()
    longs = [s for action in parser._actions for s in action.option_strings if s.startswith("--")]  # pyright: ignore[reportPrivateUsage]
    return opt(parser.parse_args(list(translated(given, longs, registry()))))


def _format(given: Sequence[str]) -> str:
    """--format, before the parser has run: errors of the command line have a form too."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--format", default="text")
    return parser.parse_known_args(given)[0].format


if __name__ == "__main__":
    main()
