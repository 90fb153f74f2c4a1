"""pl-opt: what it prints, its exit statuses, and errors of one line each, never a traceback."""

from pathlib import Path

import pytest
from samples import built, passed, pl_opt, printed

from pipelink.passes import LINK

SAMPLE = printed(built())


def test_link_passes_are_the_passes_of_a_link() -> None:
    assert pl_opt("-", "--link-passes", stdin=SAMPLE).out == passed(SAMPLE, *LINK)


def test_the_frontend_goes_by_the_extension(tmp_path: Path) -> None:
    (tmp_path / "x.mlir").write_text(SAMPLE)
    (tmp_path / "x.txt").write_text(SAMPLE)
    assert pl_opt(tmp_path / "x.mlir").status == 0
    result = pl_opt(tmp_path / "x.txt")
    assert result.status == 1
    assert result.err.splitlines() == [
        f"pl-opt: error[L-USAGE]: '{tmp_path}/x.txt': no frontend reads this extension",
        "pl-opt: help: known: .toml, .mlir, or name one with -f",
    ]


def test_a_frontend_can_be_named(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text(SAMPLE)
    assert pl_opt(tmp_path / "x.txt", "-f", "mlir").out == passed(SAMPLE)


def test_chunks_are_processed_one_by_one() -> None:
    text = f"{SAMPLE}// -----\n{SAMPLE}"
    result = pl_opt("-", "--split-input-file", "-p", LINK[0], stdin=text)
    assert result.out.count("pl.pipeline @sample") == 2
    assert "// -----" in result.out


def test_options_of_a_pass() -> None:
    result = pl_opt("-", "-p", f"{','.join(LINK[:3])},pl-relocate{{work-limit=150000}}", stdin=SAMPLE)
    assert "of 150000 nodes" in result.out


def test_no_work_is_too_little_work() -> None:
    result = pl_opt("-", "-p", f"{','.join(LINK[:3])},pl-relocate{{work_limit=0}}", stdin=SAMPLE)
    assert result.status == 1
    assert "work limit" in result.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-", "-p", "pl-nothing"), "pl-opt: error[L-USAGE]: unknown pass 'pl-nothing'"),
        (("-", "-p", "pl-relocate{"), "pl-opt: error[L-USAGE]: "),
        (("none.mlir",), "none.mlir: error[L-FILE]: No such file or directory"),
        (("-", "-o", "no/such/folder"), "no/such/folder: error[L-FILE]: No such file or directory"),
        (("-", "-p", "pl-relocate{work_limit=many}"), "pl-opt: error[L-USAGE]: "),
        (("-", "-p", "pl-relocate{limit=3}"), "pl-opt: error[L-USAGE]: "),
        (("-", "-t", "cuda{x=1}"), "pl-opt: error[L-USAGE]: "),
    ],
)
def test_bad_usage(arguments: tuple[str, ...], message: str) -> None:
    result = pl_opt(*arguments, stdin=SAMPLE)
    assert (result.status, result.out) == (1, "")
    assert result.err.startswith(message)
    assert all(": help: " in line for line in result.err.splitlines()[1:])


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "x.mlir").write_bytes(b"\xff")
    result = pl_opt(tmp_path / "x.mlir")
    assert (result.status, result.out) == (1, "")
    assert result.err == f"{tmp_path}/x.mlir: error[L-SYNTAX]: not UTF-8 text: invalid start byte at byte 0\n"


def test_a_refused_input_leaves_the_output_alone(tmp_path: Path) -> None:
    output = tmp_path / "out.mlir"
    output.write_text("before")
    assert pl_opt("-", "-p", LINK[-1], "-o", output, stdin=SAMPLE).status == 1
    assert output.read_text() == "before"


def test_errors_of_chunks_have_their_line_in_the_file() -> None:
    text = f"{SAMPLE}// -----\npl.fact @x\n// -----\n{SAMPLE.replace('@load::@ring to', '@load::@rung to')}"
    result = pl_opt("-", "--split-input-file", "-p", LINK[0], stdin=text)
    lines = [line.split(":")[1] for line in result.err.splitlines() if "error[" in line]
    count = SAMPLE.count("\n")
    ring = next(n for n, line in enumerate(SAMPLE.splitlines(), 1) if "connect ring" in line)
    assert lines == [str(count + 3), str(count + 3 + ring)]


def test_the_target_says_what_it_lacks() -> None:
    result = pl_opt("-", "-t", "cuda", stdin=SAMPLE)
    assert (result.status, result.out) == (1, "")
    assert "error[L-PASS]: there is no pl.dispatch, which the cuda target needs" in result.err
    assert result.err.endswith("help: run pl-emit-stubs first\n")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"import" from @store::@acc', '"import" from @store::@none'),
        ("pl.connect tensor", "// pl.connect tensor"),
        ("site @work lends", "site @works lends"),
        ("scratch @scratch barrier", "scratch @none barrier"),
    ],
)
def test_the_target_checks_a_module_that_no_pass_has_seen(old: str, new: str) -> None:
    text = passed(SAMPLE, *LINK)
    assert old in text
    result = pl_opt("-", "-t", "cuda", stdin=text.replace(old, new))
    assert (result.status, result.out) == (1, "")
    assert "error[" in result.err
