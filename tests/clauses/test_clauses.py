"""Every clause of the catalogue, as a pair of inputs that differ in one place: `fail`, the example of the catalogue, is
refused by exactly that clause, and `pass` is refused by none. A clause without its pair fails.

An input is a pipeline as IR or manifest, a component, or commands in a folder that holds the files below.
"""

import os
import re
import subprocess
import sys
from difflib import SequenceMatcher
from pathlib import Path

import pytest
import samples
from samples import built, contracts, pl_opt, printed, write_packages

from pipelink.frontends.cuda.pack import Request, pack
from pipelink.ir.clauses import CATALOGUE
from pipelink.ir.diagnostics import PipelinkError

FOLDER = Path(__file__).parent
ENDINGS = {"mlir": "mlir", "toml": "toml", "cuda": "cu", "console": "sh"}

HEADER = {"version": '"1"', "digest": '"d"', "path": '"p"', "target": '"sm_90a"', "toolkit": '"13.5.37"', "fp": "<>"}
FIELDS = {**HEADER, "defines": "[]"}
ROLE = ' entry "r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses'
PIPELINE = """pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096,
  registers = 65536, setmaxnreg = 1, smem = 232448, threads = 1024, tmem = 0> fp <> {
"""
PRELUDE = '#define PL_PACKAGE {}\n#include <pipelink/contract.cuh>\nPL_STAGE("1.0.0")\n'
PLAIN = """
extern "C" __device__ void {0}_role() {{}}
PL_ROLE(work, {0}_role, pl::role().warps(1))
"""
STACK = """
#ifndef SLOT
#define SLOT threadIdx.x
#endif
PL_CLAIM_SMEM(out, pl::claim().bytes(128).align(16))
extern "C" __device__ void stack_role() {
  unsigned kept[32];
  for (int i = 0; i < 32; ++i) kept[(i ^ SLOT) % 32] = clock();
  pl_smem[PL_HANDLE(out) + threadIdx.x] = kept[SLOT % 32];
}
PL_ROLE(work, stack_role, pl::role().warps(1))
"""
ALONE = '[pipeline]\nname = "alone"\ntarget = "sm_90a"\n\n[packages]\n'
FILES = {
    "load.mlir": printed(built()),
    "plain.cu": PRELUDE.format("plain") + PLAIN.format("plain"),
    "plain.toml": f'{ALONE}plain = "plain.plpkg"\n',
    "ready.cu": PRELUDE.format("ready") + PLAIN.format("ready"),
    "ready.toml": f'{ALONE}ready = "ready.plpkg"\n',
    "stack.cu": PRELUDE.format("stack") + STACK,
    "stack.toml": f'{ALONE}stack = "stack.plpkg"\n',
    "provided.cu": PRELUDE.format("provided") + 'PL_PROVIDER(provided_provide, "host.c")\n',
    "host.c": "int provided_provide;\n",
    "pipeline.toml": samples.MANIFEST,
}


def whole(clause: str) -> str:
    """The example of a clause with what its `...` and its language stand for."""
    example, language = CATALOGUE[clause].example.strip("\n"), CATALOGUE[clause].language
    match language:
        case "mlir":
            text = re.sub(r"pl\.package (@\w+)(.*?) \.\.\. \{", _package, example)
            return PIPELINE + re.sub(r"(pl\.role @\w+) \.\.\. uses", rf"\1{ROLE}", text) + "\n}\n"
        case "cuda":
            return PRELUDE.format("x") + example + "\n"
        case "console":
            return re.sub(r"^\$ ", "", example, flags=re.MULTILINE) + "\n"
        case _:
            return example + "\n"


def _package(match: re.Match[str]) -> str:
    given = dict(re.findall(r'(\w+) ("[^"]*"|<[^>]*>|\[[^]]*\])', match[2]))
    return f"pl.package {match[1]} " + " ".join(f"{k} {given.get(k, v)}" for k, v in FIELDS.items()) + " {"


def named(text: str) -> set[str]:
    return set(re.findall(r"error\[(L-[A-Z-]+)\]", text))


def refused(path: Path, folder: Path) -> tuple[int, set[str]]:
    """The exit status for an input, and the clauses that it is refused by."""
    match path.suffix:
        case ".mlir":
            result = pl_opt(path, "--link-passes")
            return result.status, named(result.err)
        case ".toml":
            write_packages(folder, contracts())
            (folder / "x.toml").write_text(path.read_text())
            result = pl_opt(folder / "x.toml")
            return result.status, named(result.err)
        case ".cu":
            return _pack(path, folder)
        case _:
            return _run(path, folder)


def _pack(path: Path, folder: Path) -> tuple[int, set[str]]:
    text = path.read_text()
    (folder / "x.cu").write_text(text)
    target = re.search(r"// pl-pack --target (\w+)", text)
    try:
        pack(Request(folder / "x.cu", *([target[1]] if target else [])))
    except PipelinkError as error:
        return 1, {d.clause for d in error.diagnostics}
    return 0, set()


def _run(path: Path, folder: Path) -> tuple[int, set[str]]:
    for place in (folder, folder / "packages"):
        place.mkdir(exist_ok=True)
        write_packages(place, contracts())
    for file, text in FILES.items():
        (folder / file).write_text(text)
    _plugin(folder / "plugin", "")
    _plugin(folder / "replacing", "    replaces = True\n")
    tools = Path(sys.executable).parent
    env = {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
    if "ready" in path.read_text():
        subprocess.run([tools / "pl-pack", "ready.cu", "-o", "packages/ready.plpkg"], cwd=folder, check=True)
    command = ["bash", "-ec", path.read_text()]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    return done.returncode, named(done.stderr)


def _plugin(folder: Path, replaces: str) -> None:
    """A distribution whose pass has the name of a built-in one."""
    info = folder / "rival-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: rival\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[pipelink.plugins]\nrival = rival:Rival\n")
    code = f'from xdsl.passes import ModulePass\n\n\nclass Rival(ModulePass):\n    name = "pl-relocate"\n{replaces}'
    (folder / "rival.py").write_text(code)


def pair(clause: str) -> tuple[Path, Path]:
    ending = ENDINGS[CATALOGUE[clause].language]
    return FOLDER / clause / f"fail.{ending}", FOLDER / clause / f"pass.{ending}"


def test_clauses_and_folders_are_the_same() -> None:
    folders = {path.name: sorted(p.name for p in path.iterdir()) for path in FOLDER.iterdir() if path.is_dir()}
    folders.pop("__pycache__", None)
    assert folders == {name: [path.name for path in pair(name)] for name in CATALOGUE}
    assert len(CATALOGUE) >= 44  # the paper's number of clauses


@pytest.mark.parametrize("clause", CATALOGUE)
def test_a_pair_differs_in_one_place(clause: str) -> None:
    fail, good = (path.read_text() for path in pair(clause))
    assert fail == whole(clause)
    words = [re.findall(r"\w+|\W", text) for text in (fail, good)]
    changes = [op for op in SequenceMatcher(None, *words, autojunk=False).get_opcodes() if op[0] != "equal"]
    lines = {fail[: len("".join(words[0][:start]))].count("\n") for _, start, _, _, _ in changes}
    assert len(lines) == 1


@pytest.mark.parametrize("clause", CATALOGUE)
def test_a_clause_fires_alone_and_its_fix_is_accepted(clause: str, tmp_path: Path) -> None:
    fail, good = pair(clause)
    (tmp_path / "fail").mkdir()
    (tmp_path / "pass").mkdir()
    assert refused(fail, tmp_path / "fail") == (1, {clause})
    assert refused(good, tmp_path / "pass") == (0, set())
