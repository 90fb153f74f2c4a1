"""What the commands share: how errors of every kind are printed, exit statuses, and the options about both."""

import argparse
import contextlib
import gc
import json
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

from pipelink.ir.diagnostics import Diagnostic, Line, PipelinkError, Place


class _Explain(argparse.Action):
    """`--explain CLAUSE` prints what a clause means, and ends the command."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        from pipelink.ir.clauses import CATALOGUE
        from pipelink.ir.suggest import nearest

        name = str(values).upper()
        if name not in CATALOGUE:
            parser.error(f"no clause {values}; {nearest(name, CATALOGUE)}")
        print(CATALOGUE[name].explain())
        parser.exit()


class _Version(argparse.Action):
    """`--version` prints the version of the distribution, looked up only then, and ends the command."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"{parser.prog} {version('pipelink')}")
        parser.exit()


def add_version(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version, and stop")


def add_diagnostic_options(parser: argparse.ArgumentParser, form: str = "form of errors: json is one a line") -> None:
    """`--format`, for `run`, and `--explain`; `form` says what the former is for."""
    parser.add_argument("--format", choices=("text", "json"), default="text", help=form)
    parser.add_argument("--explain", action=_Explain, metavar="CLAUSE", help="say what a clause means, and stop")


def diagnose(error: BaseException) -> tuple[Diagnostic, ...] | None:
    """An exception that is the user's to mend, as diagnostics; None where it is ours."""
    from xdsl.utils.exceptions import ArgSpecParseError, ParseError, PassFailedException, VerifyException

    match error:
        case PipelinkError():
            return error.diagnostics
        case ParseError():
            text, start = str(error.span.input.content), error.span.start
            line = text.count("\n", 0, start) + 1 + error.span.line_offset
            place = Place(error.span.input.name, line, start - text.rfind("\n", 0, start))
            return (Diagnostic("L-SYNTAX", error.msg.splitlines()[0], place),)
        case VerifyException() | PassFailedException():
            return (Diagnostic("L-IR", str(error).strip().splitlines()[0]),)
        case ArgSpecParseError():
            return (Diagnostic("L-USAGE", str(error).strip().splitlines()[0]),)
        case OSError():
            return (Diagnostic("L-FILE", error.strerror or str(error), Place(str(error.filename or ""))),)
        case _:
            return None


def run(program: str, body: Callable[[], int], debug: bool, form: str = "text") -> int:
    """Run `body`; errors go to stderr, one line each, exit status 1 (70 where the fault is ours).

    With `debug`, a traceback instead. `form` is "text", or "json" for one JSON object an error."""
    gc.disable()  # a command's process is short: collecting costs a tenth of its time and frees nothing that matters
    try:
        return body()
    except BrokenPipeError:
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except BaseException as error:
        found = diagnose(error)
        if debug or isinstance(error, SystemExit | KeyboardInterrupt):
            raise
        progress("")
        if found is None:
            say(program, form, Line("internal error", f"{type(error).__name__}: {error}"))
            say(program, form, Line("help", f"this is a fault of {program}; --debug shows where"))
        else:
            say(program, form, *found)
        say(program, form, *(Line("note", note) for note in getattr(error, "__notes__", ())))
        return 70 if found is None else 1


def say(program: str, form: str, *items: Diagnostic | Line) -> None:
    """Print diagnostics, or single lines, to stderr; with colour and source lines only on a terminal."""
    for item in items:
        lines = [item] if isinstance(item, Line) else list(item.lines())
        if form == "json":
            said = {"severity": item.label, **item.fields()} if isinstance(item, Line) else item.fields()
            print(json.dumps(said), file=sys.stderr)
        elif sys.stderr.isatty():
            from pipelink.tools.terminal import colourful, pretty

            width = os.get_terminal_size(sys.stderr.fileno()).columns or 80
            print(*pretty(lines, program, colourful(), width), sep="\n", file=sys.stderr)
        else:
            print(*(line.render(program) for line in lines), sep="\n", file=sys.stderr)


def progress(text: str) -> None:
    """One line that the next replaces, on a terminal only."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
