"""The proof of a link: the image is read back and held against the IR, which is checked once more, whoever wrote it.

Each check is named, so that `make sabotage` can say which one noticed.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property

from pipelink.backend import linklog, sass
from pipelink.backend.cubin import Cubin, KernelInfo, read
from pipelink.backend.link import Linked
from pipelink.ir.attributes import Kind
from pipelink.ir.diagnostics import Diagnostics
from pipelink.ir.locations import place_of
from pipelink.ir.pl import (
    CallableOp,
    ClaimOp,
    ConnectOp,
    CounterOp,
    DispatchOp,
    ExportOp,
    GroupOp,
    ImportOp,
    PackageOp,
    PlOp,
    RingOp,
    RoleOp,
    SiteOp,
    StubOp,
    TrampolineOp,
    WarpOp,
)
from pipelink.ir.symbols import Symbols, qualified
from pipelink.passes.reach import Reach
from pipelink.passes.relocate import Model
from pipelink.passes.routes import from_json
from pipelink.passes.tensors import violations

REGISTER_MESSAGES = ("C7507", "C7511", "C7600", "C7602")
"""ptxas messages that say a group lacks registers (setmaxnreg ignored, wgmma serialised, allocation failed)."""


@dataclass(frozen=True)
class Image:
    """A linked image as read back."""

    linked: Linked
    disassembly: "Future[Mapping[str, sass.Code]]" = field(init=False, repr=False)

    @cached_property
    def cubin(self) -> Cubin:
        return read(self.linked.cubin)

    def __post_init__(self) -> None:
        """nvdisasm starts at once, in a thread: it takes most of the time, and most checks do not need it."""
        pool = ThreadPoolExecutor(1)
        object.__setattr__(self, "disassembly", pool.submit(sass.disassemble, self.linked.cubin, registers=True))
        pool.shutdown(wait=False)

    @property
    def code(self) -> sass.Code:
        return self.disassembly.result()[self.linked.kernel]

    @cached_property
    def log(self) -> linklog.LinkLog:
        return linklog.parse(self.linked.log)

    @cached_property
    def symbols(self) -> Symbols:
        return Symbols(self.linked.pipeline)

    @cached_property
    def kernel(self) -> KernelInfo:
        return self.cubin.kernels[self.linked.kernel]

    @property
    def clustered(self) -> bool:
        return self.linked.pipeline.clustered

    @property
    def dispatch(self) -> DispatchOp:
        return self.symbols.ops(DispatchOp)[0]

    @cached_property
    def groups(self) -> list[GroupOp]:
        return sorted(self.symbols.ops(GroupOp), key=lambda g: g.warps.get_values()[0])

    @property
    def budgets(self) -> list[int]:
        return [g.budget.value.data for g in self.groups if g.budget is not None]


Fault = tuple[str, str]
"""A clause and what is wrong."""


def one_kernel(image: Image) -> Iterator[Fault]:
    """The image holds the dispatch kernel and no other code; no handle or export symbol survives."""
    expected = {image.linked.kernel}
    if set(image.cubin.kernels) != expected:
        yield "L-CODE", f"the image holds the kernels {sorted(image.cubin.kernels)}, not {sorted(expected)}"
    names = {op.symbol.data for k in (StubOp, TrampolineOp, CallableOp, ExportOp) for op in image.symbols.ops(k)}
    names |= {op.entry.data for op in image.symbols.ops(RoleOp)}
    names |= {s.data for p in image.symbols.ops(PackageOp) for s in p.defines}
    survivors = sorted(names & (image.cubin.defined | image.cubin.undefined))
    if survivors:
        yield "L-CODE", f"symbols survive the link: {', '.join(survivors)}"


def launch_bounds(image: Image) -> Iterator[Fault]:
    """Threads and parameter bytes are the dispatch kernel's; there is no static shared memory."""
    threads = image.dispatch.threads.value.data
    if tuple(image.kernel.max_threads[:1]) != (threads,):
        yield "L-CODE", f"the kernel is bound to {image.kernel.max_threads} threads, not {threads}"
    wanted = image.linked.pipeline.shape if image.clustered else ()
    if tuple(image.kernel.cluster) != wanted:
        yield "L-CODE", f"the kernel is bound to clusters of {image.kernel.cluster}, not {wanted}"
    size = max(image.dispatch.parameters.value.data, 128)
    sizes = [taken for _, taken in image.kernel.parameters]
    if sizes != [size]:
        yield "L-CODE", f"the kernel takes parameters of {sizes} bytes, not one of {size}"
    if image.kernel.shared_bytes:
        yield "L-CODE", f"the kernel holds {image.kernel.shared_bytes} bytes of static shared memory that no one claims"


def no_messages(image: Image) -> Iterator[Fault]:
    """ptxas said nothing about serialised wgmma, ignored setmaxnreg or lack of registers."""
    for message in image.log.messages:
        clause = "L-REGS" if message.code in REGISTER_MESSAGES else "L-CODE"
        yield clause, f"ptxas {message.code}: {message.text}{_needs(image) if clause == 'L-REGS' else ''}"


def no_stack(image: Image) -> Iterator[Fault]:
    """No stack, no spills, no local memory; no calls but those of the compiler's own slow paths."""
    use = image.log.function(image.linked.kernel)
    if use.spill_loads or use.spill_stores:
        spilt = f"{use.spill_stores} bytes of spill stores, {use.spill_loads} of spill loads"
        yield "L-REGS", f"the register groups do not fit: {spilt}{_needs(image)}"
    elif use.stack or image.kernel.stack_frame:
        yield "L-CODE", f"the kernel uses {max(use.stack, image.kernel.stack_frame)} bytes of stack"
    spills = use.spill_loads or use.spill_stores
    if not spills and (local := sass.count(image.code, "LDL", "STL")):
        yield "L-CODE", f"{local} instructions access local memory"
    if calls := [c for c in sass.calls(image.code) if "$__internal_" not in c]:
        yield "L-CODE", f"calls remain: {', '.join(sorted(set(calls)))}"


def _needs(image: Image) -> str:
    """What each group was given and uses, for messages about registers."""
    used = [f"{r.budget} given, {r.registers} used" for r in sass.regions(image.code) if r.budget]
    return f" (groups: {'; '.join(used)})" if used else ""


def budgets(image: Image) -> Iterator[Fault]:
    """Each group sets its register budget once, as placed, the groups cover the block, and the pool holds them all."""
    spans = [tuple(g.warps.get_values()) for g in image.groups]
    ends = [0, *(end for _, end in spans)]
    if image.budgets and (
        [first for first, _ in spans] != ends[:-1] or 32 * ends[-1] != image.dispatch.threads.value.data
    ):
        yield "L-CODE", f"register groups {spans} do not cover the warps of the block"
    found = Counter(r.budget for r in sass.regions(image.code) if r.budget)
    if found != Counter(image.budgets):
        yield "L-CODE", f"register budgets in the code are {sorted(found.elements())}, placed {sorted(image.budgets)}"
    if image.budgets and not image.kernel.reg_reconfig:
        yield "L-CODE", "setmaxnreg did not survive"
    threads = image.dispatch.threads.value.data
    pool = image.kernel.registers * threads
    taken = sum(
        128 * -(-(end - first) // 4) * (g.budget.value.data if g.budget is not None else 0)
        for g in image.groups
        for first, end in [g.warps.get_values()]
    )
    if image.budgets and taken > pool:
        yield "L-REGS", f"register budgets take {taken} registers, the block starts with {pool}: it would hang"


def barrier_ids(image: Image) -> Iterator[Fault]:
    """Named barriers in the code are exactly those placed and used; barrier 0 is the dispatcher's alone."""
    uses = sass.barriers(image.code)
    if any(u.id is None for u in uses):
        yield "L-CODE", "a named barrier's id is not a constant"
    found = {u.id for u in uses if u.id}
    placed = _placed_barriers(image)
    if stray := found - {i for ids in placed.values() for i in ids}:
        yield "L-CODE", f"named barriers {sorted(stray)} are in the code, placed are {placed}"
    for name, ids in placed.items():
        if not found & ids:
            yield "L-CODE", f"named barrier '{name}' was placed at {sorted(ids)}, which the code does not use"
    zeros = sum(u.id == 0 for u in uses)
    if zeros != 1:
        yield (
            "L-CODE",
            f"barrier 0 is used {zeros} times, once by the dispatcher (is there a __syncthreads in a role?)",
        )


def _placed_barriers(image: Image) -> dict[str, set[int]]:
    """By claim, the ids of those that code uses, or that are lent to a transfer or rendezvous that uses them."""
    reach = Reach(image.symbols)
    lent: set[ClaimOp] = set()
    for connect, _, import_ in reach.connected(ExportOp, ImportOp):
        assert connect.schedule is not None
        synced = connect.schedule.data["sync"] == "cta" or bool(connect.orders)
        if synced and import_.barrier:
            lent.add(image.symbols.get(import_.barrier, import_, ClaimOp))
    ids: dict[str, set[int]] = {}
    for claim in image.symbols.ops(ClaimOp):
        by_code = any(
            found is claim
            for code in reach.users_of(claim)
            for ref in code.uses
            for found in [image.symbols.find(ref, code)]
        )
        if claim.kind.data is Kind.barrier and claim.base is not None and (claim in lent or by_code):
            first = claim.base.value.data
            ids[qualified(claim)] = set(range(first, first + claim.size.value.data))
    return ids


def no_gpu_fence(image: Image) -> Iterator[Fault]:
    """No memory barrier wider than a counter's scope asks (an mbarrier arrive with .release.cluster emits one)."""
    scopes = {c.scope.data for c in image.symbols.ops(ClaimOp) if c.scope is not None}
    asked = {".GPU": scopes & {"gpu", "system"}, ".SYS": scopes & {"system"}}
    for suffix in (suffix for suffix, why in asked.items() if not why):
        if found := sum(suffix in i.opcode for i in image.code.instructions if "MEMBAR" in i.opcode):
            yield "L-CODE", f"{found} memory barriers of scope {suffix}, for which no counter asks"


def tensor_memory(image: Image) -> Iterator[Fault]:
    """Tensor memory is allocated for the whole block by who generates the kernel, for what is claimed: no one else may
    (PTX ISA, tcgen05.alloc)."""
    claimed = any(c.kind.data is Kind.tmem for c in image.symbols.ops(ClaimOp))
    found = sum(i.opcode.startswith("UTCATOMSWS") for i in image.code.instructions)
    if found and not claimed:
        yield "L-CODE", "the code allocates tensor memory, which no one claims"


def stubs(image: Image) -> Iterator[Fault]:
    """Every handle's constant in the generated text is the placement's."""
    found = {m[1]: int(m[2]) for m in re.finditer(r"unsigned (plh_\w+)\(\) \{ return (\d+)u; \}", image.linked.text)}
    for symbol, expected in _expected_handles(image).items():
        if found.get(symbol) != expected:
            yield "L-CODE", f"handle {symbol} returns {found.get(symbol)}, placed {expected}"


def _expected_handles(image: Image) -> dict[str, int]:
    expected: dict[str, int] = {}
    reach = Reach(image.symbols)
    kinds = (ClaimOp, RingOp, CounterOp, WarpOp)
    for op in [op for kind in kinds for op in image.symbols.ops(kind)]:
        name = "plh_" + qualified(op).replace(".", "__")
        if isinstance(op, ClaimOp) and op.base is not None:
            expected[name] = op.base.value.data
        elif isinstance(op, RingOp) and op.depth is not None and op.arrivals is not None:
            expected[f"{name}_depth"] = op.depth.value.data
            expected[f"{name}_full_count"], expected[f"{name}_empty_count"] = op.arrivals.get_values()
        elif isinstance(op, CounterOp) and op.total is not None:
            expected[f"{name}_arrivals"] = op.total.value.data
        elif isinstance(op, WarpOp):
            runs = reach.roles_running(image.symbols.get(op.of, op, PlOp))
            expected[name] = next(r.first_warp.value.data for r in runs if r.first_warp is not None)
    return expected


def entries(image: Image) -> Iterator[Fault]:
    """The dispatch kernel enters each role at exactly its warps, after the mbarriers are initialised and fenced."""
    kernel = image.linked.text.partition("__global__")[2]
    enters = re.finditer(r"if \(warp (?:== (\d+)|>= (\d+) && warp < (\d+))\) [\w:]*::(\w+)\(", kernel)
    found = {(m[4], (int(m[1]), int(m[1]) + 1) if m[1] else (int(m[2]), int(m[3]))) for m in enters}
    for role in image.symbols.ops(RoleOp):
        first = role.first_warp.value.data if role.first_warp is not None else -1
        warps = (first, first + role.warps.value.data)
        if (role.entry.data, warps) not in found:
            yield (
                "L-CODE",
                f"role '{qualified(role)}' is not entered by its warps {warps}: the kernel enters {sorted(found)}",
            )
    inits = [r.init.data for r in image.symbols.ops(RingOp) if r.init]
    order = [kernel.find(f"::{init}(") for init in inits] + [kernel.find("pl_fence_mbarrier_init()")] * bool(inits)
    order += [kernel.find("__syncthreads()"), *[kernel.find("pl_sync_cluster()")] * image.clustered]
    fenced = order[len(inits) :]
    if -1 in order or fenced != sorted(fenced) or max(order[: len(inits)], default=-1) > fenced[0]:
        yield "L-CODE", "the kernel does not initialise, fence and then meet, in this order"
    if image.clustered and not kernel.rstrip().removesuffix("}").rstrip().endswith("pl_sync_cluster();"):
        yield "L-CODE", "the blocks of a cluster do not meet before they leave"


def rendezvous(image: Image) -> Iterator[Fault]:
    """Where storage changes hands at a tensor's `ready`, its participants fence and meet after the producer."""
    for connect in image.symbols.ops(ConnectOp):
        import_ = image.symbols.find(connect.user, connect)
        if not isinstance(import_, ImportOp) or "ready" not in [o.data for o in connect.orders or ()]:
            continue
        claim = import_.barrier and image.symbols.get(import_.barrier, import_, ClaimOp)
        barrier = claim.base.value.data if claim and claim.base is not None else -1
        first, end = image.symbols.get(import_.site, import_, SiteOp).threads.get_values()
        body = image.linked.text.partition(f" {import_.produce.data}(")[2].partition("\n}")[0]
        meets = f"pl_fence_proxy_async();\n  pl_sync_cta({barrier}, {end - first});"
        if not body.endswith(meets):
            yield (
                "L-CODE",
                f"the producer of '{qualified(import_)}' does not end with a fence and a meeting at barrier {barrier}",
            )


def placement(image: Image) -> Iterator[Fault]:
    """The placement that the IR states holds by the rules, whoever wrote it."""
    model = Model(image.linked.pipeline)
    errors = Diagnostics()
    model.check_shares(errors)
    yield from ((d.clause, d.message) for d in errors.errors)
    yield from (("L-OVERLAP", fault) for fault in model.faults())


def transfers(image: Image) -> Iterator[Fault]:
    """Every transfer delivers every element at the placed addresses, by the model of the hardware's primitives."""
    for connect in image.symbols.ops(ConnectOp):
        import_ = image.symbols.find(connect.user, connect)
        export = image.symbols.find(connect.provider, connect)
        if not isinstance(import_, ImportOp) or not isinstance(export, ExportOp) or connect.schedule is None:
            continue
        plan = from_json(str(connect.schedule.data["plan"]))
        said = connect.route.data if connect.route is not None else "none"
        if said != plan.kind or said not in [c.data for c in connect.candidates or ()]:
            yield "L-ROUTE", f"tensor '{qualified(import_)}' has a plan of route '{plan.kind}', its route is '{said}'"
        for violation in violations(image.symbols, export, import_, str(connect.schedule.data["plan"])):
            yield "L-ROUTE", f"tensor '{qualified(import_)}': {violation}"


CHECKS: dict[str, Callable[[Image], Iterator[Fault]]] = {
    "one-kernel": one_kernel,
    "launch-bounds": launch_bounds,
    "stubs": stubs,
    "entries": entries,
    "rendezvous": rendezvous,
    "placement": placement,
    "transfers": transfers,
    "no-messages": no_messages,
    "no-stack": no_stack,
    "budgets": budgets,
    "barrier-ids": barrier_ids,
    "no-gpu-fence": no_gpu_fence,
    "tensor-memory": tensor_memory,
}
"""By name; those that read the disassembly come last."""


def faults(image: Image) -> dict[str, list[Fault]]:
    """Every check that found something, with what it found."""
    first = list(one_kernel(image))
    if image.linked.kernel not in image.cubin.kernels:
        return {"one-kernel": first}
    return {name: found for name, check in CHECKS.items() if (found := list(check(image)))}


def refuse(image: Image, found: Mapping[str, list[Fault]]) -> Image:
    """The same image where nothing was found. Raises PipelinkError with all that differs from the IR."""
    errors = Diagnostics()
    for fault in found.values():
        for clause, message in fault:
            errors.error(clause, message, place_of(image.linked.pipeline))
    errors.check()
    return image
