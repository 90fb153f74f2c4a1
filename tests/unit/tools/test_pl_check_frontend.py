"""pl-check-frontend: a package is well formed, or what is wrong with it is said, whoever made it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from packing import pack_into
from samples import Result, command

from pipelink.frontends import contract as c
from pipelink.frontends import package
from pipelink.tools.pl_check_frontend import main

SOURCE = """\
#define PL_PACKAGE adder
#include <pipelink/contract.cuh>
PL_STAGE("1.0.0")
extern "C" __device__ void adder_add(const int *a, int *sum) { *sum += *a; }
PL_CALLABLE(add, adder_add)
PL_CLAIM_SMEM(kept, pl::claim().bytes(64).align(16))
extern "C" __device__ void adder_role() { pl_smem[PL_HANDLE(kept)] = 1; }
PL_ROLE(work, adder_role, pl::role().warps(1))
"""
Change = Callable[[c.Contract, dict[str, bytes]], c.Contract]


@pytest.fixture(scope="session")
def adder(tmp_path_factory: pytest.TempPathFactory) -> package.Package:
    """A small package as pl-pack makes it, its source with it."""
    folder = tmp_path_factory.mktemp("adder")
    (folder / "adder.cu").write_text(SOURCE)
    pack_into(folder, [(folder / "adder.cu", "adder.plpkg", ())])
    return package.read(folder / "adder.plpkg")


@pytest.fixture
def check(adder: package.Package, tmp_path: Path) -> Callable[..., Result]:
    """Runs the command on the package as another frontend may have written it."""

    def run(change: Change, *options: object) -> Result:
        members = dict(adder.members)
        contract = change(adder.contract, members)
        package.write(tmp_path / "x.plpkg", contract, members)
        result = command(main, tmp_path / "x.plpkg", *options)
        return Result(result.status, result.out.replace(f"{tmp_path}/", ""), result.err.replace(f"{tmp_path}/", ""))

    return run


def with_source(text: str) -> Change:
    def change(contract: c.Contract, members: dict[str, bytes]) -> c.Contract:
        members["source/adder.cu"] = text.encode()
        return contract

    return change


def plainly(**values: Any) -> Change:
    return lambda contract, members: replace(contract, **values)


def entry(field: str, **values: Any) -> Change:
    def change(contract: c.Contract, members: dict[str, bytes]) -> c.Contract:
        (first, *others) = getattr(contract, field)
        return replace(contract, **{field: (replace(first, **values), *others)})

    return change


def without_source(contract: c.Contract, members: dict[str, bytes]) -> c.Contract:
    del members["source/adder.cu"]
    return replace(contract, main="")


def without_claim(contract: c.Contract, members: dict[str, bytes]) -> c.Contract:
    return replace(contract, claims=(), roles=(replace(contract.roles[0], uses=()),))


def test_what_was_checked_is_printed(check: Callable[..., Result]) -> None:
    result = check(lambda contract, members: contract)
    assert (result.status, result.err) == (0, "")
    head, *lines = result.out.splitlines()
    assert head == "x.plpkg: well formed"
    assert [line.split()[0] for line in lines] == ["members", "contract", "object", "source", "exports"]
    assert "adder 1.0.0, schema 1" in lines[1]
    assert lines[3].endswith("its annotations say the same as the contract")
    assert lines[4].endswith("2 functions of which none stays a call")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (without_source, "none is shipped"),
        (with_source("// made by another compiler\n"), "not compared: it has no annotations"),
        (
            with_source(SOURCE.replace("PL_STAGE", '#include "elsewhere.h"\nPL_STAGE')),
            "not compared: elsewhere.h: No such file or directory",
        ),
    ],
    ids=["none", "foreign", "a header found with -I"],
)
def test_without_annotations_the_object_alone_speaks(check: Callable[..., Result], change: Change, said: str) -> None:
    result = check(change)
    assert (result.status, result.err) == (0, "")
    assert f"  source    {said}" in result.out


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (plainly(defined=("adder_add",)), "error[L-PACKAGE]: defined: "),
        (plainly(ir_version=(1, 1)), "error[L-PACKAGE]: ir_version: "),
        (plainly(fp=c.FpMode(ftz=True)), "error[L-PACKAGE]: fp: "),
        (plainly(target="sm_100a"), "adder.cu:3:1: error[L-LTO]: the object has LTO IR of "),
        (entry("roles", warps=2), "adder.cu:8:1: error[L-PACKAGE]: role 'work': warps: the contract says 2, "),
        (entry("callables", name="sum"), "error[L-PACKAGE]: callable"),
        (entry("callables", symbol="adder_sum"), "adder.cu:5:1: error[L-INLINE]: callable add: the object does not"),
        (entry("callables", signature=c.Signature("int", ("int *",))), "error[L-PACKAGE]: callables[0].signature: "),
        (entry("claims", name="lost"), "adder.cu:8:1: error[L-UNRESOLVED]: 'uses' of 'adder.work' names @kept, "),
        (without_claim, "error[L-UNDEFINED]: no annotation names `plh_adder__kept`"),
        (plainly(at=c.Location("adder.cu", 1, 1)), "error[L-PACKAGE]: the contract places its entries where no"),
        (with_source(SOURCE.replace("+= *a;", "+= *a")), "error[L-COMPILE]: "),
    ],
)  # fmt: skip
def test_a_contract_that_is_not_its_objects_is_refused(
    check: Callable[..., Result], change: Change, error: str
) -> None:
    result = check(change)
    assert result.status == 1
    assert error in result.err
    assert result.out.startswith("x.plpkg: not well formed\n  members ")


FIELDLESS = c.FactUse("tile", "i32", "tile", c.Location("adder.cu", 4, 1))


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (entry("claims", align=24), "adder.cu:6:1: error[L-IR]: 'pl.claim' needs an alignment that is a power of two"),
        (plainly(fact_uses=(FIELDLESS,)), "adder.cu:4:1: error[L-FACT]: fact 'adder.tile' goes to field 'tile', which"),
        (entry("roles", uses=("other",)), "adder.cu:8:1: error[L-UNRESOLVED]: 'uses' of 'adder.work' names @other"),
    ],
)
def test_what_any_link_would_refuse_is_said_here(check: Callable[..., Result], change: Change, error: str) -> None:
    """Without another package: what those would provide is not missed."""
    call = c.Call("elsewhere", "adder_call", c.Signature("void", ()), c.Location("adder.cu", 4, 1))
    result = check(lambda contract, members: replace(change(contract, members), calls=(call,)))
    assert result.status == 1
    assert error in result.err
    assert result.err.count(": error[") == 1
    assert [line.split()[0] for line in result.out.splitlines()] == ["x.plpkg:", "members"]


@pytest.mark.parametrize("data", [b"", b"no package", b"PK\3\4" * 20])
def test_what_is_no_package_is_refused(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.plpkg").write_bytes(data)
    result = command(main, tmp_path / "x.plpkg")
    assert result == Result(
        1, f"{tmp_path}/x.plpkg: not well formed\n", f"{tmp_path}/x.plpkg: error[L-PACKAGE]: damaged, or no package\n"
    )


def test_a_function_that_stays_a_call_is_refused(tmp_path: Path, adder: package.Package) -> None:
    """The packer would refuse it; another frontend's object has it."""
    from pipelink.frontends.cuda.compile import Build, lto_object
    from pipelink.frontends.cuda.pack import headers
    from pipelink.frontends.cuda.sources import Sources

    (tmp_path / "adder.cu").write_text(
        SOURCE.replace("__device__ void adder_add", "__noinline__ __device__ void adder_add")
    )
    sources = Sources(tmp_path, "adder.cu", {}, ())
    data = lto_object(sources, Build("sm_90a", (headers(),), ()))
    package.write(tmp_path / "x.plpkg", replace(adder.contract, main=""), {package.OBJECT: data})
    result = command(main, tmp_path / "x.plpkg")
    assert result.status == 1
    assert "adder.cu:5:1: error[L-INLINE]: callable add: `adder_add` stays a call" in result.err
    assert "exports" not in result.out


def test_several_packages_as_json(adder: package.Package, tmp_path: Path) -> None:
    package.write(tmp_path / "a.plpkg", adder.contract, adder.members)
    package.write(tmp_path / "b.plpkg", replace(adder.contract, defined=()), adder.members)
    result = command(main, tmp_path / "a.plpkg", tmp_path / "b.plpkg", tmp_path / "c.plpkg", "--format", "json")
    assert result.status == 1
    reports = [json.loads(line) for line in result.out.splitlines()]
    assert [(Path(r["package"]).name, r["well_formed"]) for r in reports] == [
        ("a.plpkg", True),
        ("b.plpkg", False),
        ("c.plpkg", False),
    ]
    assert set(reports[0]["checked"]) == {"members", "contract", "object", "source", "exports"}
    assert [json.loads(line)["clause"] for line in result.err.splitlines()] == ["L-PACKAGE", "L-FILE"]
