"""A component's source files, the main one and the headers of its own folder: for places and for shipping."""

import os
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pipelink.backend import toolchain
from pipelink.frontends import package
from pipelink.ir.diagnostics import Place, fail


@dataclass(frozen=True)
class Sources:
    """`files` are the texts by name relative to `folder`, the main file first; `dependencies` all files that the
    compiler reads, but for the toolkit's."""

    folder: Path
    main: str
    files: dict[str, bytes]
    dependencies: tuple[Path, ...]

    def find(self, word: str, beside: str = "") -> Place | None:
        """The first line with this word, on a line with `beside`; no place where the source does not spell it."""
        pattern = re.compile(rf"\b{re.escape(word)}\b")
        for name, data in self.files.items():
            for number, line in enumerate(data.decode(errors="replace").splitlines(), 1):
                if beside in line and (match := pattern.search(line)):
                    return Place(name, number, match.start() + 1)
        return None


def check_name(name: str, path: Path) -> None:
    """Raise PipelinkError (L-FILE) for a name that a package cannot hold."""
    if not package.SOURCE_MEMBER.fullmatch(package.SOURCE + name):
        raise fail("L-FILE", f"{path}: a source's name consists of letters, digits and `_.+-`")


def read(path: Path) -> bytes:
    """The bytes of a file. Raises PipelinkError (L-FILE)."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise fail("L-FILE", f"{path}: {error.strerror or error}") from None


def collect(path: Path, headers: Path, includes: Sequence[Path], flags: Sequence[str]) -> Sources:
    """The sources of the component whose main file is `path`; `headers` is the folder of pipelink's own, never shipped.

    Raises PipelinkError (L-FILE), and ToolError of nvcc where it cannot preprocess.
    """
    folder, main = path.parent, path.name
    found = {main: read(path)}
    with tempfile.TemporaryDirectory(prefix="pipelink-") as name:
        rule = Path(name) / "rule"
        folders = (f"-I{i.resolve()}" for i in (headers, *includes))
        toolchain.run_nvcc(["-std=c++17", "-MM", "-MF", str(rule), "-DPL_PACK", *folders, *flags, main], folder)
        listed = rule.read_text()
    root = toolchain.toolkit().root.resolve()
    dependencies = [path for path in prerequisites(listed, folder) if not path.resolve().is_relative_to(root)]
    for dependency in sorted(dependencies):
        if (relative := _within(dependency, folder)) and not _within(dependency, headers):
            check_name(relative, dependency)
            found.setdefault(relative, read(dependency))
    return Sources(folder, main, found, tuple(dict.fromkeys([path, *sorted(dependencies)])))


def prerequisites(rule: str, folder: Path) -> list[Path]:
    """The files that a make rule of a compiler run in `folder` lists after its target."""
    text = rule.partition(":")[2].replace("\\\n", " ")
    return [folder / name.replace("\\ ", " ") for name in re.findall(r"(?:[^\s\\]|\\.)+", text)]


def _within(path: Path, folder: Path) -> str:
    """The name of `path` relative to `folder`, links not followed; empty where it lies elsewhere."""
    absolute, root = Path(os.path.abspath(path)), Path(os.path.abspath(folder))
    return absolute.relative_to(root).as_posix() if absolute.is_relative_to(root) else ""
