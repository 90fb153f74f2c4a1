"""The catalogue of clauses: each entry is complete, its example is refused by its clause, and commands explain it."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import samples
from samples import built, command, contracts, pl_opt, printed, write_packages

from pipelink.frontends.cuda.pack import Request, pack
from pipelink.ir.clauses import CATALOGUE, CLAUSES, GROUPS, RANKS, Clause
from pipelink.ir.diagnostics import Diagnostics, Line, Note, PipelinkError, Place
from pipelink.tools import pl_link, pl_pack

HEADER = {"version": '"1"', "digest": '"d"', "path": '"p"', "target": '"sm_90a"', "toolkit": '"13.5.37"', "fp": "<>"}
ROLE = ' entry "r" <() -> "void"> warps 1 align 1 registers [24, 240] need 0 uses'
PIPELINE = """pl.pipeline @p target "sm_90a" toolkit "13.5.37" capacities <barrier = 16, parameters = 4096,
  registers = 65536, setmaxnreg = 1, smem = 232448, threads = 1024, tmem = 0> fp <> {
"""
PRELUDE = '#define PL_PACKAGE x\n#include <pipelink/contract.cuh>\nPL_STAGE("1.0.0")\n'


def of(language: str) -> list[str]:
    return [name for name, clause in CATALOGUE.items() if clause.language == language]


def whole(example: str) -> str:
    """An `mlir` example with what its `...` stand for."""

    def package(match: re.Match[str]) -> str:
        given = dict(re.findall(r'(\w+) ("[^"]*"|<[^>]*>|\[[^]]*\])', match[2]))
        return f"pl.package {match[1]} " + " ".join(f"{k} {given.get(k, v)}" for k, v in FIELDS.items()) + " {"

    text = re.sub(r"pl\.package (@\w+)(.*?) \.\.\. \{", package, example)
    return PIPELINE + re.sub(r"(pl\.role @\w+) \.\.\. uses", rf"\1{ROLE}", text) + "\n}\n"


FIELDS = {**HEADER, "defines": "[]"}


def clauses(text: str) -> set[str]:
    return set(re.findall(r"error\[(L-[A-Z-]+)\]", text))


@pytest.mark.parametrize("clause", CATALOGUE.values(), ids=lambda c: c.name)
def test_an_entry_is_complete(clause: Clause) -> None:
    assert re.fullmatch(r"L-[A-Z]+(-[A-Z]+)*", clause.name)
    assert all((clause.rule, clause.example.strip(), clause.fix))
    assert not clause.rule.endswith(".")
    assert clause.why.endswith(".")
    assert str(clause) == CLAUSES[clause.name] == clause.rule
    assert RANKS[clause.name] == next(i for i, group in enumerate(GROUPS.values()) if clause in group)


@pytest.mark.parametrize("name", of("mlir"))
def test_an_example_in_ir_is_refused_by_its_clause_alone(name: str) -> None:
    result = pl_opt("-", "--link-passes", stdin=whole(CATALOGUE[name].example))
    assert (result.status, clauses(result.err)) == (1, {name}), result.err


@pytest.mark.parametrize("name", of("toml"))
def test_an_example_manifest_is_refused_by_its_clause_alone(name: str, tmp_path: Path) -> None:
    write_packages(tmp_path, contracts())
    (tmp_path / "x.toml").write_text(CATALOGUE[name].example)
    result = pl_opt(tmp_path / "x.toml")
    assert (result.status, clauses(result.err)) == (1, {name}), result.err


@pytest.mark.parametrize("name", of("cuda"))
def test_an_example_component_is_refused_by_its_clause_alone(name: str, tmp_path: Path) -> None:
    text = CATALOGUE[name].example
    (tmp_path / "x.cu").write_text(PRELUDE + text)
    target = re.match(r"// pl-pack --target (\w+)", text)
    with pytest.raises(PipelinkError) as raised:
        pack(Request(tmp_path / "x.cu", *([target[1]] if target else [])))
    assert {d.clause for d in raised.value.diagnostics} == {name}


@pytest.mark.parametrize("name", of("console"))
def test_an_example_command_is_refused_by_its_clause(name: str, tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "packages"):
        folder.mkdir(exist_ok=True)
        write_packages(folder, contracts())
    for file, text in FILES.items():
        (tmp_path / file).write_text(text)
    plugin(tmp_path / "plugin")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for line in CATALOGUE[name].example.splitlines():
        done = subprocess.run(
            ["bash", "-c", line.removeprefix("$ ")],
            cwd=tmp_path,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, clauses(done.stderr)) == (1, {name}), done.stderr


PLAIN = """
extern "C" __device__ void plain_role() {}
PL_ROLE(work, plain_role, pl::role().warps(1))
"""
STACK = """
PL_CLAIM_SMEM(out, pl::claim().bytes(128).align(16))
extern "C" __device__ void stack_role() {
  unsigned kept[32];
  for (int i = 0; i < 32; ++i) kept[(i ^ clock()) % 32] = clock();
  pl_smem[PL_HANDLE(out) + threadIdx.x] = kept[threadIdx.x];
}
PL_ROLE(work, stack_role, pl::role().warps(1))
"""
ALONE = '[pipeline]\nname = "alone"\ntarget = "sm_90a"\n\n[packages]\n'
FILES = {
    "load.mlir": printed(built()),
    "plain.cu": PRELUDE.replace(" x\n", " plain\n") + PLAIN,
    "plain.toml": f'{ALONE}plain = "plain.plpkg"\n',
    "stack.cu": PRELUDE.replace(" x\n", " stack\n") + STACK,
    "stack.toml": f'{ALONE}stack = "stack.plpkg"\n',
    "provided.cu": PRELUDE.replace(" x\n", " provided\n") + 'PL_PROVIDER(provided_provide, "host.c")\n',
    "host.c": "int provided_provide;\n",
    "pipeline.toml": samples.MANIFEST,
}


def plugin(folder: Path) -> None:
    """A distribution whose pass has the name of a built-in one, and does not say that it replaces it."""
    info = folder / "rival-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: rival\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[pipelink.plugins]\nrival = rival:Rival\n")
    code = 'from xdsl.passes import ModulePass\n\n\nclass Rival(ModulePass):\n    name = "pl-relocate"\n'
    (folder / "rival.py").write_text(code)


# ---- how they are shown ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", ["pl-opt", "pl-link", "pl-pack"])
def test_each_command_explains(tool: str) -> None:
    main = {"pl-link": pl_link.main, "pl-pack": pl_pack.main}.get(tool)
    explain = pl_opt if main is None else lambda *arguments: command(main, *arguments)
    shown = explain("--explain", "L-PAIR")
    assert (shown.status, shown.err) == (0, "")
    assert shown.out == CATALOGUE["L-PAIR"].explain() + "\n"
    assert explain("--explain", "l-pair").out == shown.out
    wrong = explain("--explain", "L-PIAR")
    assert (wrong.status, wrong.out) == (2, "")
    assert wrong.err.endswith("no clause L-PIAR; did you mean 'L-PAIR'?\n")


def test_an_explanation_holds_every_part() -> None:
    for clause in CATALOGUE.values():
        said = " ".join(clause.explain().split())
        for part in (clause.rule, clause.why, clause.example, clause.fix):
            assert " ".join(part.split()) in said


def test_errors_are_raised_in_order_of_their_groups_else_as_they_came() -> None:
    errors = Diagnostics()
    for clause, message in [("L-OVERLAP", "a"), ("L-PAIR", "b"), ("L-FILE", "c"), ("L-TARGET", "d")]:
        errors.error(clause, message)
    with pytest.raises(PipelinkError) as raised:
        errors.check()
    assert [d.message for d in raised.value.diagnostics] == ["c", "b", "d", "a"]


def test_errors_of_one_cause_are_one_error() -> None:
    errors = Diagnostics()
    for line in (1, 2, 2, 3):
        errors.error("L-UNRESOLVED", f"{line} names @ring", Place("a", line), hint="declare it", cause="@ring")
    errors.error("L-UNRESOLVED", "other names @rung", cause="@rung")
    with pytest.raises(PipelinkError) as raised:
        errors.check()
    first, second = raised.value.diagnostics
    assert first.render().splitlines() == [
        "a:1: error[L-UNRESOLVED]: 1 names @ring",
        "a:2: note: so too: 2 names @ring",
        "a:3: note: so too: 3 names @ring",
        "a:1: help: declare it",
    ]
    assert (second.message, second.notes) == ("other names @rung", ())


def test_many_errors_of_one_cause_are_counted() -> None:
    errors = Diagnostics()
    for line in range(1, 12):
        errors.error("L-UNRESOLVED", f"{line} names @ring", Place("a", line), cause="@ring")
    with pytest.raises(PipelinkError) as raised:
        errors.check()
    (error,) = raised.value.diagnostics
    assert [note.text for note in error.notes][-2:] == ["so too: 5 names @ring", "and 6 more"]


def test_the_fields_of_an_error_are_those_of_its_lines() -> None:
    errors = Diagnostics()
    errors.error("L-PAIR", "they disagree", Place("a", 1, 2), Note("one", Place("b", 3)), hint="agree")
    (error,) = errors.errors
    assert [*error.lines()] == [
        Line("error[L-PAIR]", "they disagree", Place("a", 1, 2)),
        Line("note", "one", Place("b", 3)),
        Line("help", "agree", Place("a", 1, 2)),
    ]
    assert error.fields() == {
        "severity": "error",
        "clause": "L-PAIR",
        "message": "they disagree",
        "file": "a",
        "line": 1,
        "column": 2,
        "notes": [{"message": "one", "file": "b", "line": 3, "column": 0}],
        "hint": "agree",
    }


def test_examples_are_shell_words() -> None:
    """What is meant to be typed can be typed."""
    for name in of("console"):
        assert all(shlex.split(line, comments=True) for line in CATALOGUE[name].example.splitlines())
