"""What watches pl-opt's passes, and how its diagnostics are printed and matched."""

import json
import os
import pty
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from samples import Result, built, parsed, passed, pl_opt, printed

from pipelink.ir.diagnostics import Diagnostic, Note, Place
from pipelink.passes import LINK, get_all_passes
from pipelink.tools.terminal import excerpt, pretty

SAMPLE = printed(built())
DUMP = re.compile(r"^// -----// IR Dump (.*) //----- //$", re.MULTILINE)
ALL = ",".join(LINK)
BROKEN = SAMPLE.replace('scope "cta"', 'scope "cluster"', 1)
RING = next(n for n, line in enumerate(SAMPLE.splitlines(), 1) if "pl.ring @ring consumer" in line)


def run(*arguments: object, text: str = SAMPLE) -> Result:
    return pl_opt("-", *arguments, stdin=text)


# ---- dumps ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("flags", "titles"),
    [
        (["--print-ir-before=pl-relocate"], ["Before pl-relocate"]),
        (
            ["--print-ir-after=pl-relocate,pl-emit-stubs", "--print-ir-before", "pl-verify-contracts"],
            ["Before pl-verify-contracts", "After pl-relocate", "After pl-emit-stubs"],
        ),
        (["--print-ir-after-all"], [f"After {name}" for name in LINK]),
        (["--print-ir-before-all"], [f"Before {name}" for name in LINK]),
        (["--print-ir-after-change"], [f"After {name}" for name in LINK[1:]]),
        (["--print-ir-after-change", "--print-ir-after=pl-verify-contracts"], []),
        (["--print-ir-after-failure"], []),
        (["--mlir-print-ir-after-all"], [f"After {name}" for name in LINK]),
        (["-mlir-print-ir-before=pl-relocate"], ["Before pl-relocate"]),
        (["--print-between-passes"], [f"After {name}" for name in LINK]),
    ],
)
def test_dumps_go_to_stderr_where_they_were_asked_for(flags: list[str], titles: list[str]) -> None:
    result = run("--link-passes", *flags)
    assert DUMP.findall(result.err) == titles
    assert result.out == run("--link-passes").out


def test_each_dump_is_the_module_at_that_point() -> None:
    result = run("--link-passes", "--print-ir-after-all", "--print-debuginfo")
    texts = DUMP.split(result.err)[2::2]
    for step, (before, after) in zip(LINK[1:], pairwise(texts), strict=True):
        assert run("-p", step, "--print-debuginfo", text=before).out.strip() == after.strip()


def test_a_tree_of_numbered_dumps(tmp_path: Path) -> None:
    assert run("--link-passes", "--print-ir-tree-dir", tmp_path / "a").err == ""
    names = sorted(file.name for file in (tmp_path / "a").iterdir())
    assert names == [f"{n:02}_after_{name}.mlir" for n, name in enumerate(LINK, 1)]
    assert (tmp_path / "a" / names[-1]).read_text().strip() == passed(SAMPLE, *LINK).strip()
    run("--link-passes", f"--mlir-print-ir-tree-dir={tmp_path / 'b'}", "--print-ir-before=pl-relocate")
    assert [file.name for file in (tmp_path / "b").iterdir()] == ["04_before_pl-relocate.mlir"]


def test_a_pass_that_failed_is_dumped() -> None:
    result = run("-p", "pl-eliminate-dead-exports,pl-relocate", "--print-ir-after-failure")
    assert DUMP.findall(result.err) == ["After pl-relocate Failed"]
    assert "dropped" in result.err
    assert result.status == 1


@pytest.mark.parametrize("flag", ["--print-ir-after=pl-relocat", "--print-ir-before=pl-relocat"])
def test_a_pass_that_there_is_not_is_refused(flag: str) -> None:
    result = run(flag)
    assert (result.status, result.out) == (1, "")
    assert result.err.splitlines() == [
        "pl-opt: error[L-USAGE]: unknown pass 'pl-relocat'",
        "pl-opt: help: did you mean 'pl-relocate'?",
    ]


# ---- time and changes -----------------------------------------------------------------------------------------------


def test_timing(tmp_path: Path) -> None:
    file = tmp_path / "t.json"
    result = run("--link-passes", "--timing", "--timing-json", file)
    rows = [line.split() for line in result.err.splitlines()]
    assert [row[-1] for row in rows] == ["what", "read", *LINK, "print", "total"]
    said = json.loads(file.read_text())
    assert [part["name"] for part in said["parts"]] == ["read", *LINK, "print"]
    assert all(part["seconds"] >= 0 for part in said["parts"])
    assert said["seconds"] == pytest.approx(sum(part["seconds"] for part in said["parts"]), abs=1e-4)


def test_statistics_count_what_each_pass_changed(tmp_path: Path) -> None:
    file = tmp_path / "s.json"
    result = run("--link-passes", "--mlir-pass-statistics", "--statistics-json", file)
    rows = json.loads(file.read_text())["passes"]
    assert [row["name"] for row in rows] == list(LINK)
    assert len(result.err.splitlines()) == len(LINK) + 1
    for row, step in zip(rows, LINK, strict=True):
        at = LINK.index(step)
        before = parsed(passed(SAMPLE, *LINK[:at]) if at else SAMPLE)
        after = parsed(passed(SAMPLE, *LINK[: at + 1]))
        grown = len([*after.walk()]) - len([*before.walk()])
        assert row["added"] - row["erased"] == grown, step
    assert rows[0] == {"name": LINK[0], "added": 0, "erased": 0, "properties": 0}
    assert rows[1]["erased"] == 2  # the callable that nobody calls, and its claim
    assert rows[3]["properties"] >= 10
    assert rows[5]["added"] >= 10


def test_a_run_that_fails_still_says_how_long_it_took() -> None:
    result = run("-p", "pl-relocate", "--timing")
    assert result.status == 1
    assert "pl-relocate (failed)" in result.err


# ---- reproducers ----------------------------------------------------------------------------------------------------


def test_a_reproducer_fails_again(tmp_path: Path) -> None:
    file = tmp_path / "r.mlir"
    passes = "pl-eliminate-dead-exports,pl-analyze-lifetimes,pl-relocate{work-limit=0},pl-emit-stubs"
    first = run("-p", passes, f"--crash-reproducer={file}")
    assert first.status == 1
    text = file.read_text()
    assert text.startswith("// configuration: -p 'pl-relocate{work_limit=0}'\nbuiltin.module {\n")
    *errors, note = first.err.splitlines()
    assert note == f"pl-opt: note: reproducer: pl-opt --run-reproducer {file}"
    again = pl_opt("--run-reproducer", file)
    assert (again.status, again.out) == (1, "")
    assert again.err.splitlines() == errors


def test_a_fault_of_a_pass_is_reproduced_and_the_pass_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(self: object, pipeline: object, errors: object) -> None:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(get_all_passes()["pl-analyze-lifetimes"](), "run", breaks)
    file = tmp_path / "r.mlir"
    result = run("--link-passes", "--mlir-pass-pipeline-crash-reproducer", file)
    assert result.status == 70
    assert result.err.splitlines() == [
        "pl-opt: internal error: ZeroDivisionError: oh",
        "pl-opt: help: this is a fault of pl-opt; --debug shows where",
        "pl-opt: note: while running pl-analyze-lifetimes",
        f"pl-opt: note: reproducer: pl-opt --run-reproducer {file}",
    ]
    assert pl_opt(file, "--run-reproducer").status == 70
    monkeypatch.undo()
    assert pl_opt(file, "--run-reproducer").status == 0


def test_contracts_that_do_not_fit_are_reproduced_too(tmp_path: Path) -> None:
    file = tmp_path / "r.mlir"
    first = run("-p", "pl-eliminate-dead-exports", "--crash-reproducer", file, text=BROKEN)
    assert "L-PAIR" in first.err
    assert pl_opt(file, "--run-reproducer").err.splitlines() == first.err.splitlines()[:-1]


def test_a_reproducer_of_what_did_not_fail(tmp_path: Path) -> None:
    file = tmp_path / "r.mlir"
    first = run("--link-passes", "--generate-reproducer", file)
    assert pl_opt(file, "--run-reproducer").out == first.out


@pytest.mark.parametrize("line", ["", "// configuration: -p 'pl-relocate", "// configuration: --debug"])
def test_a_file_that_is_no_reproducer(line: str) -> None:
    result = run("--run-reproducer", text=f"{line}\n{SAMPLE}")
    assert result.status == 1
    assert "<stdin>:1:1: error[L-USAGE]: the input's first line is no `// configuration: " in result.err


# ---- spellings ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spelling",
    [
        [f"--pass-pipeline=builtin.module({ALL})"],
        [f"-pass-pipeline=builtin.module( {ALL.replace(',', ' , ')} )"],
        ["--pass-pipeline", f"any({ALL})"],
        [f"--{name}" for name in LINK],
        [f"-{name}" for name in LINK],
        ["-p", ",".join(LINK[:3]), "-p", ",".join(LINK[3:])],
        ["--mlir-disable-threading", "--passes", ALL],
    ],
)
def test_spellings_of_a_pipeline(spelling: list[str]) -> None:
    result = run(*spelling)
    assert (result.status, result.err) == (0, "")
    assert result.out == run("--link-passes").out


def test_options_of_a_pass_as_mlir_spells_them() -> None:
    result = run(*[f"--{name}" for name in LINK[:3]], "--pl-relocate=work-limit=1500")
    assert "of 1500 nodes" in result.out


def test_another_anchor_is_refused() -> None:
    result = run("--pass-pipeline=builtin.module(func.func(pl-relocate))")
    assert (result.status, result.out) == (1, "")
    assert result.err.startswith("pl-opt: error[L-USAGE]: passes run on a module, not on 'func.func'\n")


def test_an_option_that_there_is_not() -> None:
    result = run("--print-ir-aftr-all")
    assert (result.status, result.out) == (2, "")
    assert result.err.endswith("did you mean '--print-ir-after-all'?\n")


def test_lists() -> None:
    listed = pl_opt("--list-passes").out
    for name in LINK:
        entry = listed[listed.index(f"{name}\n") :].split("\npl-")[0]
        step = get_all_passes()[name]()
        assert (step.__doc__ or "?").splitlines()[0] in entry
        for what in (*step.requires, *step.produces):
            assert what in entry
    assert "  option    work-limit: int = 200000\n" in listed
    assert pl_opt("--show-dialects").out == "Available Dialects: builtin, pl\n"


# ---- diagnostics ----------------------------------------------------------------------------------------------------


def commented(*comments: str, at: int = RING) -> str:
    """The broken sample with comment lines before its line `at`."""
    lines = BROKEN.splitlines()
    return "\n".join([*lines[: at - 1], *comments, *lines[at - 1 :]]) + "\n"


PRODUCER = next(n for n, line in enumerate(SAMPLE.splitlines(), 1) if "pl.ring @ring producer" in line)
FAR = f"// expected-note @-{RING - PRODUCER + 2} {{{{'load.ring' says scope \"cluster\"}}}}"  # third of the comments


@pytest.mark.parametrize(
    "comments",
    [
        ("// expected-error @+3 {{disagree on scope}}", "// expected-note @+2 {{'mma.ring' says}}", FAR),
        ("// expected-error @below {{L-PAIR}}", "// expected-note @below {{mma}}", FAR),
        ("//expected-error-re@below {{the {{end.*ts}} of 'ring'}}", '// expected-note @below {{"cta"}}', FAR),
        ("// expected-error @below {{scope}}", "// expected-note @below {{mma}}", FAR, "// expected-help @+1 {{both}}"),
    ],
    ids=["offsets", "below", "regular", "help"],
)
def test_diagnostics_that_are_expected(comments: tuple[str, ...]) -> None:
    result = run("-p", LINK[0], "--verify-diagnostics", text=commented(*comments))
    assert (result.status, result.err) == (0, "")


def test_diagnostics_of_other_files_are_expected_without_a_line() -> None:
    located = printed(built(), locations=True).replace('scope "cta"', 'scope "cluster"', 1)
    comments = ["// expected-error @unknown {{scope}}", "// expected-note @unknown {{mma}}"]
    flags = ("-p", LINK[0], "--verify-diagnostics")
    assert "note: 'load.ring' says" in run(*flags, text="\n".join([*comments, located])).err
    comments.append("// expected-note @unknown {{load}}")
    assert run(*flags, text="\n".join([*comments, located])).err == ""


def test_remarks_are_expected() -> None:
    linked = run("-p", ",".join(LINK[:2])).out
    flags = ("--remarks", "--verify-diagnostics")
    comment = "// expected-remark @+2 {{dropped pl.callable 'load.dead'}}\n"
    assert run(*flags, text=comment + linked).err.count("unexpected remark: dropped pl.claim 'load.bias'") == 1
    comment = f"// expected-remark @+3 {{{{dropped pl.claim 'load.bias'}}}}\n{comment}"
    result = run(*flags, text=comment + linked)
    assert (result.status, result.err) == (0, "")
    assert "pl.pipeline @sample" in result.out


@pytest.mark.parametrize(
    ("comments", "message"),
    [
        ((), "unexpected error[L-PAIR]: the endpoints of 'ring' disagree on scope"),
        (("// expected-error @below {{disagree on proxy}}",), "unexpected error[L-PAIR]"),
        (("// expected-error @below {{disagree on proxy}}",), 'expected error "disagree on proxy" on line'),
        (("// expected-error @above {{disagree on scope}}",), 'expected error "disagree on scope" on line'),
        (("// expected-note @below {{disagree on scope}}",), "unexpected error[L-PAIR]"),
        (("// expected-error @below {{disagree on scope}}",), "unexpected note: 'mma.ring' says scope"),
        (("// expected-error @below {{disagree}}",) * 2, 'expected error "disagree" on line'),
        (("// expected-eror @below {{disagree}}",), "no expectation"),
    ],
)
def test_diagnostics_that_are_not(comments: tuple[str, ...], message: str) -> None:
    result = run("-p", LINK[0], "--verify-diagnostics", text=commented(*comments))
    assert result.status == 1
    assert message in result.err
    assert "error[L-EXPECT]: " in result.err


def test_a_fault_is_no_diagnostic(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(self: object, pipeline: object, errors: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(get_all_passes()[LINK[0]](), "run", breaks)
    assert run("-p", LINK[0], "--verify-diagnostics").status == 70


def test_remarks_say_what_the_ir_holds() -> None:
    linked = run("--link-passes").out
    first = run("--link-passes", "--remarks")
    assert first.out == linked
    said = [line.split(": remark: ")[1] for line in first.err.splitlines()]
    assert said == [line.split(": remark: ")[1] for line in run("--remarks", text=linked).err.splitlines()]
    assert "dropped pl.callable 'load.dead': no role reaches it" in said
    assert any(text.startswith("placement, footprint of smem: ") for text in said)
    assert any(text.startswith("tensor 'mma.acc' reaches 'store.acc' by route 'staged': direct: ") for text in said)
    assert run("--remarks").err == ""


def test_chunks_are_all_tried_and_what_succeeds_is_printed(tmp_path: Path) -> None:
    text = f"{BROKEN}// -----\n{SAMPLE}// -----\n{BROKEN}"
    result = run("--split-input-file", "-p", LINK[0], text=text)
    assert result.status == 1
    assert result.out.count("pl.pipeline @sample") == 1
    lines = [int(line.split(":")[1]) for line in result.err.splitlines() if "error[" in line]
    count = SAMPLE.count("\n") + 1
    assert lines == [RING, RING + 2 * count]
    run("--split-input-file", "-p", LINK[0], "-o", tmp_path / "x.mlir", text=text)
    assert not (tmp_path / "x.mlir").exists()


def test_a_comment_that_only_looks_like_a_split() -> None:
    assert run("--split-input-file", text=SAMPLE.replace("\n", "\n  // ----- not here\n", 1)).status == 0


def test_a_module_reads_back() -> None:
    result = run("--link-passes", "--verify-roundtrip")
    assert (result.status, result.err) == (0, "")


def test_a_module_that_reads_back_as_another_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipelink.tools.session.printed", lambda module, **_: printed(module).replace("4096", "8192"))
    result = run("--verify-roundtrip")
    assert result.status == 1
    assert result.err == "<stdin>: error[L-IR]: the pretty form reads back as another module\n"


# ---- forms of errors ------------------------------------------------------------------------------------------------


def test_json_is_one_object_an_error() -> None:
    result = run("-p", LINK[0], "--format", "json", text=BROKEN)
    (said,) = [json.loads(line) for line in result.err.splitlines()]
    assert {key: said[key] for key in ("severity", "clause", "file", "line", "column")} == {
        "severity": "error",
        "clause": "L-PAIR",
        "file": "<stdin>",
        "line": RING,
        "column": 7,
    }
    assert said["message"].startswith("the endpoints of 'ring' disagree on scope")
    assert [note["line"] for note in said["notes"]] == [RING, PRODUCER]
    assert said["hint"]


@pytest.mark.parametrize(
    ("tool", "arguments", "clause"),
    [
        ("pl-opt", ["none.mlir"], "L-FILE"),
        ("pl-opt", ["none.mlir", "-p", "pl-none"], "L-FILE"),
        ("pl-link", ["none.toml"], "L-FILE"),
        ("pl-pack", ["none.cu"], "L-FILE"),
    ],
)
def test_each_command_has_the_form(tool: str, arguments: list[str], clause: str) -> None:
    done = shell(tool, *arguments, "--format=json")
    assert done.returncode == 1
    (said,) = [json.loads(line) for line in done.stderr.splitlines()]
    assert said["clause"] == clause


def shell(tool: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [Path(sys.executable).with_name(tool), *arguments], capture_output=True, text=True, check=False
    )


ERROR = Diagnostic("L-PAIR", "no", Place("x.cu", 2, 3), (Note("one", Place("y.cu", 1, 1)), Note("far")), "agree")


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.cu").write_text("first\n\tPL_RING(ab, x)\n")


@pytest.mark.usefixtures("source")
def test_a_terminal_shows_the_source_where_there_is_one() -> None:
    place = Place("x.cu", 2, 2)
    error = Diagnostic("L-PAIR", "no", place, (Note("one", Place("y.cu", 1, 1)), Note("here too", place)), "agree")
    assert [*pretty(error.lines(), "pl-link", colour=False, width=80)] == [
        "x.cu:2:2: error[L-PAIR]: no",
        "    2 | \tPL_RING(ab, x)",
        "      | \t^~~~~~~",
        "y.cu:1:1: note: one",
        "x.cu:2:2: note: here too",
        "x.cu:2:2: help: agree",
    ]


@pytest.mark.usefixtures("source")
@pytest.mark.parametrize(
    "place", [Place("x.cu"), Place("x.cu", 3), Place("x.cu", 9, 1), Place("x.cu", 1, 99), Place("z", 1, 1)]
)
def test_no_caret_where_there_is_nothing_to_point_at(place: Place) -> None:
    assert [*excerpt(place, "{}", 80)] == []


def test_a_long_line_is_shown_around_its_column(tmp_path: Path) -> None:
    (tmp_path / "x.mlir").write_text("a" * 300 + " here " + "b" * 300 + "\n")
    text, mark = excerpt(Place(str(tmp_path / "x.mlir"), 1, 302), "{}", 60)
    assert len(text) == 60
    assert text[mark.index("^") :].startswith("here ")


def test_control_characters_of_a_source_stay_there(tmp_path: Path) -> None:
    (tmp_path / "x.cu").write_text("a\x1b[31mb\n")
    assert next(excerpt(Place(str(tmp_path / "x.cu"), 1, 1), "{}", 60)) == "    1 | a?[31mb"


def on_terminal(folder: Path, **environment: str) -> str:
    """What pl-opt prints of the broken sample where stderr is a terminal."""
    (folder / "x.mlir").write_text(BROKEN)
    leader, follower = pty.openpty()
    subprocess.run(
        [Path(sys.executable).with_name("pl-opt"), "x.mlir", "-p", LINK[0]],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "TERM": "xterm", **environment},
        stderr=follower,
        check=False,
    )
    os.close(follower)
    text = b""
    try:
        while part := os.read(leader, 65536):
            text += part
    except OSError:  # a terminal that nobody writes to any more
        pass
    os.close(leader)
    return text.decode().replace("\r\n", "\n").rpartition("\r\x1b[K")[2]


def test_colour_on_a_terminal_only(tmp_path: Path) -> None:
    coloured, plain = on_terminal(tmp_path), on_terminal(tmp_path, NO_COLOR="1")
    assert "\x1b[1;31merror[L-PAIR]:\x1b[0m" in coloured
    assert "\x1b" not in plain
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain
    assert f"{RING:5} | " in plain
    assert "      | " in plain
    piped = run("-p", LINK[0], text=BROKEN).err
    assert "^" not in piped
    assert "\x1b" not in piped
    shown = [line for line in plain.splitlines() if not re.match(r" {5} \||\s*\d+ \|", line)]
    assert shown == piped.replace("<stdin>", "x.mlir").splitlines()
