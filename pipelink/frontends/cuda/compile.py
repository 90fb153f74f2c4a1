"""The two compilations of a component and the words for what goes wrong in them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pipelink.backend import toolchain
from pipelink.frontends.cuda.sources import Sources
from pipelink.ir.diagnostics import Diagnostic, PipelinkError, Place, fail

_TARGET = re.compile(r"sm_\d{2,3}[af]?")


@dataclass(frozen=True)
class Build:
    """How a component is compiled: its target ("sm_90a"), include folders, nvcc's flags with the definitions."""

    target: str
    includes: tuple[Path, ...]
    flags: tuple[str, ...]

    def check(self) -> None:
        """Raise PipelinkError for a target that is none (L-TARGET), -G (L-DEBUG), a missing compiler (L-TOOL)."""
        if not _TARGET.fullmatch(self.target):
            number = re.fullmatch(r"(?:lto|compute|sm)_(\d{2,3}[af]?)", self.target)
            raise fail(
                "L-TARGET",
                f"`{self.target}` is no target",
                hint=f"--target sm_{number[1] if number else '90a'}",
            )
        if {"-G", "--device-debug"} & set(self.flags):
            raise fail("L-DEBUG", "-G keeps no LTO IR", hint="leave -G out; -lineinfo is allowed")
        try:
            toolchain.toolkit()
            toolchain.require_host_compiler()
        except toolchain.ToolError as error:
            raise fail("L-TOOL", error.message, hint=error.hint) from None


def annotations(sources: Sources, build: Build) -> bytes:
    """The relocatable cubin of the annotation pass. Raises PipelinkError."""
    flags = [*_without_fp(toolchain.cubin_flags(build.target, rdc=True)), *build.flags]
    return _compile(sources, build, flags, {"PL_PACK": None})


def lto_object(sources: Sources, build: Build) -> bytes:
    """The LTO object. Raises PipelinkError."""
    return _compile(sources, build, [*_without_fp(toolchain.lto_flags(build.target)), *build.flags], {})


def _without_fp(flags: Sequence[str]) -> list[str]:
    """The FP mode is the user's: -use_fast_math contradicts explicit flags."""
    defaults = toolchain.FpMode().nvcc_flags()
    return [flag for flag in flags if flag not in defaults]


def _compile(sources: Sources, build: Build, flags: list[str], defines: dict[str, str | None]) -> bytes:
    try:
        return toolchain.compile_unit(sources.folder, sources.main, build.includes, flags, defines).data
    except toolchain.ToolError as error:
        raise PipelinkError(*explain(error, sources, build.target)) from None


def explain(error: toolchain.ToolError, sources: Sources, target: str) -> list[Diagnostic]:
    """A failed nvcc run as errors of the source."""
    missing = sorted(
        set(re.findall(r"(?:Instruction|Feature) '([^']+)'[^\n]* (?:not supported on|requires) \.target", error.text))
    )
    if missing:
        hint = f"--target {target}a" if target[-1].isdigit() else ""
        found = [(name, sources.find(name) or Place(sources.main)) for name in missing]
        return [Diagnostic("L-FEATURE", f"{target} has no `{name}`", at, hint=hint) for name, at in found]
    if "Unsupported gpu architecture" in error.text:
        return [Diagnostic("L-TARGET", f"nvcc knows no target {target}")]
    said = [d for d in error.diagnostics if "error" in d.severity]
    if not said:
        return [Diagnostic("L-COMPILE", error.message, Place(sources.main))]
    return [Diagnostic("L-COMPILE", d.message, Place(d.file, d.line, d.column), (), _hint(d.message)) for d in said]


def _hint(message: str) -> str:
    handle = re.match(r'identifier "plh_\w+?__(\w+)" is undefined', message)
    return f"declare the handle `{handle[1]}` above: with its claim, its ring or PL_WARP" if handle else ""
