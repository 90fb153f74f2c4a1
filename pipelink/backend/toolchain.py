"""The CUDA toolkit that pipelink compiles with: where it is, how its compiler runs, and how its output stays
the same bytes in every folder."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

from pipelink.frontends.contract import FpMode

HOME_VARIABLE = "PIPELINK_CUDA_HOME"


@dataclass(frozen=True)
class Diagnostic:
    """One compiler message; `file` is relative to the compiled folder, `column` is 0 where the tool gave none."""

    file: str
    line: int
    column: int
    severity: str
    message: str

    def __str__(self) -> str:
        position = f"{self.file}:{self.line}" + (f":{self.column}" if self.column else "")
        return f"{position}: {self.severity}: {self.message}"


class ToolError(Exception):
    """A tool is missing or refused its input: one line, what would fix it, and the tool's own words."""

    def __init__(self, message: str, hint: str = "", text: str = "", diagnostics: Sequence[Diagnostic] = ()):
        super().__init__(f"{message} ({hint})" if hint else message)
        self.message = message
        self.hint = hint
        self.text = text
        self.diagnostics = tuple(diagnostics)


@dataclass(frozen=True)
class Toolkit:
    """A CUDA toolkit; `version` is nvcc's, for example "13.5.37"."""

    root: Path
    version: str
    nvcc: Path
    nvdisasm: Path
    cuobjdump: Path

    @property
    def include(self) -> Path:
        return self.root / "include"


# ---- finding the tools ----------------------------------------------------------------------------------------------


def toolkit() -> Toolkit:
    """The toolkit in use: $PIPELINK_CUDA_HOME, else the pip packages of the running interpreter. A toolkit that happens
    to be installed in the system is never taken. Raises ToolError."""
    if chosen := os.environ.get(HOME_VARIABLE):
        return _toolkit_at(Path(chosen).resolve(), "")
    return _toolkit_at(_root(), _version_of_wheel())


def _root() -> Path:
    spec = find_spec("nvidia")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        if (root := Path(folder) / "cu13").is_dir():
            return root.resolve()
    raise ToolError("no CUDA toolkit beside this Python", f"reinstall pipelink, or set {HOME_VARIABLE}")


def _version_of_wheel() -> str:
    """The version of the nvcc wheel, which is nvcc's own; asking nvcc takes a fifth of a second."""
    try:
        return version("nvidia-cuda-nvcc")
    except PackageNotFoundError:
        return ""


@cache
def _toolkit_at(root: Path, known: str) -> Toolkit:
    tools = [root / "bin" / name for name in ("nvcc", "nvdisasm", "cuobjdump")]
    for tool in tools:
        if not os.access(tool, os.X_OK):
            raise ToolError(f"the CUDA toolkit in {root} has no {tool.name}", f"reinstall it, or set {HOME_VARIABLE}")
    return Toolkit(root, known or _version_of(tools[0]), *tools)


def _version_of(nvcc: Path) -> str:
    answer = subprocess.run([nvcc, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"\bV(\d+\.\d+\.\d+)", answer)
    if not found:
        raise ToolError(f"{nvcc} does not state its version", f"reinstall it, or set {HOME_VARIABLE}", answer)
    return found[1]


def require_host_compiler() -> None:
    """nvcc preprocesses with the host compiler. Raises ToolError where there is none."""
    chosen = os.environ.get("NVCC_CCBIN")
    if chosen is None and shutil.which("g++"):
        return
    if chosen is not None and (Path(chosen).is_dir() or shutil.which(chosen)):
        return
    raise ToolError("pl-pack needs a host C++ compiler: install g++ or set NVCC_CCBIN", text=chosen or "")


# ---- running nvcc ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Completed:
    """A finished nvcc run; `text` holds what it printed (warnings), with paths as the caller knows them."""

    args: tuple[str, ...]
    text: str


def run_nvcc(
    args: Sequence[str],
    cwd: Path,
    renames: Mapping[str, str] | None = None,
    env: Mapping[str, str] | None = None,
    base: Path | None = None,
) -> Completed:
    """Run the toolkit's nvcc in `cwd`; `renames` maps path prefixes in its output back to the caller's names, which are
    relative to `base` (by default `cwd`).

    Raises ToolError with the first error as `file:line:col: error: ...`, all of them as `diagnostics`, and the text.
    """
    return _run([str(toolkit().nvcc), *args], cwd, renames or {}, env or {}, base or cwd)


_HIDDEN_INPUTS = ("NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH")


def _run(
    command: Sequence[str], cwd: Path, renames: Mapping[str, str], env: Mapping[str, str], base: Path
) -> Completed:
    require_host_compiler()
    # What a user's shell adds unseen would change the object; messages are parsed, so they are English.
    ambient = {key: value for key, value in os.environ.items() if key not in _HIDDEN_INPUTS}
    try:
        done = subprocess.run(
            command,
            cwd=cwd,
            env=ambient | {"LC_ALL": "C"} | dict(env),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
    except OSError as error:
        raise ToolError(f"nvcc did not start: {error.strerror}") from error
    text = done.stdout
    for prefix, name in sorted(renames.items(), reverse=True):
        text = text.replace(prefix, name)
    if done.returncode == 0:
        return Completed(tuple(command), text)
    found = diagnostics(text, base)
    errors = [d for d in found if "error" in d.severity]
    message = str(errors[0]) if errors else (text.strip().splitlines() or [f"nvcc ended with {done.returncode}"])[0]
    raise ToolError(message, text=text, diagnostics=found)


_NVCC_LINE = re.compile(
    r"^(?P<file>[^\s(][^(]*)\((?P<line>\d+)\): (?P<severity>[a-z ]*(?:error|warning)[^:]*): (?P<m>.*)$"
)
_GCC_LINE = re.compile(
    r"^(?P<file>[^\s:][^:]*):(?P<line>\d+):(?P<column>\d+): (?P<severity>[a-z ]*(?:error|warning)): (?P<m>.*)$"
)


def diagnostics(text: str, base: Path) -> tuple[Diagnostic, ...]:
    """The compiler messages in nvcc's output; `base` is the folder that their file names are relative to.

    The host preprocessor states the column. nvcc's own front end points at the source line after macro expansion, so a
    column is given only where the rest of that line is found in the file.
    """
    found: list[Diagnostic] = []
    lines = text.splitlines()
    for index, line in enumerate(lines):
        if match := _GCC_LINE.match(line):
            column = int(match["column"])
        elif match := _NVCC_LINE.match(line):
            column = _column(base / match["file"], int(match["line"]), lines[index + 1 : index + 4])
        else:
            continue
        found.append(Diagnostic(match["file"], int(match["line"]), column, match["severity"], match["m"]))
    return tuple(found)


def _column(file: Path, line: int, shown: Sequence[str]) -> int:
    for above, caret in pairwise(shown):
        if re.fullmatch(r" *\^ *", caret):
            rest = above[caret.index("^") :].rstrip()
            try:
                true = file.read_text(errors="replace").splitlines()[line - 1].rstrip()
            except (OSError, IndexError):
                return 0
            return len(true) - len(rest) + 1 if rest and true.endswith(rest) else 0
    return 0


# ---- compiling to the same bytes everywhere -------------------------------------------------------------------------

# A folder that every process of one compilation sees under one fixed name, wherever it really is.
_ROOM = "/proc/self/fd/9"
_ENTER_ROOM = 'exec 9<"$0" && cd / && exec "$@"'


@dataclass(frozen=True)
class Compiled:
    """The output of one compilation and what the compiler said (warnings)."""

    data: bytes
    text: str
    warnings: tuple[Diagnostic, ...]


def compile_unit(
    source_dir: Path,
    main_file: str,
    include_dirs: Sequence[Path],
    flags: Sequence[str],
    defines: Mapping[str, str | None] | None = None,
) -> Compiled:
    """Compile `source_dir/main_file` with nvcc; the result depends on the sources and flags, not on folder or time.

    Three things leak into the objects of a plain nvcc call (13.5), and how each is stopped:
    * the absolute path of the source names the translation unit's internal symbols (`_INTERNAL_<hash>_...`): cicc takes
      the relative name instead (`--orig_src_path_name`);
    * cicc stores its working directory and the name of the source in the LTO IR: it runs in `/`, and reads sources
      and includes through an inherited descriptor of a folder of links, so that their names are the same everywhere;
    * `__FILE__`, `__DATE__` and `__TIME__`: a prefix map makes the first relative, SOURCE_DATE_EPOCH fixes the others.

    Raises ToolError; its positions are relative to `source_dir`.
    """
    if not (source_dir / main_file).is_file():
        raise ToolError(f"no source file {main_file} in {source_dir}")
    with tempfile.TemporaryDirectory(prefix="pipelink-") as name:
        room = Path(name)
        (room / "source").symlink_to(source_dir.resolve())
        for index, folder in enumerate(include_dirs):
            (room / f"include{index}").symlink_to(folder.resolve())
        (room / "tmp").mkdir()
        links = [f"{_ROOM}/include{index}" for index in range(len(include_dirs))]
        renames = {f"{_ROOM}/source/": "", **{f"{link}/": f"{d}/" for link, d in zip(links, include_dirs, strict=True)}}
        installed = toolkit()
        prefixes = [f"{_ROOM}/source/", *(f"{link}/" for link in links), f"{installed.root}/bin/../include/"]
        command = [
            "/bin/sh",
            "-c",
            _ENTER_ROOM,
            name,
            str(installed.nvcc),
            *flags,
            *(f"-D{key}" if value is None else f"-D{key}={value}" for key, value in (defines or {}).items()),
            *(part for file in ("path", "file") for part in ("-Xcicc", f"--orig_src_{file}_name={main_file}")),
            *(part for prefix in prefixes for part in ("-Xcompiler", f"-fmacro-prefix-map={prefix}=")),
            *(f"-I{link}" for link in links),
            "-o",
            f"{_ROOM}/object",
            f"{_ROOM}/source/{main_file}",
        ]
        env = {"TMPDIR": f"{name}/tmp", "SOURCE_DATE_EPOCH": "0"}
        done = _run(command, room, renames, env, source_dir)
        return Compiled((room / "object").read_bytes(), done.text, diagnostics(done.text, source_dir))


_LANGUAGE = ("-std=c++17", "-O3")


def lto_flags(target: str, fp: FpMode | None = None) -> tuple[str, ...]:
    """The flags of an LTO object: a fatbin that holds LTO IR only and states its architecture and FP mode. Without `fp`
    the mode is nvcc's default or what later flags (`-use_fast_math`) say."""
    gencode = f"-gencode=arch={target.replace('sm_', 'compute_')},code={target.replace('sm_', 'lto_')}"
    return (*_LANGUAGE, "-rdc=true", "-fatbin", gencode, *(fp.nvcc_flags() if fp else ()))


def cubin_flags(target: str, rdc: bool, fp: FpMode | None = None) -> tuple[str, ...]:
    """The flags of a cubin: relocatable (`rdc`) or a whole program. `fp` as for `lto_flags`."""
    gencode = f"-gencode=arch={target.replace('sm_', 'compute_')},code={target}"
    return (*_LANGUAGE, *(["-rdc=true"] if rdc else []), "-cubin", gencode, *(fp.nvcc_flags() if fp else ()))


def compile_lto(
    source_dir: Path,
    main_file: str,
    include_dirs: Sequence[Path] = (),
    target: str = "sm_90a",
    defines: Mapping[str, str | None] | None = None,
    flags: Sequence[str] = (),
    fp: FpMode | None = None,
) -> bytes:
    """Compile one source file to an LTO object (a fatbin). `flags` come last. Raises ToolError."""
    return compile_unit(source_dir, main_file, include_dirs, [*lto_flags(target, fp), *flags], defines).data


def compile_cubin(
    source_dir: Path,
    main_file: str,
    include_dirs: Sequence[Path] = (),
    target: str = "sm_90a",
    defines: Mapping[str, str | None] | None = None,
    flags: Sequence[str] = (),
    fp: FpMode | None = None,
    *,
    rdc: bool,
) -> bytes:
    """Compile one source file to machine code: relocatable for the annotation pass, whole for the plain nvcc control.
    `flags` come last. Raises ToolError."""
    return compile_unit(source_dir, main_file, include_dirs, [*cubin_flags(target, rdc, fp), *flags], defines).data
