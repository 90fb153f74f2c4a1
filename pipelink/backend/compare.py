"""Compare two cubins: the same file, the same in every section that matters, or how far apart."""

from dataclasses import dataclass
from typing import Literal

from pipelink.backend import cubin, sass

# Names the tools and their command lines; nothing that runs depends on it.
IGNORED = ".note.nv.tkinfo"


@dataclass(frozen=True)
class Comparison:
    """`instructions` counts the differing ones over all kernels, `first` shows the first of them (in `first_kernel`);
    `differing_sections` may be data as well as code."""

    kind: Literal["identical file", "identical sections", "different"]
    differing_sections: tuple[str, ...] = ()
    instructions: int = 0
    first: str = ""

    @property
    def identical(self) -> bool:
        return self.kind != "different"


def compare(a: bytes, b: bytes) -> Comparison:
    """Compare two cubins. Raises cubin.CubinError where one is none, toolchain.ToolError where nvdisasm fails."""
    if a == b:
        return Comparison("identical file")
    left, right = _contents(a), _contents(b)
    differing = tuple(sorted(name for name in left.keys() | right.keys() if left.get(name) != right.get(name)))
    if not set(differing) - {IGNORED}:
        return Comparison("identical sections", differing)
    count, first = 0, ""
    if any(name.startswith(".text.") for name in differing):
        count, first = _instructions(a, b)
    return Comparison("different", differing, count, first)


def _contents(data: bytes) -> dict[str, tuple[tuple[int, int, bytes], ...]]:
    sections = cubin.read(data).sections
    contents: dict[str, tuple[tuple[int, int, bytes], ...]] = {}
    for section in sections:
        contents[section.name] = (*contents.get(section.name, ()), (section.type, section.size, section.data))
    return contents


def _instructions(a: bytes, b: bytes) -> tuple[int, str]:
    left, right = sass.disassemble(a), sass.disassemble(b)
    total, first = 0, ""
    for kernel in sorted(left.keys() | right.keys()):
        listings = [[str(i) for i in code[kernel].instructions] if kernel in code else [] for code in (left, right)]
        count, difference = sass.diff_instructions(*listings)
        total += count
        if difference and not first:
            first = f"{kernel}: {difference}"
    return total, first
