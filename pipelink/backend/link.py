"""The device link: the objects of a finished module's packages and the generated code become one cubin."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from pipelink.backend import cuda, nvjitlink, nvrtc
from pipelink.backend.toolchain import FpMode, ToolError
from pipelink.frontends.manifest import find_package
from pipelink.frontends.package import Package, read
from pipelink.ir.diagnostics import Diagnostics, Note, PipelinkError, fail
from pipelink.ir.locations import place_of
from pipelink.ir.pl import PackageOp, PipelineOp
from pipelink.ir.symbols import Symbols, pipeline_of

GENERATED = "generated.cu"


@dataclass(frozen=True)
class Linked:
    """A linked kernel: the generated text and what nvJitLink made of it."""

    module: ModuleOp
    packages: Mapping[str, Package]
    text: str
    cubin: bytes
    log: str
    options: tuple[str, ...]

    @property
    def pipeline(self) -> PipelineOp:
        return pipeline_of(self.module)

    @property
    def kernel(self) -> str:
        from pipelink.ir.pl import DispatchOp

        return Symbols(self.pipeline).ops(DispatchOp)[0].symbol.data


def fp_mode(pipeline: PipelineOp) -> FpMode:
    values = pipeline.fp.integers
    return FpMode(*(bool(values.get(k, int(k != "ftz"))) for k in ("ftz", "prec_div", "prec_sqrt", "fma")))


def load_packages(module: ModuleOp, folders: Sequence[Path]) -> dict[str, Package]:
    """The packages that a module names, unchanged since it was made. Raises PipelinkError with all that are not."""
    errors = Diagnostics()
    found: dict[str, Package] = {}
    for op in Symbols(pipeline_of(module)).ops(PackageOp):
        if (file := find_package(op.path.data, folders)) is None:
            errors.error("L-FILE", f"package '{op.path.data}' not found", place_of(op), hint="name its folder with -L")
            continue
        try:
            package = read(file)
        except PipelinkError as error:
            errors.errors += error.diagnostics
            continue
        if package.digest != op.digest.data:
            message = f"package '{op.path.data}' has digest {package.digest}, the module was made from {op.digest.data}"
            errors.error("L-PACKAGE", message, place_of(op), hint="make the module from the manifest again")
            continue
        found[op.sym_name.data] = package
    errors.check()
    return found


def compile_generated(text: str, pipeline: PipelineOp) -> bytes:
    """The generated text as LTO IR, by the NVRTC of the same toolkit (no host compiler is needed)."""
    return nvrtc.compile_ltoir(text, pipeline.target.data, GENERATED, fp_mode(pipeline))


def _duplicates(error: nvjitlink.LinkError, pipeline: PipelineOp, packages: Mapping[str, Package]) -> PipelinkError:
    """What several objects define although no contract shows it: a variable that no function of its object uses."""
    errors = Diagnostics()
    ops = {op.sym_name.data: op for op in Symbols(pipeline).ops(PackageOp)}
    for symbol in error.duplicates:
        word = re.compile(rb"\b" + symbol.encode() + rb"\b")
        named = [n for n, p in sorted(packages.items()) if any(word.search(data) for data in p.members.values())]
        who = f"packages {', '.join(repr(n) for n in named)}" if len(named) > 1 else "more than one package"
        notes = (Note(f"the source of package '{n}' names '{symbol}'", place_of(ops[n])) for n in named)
        hint = "make a private helper or variable static, or rename one of them"
        errors.error("L-DUPLICATE", f"'{symbol}' is defined by {who}", place_of(pipeline), *notes, hint=hint)
    return PipelinkError(*errors.errors)


def link(module: ModuleOp, packages: Mapping[str, Package], text: str | None = None) -> Linked:
    """Link. `text` stands in for the generated code (for tests of the checks that follow). Raises PipelinkError."""
    pipeline = pipeline_of(module)
    text = cuda.generate(module) if text is None else text
    try:
        objects = {name: package.members["object.fatbin"] for name, package in packages.items()}
        inputs = [nvjitlink.Input(f"{name}.fatbin", "fatbin", data) for name, data in sorted(objects.items())]
        inputs.append(nvjitlink.Input(GENERATED, "ltoir", compile_generated(text, pipeline)))
        result = nvjitlink.link(inputs, pipeline.target.data, fp_mode(pipeline))
    except ToolError as error:
        clause = "L-COMPILE" if error.diagnostics or error.text else "L-TOOL"
        raise fail(clause, error.message, place_of(pipeline), hint=error.hint) from None
    except nvjitlink.LinkError as error:
        if error.duplicates:
            raise _duplicates(error, pipeline, packages) from None
        raise fail("L-LINK", str(error), place_of(pipeline)) from None
    return Linked(module, packages, text, result.cubin, result.log, result.options)
