"""The documentation is true: its examples run and print what they say, its generated sections are those of the code.

A `console` block holds commands (`$ ...`) with what they print; `...` stands for anything, on a line of its own for any
lines. A `cpp`, `c`, `toml`, `python` or `mlir` block is a file, named by its first line, that the commands of its page
use. Generated sections are compared whole. `text` is for what cannot run: diagrams and forms.
"""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# docs/gemm_swiglu.md reports measurements: what made them needs a GPU, and its tables come from result files.
PAGES = [ROOT / "README.md", *sorted(p for p in (ROOT / "docs").glob("*.md") if p.name != "gemm_swiglu.md")]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
GENERATED = re.compile(r"<!-- generated: [\w-]+ -->.*?<!-- end -->", re.DOTALL)
FILES = ("cpp", "c", "toml", "python", "mlir")
FIRST_LINE = re.compile(r"(?://|#|/\*) (\w[\w./-]*\.\w+)(?: \*/)?")
LINK = re.compile(r"\]\(([^)#\s]+)?(#[^)\s]+)?\)")


@dataclass(frozen=True)
class Block:
    """A fenced block of a page; `line` is that of its fence."""

    language: str
    text: str
    line: int

    @property
    def file(self) -> str:
        """The file that the block is, or "" where its first line names none."""
        named = FIRST_LINE.fullmatch(self.text.partition("\n")[0])
        return named[1] if named and self.language in FILES else ""

    def commands(self) -> list[tuple[str, str]]:
        """(command, expected output) of a console block; a command goes on after a backslash."""
        parts = re.split(r"^\$ ", self.text.replace("\\\n", ""), flags=re.MULTILINE)
        assert not parts[0].strip(), f"line {self.line}: output before any command"
        return [(command, output) for command, _, output in (part.partition("\n") for part in parts[1:])]


def blocks(page: Path) -> list[Block]:
    text = GENERATED.sub(lambda m: "\n" * m[0].count("\n"), page.read_text())
    return [Block(m[1], m[2], text.count("\n", 0, m.start()) + 1) for m in BLOCK.finditer(text)]


def matches(expected: str, printed: str) -> bool:
    """Whether `printed` is what `expected` says; spaces at the ends of lines do not count."""
    want, have = ("\n".join(line.rstrip() for line in text.strip("\n").splitlines()) for text in (expected, printed))
    pattern = ""
    for line in want.splitlines():
        pattern += r"(?:.*\n)*?" if line.strip() == "..." else re.escape(line).replace(r"\.\.\.", ".*?") + r"\n"
    return re.fullmatch(pattern, have + "\n" if have else "") is not None


def run(command: str, folder: Path) -> tuple[int, str]:
    environment = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "FORCE_COLOR")}
    path = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=folder,
        env={**environment, "PATH": path, "PYTHONIOENCODING": "utf-8"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def _id(page: Path) -> str:
    return page.stem.lower()


@pytest.mark.parametrize("page", PAGES, ids=_id)
def test_examples_run(page: Path, project: Path, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    shutil.copytree(project, folder)
    for block in blocks(page):
        if block.file:
            (folder / block.file).parent.mkdir(parents=True, exist_ok=True)
            (folder / block.file).write_text(block.text)
        for command, expected in block.commands() if block.language == "console" else ():
            status, printed = run(command, folder)
            where = f"{page.name}:{block.line}: $ {command}\n{printed}"
            assert matches(expected, printed), where
            assert status == 0 or "error" in expected, f"status {status}: {where}"


@pytest.mark.parametrize("page", PAGES, ids=_id)
def test_no_block_is_left_out(page: Path) -> None:
    """Every block is a console session, a file that a session or another file of its page names, or plain text."""
    found = blocks(page)
    assert len(re.findall(r"^```", page.read_text(), re.MULTILINE)) % 2 == 0
    for block in found:
        assert block.language in ("console", "text", *FILES), f"{page.name}:{block.line}: `{block.language}`"
        if block.language in FILES:
            assert block.file, f"{page.name}:{block.line}: the first line names no file"
            name = Path(block.file).name
            users = [b.text for b in found if b is not block and b.language != "text"]
            assert any(name in text for text in users), f"{page.name}:{block.line}: nothing uses {name}"
        if block.language == "console":
            assert block.commands()


@pytest.mark.parametrize("page", PAGES, ids=_id)
def test_links_lead_somewhere(page: Path) -> None:
    for match in LINK.finditer(re.sub(r"`[^`\n]*`", "", page.read_text())):
        file, anchor = match[1], match[2]
        if file and "://" in file:
            continue
        target = (page.parent / file).resolve() if file else page
        assert target.exists(), f"{page.name}: no {file}"
        if anchor and target.suffix == ".md":
            assert anchor[1:] in anchors(target), f"{page.name}: {target.name} has no {anchor}"


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", BLOCK.sub("", page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_generated_sections_are_up_to_date() -> None:
    status, printed = run(f"{sys.executable} docs/generate.py --check", ROOT)
    assert status == 0, printed


@pytest.mark.parametrize(
    ("expected", "printed", "fits"),
    [
        ("a\n...\nd\n", "a\nb\nc\nd\n", True),
        ("a\n...\nd\n", "a\nd\n", True),
        ("a ... d\n", "a b c d   \n", True),
        ("a\n", "a\nb\n", False),
        ("", "", True),
        ("", "a\n", False),
        ("...\n", "a\nb\n", True),
        ("a.b\n", "axb\n", False),
    ],
)
def test_the_matcher_can_fail(expected: str, printed: str, fits: bool) -> None:
    assert matches(expected, printed) is fits
