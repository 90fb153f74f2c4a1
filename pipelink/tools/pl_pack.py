"""pl-pack: compile a component, check its contract, write the package."""

import argparse
import sys
from pathlib import Path

from pipelink.ir.diagnostics import fail
from pipelink.tools.common import add_diagnostic_options, add_version, progress, run


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("pl-pack", description=__doc__, allow_abbrev=False)
    parser.add_argument("source", type=Path, help="the component: a CUDA source file with contract annotations")
    parser.add_argument("-o", "--output", type=Path, help="the package to write (default: SOURCE with .plpkg)")
    parser.add_argument("--target", default="sm_90a", help="machine to compile for (default: %(default)s)")
    parser.add_argument(
        "-I", dest="includes", metavar="DIR", type=Path, action="append", default=[], help="a folder of headers"
    )
    parser.add_argument("-D", dest="defines", metavar="NAME[=VALUE]", action="append", default=[], help="a macro")
    parser.add_argument(
        "--nvcc-flag",
        dest="flags",
        metavar="FLAG",
        action="append",
        default=[],
        help="a flag of nvcc, as --nvcc-flag=-FLAG",
    )
    parser.add_argument("--object", dest="prebuilt", metavar="FILE", type=Path, help="LTO object to take, prebuilt")
    parser.add_argument("--no-source", action="store_true", help="leave the source out of the package")
    parser.add_argument("--depfile", metavar="FILE", type=Path, help="write the dependencies as a make rule")
    parser.add_argument("-v", "--verbose", action="store_true", help="print a summary")
    add_diagnostic_options(parser)
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    add_version(parser)
    return parser


def main(arguments: list[str] | None = None) -> int:
    """The command. Returns 0, or 1 after printing errors."""
    options = _parser().parse_args(arguments)
    return run("pl-pack", lambda: _run(options), options.debug, options.format)


def _run(options: argparse.Namespace) -> int:
    from pipelink.frontends import package
    from pipelink.frontends.cuda.pack import Request, pack

    output: Path = options.output or options.source.with_suffix(".plpkg")
    progress(f"packing {options.source}")
    try:
        packed = pack(
            Request(
                options.source,
                options.target,
                tuple(options.includes),
                (*(f"-D{define}" for define in options.defines), *options.flags),
                options.prebuilt,
                not options.no_source,
            )
        )
    finally:
        progress("")
    output.parent.mkdir(parents=True, exist_ok=True)
    written = package.write(output, packed.contract, packed.members)
    if options.depfile:
        _write_depfile(options.depfile, output, packed.dependencies)
    if options.verbose:
        size = sum(member.size for member in written.contract.members)
        print(f"{output}: {packed.contract.name} {packed.contract.version}, {size} bytes, {written.digest[:12]}")
    return 0


def _write_depfile(path: Path, target: Path, dependencies: tuple[Path, ...]) -> None:
    """`target: dependency ...`, with make's escapes."""
    names = [str(name).replace("$", "$$").replace("#", r"\#").replace(" ", r"\ ") for name in (target, *dependencies)]
    try:
        path.write_text(f"{names[0]}: {' '.join(names[1:])}\n")
    except OSError as error:
        raise fail("L-FILE", f"{path}: {error.strerror}") from None


if __name__ == "__main__":
    sys.exit(main())
