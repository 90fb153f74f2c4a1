"""Compile generated CUDA without headers to LTO IR in this process: no host compiler and no files."""

import importlib
from collections.abc import Sequence
from typing import Any

from pipelink.backend.toolchain import FpMode, ToolError


def _binding() -> Any:  # the bindings have no type stubs: Any stays in this file
    try:
        return importlib.import_module("cuda.bindings.nvrtc")
    except ImportError as error:
        raise ToolError("cuda-bindings is not installed", "reinstall pipelink") from error


def library() -> tuple[str, tuple[int, int]]:
    """Path and version of the NVRTC in use. Raises ToolError."""
    nvrtc = _binding()
    status, major, minor = nvrtc.nvrtcVersion()
    if int(status):
        raise ToolError(f"NVRTC does not state its version: {status.name}")
    path: Any = importlib.import_module("cuda.pathfinder").load_nvidia_dynamic_lib("nvrtc").abs_path
    return str(path), (int(major), int(minor))


def compile_ltoir(
    source: str, target: str = "sm_90a", name: str = "generated.cu", fp: FpMode | None = None, flags: Sequence[str] = ()
) -> bytes:
    """Compile `source` to LTO IR for `target`; `name` stands in messages. Raises ToolError with NVRTC's log."""
    nvrtc = _binding()
    options = [f"-arch={target}", "-dlto", "-rdc=true", "-std=c++17", *(fp or FpMode()).nvcc_flags(), *flags]
    program = _checked(nvrtc.nvrtcCreateProgram(source.encode(), name.encode(), 0, [], []))
    try:
        encoded = [option.encode() for option in options]
        (status,) = nvrtc.nvrtcCompileProgram(program, len(encoded), encoded)
        if int(status):
            log = _log(nvrtc, program)
            first = next((line for line in log.splitlines() if "error" in line), status.name)
            raise ToolError(f"generated CUDA does not compile: {first}", text=log)
        data = bytearray(_checked(nvrtc.nvrtcGetLTOIRSize(program)))
        # The binding fills a bytes object of this size in place; a mutable buffer is refused.
        image = bytes(data)
        _checked(nvrtc.nvrtcGetLTOIR(program, image))
        return image
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def _checked(answer: Any) -> Any:
    if int(answer[0]):
        raise ToolError(f"NVRTC failed: {answer[0].name}")
    return answer[1] if len(answer) > 1 else None


def _log(nvrtc: Any, program: Any) -> str:
    buffer = bytes(_checked(nvrtc.nvrtcGetProgramLogSize(program)))
    _checked(nvrtc.nvrtcGetProgramLog(program, buffer))
    return buffer.rstrip(b"\0").decode(errors="replace")
