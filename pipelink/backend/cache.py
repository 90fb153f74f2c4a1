"""Links that were made before. An image is kept under the digest of all that it is made from: the pipeline, the bytes
of its packages, the options, pipelink's own code and the versions of what it runs. Times and paths do not count.
"""

import hashlib
import os
import sys
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import distributions, entry_points
from pathlib import Path

from pipelink.backend.archive import write_atomically

LIMIT = 256  # images; the oldest go
VARIABLE = "PIPELINK_CACHE"
USED = ("xdsl", "z3-solver", "msgspec", "networkx", "nvidia-", "cuda-")
"""Distributions, or the start of their names, that take part in a link."""


@dataclass(frozen=True)
class Entry:
    """The place of one link's image."""

    path: Path

    def read(self) -> bytes | None:
        """The image, or None where none was kept, or it is damaged."""
        from pipelink.backend import image
        from pipelink.ir.diagnostics import PipelinkError

        try:
            image.read(self.path)
            os.utime(self.path)
            return self.path.read_bytes()
        except (OSError, PipelinkError):
            return None

    def write(self, data: bytes) -> None:
        """Keep an image. A cache that cannot be written is none."""
        with suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(self.path, data)
            kept = sorted(self.path.parent.glob("*.plimg"), key=lambda path: path.stat().st_mtime)
            for old in kept[:-LIMIT]:
                old.unlink()


def folder() -> Path:
    """Where images are kept: the user's cache folder, or that of PIPELINK_CACHE."""
    from platformdirs import user_cache_path

    return Path(os.environ[VARIABLE]) if VARIABLE in os.environ else user_cache_path("pipelink") / "links"


def entry(source: Path, search: Sequence[Path], options: Iterable[str]) -> Entry | None:
    """The entry of a link, or None where it must be made: PIPELINK_CACHE is empty, not all inputs are there, or what
    they do is not known by their bytes alone, as with plug-ins or another toolkit."""
    unknown = os.environ.get("PIPELINK_CUDA_HOME") or entry_points(group="pipelink.plugins")
    if unknown or os.environ.get(VARIABLE) == "":
        return None
    try:
        inputs = [("input", source.suffix.encode()), *_inputs(source, search)]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    inputs += [("option", option.encode()) for option in options]
    return Entry(folder() / f"{_digest([*inputs, *_linker()])}.plimg")


def _inputs(source: Path, search: Sequence[Path]) -> Iterator[tuple[str, bytes]]:
    """The manifest and its packages; a module names its packages by digest, and its own text is all."""
    text = source.read_bytes()
    yield "pipeline", text
    if source.suffix != ".toml":
        raise ValueError(source)
    manifest = tomllib.loads(text.decode())
    folders = [source.parent, *(source.parent / f for f in manifest["pipeline"].get("search", ())), *search]
    for name, path in manifest["packages"].items():
        found = [f / path for f in folders if (f / path).is_file()]
        yield name, found[0].read_bytes() if found else b""


def _linker() -> Iterator[tuple[str, bytes]]:
    own = Path(__file__).parents[1]
    for path in sorted(own.rglob("*.py")):
        yield path.relative_to(own).as_posix(), path.read_bytes()
    yield "python", sys.version.encode()
    for made in sorted({f"{d.name} {d.version}" for d in distributions() if d.name.lower().startswith(USED)}):
        yield "uses", made.encode()


def _digest(inputs: Iterable[tuple[str, bytes]]) -> str:
    total = hashlib.sha256()
    for name, data in inputs:
        total.update(f"{name} {len(data)}\n".encode() + data)
    return total.hexdigest()
