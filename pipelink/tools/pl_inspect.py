"""pl-inspect: show a package (.plpkg) or a linked image (.plimg) as text, or as JSON."""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pipelink.ir.diagnostics import Place, fail
from pipelink.tools.common import add_diagnostic_options, add_version, run


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("pl-inspect", description=__doc__)
    parser.add_argument("file", type=Path, help="a package or an image")
    parser.add_argument(
        "--json", action="store_true", help="the contract, or the record, as JSON; so does --format json"
    )
    parser.add_argument("--extract", type=Path, metavar="DIR", help="write the members to a folder")
    add_diagnostic_options(parser, "json: the contract, or the record, as JSON, and errors one a line")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    add_version(parser)
    return parser


def _write(folder: Path, members: dict[str, bytes]) -> None:
    from pipelink.backend.archive import write_atomically

    for name, data in members.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / name, data)


def inspect(arguments: argparse.Namespace) -> int:
    """The command. Raises PipelinkError for a file that is damaged or of another kind."""
    from pipelink.tools.show import show_package, show_record

    path: Path = arguments.file
    match path.suffix:
        case ".plpkg":
            from pipelink.frontends import package

            found = package.read(path)
            text = package.encode(found.contract)
            members = {package.CONTRACT: text, **found.members}
            show = partial(show_package, digest=found.digest)
        case ".plimg":
            from pipelink.backend import image

            members = image.read(path)
            text = members[image.RECORD]
            show = partial(show_record)
        case _:
            raise fail("L-USAGE", "a package is .plpkg, an image .plimg", Place(str(path)))
    if arguments.extract:
        _write(arguments.extract, members)
    if arguments.json or arguments.format == "json":
        sys.stdout.write(text.decode())
    elif not arguments.extract:
        _show(json.loads(text), show, path)
    return 0


def _show(text: dict[str, Any], show: Callable[[dict[str, Any]], None], path: Path) -> None:
    """As text. A record that says something else than `pl-link` writes is refused here: nothing else checks it."""
    try:
        show(text)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        said = f"no record as this version of pipelink writes it: {type(error).__name__}: {error}"
        raise fail("L-PACKAGE", said, Place(str(path))) from None


def main(args: Sequence[str] | None = None) -> None:
    arguments = _parser().parse_args(args)
    sys.exit(run("pl-inspect", lambda: inspect(arguments), arguments.debug, arguments.format))


if __name__ == "__main__":
    main()
