"""What the commands share: how errors of every kind become one line each, and exit statuses."""

import contextlib
import gc
import os
import sys
from collections.abc import Callable

from pipelink.ir.diagnostics import Diagnostic, PipelinkError, Place


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
            return (Diagnostic("L-SYNTAX", error.args[0].splitlines()[0] if error.args else "", place),)
        case VerifyException() | PassFailedException():
            return (Diagnostic("L-IR", str(error).strip().splitlines()[0]),)
        case ArgSpecParseError():
            return (Diagnostic("L-USAGE", str(error).strip().splitlines()[0]),)
        case OSError():
            return (Diagnostic("L-FILE", error.strerror or str(error), Place(str(error.filename or ""))),)
        case _:
            return None


def run(program: str, body: Callable[[], int], debug: bool) -> int:
    """Run `body`; errors go to stderr, one line each, exit status 1 (70 where the fault is ours).

    With `debug`, a traceback instead."""
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
        if found is None:
            print(f"{program}: internal error: {type(error).__name__}: {error}", file=sys.stderr)
            print(f"{program}: help: this is a fault of {program}; --debug shows where", file=sys.stderr)
            return 70
        progress("")
        for diagnostic in found:
            print(diagnostic.render(program), file=sys.stderr)
        return 1


def progress(text: str) -> None:
    """One line that the next replaces, on a terminal only."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
