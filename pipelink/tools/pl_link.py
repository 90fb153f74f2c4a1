"""`pl-link`: link the packages of a pipeline into one kernel image, proven against its record."""

import argparse
import contextlib
import sys
from collections.abc import Sequence
from pathlib import Path
from threading import Thread

from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.frontend import Frontend

from pipelink.ir.diagnostics import Place, fail
from pipelink.tools.common import add_diagnostic_options, add_version, progress, run


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("pl-link", description=__doc__)
    parser.add_argument("input", type=Path, help="a pipeline manifest (.toml), or IR at any stage (.mlir)")
    parser.add_argument("-o", "--output", type=Path, help="the image to write; NAME.plimg beside the input by default")
    parser.add_argument(
        "-L", dest="search", metavar="DIR", type=Path, action="append", default=[], help="a folder with packages"
    )
    parser.add_argument("--control", action="store_true", help="build both single-unit controls and compare")
    parser.add_argument("--emit-cuda", action="store_true", help="print the generated code and stop")
    parser.add_argument("--no-cache", action="store_true", help="make the link anew, and keep nothing of it")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="leave generated sources and single units there")
    parser.add_argument("-v", "--verbose", action="store_true", help="print the placement and the decisions")
    add = parser.add_argument
    add("--why-here", metavar="HANDLE", help="say why a claim, ring or role (package.handle) is where it is, and stop")
    add(
        "--why-not", metavar="RING=DEPTH", help="say what keeps a ring from that depth and what a stage costs, and stop"
    )
    add("--dump-smt", metavar="FILE", type=Path, help="write the placement, at its depths, as SMT-LIB, and stop")
    add(
        "--no-contracts",
        metavar="OLD",
        type=Path,
        help="to demonstrate: link by symbols alone; packages that the pipeline OLD has unchanged keep its constants",
    )
    add_diagnostic_options(parser)
    parser.add_argument("--debug", action="store_true", help="show tracebacks")
    add_version(parser)
    return parser


def load(path: Path, search: Sequence[Path]) -> ModuleOp:
    """The module of a manifest or of `.mlir`, in whatever state. Raises PipelinkError."""
    from xdsl.context import Context
    from xdsl.dialects.builtin import Builtin

    from pipelink.frontends.xdsl import LocatedFrontend, ManifestFrontend
    from pipelink.ir.pl import PL
    from pipelink.plugins import plugins

    context = Context()
    context.load_dialect(Builtin)
    context.load_dialect(PL)
    known: dict[str, Frontend] = {".toml": ManifestFrontend(tuple(map(str, search))), ".mlir": LocatedFrontend()}
    theirs = {f".{name}": made for name, made in plugins().frontends.items()} if path.suffix not in known else {}
    if path.suffix not in {**known, **theirs}:
        others = "".join(f", or {suffix}" for suffix in sorted(theirs))
        raise fail("L-USAGE", f"an input is a manifest (.toml) or IR (.mlir){others}", Place(str(path)))
    frontend = known[path.suffix] if path.suffix in known else theirs[path.suffix]()
    with path.open("rb") as stream:
        return frontend.parse(context, stream, str(path))


def finish(module: ModuleOp) -> None:
    """Verify the contracts, whoever wrote the module, then run the passes that it still lacks."""
    from xdsl.context import Context

    from pipelink.passes import LINK, get_all_passes
    from pipelink.passes.base import missing
    from pipelink.passes.pipeline import link_pipeline, verify

    verify(module)
    get_all_passes()[LINK[0]]()().apply(Context(), module)
    undone = [name for name in LINK if any(missing(module, p) for p in get_all_passes()[name]().produces)]
    if undone:
        link_pipeline(undone[0]).apply(Context(), module)
        verify(module, "the passes of the link")


def analyse(module: ModuleOp) -> None:
    """Verify the contracts and run the passes before `pl-relocate` that the module still lacks."""
    from xdsl.context import Context

    from pipelink.passes import LINK, get_all_passes
    from pipelink.passes.base import missing
    from pipelink.passes.pipeline import verify

    verify(module)
    for name in LINK[: LINK.index("pl-relocate")]:
        step = get_all_passes()[name]
        if not step().produces or any(missing(module, p) for p in step().produces):
            step()().apply(Context(), module)


def solve(module: ModuleOp) -> None:
    """Place again, with what a link has measured, and all that follows."""
    from xdsl.context import Context

    from pipelink.passes.pipeline import link_pipeline

    link_pipeline("pl-relocate").apply(Context(), module)


def folders(module: ModuleOp, path: Path, search: Sequence[Path]) -> list[Path]:
    """Where the packages of the module are: as its manifest found them."""
    from pipelink.frontends.manifest import parse

    own = [path.parent]
    if path.suffix == ".toml":
        manifest, _ = parse(path.read_text(), str(path))
        own += [path.parent / s for s in manifest.pipeline.search]
    return [*own, *search]


def warm() -> None:
    """Load the toolchain's libraries while the passes run; what fails here fails again where it is reported."""
    from pipelink.backend import nvjitlink, nvrtc

    with contextlib.suppress(Exception):
        nvjitlink.library()
        nvrtc.library()


def _write(path: Path, data: bytes) -> None:
    from pipelink.backend.archive import write_atomically

    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, data)


def link(arguments: argparse.Namespace) -> int:
    """The whole command. Raises PipelinkError; no image is written unless everything holds."""
    from pipelink.backend import cache

    if any(asked is not None for asked in (arguments.why_here, arguments.why_not, arguments.dump_smt)):
        from pipelink.tools.why import answer

        module = load(arguments.input, arguments.search)
        analyse(module)
        answer(module, arguments)
        return 0
    fresh = arguments.no_cache or arguments.keep or arguments.emit_cuda or arguments.no_contracts
    options = ["control"] * arguments.control
    kept = None if fresh else cache.entry(arguments.input, arguments.search, options)
    made = kept.read() if kept else None
    if made is None:
        made = _make(arguments)
        if made is None:
            return 0
        if kept:
            kept.write(made)
    output: Path = arguments.output or arguments.input.with_suffix(".plimg")
    _write(output, made)
    _show(made, arguments.verbose)
    return 0


def _show(data: bytes, verbose: bool) -> None:
    """What a link says of its image."""
    from pipelink.backend import image

    decided = image.record(data)
    if verbose:
        from pipelink.tools.show import show_record

        show_record(decided)
    elif "control" in decided:
        print(f"control: {decided['control']['lto']}\nplain nvcc control: {decided['control']['plain']}")


def _by_symbols(module: ModuleOp, arguments: argparse.Namespace) -> bytes:
    """The image of a link that nothing checks. Its record says so."""
    from pipelink.backend import image, record
    from pipelink.backend.link import link, load_packages
    from pipelink.backend.postlink import Image
    from pipelink.backend.stale import keep_constants

    older = load(arguments.no_contracts, arguments.search)
    finish(older)
    kept = keep_constants(module, older)
    for line in ("linked by symbols alone, unchecked: the kernel may hang or leave output unwritten", *kept):
        print(f"pl-link: warning: {line}", file=sys.stderr)
    linked = link(module, load_packages(module, folders(module, arguments.input, arguments.search)))
    return image.made(linked, {**record.make(Image(linked)), "contracts": False, "stale": kept})


def _make(arguments: argparse.Namespace) -> bytes | None:
    """Link; the image, or None where only the generated code was asked for."""
    from pipelink.backend import control, cuda, image, record
    from pipelink.backend.link import load_packages
    from pipelink.backend.registers import link_fitting
    from pipelink.frontends.cuda.pack import headers
    from pipelink.ir.symbols import pipeline_of

    source: Path = arguments.input
    warming = Thread(target=warm, daemon=True)
    warming.start()
    progress(f"{source}: passes")
    module = load(source, arguments.search)
    finish(module)
    progress("")
    if arguments.emit_cuda:
        sys.stdout.write(cuda.generate(module))
        return None
    if arguments.no_contracts:
        return _by_symbols(module, arguments)
    packages = load_packages(module, folders(module, source, arguments.search))
    if arguments.control:
        control.require_sources(packages, pipeline_of(module))
    progress(f"{source}: device link and its proof")
    warming.join()
    proven = link_fitting(module, packages, solve)
    linked, decided = proven.linked, record.make(proven)
    progress(f"{source}: controls" if arguments.control else "")
    built = control.build(linked, headers()) if arguments.control else None
    progress("")
    if arguments.keep:
        kept = {"generated.cu": linked.text.encode(), "kernel.cubin": linked.cubin, "final.mlir": _dump(module)}
        for name, data in {**kept, **(built.files if built else {})}.items():
            _write(arguments.keep / name, data)
    if built:
        decided["control"] = {"lto": control.describe(built.lto), "plain": control.describe(built.plain)}
        if not built.lto.identical:
            print(built.summary())
            raise fail("L-CONTROL", f"the linked kernel differs from its control: {control.describe(built.lto)}")
    return image.made(linked, decided)


def _dump(module: ModuleOp) -> bytes:
    """The IR with its locations: it can be fed back to any tool."""
    from pipelink.passes.instrument import printed

    return printed(module, locations=True).encode()


def main(args: Sequence[str] | None = None) -> None:
    arguments = _parser().parse_args(args)
    sys.exit(run("pl-link", lambda: link(arguments), arguments.debug, arguments.format))


if __name__ == "__main__":
    main()
