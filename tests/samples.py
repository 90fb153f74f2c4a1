"""A small composition in three packages, as contracts and as package files whose objects nobody links: a loader, a
producer of a tensor of 128 x 8 in registers, and a consumer that demands it in another order (or, `direct`, the same).
"""

from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import BytesIO, StringIO, TextIOWrapper
from itertools import count
from pathlib import Path
from typing import Any, Literal
from unittest.mock import patch

from msgspec.structs import replace
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.printer import Printer

from pipelink.frontends import package
from pipelink.frontends.contract import (
    Call,
    Callable,
    Claim,
    Contract,
    Count,
    Export,
    Fact,
    FactUse,
    Field,
    FpMode,
    Import,
    Lifetime,
    Location,
    Parameters,
    Ring,
    Role,
    Signature,
    Site,
    WarpHandle,
)
from pipelink.ir.builder import PipelineBuilder
from pipelink.ir.locations import parse_module
from pipelink.ir.pl import PL

TARGET, TOOLKIT = "sm_90a", "13.5.37"
PLACEMENT = "(t:128, r:8) -> (m:128, n:8) { m = t; n = r }"
STAGED = "(t:128, p:4, c:2) -> (m:128, n:8) { m = t/2 + t%2*64; n = c*4 + p }"
DIRECT = "(t:128, p:4, c:2) -> (m:128, n:8) { m = t; n = c*4 + p }"

VOID = Signature("void", ())
FRAME = Signature("void", ("float *",))
COORD = Signature("void", ("int *",))


def _ring(side: Literal["producer", "consumer"], on: str, at: Location) -> Ring:
    return Ring("ring", side, on, (2, 4), Count(), Count("warp"), 4096, at)


def _tile(at: Location, lifetime: Lifetime = Lifetime()) -> Claim:  # noqa: B008 (frozen)
    return Claim(
        "a", "smem", 4096, at, align=1024, ring="ring", lifetime=lifetime, dtype="bf16", tile=(32, 64), swizzle=128
    )


def _base(name: str, defined: Iterable[str], **entries: Any) -> Contract:
    at = Location(f"{name}.cu", 1, 1)
    return Contract(
        name=name,
        version="1.0.0",
        target=TARGET,
        toolkit=TOOLKIT,
        ir_version=(2, 0),
        fp=FpMode(),
        flags=(),
        members=(),
        at=at,
        defined=tuple(sorted(defined)),
        **entries,
    )


def load() -> Contract:
    line = _lines("load.cu")
    return _base(
        "load",
        ["load_coord", "load_dead", "load_init", "load_role"],
        parameters=Parameters("load_args", 128, 64, (Field("map", 0, 64), Field("tile", 64, 4)), next(line)),
        roles=(Role("tma", "load_role", replace(VOID, args=True), 1, next(line), registers=(24, 56), need=24),),
        claims=(_tile(next(line)), Claim("bias", "smem", 64, next(line), align=16)),
        rings=(replace(_ring("producer", "tma", next(line)), init="load_init", init_signature=VOID, drains=True),),
        callables=(
            Callable("coord", "load_coord", replace(COORD, args=True), next(line)),
            Callable("dead", "load_dead", VOID, next(line), uses=("bias",)),
        ),
        fact_uses=(FactUse("tile", "i32", "tile", next(line), 8),),
    )


def mma() -> Contract:
    line = _lines("mma.cu")
    until_ready = Lifetime("between", "", "begin", "acc.ready")
    return _base(
        "mma",
        ["mma_produce"],
        claims=(_tile(next(line), until_ready),),
        rings=(_ring("consumer", "acc", next(line)),),
        warp_handles=(WarpHandle("first", "acc", next(line)),),
        exports=(
            Export(
                "acc",
                "mma_produce",
                FRAME,
                "f32",
                PLACEMENT,
                8,
                128,
                next(line),
                align=128,
                requires=("converged",),
                completion="final",
                uses=("a", "ring_full", "ring_empty", "first"),
            ),
        ),
        facts=(Fact("tile", "i32", 8, next(line)),),
    )


def store(demand: str = STAGED) -> Contract:
    line = _lines("store.cu")
    return _base(
        "store",
        ["store_role"],
        roles=(
            Role(
                "epilogue",
                "store_role",
                replace(VOID, context=True),
                4,
                next(line),
                align=4,
                registers=(64, 240),
                need=64,
                uses=("out",),
                calls=("acc", "coord"),
            ),
        ),
        sites=(Site("work", "epilogue", 128, next(line), guarantees=("entered once", "converged")),),
        claims=(
            Claim("out", "smem", 8192, next(line), align=1024, lifetime=Lifetime("between", "", "acc.ready", "end")),
            Claim(
                "scratch",
                "smem",
                2048,
                next(line),
                align=128,
                lifetime=Lifetime("between", "", "acc.ready", "acc.done"),
            ),
            Claim("meet", "barrier", 1, next(line)),
        ),
        calls=(Call("coord", "store_coord", replace(COORD, context=True), next(line), site="work"),),
        imports=(
            Import(
                "acc",
                "store_import",
                Signature("void", ("const float *", "int", "float *")),
                "store_produce",
                replace(FRAME, context=True),
                "f32",
                demand,
                "c",
                "work",
                8,
                next(line),
                scratch="scratch",
                barrier="meet",
                completion="final",
            ),
        ),
    )


def _lines(file: str) -> Iterator[Location]:
    return (Location(file, line, 1) for line in count(2))


def contracts(demand: str = STAGED) -> tuple[Contract, ...]:
    return load(), mma(), store(demand)


def built(demand: str = STAGED) -> ModuleOp:
    """The composition, built by hand."""
    builder = PipelineBuilder("sample", TARGET, TOOLKIT)
    for contract in contracts(demand):
        builder.package(contract, f"digest of {contract.name}", f"{contract.name}.plpkg")
    builder.connect("fact", "mma.tile", "load.tile")
    builder.connect("ring", "load.ring", "mma.ring")
    builder.connect("call", "load.coord", "store.coord")
    builder.connect("tensor", "mma.acc", "store.acc")
    return builder.module()


def write_packages(folder: Path, packages: Iterable[Contract]) -> None:
    for contract in packages:
        package.write(folder / f"{contract.name}.plpkg", contract, {"object.fatbin": b"no object"})


MANIFEST = """\
[pipeline]
name = "sample"
target = "sm_90a"

[packages]
load = "load.plpkg"
mma = "mma.plpkg"
store = "store.plpkg"
"""


# ---- the IR as text, and the commands in this process ---------------------------------------------------------------


def context() -> Context:
    made = Context()
    made.load_dialect(Builtin)
    made.load_dialect(PL)
    return made


def parsed(text: str, name: str = "sample.mlir") -> ModuleOp:
    return parse_module(context(), text, name)


def printed(module: ModuleOp, generic: bool = False, locations: bool = False) -> str:
    stream = StringIO()
    Printer(stream, print_generic_format=generic, print_debuginfo=locations).print_op(module)
    return stream.getvalue() + "\n"


@dataclass(frozen=True)
class Result:
    """What a command did."""

    status: int
    out: str
    err: str


@contextmanager
def _standard_input(text: str) -> Generator[None]:
    with patch("sys.stdin", TextIOWrapper(BytesIO(text.encode()))):
        yield


def command(main: "object", *arguments: object, stdin: str = "") -> Result:
    """Call a command's `main` as the shell would; an exception that it lets out is a failure of the test."""
    assert callable(main)
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err), _standard_input(stdin):
        try:
            status = main([str(a) for a in arguments])
        except SystemExit as stop:
            status = stop.code
    return Result(status if isinstance(status, int) else 0, out.getvalue(), err.getvalue())


def pl_opt(*arguments: object, stdin: str = "") -> Result:
    from pipelink.tools.pl_opt import main

    return command(main, *arguments, stdin=stdin)


def passed(text: str, *passes: str) -> str:
    """What pl-opt prints for `text` after `passes`."""
    result = pl_opt("-", "-p", ",".join(passes), stdin=text)
    assert (result.status, result.err) == (0, "")
    return result.out
