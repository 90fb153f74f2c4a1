"""The `cuda` target: the code between components, from the IR after `pl-emit-stubs`.

One text serves the link (compiled alone) and the single unit (after the components' sources): it needs no headers, and
declares what it takes from a package in the namespace `pl_unit_PACKAGE`, in which the single unit includes the source.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr
from xdsl.utils.target import Target

from pipelink.frontends.contract import Signature
from pipelink.ir.diagnostics import fail
from pipelink.ir.locations import place_of
from pipelink.ir.pl import (
    CallableOp,
    CallOp,
    ClaimOp,
    ConnectOp,
    DispatchOp,
    ExportOp,
    GroupOp,
    ImportOp,
    ParamOp,
    PipelineOp,
    PlOp,
    RingOp,
    RoleOp,
    SiteOp,
    StubOp,
    TrampolineOp,
)
from pipelink.ir.symbols import Symbols, package_of, path_of, pipeline_of, qualified
from pipelink.passes.base import missing
from pipelink.passes.placement.registers import entry_registers
from pipelink.passes.routes import DEVICE_PRELUDE, emit_cuda, from_json
from pipelink.passes.rules.tensors import C_TYPES

FENCES = """\
static __device__ __forceinline__ void pl_fence_mbarrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
static __device__ __forceinline__ void pl_fence_proxy_async() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
"""
CLUSTER = """\
static __device__ __forceinline__ void pl_sync_cluster() {
  asm volatile("barrier.cluster.arrive.relaxed;\\n\\tbarrier.cluster.wait;" ::: "memory");
}
"""
SMEM = "extern __shared__ __align__(1024) unsigned char pl_smem[];"
CONTEXT = "const pl_context *context"


def namespace(package: str) -> str:
    return f"pl_unit_{package}"


@dataclass(frozen=True)
class Provided:
    """A function of a package that generated code calls: its symbol and signature, and where its parameters are."""

    package: str
    symbol: str
    signature: Signature
    args_type: str
    offset: int

    def declare(self) -> str:
        supplied = [f"const {self.args_type} *"] * self.signature.args + ["const pl_context *"] * self.signature.context
        parameters = ", ".join([*supplied, *self.signature.parameters])
        return f'extern "C" __device__ {self.signature.result} {self.symbol}({parameters});'

    def call(self, context: str, args: str, arguments: tuple[str, ...]) -> str:
        """The call, given expressions for the context and for the package's own parameters."""
        supplied = [args] * self.signature.args + [context] * self.signature.context
        return f"{namespace(self.package)}::{self.symbol}({', '.join([*supplied, *arguments])})"


class Generator:
    """Generates the text of one pipeline. `direct` is how a person would write it: the parameter block is a struct of
    the packages' own types, and no function stands for a handle (control.py defines them as macros)."""

    def __init__(self, pipeline: PipelineOp, direct: bool = False):
        self.pipeline = pipeline
        self.direct = direct
        self.symbols = Symbols(pipeline)
        (self.dispatch,) = self.symbols.ops(DispatchOp)
        self.cluster = pipeline.shape
        self.clustered = pipeline.clustered
        self.occupancy = pipeline.blocks
        self.registers = pipeline.capacities.integers["registers"]
        self.params = {p.sym_name.data: q for q in self.symbols.ops(ParamOp) if (p := package_of(q))}

    def provided(self, op: PlOp, symbol: str, signature: Signature) -> Provided:
        package = package_of(op)
        assert package is not None
        name = package.sym_name.data
        param = self.params.get(name)
        if signature.args and param is None:
            message = f"'{symbol}' takes parameters of package '{name}', which declares none"
            raise fail("L-ANNOTATION", message, place_of(op), hint="declare them with PL_PARAMS")
        offset = param.offset.value.data if param and param.offset is not None else 0
        return Provided(name, symbol, signature, param.type_name.data if param else "", offset)

    def _find(self, ref: SymbolRefAttr) -> PlOp:
        return self.symbols.get(ref, self.pipeline, PlOp)

    def functions(self) -> list[Provided]:
        """Every component function that generated code calls, once each, by package and symbol."""
        found: list[Provided] = []
        for trampoline in self.symbols.ops(TrampolineOp):
            op = self._find(trampoline.provider)
            if trampoline.kind.data != "import" and isinstance(op, CallableOp | ExportOp):
                found.append(self.provided(op, op.symbol.data, op.signature.data))
        found += [self.init(r) for r in self.dispatch.inits]
        found += [self.entry(r) for r in self.dispatch.roles]
        return sorted(set(found), key=lambda f: (f.package, f.symbol))

    def init(self, ref: SymbolRefAttr) -> Provided:
        ring = self.symbols.get(ref, self.pipeline, RingOp)
        assert ring.init is not None
        signature = ring.init_signature.data if ring.init_signature else Signature("void", ())
        return self.provided(ring, ring.init.data, signature)

    def entry(self, ref: SymbolRefAttr) -> Provided:
        role = self.symbols.get(ref, self.pipeline, RoleOp)
        return self.provided(role, role.entry.data, role.signature.data)

    def text(self) -> str:
        header = f"// Generated by pipelink: pipeline {self.pipeline.sym_name.data}, {self.pipeline.target.data}."
        sections = [
            header,
            "struct pl_context;\n" + SMEM,
            FENCES + (CLUSTER if self.clustered else "") + DEVICE_PRELUDE.rstrip(),
            "// What the components define.",
            *self._declarations(),
            self._parameters(),
            *([] if self.direct else ["// Handles: every decision of the placement.", "\n".join(self._stubs())]),
            *([] if self.dispatch.counters is None else [self._counters(self.dispatch.counters.value.data)]),
            "// Calls from one component to another.",
            *(self._trampoline(t) for t in self.symbols.ops(TrampolineOp)),
            "// The kernel.",
            self._kernel(),
        ]
        return "\n\n".join(sections) + "\n"

    def _parameters(self) -> str:
        size = max(self.dispatch.parameters.value.data, 128)
        if self.direct:
            regions = sorted((p.offset.value.data, name) for name, p in self.params.items() if p.offset is not None)
            members = [f"  {namespace(n)}::{self.params[n].type_name.data} {n};" for _, n in regions]
            members += ["  unsigned *counters;"] * (self.dispatch.counters is not None)
            return "\n".join(["struct alignas(128) pl_parameters {", *members, "};"])
        return f"struct alignas(128) pl_parameters {{ unsigned char bytes[{size}]; }};"

    def _counters(self, offset: int) -> str:
        address = "counters" if self.direct else f"bytes + {offset}"
        block = f"((const pl_parameters *)context)->{address}"
        value = block if self.direct else f"*(unsigned *const *)({block})"
        return f'extern "C" __device__ unsigned *pl_counters({CONTEXT}) {{ return {value}; }}'

    def _declarations(self) -> Iterator[str]:
        functions = self.functions()
        for package in sorted({f.package for f in functions}):
            own = [f for f in functions if f.package == package]
            types = sorted({f"struct {f.args_type};" for f in own if f.signature.args})
            lines = [f"namespace {namespace(package)} {{", *types, *(f.declare() for f in own), "}"]
            yield "\n".join(lines)

    def _stubs(self) -> Iterator[str]:
        for stub in self.symbols.ops(StubOp):
            reads = ".".join(path_of(stub.reads))
            body = f"{{ return {stub.value.value.data}u; }}  // {reads}"
            yield f'extern "C" __device__ unsigned {stub.symbol.data}() {body}'

    def _trampoline(self, trampoline: TrampolineOp) -> str:
        user, provider = self._find(trampoline.user), self._find(trampoline.provider)
        match user, provider, trampoline.kind.data:
            case CallOp(), CallableOp(), "call":
                return self._call(user, provider)
            case ImportOp(), ExportOp(), "produce":
                return self._produce(user, provider)
            case ImportOp(), ExportOp(), "import":
                return self._import(user)
            case _:
                raise fail("L-IR", f"no trampoline of kind '{trampoline.kind.data}'", place_of(trampoline))

    def _function(self, symbol: str, signature: Signature, body: list[str]) -> str:
        """A definition with parameters `context` and a0, a1, …"""
        parameters = [CONTEXT] * signature.context + [f"{t} a{i}" for i, t in enumerate(signature.parameters)]
        head = f'extern "C" __device__ {signature.result} {symbol}({", ".join(parameters)}) {{'
        return "\n".join([head, *(f"  {line}" for line in body), "}"])

    def _forward(self, signature: Signature, provided: Provided) -> str:
        arguments = tuple(f"a{i}" for i in range(len(signature.parameters)))
        return provided.call("context", self._args(provided, "((const pl_parameters *)context)->"), arguments)

    def _args(self, provided: Provided, block: str) -> str:
        """A pointer to the package's own parameters in `block`, `p.` or a pointer with its arrow."""
        if self.direct:
            return f"&{block}{provided.package}"
        return f"(const {namespace(provided.package)}::{provided.args_type} *)({block}bytes + {provided.offset})"

    def _call(self, user: CallOp, provider: CallableOp) -> str:
        signature = user.signature.data
        call = self._forward(signature, self.provided(provider, provider.symbol.data, provider.signature.data))
        body = f"{call};" if signature.result == "void" else f"return {call};"
        return self._function(user.symbol.data, signature, [body])

    def _connect(self, import_: ImportOp) -> ConnectOp:
        return next(c for c in self.symbols.ops(ConnectOp) if self.symbols.find(c.user, c) is import_)

    def _site(self, import_: ImportOp) -> tuple[RoleOp, int, int]:
        """The role of an import's site, and the participating threads [first, end) of the block."""
        site = self.symbols.get(import_.site, import_, SiteOp)
        role = self.symbols.get(site.role, site, RoleOp)
        assert role.first_warp is not None
        first, end = site.threads.get_values()
        base = 32 * role.first_warp.value.data
        return role, base + first, base + end

    def _barrier(self, import_: ImportOp) -> int | None:
        claim = import_.barrier and self.symbols.get(import_.barrier, import_, ClaimOp)
        return claim.base.value.data if claim and claim.base is not None else None

    def _produce(self, user: ImportOp, provider: ExportOp) -> str:
        """Run the producer; then, where storage changes hands at `ready`, let all participants meet.

        The fence orders the producer's accesses through the async proxy (TMA, wgmma) before the generic ones that
        follow (PTX ISA, proxies)."""
        signature = user.produce_signature.data
        call = self._forward(signature, self.provided(provider, provider.symbol.data, provider.signature.data))
        body = [f"{call};"]
        orders = self._connect(user).orders
        if orders and "ready" in [o.data for o in orders]:
            _, first, end = self._site(user)
            body += ["pl_fence_proxy_async();", f"pl_sync_cta({self._barrier(user)}, {end - first});"]
        return self._function(user.produce.data, signature, body)

    def _import(self, user: ImportOp) -> str:
        connect = self._connect(user)
        assert connect.schedule is not None
        plan = from_json(str(connect.schedule.data["plan"]))
        _, first, _ = self._site(user)
        scratch = user.scratch and self.symbols.get(user.scratch, user, ClaimOp)
        base = scratch.base.value.data if scratch and scratch.base is not None else 0
        return emit_cuda(
            plan,
            user.symbol.data,
            C_TYPES[user.dtype.data],
            f"threadIdx.x - {first}u" if first else "threadIdx.x",
            f"(unsigned)__cvta_generic_to_shared(pl_smem) + {base}u",
            str(self._barrier(user) or 0),
        ).rstrip()

    def _kernel(self) -> str:
        """Initialise once, meet once, then each warpgroup sets its budget first and enters its roles directly."""
        threads = self.dispatch.threads.value.data
        body: list[str] = ["const unsigned warp = __shfl_sync(0xffffffffu, threadIdx.x >> 5, 0);"]
        if len(self.dispatch.inits):
            inits = [self._enter_with(self.init(r)) for r in self.dispatch.inits]
            body += ["if (threadIdx.x == 0) {", *(f"  {i}" for i in inits), "  pl_fence_mbarrier_init();", "}"]
        body += ["__syncthreads();", *["pl_sync_cluster();"] * self.clustered]
        body += self._groups(threads)
        body += ["pl_sync_cluster();"] * self.clustered  # no block leaves while a peer may still reach it
        x, y, z = self.cluster
        shape = f"__cluster_dims__({x}, {y}, {z}) " if self.clustered else ""
        head = (
            f'extern "C" __global__ void {shape}__launch_bounds__({threads}, {self.occupancy})'
            f" {self.dispatch.symbol.data}(const __grid_constant__ pl_parameters p) {{"
        )
        return "\n".join([head, *(f"  {line}" for line in body), "}"])

    def _groups(self, threads: int) -> list[str]:
        """One if/else over the warpgroups: `setmaxnreg` must be alone in its branch (PTX ISA, setmaxnreg)."""
        lines: list[str] = []
        groups = sorted(self.symbols.ops(GroupOp), key=lambda g: g.warps.get_values()[0])
        for i, group in enumerate(groups):
            _, end = group.warps.get_values()
            last = i == len(groups) - 1
            lines.append(("} else {" if last else f"}} else if (warp < {end}) {{") if i else f"if (warp < {end}) {{")
            if group.budget is not None:
                budget = group.budget.value.data
                way = "inc" if budget > entry_registers(self.registers, threads, self.occupancy) else "dec"
                lines.append(f'  asm volatile("setmaxnreg.{way}.sync.aligned.u32 {budget};");')
            lines += [f"  {line}" for ref in group.roles for line in self._enter(ref)]
        return [*lines, "}"] if lines else []

    def _enter(self, ref: SymbolRefAttr) -> list[str]:
        role = self.symbols.get(ref, self.pipeline, RoleOp)
        assert role.first_warp is not None
        first = role.first_warp.value.data
        end = first + role.warps.value.data
        condition = f"warp == {first}" if end == first + 1 else f"warp >= {first} && warp < {end}"
        return [f"if ({condition}) {self._enter_with(self.entry(ref))}  // {qualified(role)}"]

    def _enter_with(self, provided: Provided) -> str:
        return provided.call("(const pl_context *)&p", self._args(provided, "p."), ()) + ";"


def generate(module: ModuleOp, direct: bool = False) -> str:
    """The CUDA text of a module. Raises PipelinkError where passes have not run."""
    for requirement in ("pl.dispatch", "pl.pipeline.threads"):
        if lack := missing(module, requirement):
            raise fail(
                "L-PASS", f"{lack}, which the cuda target needs", place_of(module), hint="run pl-emit-stubs first"
            )
    return Generator(pipeline_of(module), direct).text()


@dataclass(frozen=True)
class CudaTarget(Target):
    """The generated code of a pipeline, as CUDA."""

    name = "cuda"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        """Hand-written IR may be anything: it is verified first, as it is by a link."""
        from pipelink.passes.emit_stubs import EmitStubs
        from pipelink.passes.pipeline import verify
        from pipelink.passes.verify_contracts import VerifyContracts

        verify(module)
        VerifyContracts().apply(ctx, module)
        for requirement in ("pl.dispatch", *EmitStubs.requires):
            if lack := missing(module, requirement):
                hint = "run pl-emit-stubs first" if requirement == "pl.dispatch" else "run the passes of a link first"
                raise fail("L-PASS", f"{lack}, which the cuda target needs", place_of(module), hint=hint)
        output.write(generate(module))
