"""pl-link's questions about the placement: answered on the real pipeline's problem, whether it fits or not."""

from pathlib import Path

import pytest
import z3
from samples import Result, built, command, printed

from pipelink.tools.pl_link import main

ROWS = Path(__file__).parents[2] / "rows" / "placement"


@pytest.fixture
def ask(tmp_path: Path):
    """Runs pl-link with options on the sample pipeline, its text changed as `changes` say."""

    def run(*options: object, changes: tuple[tuple[str, str], ...] = ()) -> Result:
        text = printed(built())
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        file = tmp_path / "sample.mlir"
        file.write_text(text)
        return command(main, file, *options)

    return run


@pytest.mark.parametrize("handle", ["load.a", "@load::@a"])
def test_why_here_in_both_spellings(ask, handle: str) -> None:
    result = ask("--why-here", handle)
    assert (result.status, result.err) == (0, "")
    lines = result.out.splitlines()
    assert lines[0] == "load.a: [0, 16,384) of smem, 16,384 bytes aligned to 1024, 4 stages of ring load.ring"
    assert "it shares storage with store.out" in result.out
    assert "proven least" in lines[-1]


def test_the_consumers_claim_is_the_producers(ask) -> None:
    lines = ask("--why-here", "mma.a").out.splitlines()
    assert lines[0] == "mma.a is the same storage as load.a"
    assert lines[1].startswith("load.a: [0, 16,384)")


def test_why_here_of_a_ring_and_of_a_role(ask) -> None:
    assert ask("--why-here", "mma.ring").out == "ring load.ring: depth 4 is what it has\n"
    out = ask("--why-here", "store.epilogue").out
    assert out.startswith("role store.epilogue: warps [4, 8) of 8, aligned to 4\nbelow it are load.tma\nit has ")
    assert "the least surplus of all roles is" in out


def test_what_takes_no_storage_says_so(ask) -> None:
    assert ask("--why-here", "load.bias").out == "load.bias was dropped: no role reaches it\n"


def test_why_not_in_a_smaller_block(ask) -> None:
    result = ask("--why-not", "@load::@ring=4", changes=(("smem = 232448", "smem = 14000"),))
    assert (result.status, result.err) == (0, "")
    lines = result.out.splitlines()
    assert lines[0] == "ring load.ring: depth 4 does not fit, it has 3"
    assert lines[1].startswith("smem: needs ")
    assert "it would fit with ring load.ring at depth 3" in lines
    assert lines[-1].startswith("one more stage holds 4,112 bytes of smem (load.a 4,096, ")
    assert "are left above the claims" in lines[-1]


SMALL = (("smem = 232448", "smem = 4000"),)


def test_what_does_not_fit_is_answered_too(ask, tmp_path: Path) -> None:
    here = ask("--why-here", "load.a", changes=SMALL)
    assert (here.status, here.err) == (0, "")
    assert here.out.startswith("smem: needs ")
    not_deep = ask("--why-not", "load.ring=3", changes=SMALL)
    assert (not_deep.status, not_deep.err) == (0, "")
    lines = not_deep.out.splitlines()
    assert lines[0] == "ring load.ring: the pipeline does not fit, not even with all rings at their least depth"
    assert lines[-1].startswith("one more stage holds 4,112 bytes of smem")
    assert ask("--dump-smt", tmp_path / "x.smt2", changes=SMALL).status == 0
    assert verdict(tmp_path / "x.smt2") == "unsat"


def test_a_domain_that_fits_is_answered_where_another_does_not(ask) -> None:
    lines = ask("--why-here", "store.meet", changes=SMALL).out.splitlines()
    assert lines[0] == "other domains do not fit; barrier alone would:"
    assert lines[1].startswith("store.meet: [1, 2) of barrier")


def verdict(file: Path) -> str:
    solver = z3.Solver(ctx=z3.Context())
    solver.from_file(str(file))
    return str(solver.check())


def test_the_query_has_the_verdict_of_the_placement(ask, tmp_path: Path) -> None:
    result = ask("--dump-smt", tmp_path / "x.smt2")
    assert (result.status, result.out, result.err) == (0, "", "")
    assert verdict(tmp_path / "x.smt2") == "sat"
    assert not (tmp_path / "sample.plimg").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--why-here", "load.aa"), ("the pipeline has no handle 'load.aa'", "did you mean 'load.a'?")),
        (("--why-here", ""), ()),
        (("--why-not", "load.rings=3"), ("the pipeline has no ring 'load.rings'", "did you mean 'load.ring'?")),
        (("--why-not", "load.ring"), ("--why-not takes RING=DEPTH, not 'load.ring'", "such as --why-not load.ring=4")),
        (("--why-not", "load.ring=-1"), ("--why-not takes RING=DEPTH, not 'load.ring=-1'",)),
    ],
)
def test_what_it_does_not_know_is_an_error_with_a_suggestion(ask, options, said) -> None:
    result = ask(*options)
    assert result.status == 1
    assert "error[L-USAGE]" in result.err
    for text in said:
        assert text in result.err


def test_a_role_that_has_no_registers_names_who_asked_for_two_blocks() -> None:
    result = command(main, ROWS / "p25.mlir", "--why-here", "attention.core")
    assert result.status == 0
    assert "384 threads start with 80 each = 30,720 for each of 2 blocks a multiprocessor" in result.out
    assert "it would fit with 1 block a multiprocessor" in result.out
