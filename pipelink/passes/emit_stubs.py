"""`pl-emit-stubs`: states every definition that the link needs: handle stubs, trampolines and the dispatch kernel.

The text of the code is made from these by the `cuda` target (`pipelink/backend/cuda.py`).
"""

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Attribute, Operation

from pipelink.frontends.contract import handle_symbol
from pipelink.ir.attributes import Kind
from pipelink.ir.diagnostics import Diagnostics
from pipelink.ir.locations import place_of
from pipelink.ir.pl import (
    CallableOp,
    CallOp,
    ClaimOp,
    CounterOp,
    DispatchOp,
    ExportOp,
    ImportOp,
    ParamOp,
    PipelineOp,
    PlOp,
    RingOp,
    RoleOp,
    StubOp,
    TrampolineOp,
    WarpOp,
    integer,
)
from pipelink.ir.symbols import Symbols, qualified, reference
from pipelink.passes.base import LinkPass
from pipelink.passes.reach import Reach
from pipelink.passes.relocate import ADDRESS, counter_field, empty

BLOCK_ALIGN = 128  # the parameter block's alignment: that of a TMA descriptor's cache line


@dataclass(frozen=True)
class EmitStubs(LinkPass):
    """State the handle stubs, the trampolines and the dispatch kernel."""

    name = "pl-emit-stubs"
    requires = (
        "pl.pipeline.threads",
        "pl.role.first_warp",
        "pl.ring.depth",
        "pl.claim.live",
        "pl.connect.route",
        "pl.param.offset",
        "pl.use_fact.value",
    )
    produces = ("pl.dispatch",)

    def run(self, pipeline: PipelineOp, errors: Diagnostics) -> None:
        symbols = Symbols(pipeline)
        reach = Reach(symbols)
        for claim in symbols.ops(ClaimOp):
            if claim in reach.live and claim.base is None and not empty(claim):
                errors.error(
                    "L-PASS", f"'{qualified(claim)}' has no place", place_of(claim), hint="run pl-relocate first"
                )
        for kind in (StubOp, TrampolineOp, DispatchOp):
            for old in symbols.ops(kind):
                old.detach()
                old.erase()
        _refuse_unwritten(reach, errors)
        errors.check()
        made: list[PlOp] = [*_stubs(reach), *_trampolines(reach), _dispatch(pipeline, symbols)]
        for op in made:
            op.location = pipeline.location
        pipeline.body.block.add_ops(made)


def _refuse_unwritten(reach: Reach, errors: Diagnostics) -> None:
    """What is placed and has no generated code yet: a kernel without it would be wrong."""
    for claim in reach.symbols.ops(ClaimOp):
        if claim in reach.live and claim.kind.data is Kind.tmem:
            message = f"'{qualified(claim)}' is placed, but nothing generated allocates tensor memory yet"
            errors.error("L-FEATURE", message, place_of(claim))


def handles(reach: Reach) -> Iterator[tuple[str, int, Operation]]:
    """(handle symbol, value, what it reads) of every decision that a live package can read."""
    for op in reach.symbols.pipeline.walk():
        package, _, name = qualified(op).partition(".")
        if op not in reach.live:
            continue
        symbol = handle_symbol(package, name)
        match op:
            case ClaimOp():
                yield symbol, op.base.value.data if op.base is not None else 0, op
            case RingOp():
                assert op.depth is not None
                assert op.arrivals is not None
                full, empty = op.arrivals.get_values()
                yield f"{symbol}_depth", op.depth.value.data, op
                yield f"{symbol}_full_count", full, op
                yield f"{symbol}_empty_count", empty, op
            case CounterOp():
                assert op.total is not None
                yield f"{symbol}_arrivals", op.total.value.data, op
            case WarpOp():
                code = reach.symbols.get(op.of, op, PlOp)
                (role,) = reach.roles_running(code)
                assert role.first_warp is not None
                yield symbol, role.first_warp.value.data, op
            case _:
                pass


def _stubs(reach: Reach) -> Iterator[StubOp]:
    for symbol, value, op in sorted(handles(reach), key=lambda h: h[0]):
        properties: dict[str, Attribute] = {
            "symbol": StringAttr(symbol),
            "value": integer(value),
            "reads": reference(op),
        }
        yield StubOp.create(properties=properties)


def _trampoline(symbol: str, kind: str, user: Operation, provider: Operation) -> TrampolineOp:
    properties: dict[str, Attribute] = {
        "symbol": StringAttr(symbol),
        "kind": StringAttr(kind),
        "user": reference(user),
        "provider": reference(provider),
    }
    return TrampolineOp.create(properties=properties)


def _trampolines(reach: Reach) -> list[TrampolineOp]:
    made = [_trampoline(u.symbol.data, "call", u, p) for _, p, u in reach.connected(CallableOp, CallOp)]
    for _, export, import_ in reach.connected(ExportOp, ImportOp):
        made.append(_trampoline(import_.produce.data, "produce", import_, export))
        made.append(_trampoline(import_.symbol.data, "import", import_, export))
    return sorted(made, key=lambda t: t.symbol.data)


def _dispatch(pipeline: PipelineOp, symbols: Symbols) -> DispatchOp:
    """Initialisers run in order of name; roles are entered in order of their warps."""
    inits = sorted((r for r in symbols.ops(RingOp) if r.init), key=qualified)
    roles = sorted(symbols.ops(RoleOp), key=lambda r: r.first_warp.value.data if r.first_warp is not None else 0)
    end = max(
        (p.offset.value.data + p.size.value.data for p in symbols.ops(ParamOp) if p.offset is not None), default=0
    )
    counters = counter_field(symbols)
    if counters is not None:
        end = counters + ADDRESS
    assert pipeline.threads is not None
    properties: dict[str, Attribute] = {
        "symbol": StringAttr(f"pl_{pipeline.sym_name.data}"),
        "threads": pipeline.threads,
        "parameters": integer(-(-end // BLOCK_ALIGN) * BLOCK_ALIGN),
        "inits": ArrayAttr([reference(r) for r in inits]),
        "roles": ArrayAttr([reference(r) for r in roles]),
        **({"counters": integer(counters)} if counters is not None else {}),
    }
    return DispatchOp.create(properties=properties)
