"""Make what the GPU machine measures, on a machine with the compiler: images, controls, planted faults.

python3 -m bench.prepare MANIFEST... -o FOLDER

For each manifest: NAME.plimg as pl-link makes it; NAME.control-LABEL.plimg with the kernel of a single-unit control;
NAME.plant-LABEL.plimg with a wrong kernel, which the comparator must reject; NAME.TOOL-LABEL.plimg with a fault that
this tool of compute-sanitizer must find. The faults are edits of the plain control's source.
"""

import argparse
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from bench import images


class Edit(Protocol):
    """Plants a fault in the source; None where it does not fit."""

    __name__: str

    def __call__(self, text: str) -> str | None: ...


CONTROLS = ("lto", "plain")


def replace(text: str, old: str, new: str) -> str | None:
    """`text` with the only occurrence of `old` replaced, or None if there is none. Raises ValueError for several."""
    if text.count(old) > 1:
        raise ValueError(f"{old!r} occurs {text.count(old)} times")
    return text.replace(old, new) if old in text else None


def macro(text: str, name: str) -> str | None:
    """The value of a decision: the macro PLV_`name`."""
    found = re.search(rf"^#define PLV_{name} (\d+)u$", text, re.MULTILINE)
    return found and found[1]


def set_macro(text: str, name: str, value: str) -> str | None:
    old = macro(text, name)
    return old and replace(text, f"#define PLV_{name} {old}u\n", f"#define PLV_{name} {value}u\n")


def constant(text: str) -> str | None:
    """One stub constant: the consumer reads one operand eight rows too early, inside the block's shared memory."""
    bases = {name: int(macro(text, name) or 0) for name in ("mainloop__a", "mainloop__b")}
    later = max(bases, key=lambda name: bases[name])
    return set_macro(text, later, str(bases[later] - 1024)) if bases[later] >= 1024 else None


def transfer(text: str) -> str | None:
    """One transfer index: the import delivers another register than demanded."""
    return replace(text, "frame[66]", "frame[68]")


def coordinate(text: str) -> str | None:
    """The trampoline exchanges the coordinates of the tile."""
    return replace(text, "->load, a0, a1)", "->load, a1, a0)")


def overlap(text: str) -> str | None:
    """The memory that the audit guards lies on the ring."""
    ring = macro(text, "load__a")
    return ring and set_macro(text, "audit__guarded", ring)


def unordered(text: str) -> str | None:
    """The import reads the scratch without waiting for its writers."""
    edited, count = re.subn(r"^ *pl_sync_cta\([^)]*\);  // the stores are visible\n", "", text, flags=re.MULTILINE)
    return edited if count == 1 else None


def outside(text: str) -> str | None:
    """The output tile lies past the end of the kernel's shared memory."""
    edits = (set_macro(text, f"{package}__out", str(224 << 10)) for package in ("swiglu", "swiglu_fragment"))
    return next(filter(None, edits), None)


def divergent(text: str) -> str | None:
    """One lane of each warp skips the barrier of the whole block."""
    return replace(text, "  __syncthreads();\n", "  if (threadIdx.x % 32 != 31) __syncthreads();\n")


FAULTS: dict[str, Sequence[Edit]] = {
    images.PLANT: (constant, transfer, coordinate, overlap),
    "memcheck": (outside,),
    "racecheck": (unordered,),
    "synccheck": (divergent,),
}


def faults(text: str) -> Iterator[tuple[str, str, str]]:
    """Every fault that fits the source, as (kind, label, edited source)."""
    for kind, edits in FAULTS.items():
        for edit in edits:
            edited = edit(text)
            if edited is not None:
                yield kind, edit.__name__, edited


def compile_plain(keep: Path, text: str) -> bytes:
    """The machine code of an edited plain control; `keep` holds the sources that it includes. Raises ToolError."""
    from pipelink.backend import toolchain
    from pipelink.frontends.cuda.pack import headers

    (keep / "fault.cu").write_text(text)
    return toolchain.compile_cubin(keep, "fault.cu", [headers()], rdc=False)


def link(manifest: Path, image: Path, keep: Path) -> None:
    """Run pl-link with controls. Raises CalledProcessError."""
    command = [sys.executable, "-m", "pipelink.tools.pl_link", str(manifest), "-o", str(image), "--control"]
    subprocess.run([*command, "--keep", str(keep)], check=True)


def prepare(manifest: Path, folder: Path, keep: Path) -> list[Path]:
    """Everything for one manifest; returns the files made."""
    name = manifest.stem
    image = folder / f"{name}.plimg"
    link(manifest, image, keep)
    linked = image.read_bytes()
    cubins = {(images.CONTROL, label): (keep / "control" / f"{label}.cubin").read_bytes() for label in CONTROLS}
    for kind, label, edited in faults((keep / "control" / "plain.cu").read_text()):
        cubins[kind, label] = compile_plain(keep / "control", edited)
    made = [image]
    for (kind, label), cubin in cubins.items():
        path = folder / images.file_name(name, kind, label)
        path.write_bytes(images.with_cubin(linked, cubin))
        made.append(path)
    return made


def command(
    module: str, doc: str | None, make: Callable[[Path, Path, Path], Iterable[object]], args: Sequence[str] | None
) -> int:
    """The command line of `module`: `make(manifest, folder, keep)` for each manifest, a line for each thing told."""
    parser = argparse.ArgumentParser(module, description=doc)
    parser.add_argument("manifests", type=Path, nargs="+")
    parser.add_argument("-o", "--output", type=Path, required=True, help="a folder; images that it holds are removed")
    parser.add_argument("--keep", type=Path, required=True, help="a folder for sources and single units")
    given = parser.parse_args(args)
    given.output.mkdir(parents=True, exist_ok=True)
    for stale in given.output.glob("*.plimg"):
        stale.unlink()
    for manifest in given.manifests:
        for told in make(manifest, given.output, given.keep / manifest.stem):
            print(told, flush=True)
    return 0


def main(args: Sequence[str] | None = None) -> int:
    return command("bench.prepare", __doc__, prepare, args)


if __name__ == "__main__":
    raise SystemExit(main())
