"""The host provider: C beside the component, compiled to a freestanding shared library that links nothing."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from pipelink.backend import toolchain
from pipelink.frontends.cuda.sources import prerequisites
from pipelink.ir.diagnostics import Diagnostic, PipelinkError, Place, fail

_FLAGS = ("-shared", "-fPIC", "-O2", "-ffreestanding", "-nostdlib", "-fvisibility=default", "-fno-stack-protector")
# A provider leaves nothing to be found at load time, and its bytes depend on its source only.
_LINK = ("-Wl,-z,defs", "-Wl,--build-id=none", "-Wl,--hash-style=gnu", "-Wl,-s")


def abi(headers: Path) -> int:
    """The version of the interface that a provider compiled against these headers has."""
    match = re.search(r"^#define PL_PROVIDER_ABI (\d+)$", (headers / "pipelink" / "provider.h").read_text(), re.M)
    if match is None:
        raise fail("L-TOOL", f"{headers} has no pipelink/provider.h of a known form", hint="reinstall pipelink-runtime")
    return int(match[1])


def build(folder: Path, file: str, symbol: str, includes: Sequence[Path], at: Place) -> tuple[bytes, tuple[Path, ...]]:
    """Compile `folder/file`: the bytes of `provider.so`, and the files that they were made from.

    Raises PipelinkError: L-FILE for no such file in the folder, L-TOOL without a C compiler, L-COMPILE with the
    compiler's own places, L-ANNOTATION where the file does not define `symbol`.
    """
    if Path(file).name != file or not (folder / file).is_file():
        raise fail("L-FILE", f"the provider's source {file} does not lie beside the component", at)
    compiler = os.environ.get("CC") or "cc"
    if not shutil.which(compiler):
        raise fail("L-TOOL", "a host provider needs a C compiler", at, hint="install gcc or clang, or set CC")
    with tempfile.TemporaryDirectory(prefix="pipelink-") as name:
        output, rule = Path(name) / "provider.so", Path(name) / "provider.d"
        mapped = f"-ffile-prefix-map={folder.resolve()}=."
        paths = [f"-I{include.resolve()}" for include in includes]
        command = [compiler, *_FLAGS, mapped, *paths, "-MMD", "-MF", str(rule), file, *_LINK, "-o", str(output)]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=_environment())
        if done.returncode:
            raise PipelinkError(*_explain(done.stderr, folder, file))
        data, read = output.read_bytes(), tuple(prerequisites(rule.read_text(), folder))
    if not _defines(data, symbol):
        raise fail("L-ANNOTATION", f"PL_PROVIDER({symbol}): {file} does not define `{symbol}`", at)
    return data, read


def _defines(library: bytes, symbol: str) -> bool:
    from elftools.elf.elffile import ELFFile

    table: Any = ELFFile(BytesIO(library)).get_section_by_name(".dynsym")
    return any(found["st_shndx"] != "SHN_UNDEF" for found in table.get_symbol_by_name(symbol) or ())


def _environment() -> dict[str, str]:
    return {**os.environ, "LC_ALL": "C", "SOURCE_DATE_EPOCH": "0"}


def _explain(text: str, folder: Path, file: str) -> list[Diagnostic]:
    found = [d for d in toolchain.diagnostics(text, folder) if "error" in d.severity]
    if missing := sorted(set(re.findall(r"undefined reference to `([^']+)'", text))):
        what = ", ".join(missing)
        return [
            Diagnostic(
                "L-COMPILE",
                f"the provider calls {what}, but links nothing",
                Place(file),
                hint="call only what its services lend",
            )
        ]
    if not found:
        return [Diagnostic("L-COMPILE", (text.strip().splitlines() or ["the host compiler failed"])[0], Place(file))]
    return [Diagnostic("L-COMPILE", d.message, Place(d.file, d.line, d.column)) for d in found]
