"""The frontends as xDSL tools call them: by the extension of the input, `.toml` and `.mlir`."""

from dataclasses import dataclass
from pathlib import Path
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.frontend import Frontend

from pipelink.ir.diagnostics import Place, fail
from pipelink.ir.locations import parse_module


def read_text(stream: IO[bytes], name: str) -> str:
    """The text of an input. Raises PipelinkError where it is no UTF-8."""
    try:
        return stream.read().decode()
    except UnicodeDecodeError as error:
        raise fail("L-SYNTAX", f"not UTF-8 text: {error.reason} at byte {error.start}", Place(name)) from None


def linking_toolkit() -> str:
    """The version of the toolkit that links here; "" where there is none, which still lets IR be made and read."""
    from pipelink.backend.toolchain import ToolError, toolkit

    try:
        return toolkit().version
    except ToolError:
        return ""


@dataclass(frozen=True)
class ManifestFrontend(Frontend):
    """Pipeline manifests. `search` names further folders for packages."""

    name = "toml"
    search: tuple[str, ...] = ()

    def parse(self, ctx: Context, input: IO[bytes], input_name: str) -> ModuleOp:
        from pipelink.frontends.manifest import to_module

        text = read_text(input, input_name)
        return to_module(text, input_name, Path(input_name).parent, [Path(s) for s in self.search], linking_toolkit())


@dataclass(frozen=True)
class LocatedFrontend(Frontend):
    """`.mlir` text whose operations keep their line and column."""

    name = "mlir"
    no_implicit_module: bool = False

    def parse(self, ctx: Context, input: IO[bytes], input_name: str) -> ModuleOp:
        return parse_module(ctx, read_text(input, input_name), input_name)
