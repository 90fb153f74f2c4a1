"""The two single-unit controls of a link: all sources and the generated code in one file.

`lto` sends that file down the same path as the link; it must come out the same in every section. `plain` is written as
a person would: decisions are macros, the parameters a struct, and plain nvcc compiles it; it is an independent measure.
A control proves that linking cost nothing. It proves nothing about correctness, since both sides share the contracts.
"""

import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pipelink.backend import cuda, nvjitlink, toolchain
from pipelink.backend.compare import Comparison, compare
from pipelink.backend.link import Linked, fp_mode
from pipelink.frontends.contract import Contract, counter_handles, ring_handles
from pipelink.frontends.package import Package
from pipelink.ir.diagnostics import fail
from pipelink.ir.locations import place_of
from pipelink.ir.pl import PipelineOp, StubOp
from pipelink.ir.symbols import Symbols

HEADER = "#define PL_PACKAGE control\n#include <pipelink/contract.cuh>\n#undef PL_PACKAGE\n"
INCLUDE = re.compile(rb"^\s*#\s*include\s*(<[^>]+>)", re.MULTILINE)
SOURCE = "source/"


@dataclass(frozen=True)
class Control:
    """What the two controls gave, and their texts by file name."""

    lto: Comparison
    plain: Comparison
    files: Mapping[str, bytes]

    def summary(self) -> str:
        """`control: identical`, or how many instructions differ and the first of them; then the plain control's."""
        return f"control: {describe(self.lto)}\nplain nvcc control: {describe(self.plain)}"


def describe(comparison: Comparison) -> str:
    if comparison.identical:
        return "identical"
    sections = ", ".join(comparison.differing_sections)
    return f"{comparison.instructions} instructions differ ({comparison.first or sections})"


def _defines(contract: Contract) -> Iterator[tuple[str, str]]:
    """The -D flags that the package was compiled with, as (name, value)."""
    for flag in contract.flags:
        if flag.startswith("-D"):
            name, _, value = flag[2:].partition("=")
            yield name, value or "1"


def _handles(contract: Contract) -> Iterator[str]:
    """Every handle that the package declares, those of dropped exports included."""
    yield from (c.name for c in contract.claims)
    yield from (w.name for w in contract.warp_handles)
    for ring in contract.rings:
        yield from ring_handles(ring.name)
    for counter in contract.counters:
        yield from counter_handles(counter.name)


def _macros(packages: Mapping[str, Package], pipeline: PipelineOp) -> str:
    """The decisions as macros; a handle that only dropped code reads is 0."""
    placed = {s.symbol.data: s.value.value.data for s in Symbols(pipeline).ops(StubOp)}
    lines = ["#define PL_DIRECT"]
    for name, package in sorted(packages.items()):
        for handle in _handles(package.contract):
            lines.append(f"#define PLV_{name}__{handle} {placed.get(f'plh_{name}__{handle}', 0)}u")
    return "\n".join(lines) + "\n"


def unit(packages: Mapping[str, Package], pipeline: PipelineOp, generated: str, direct: bool) -> str:
    """The single unit: headers at global scope, each package's source in a namespace of its own, the generated code."""
    sources = [d for p in packages.values() for n, d in sorted(p.members.items()) if n.startswith(SOURCE)]
    headers = sorted({m.decode() for data in sources for m in INCLUDE.findall(data)} - {"<pipelink/contract.cuh>"})
    parts = [_macros(packages, pipeline)] if direct else []
    parts += [HEADER, "".join(f"#include {h}\n" for h in headers)]
    for name, package in sorted(packages.items()):
        defines = dict(_defines(package.contract))
        body = [f"#define {k} {v}" for k, v in defines.items()]
        body += [f"namespace {cuda.namespace(name)} {{", f'#include "{name}/{package.contract.main}"', "}"]
        body += [f"#undef {k}" for k in ("PL_PACKAGE", *defines)]
        parts.append("\n".join(body) + "\n")
    return "\n".join([*parts, generated])


def _write_sources(folder: Path, packages: Mapping[str, Package]) -> None:
    for name, package in packages.items():
        for member, data in package.members.items():
            if member.startswith(SOURCE):
                path = folder / name / member.removeprefix(SOURCE)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data + f"// {name}\n".encode())  # or `#pragma once` takes equal files for one


def _compile(folder: Path, name: str, linked: Linked, headers: Path) -> bytes:
    """One of the two units to a cubin: `lto.cu` through LTO IR and nvJitLink, `plain.cu` by nvcc alone."""
    target, fp = linked.pipeline.target.data, fp_mode(linked.pipeline)
    if name == "plain.cu":
        return toolchain.compile_cubin(folder, name, [headers], target, fp=fp, rdc=False)
    data = toolchain.compile_lto(folder, name, [headers], target, fp=fp)
    return nvjitlink.link([nvjitlink.Input(name, "fatbin", data)], target, fp).cubin


def require_sources(packages: Mapping[str, Package], pipeline: PipelineOp) -> None:
    """Raises PipelinkError where a package carries no source."""
    if lacking := [n for n, p in packages.items() if f"{SOURCE}{p.contract.main}" not in p.members]:
        message = f"no control: packages without source: {', '.join(lacking)}"
        raise fail("L-CONTROL", message, place_of(pipeline), hint="pack them without --no-source")


def build(linked: Linked, headers: Path) -> Control:
    """Build and compare both controls, at the same time. `headers` is the folder of pipelink's device headers.

    Raises PipelinkError where a package carries no source, or a unit does not compile.
    """
    from concurrent.futures import ThreadPoolExecutor

    require_sources(linked.packages, linked.pipeline)
    units = {
        "lto.cu": unit(linked.packages, linked.pipeline, cuda.generate(linked.module), direct=False),
        "plain.cu": unit(linked.packages, linked.pipeline, cuda.generate(linked.module, direct=True), direct=True),
    }
    with tempfile.TemporaryDirectory(prefix="pipelink-") as name:
        folder = Path(name)
        _write_sources(folder, linked.packages)
        for file, text in units.items():
            (folder / file).write_text(text)
        try:
            with ThreadPoolExecutor(2) as pool:
                jobs = [pool.submit(_compile, folder, file, linked, headers) for file in units]
                cubins = [job.result() for job in jobs]
        except toolchain.ToolError as error:
            raise fail("L-CONTROL", error.message, place_of(linked.pipeline), hint=error.hint) from None
        except nvjitlink.LinkError as error:
            raise fail("L-CONTROL", str(error), place_of(linked.pipeline)) from None
    files = {
        **{f"control/{file}": text.encode() for file, text in units.items()},
        "control/lto.cubin": cubins[0],
        "control/plain.cubin": cubins[1],
        **{
            f"control/{n}/{m.removeprefix(SOURCE)}": data
            for n, p in linked.packages.items()
            for m, data in p.members.items()
            if m.startswith(SOURCE)
        },
    }
    return Control(compare(linked.cubin, cubins[0]), compare(linked.cubin, cubins[1]), files)
