"""The IR is the only state: a dump goes on to the same result, a pass says what it lacks, and can run again."""

from functools import cache

import pytest
from samples import DIRECT, STAGED, built, parsed, passed, pl_opt, printed

from pipelink.ir.locations import place_of
from pipelink.passes import LINK, get_all_passes

CUTS = range(len(LINK) + 1)


@cache
def dumps(demand: str) -> tuple[str, ...]:
    """The dump before the first pass and after each."""
    texts = [passed(printed(built(demand)))]
    for step in LINK:
        texts.append(passed(texts[-1], step))
    return tuple(texts)


@cache
def located(demand: str, *flags: str) -> str:
    return pl_opt("-", *flags, "--print-debuginfo", stdin=printed(built(demand), locations=True)).out


@pytest.mark.parametrize("demand", [STAGED, DIRECT], ids=["staged", "direct"])
@pytest.mark.parametrize("generic", [False, True], ids=["pretty", "generic"])
@pytest.mark.parametrize("cut", CUTS)
def test_a_dump_goes_on_to_the_same_result(demand: str, generic: bool, cut: int) -> None:
    dump = located(demand, "-p", ",".join(LINK[:cut]), *["--print-op-generic"] * generic)
    rest = pl_opt("-", "-p", ",".join(LINK[cut:]), "--print-debuginfo", stdin=dump)
    assert rest.err == ""
    assert rest.out == located(demand, "--link-passes")


@pytest.mark.parametrize("demand", [STAGED, DIRECT], ids=["staged", "direct"])
@pytest.mark.parametrize("cut", CUTS)
def test_every_dump_reads_back_in_each_form(demand: str, cut: int) -> None:
    module = parsed(dumps(demand)[cut])
    for generic in (False, True):
        for locations in (False, True):
            again = parsed(printed(module, generic, locations))
            assert again.is_structurally_equivalent(module)
            assert not locations or [*map(place_of, again.walk())] == [*map(place_of, module.walk())]


@pytest.mark.parametrize("demand", [STAGED, DIRECT], ids=["staged", "direct"])
@pytest.mark.parametrize("step", LINK)
def test_a_pass_can_run_again(demand: str, step: str) -> None:
    after = dumps(demand)[LINK.index(step) + 1]
    assert passed(after, step) == after


@pytest.mark.parametrize("demand", [STAGED, DIRECT], ids=["staged", "direct"])
def test_the_whole_pipeline_can_run_again(demand: str) -> None:
    assert passed(dumps(demand)[-1], *LINK) == dumps(demand)[-1]


@pytest.mark.parametrize("step", LINK[2:])
def test_a_pass_names_the_one_that_must_come_before(step: str) -> None:
    result = pl_opt("-", "-p", step, stdin=dumps(STAGED)[0])
    assert result.status == 1
    first, *others = result.err.splitlines()
    assert first.startswith(f"<stdin>:2:3: error[L-PASS]: {step} cannot run: ")
    (hint,) = others
    name = hint.removeprefix("<stdin>:2:3: help: run ").removesuffix(" first")
    assert name in LINK[: LINK.index(step)]


def test_following_the_hints_completes_a_link() -> None:
    """From the last pass alone: run what the hint names, until it runs."""
    text, ran = dumps(STAGED)[0], list[str]()
    while (result := pl_opt("-", "-p", LINK[-1], stdin=text)).status:
        ran.append(result.err.splitlines()[1].removeprefix("<stdin>:2:3: help: run ").removesuffix(" first"))
        needed = pl_opt("-", "-p", ran[-1], stdin=text)
        while needed.status:
            ran.append(needed.err.splitlines()[1].removeprefix("<stdin>:2:3: help: run ").removesuffix(" first"))
            needed = pl_opt("-", "-p", ran[-1], stdin=text)
        text = needed.out
        assert len(ran) < 20
    assert result.out == dumps(STAGED)[-1]


@pytest.mark.parametrize("step", LINK)
def test_no_pass_starts_where_contracts_do_not_fit(step: str) -> None:
    broken = dumps(STAGED)[-1].replace("ring @load::@ring to @mma::@ring", "ring @load::@ring to @mma::@first")
    result = pl_opt("-", "-p", step, stdin=broken)
    assert (result.status, result.out) == (1, "")
    assert "error[L-UNRESOLVED]: a ring connection needs a pl.ring, and @mma::@first is none" in result.err


def test_a_pass_that_breaks_the_module_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from pipelink.ir.pl import PipelineOp, RoleOp, integer
    from pipelink.ir.symbols import Symbols

    step = get_all_passes()["pl-eliminate-dead-exports"]()

    def breaks(self: object, pipeline: PipelineOp, errors: object) -> None:
        Symbols(pipeline).ops(RoleOp)[0].warps = integer(0)

    monkeypatch.setattr(step, "run", breaks)
    result = pl_opt("-", "-p", step.name, stdin=dumps(STAGED)[0])
    message = "'pl.role' needs warps of at least 1, not 0 (after pl-eliminate-dead-exports)"
    assert result.status == 1
    assert result.err.endswith(f"error[L-IR]: {message}\n")
