"""`pl-opt`: run passes over a manifest or `.mlir`, and print the IR or a target's text."""

import argparse
import os
import re
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import NoReturn

from pipelink.ir.diagnostics import Place, fail
from pipelink.ir.suggest import nearest
from pipelink.passes import LINK
from pipelink.passes.pipeline import registry
from pipelink.tools.common import add_diagnostic_options, run
from pipelink.tools.session import Session, chunks, frontends, targets
from pipelink.tools.spelling import translated


def _version() -> str:
    from importlib.metadata import version

    return f"pl-opt {version('pipelink')} (xdsl {version('xdsl')})"


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        print(_version())
        parser.exit()


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """As argparse does, with the nearest option to one that is unknown."""
        unknown = re.match(r"unrecognized arguments: (--[\w-]+)", message)
        known = [s for action in self._actions for s in action.option_strings]
        super().error(f"{message}; {nearest(unknown[1], known, 'see --help')}" if unknown else message)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        "pl-opt",
        usage="%(prog)s [options] [input_file]",
        description="Run pipelink passes over a manifest (.toml) or IR (.mlir).",
        epilog="MLIR's spellings work too, such as -mlir-timing, --PASS, --pass-pipeline='builtin.module(a,b)'.",
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
    add("--remarks", action="store_true", help="say what was dropped, what proves the placement, why each route")
    add("--verify-diagnostics", action="store_true", help="match errors with `// expected-error@+1 {{text}}` comments")
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


def opt(options: argparse.Namespace) -> int:
    """The whole command. Raises PipelinkError where nothing can be run."""
    if options.list_passes or options.show_dialects:
        from pipelink.tools.listing import list_passes, show_dialects

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


def main(args: Sequence[str] | None = None) -> None:
    given = list(sys.argv[1:] if args is None else args)
    sys.exit(run("pl-opt", lambda: _main(given), "--debug" in given, _form(given)))


def _main(given: Sequence[str]) -> int:
    parser = _parser()
    longs = [s for action in parser._actions for s in action.option_strings if s.startswith("--")]  # pyright: ignore[reportPrivateUsage]
    return opt(parser.parse_args(list(translated(given, longs, registry()))))


def _form(given: Sequence[str]) -> str:
    """--format, which holds for errors of the command line too."""
    return "json" if "--format=json" in given or ("--format", "json") in pairwise(given) else "text"


if __name__ == "__main__":
    main()
