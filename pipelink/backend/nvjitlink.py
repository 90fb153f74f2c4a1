"""Link LTO objects to machine code with nvJitLink, and say what went wrong in the linker's terms."""

import importlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pipelink.backend.toolchain import FpMode, ToolError

Kind = Literal["fatbin", "ltoir", "cubin"]


@dataclass(frozen=True)
class Input:
    """One input of a link; `name` stands in nvJitLink's messages."""

    name: str
    kind: Kind
    data: bytes


@dataclass(frozen=True)
class LinkResult:
    """The linked cubin, nvJitLink's information log, and the options that it ran with."""

    cubin: bytes
    log: str
    options: tuple[str, ...]


class LinkError(Exception):
    """nvJitLink refused. `code` is its name for the failure, `text` its own words."""

    def __init__(self, code: str, text: str, log: str = ""):
        self.code = code
        self.text = text
        self.log = log
        self.unresolved = tuple(dict.fromkeys(re.findall(r"Unresolved extern (?:function|variable) '([^']+)'", text)))
        self.duplicates = tuple(dict.fromkeys(re.findall(r"Linking globals named '([^']+)': symbol multiply", text)))
        super().__init__(_explain(self))


def _explain(error: LinkError) -> str:
    if error.unresolved:
        return f"nothing defines {', '.join(error.unresolved)}"
    if error.duplicates:
        return f"defined more than once: {', '.join(error.duplicates)}"
    if error.code == "ERROR_OUTDATED_LIBRARY" or "newer version of nvJitLink" in error.text:
        path, (major, minor) = library()
        return f"an object comes from a newer toolkit than nvJitLink {major}.{minor} ({path})"
    if bad := re.search(r"bad input: (.+)", error.text):
        return f"nvJitLink cannot read an input: {bad[1].strip()}"
    lines = error.text.strip().splitlines()
    return f"nvJitLink failed ({error.code}): {lines[0].strip() if lines else 'it gave no reason'}"


def _binding() -> Any:  # the bindings have no type stubs: Any stays in this file
    try:
        return importlib.import_module("cuda.bindings.nvjitlink")
    except ImportError as error:
        raise ToolError("cuda-bindings is not installed", "reinstall pipelink") from error


def library() -> tuple[str, tuple[int, int]]:
    """Path and version of the nvJitLink in use. Raises ToolError."""
    nvjitlink = _binding()
    try:
        version: Any = nvjitlink.version()
        path: Any = importlib.import_module("cuda.pathfinder").load_nvidia_dynamic_lib("nvJitLink").abs_path
    except RuntimeError as error:
        raise ToolError(f"libnvJitLink cannot be loaded: {error}", "reinstall pipelink") from error
    return str(path), (int(version[0]), int(version[1]))


def link(
    inputs: Sequence[Input], target: str = "sm_90a", fp: FpMode | None = None, options: Sequence[str] = ()
) -> LinkResult:
    """Link to a cubin that a device can load. The order of the inputs does not matter to the machine code.
    Raises LinkError."""
    return _link(inputs, (f"-arch={target}", "-lto", "-verbose", *(fp or FpMode()).link_options(), *options))


def relocatable(source: Input, target: str = "sm_90a", fp: FpMode | None = None) -> bytes:
    """The relocatable cubin of one opaque object, undefined handles allowed: its symbols, attributes and relocations
    say what the object defines and needs. Its machine code means nothing. Raises LinkError."""
    return _link([source], (f"-arch={target}", "-lto", "-r", *(fp or FpMode()).link_options())).cubin


def _link(inputs: Sequence[Input], options: tuple[str, ...]) -> LinkResult:
    nvjitlink = _binding()
    failures: Any = nvjitlink.nvJitLinkError
    try:
        handle = nvjitlink.create(len(options), list(options))
    except failures as error:
        raise LinkError(_code(error), f"options {' '.join(options)}") from None
    reading = ""
    try:
        for source in inputs:
            reading = source.name
            kind = getattr(nvjitlink.InputType, source.kind.upper())
            nvjitlink.add_data(handle, kind, source.data, len(source.data), source.name)
        reading = ""
        nvjitlink.complete(handle)
        cubin = bytearray(nvjitlink.get_linked_cubin_size(handle))
        nvjitlink.get_linked_cubin(handle, cubin)
        return LinkResult(bytes(cubin), _log(nvjitlink, handle, "info"), options)
    except failures as error:
        text = _log(nvjitlink, handle, "error")
        if reading and reading not in text:  # nvJitLink does not name an empty input
            text = f"bad input: {reading}\n{text}"
        raise LinkError(_code(error), text, _log(nvjitlink, handle, "info")) from None
    finally:
        nvjitlink.destroy(handle)


def _code(error: Any) -> str:
    return str(error).split(" (", 1)[0]


def _log(nvjitlink: Any, handle: Any, which: str) -> str:
    buffer = bytearray(getattr(nvjitlink, f"get_{which}_log_size")(handle))
    if buffer:
        getattr(nvjitlink, f"get_{which}_log")(handle, buffer)
    return buffer.rstrip(b"\0").decode(errors="replace")
