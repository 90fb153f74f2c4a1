"""How a frontend makes `pl` IR: contracts in, one `pl.pipeline` out.

builder = PipelineBuilder("gemm", target="sm_90a", toolkit="13.5.37")
builder.package(contract, digest="sha256:...", path="load.plpkg")
builder.connect("call", "load.tile_coord", "swiglu.tile_coord")
module = builder.module()
"""

from collections.abc import Callable as Function
from collections.abc import Iterable

from xdsl.dialects.builtin import ArrayAttr, LocationAttr, ModuleOp, StringAttr, SymbolRefAttr, UnitAttr
from xdsl.ir import Attribute

from pipelink.frontends import contract as c
from pipelink.ir import pl
from pipelink.ir.attributes import (
    CountAttr,
    Kind,
    KindAttr,
    LifetimeAttr,
    Link,
    LinkAttr,
    Side,
    SideAttr,
    SignatureAttr,
    ValuesAttr,
)
from pipelink.ir.diagnostics import Place
from pipelink.ir.locations import location
from pipelink.ir.targets import TARGETS

Properties = dict[str, Attribute | None]


def _place(at: c.Location) -> Place:
    return Place(at.file, at.line, at.column)


def fp_values(fp: c.FpMode) -> ValuesAttr:
    return ValuesAttr.of(
        {"ftz": int(fp.ftz), "prec_div": int(fp.prec_div), "prec_sqrt": int(fp.prec_sqrt), "fma": int(fp.fma)}
    )


def _op(kind: type[pl.PlOp], at: c.Location | None, /, **properties: Attribute | str | int | bool | None) -> pl.PlOp:
    """An operation whose plain values are turned into attributes; None and False leave a property out."""
    made: Properties = {}
    for name, value in properties.items():
        match value:
            case None | False:
                continue
            case True:
                made[name] = UnitAttr()
            case int():
                made[name] = pl.integer(value)
            case str():
                made[name] = StringAttr(value)
            case _:
                made[name] = value
    return kind.create(properties={k: v for k, v in made.items() if v is not None}, location=_at(at))


def _at(at: c.Location | None) -> LocationAttr:
    return location(_place(at) if at else None)


def _optional_ref(name: str) -> SymbolRefAttr | None:
    return pl.ref(name) if name else None


class _PackageOps:
    """The operations of one contract. Handles of a ring or a counter are uses of it."""

    def __init__(self, contract: c.Contract):
        self.contract = contract
        self.owner = {b: b for b in [x.name for x in (*contract.claims, *contract.warp_handles)]}
        for ring in contract.rings:
            self.owner.update(dict.fromkeys(c.ring_handles(ring.name), ring.name))
        for counter in contract.counters:
            self.owner.update(dict.fromkeys(c.counter_handles(counter.name), counter.name))

    def uses(self, handles: Iterable[str], calls: Iterable[str]) -> ArrayAttr[SymbolRefAttr]:
        return pl.refs(sorted({*(self.owner.get(h, h) for h in handles), *calls}))

    def parameters(self, p: c.Parameters) -> pl.PlOp:
        fields = ValuesAttr.of({f.name: (f.offset, f.size) for f in p.fields})
        return _op(pl.ParamOp, p.at, type_name=p.type, size=p.size, align=p.align, fields=fields)

    def role(self, r: c.Role) -> pl.PlOp:
        return _op(
            pl.RoleOp,
            r.at,
            sym_name=r.name,
            entry=r.entry,
            signature=SignatureAttr.of(r.signature),
            warps=r.warps,
            align=r.align,
            registers=pl.integers(r.registers),
            need=r.need,
            uses=self.uses(r.uses, r.calls),
        )

    def callable(self, f: c.Callable) -> pl.PlOp:
        signature = SignatureAttr.of(f.signature)
        uses = self.uses(f.uses, f.calls)
        return _op(pl.CallableOp, f.at, sym_name=f.name, symbol=f.symbol, signature=signature, uses=uses)

    def site(self, s: c.Site) -> pl.PlOp:
        threads = pl.integers((s.first_thread, s.first_thread + s.threads))
        guarantees = pl.strings(s.guarantees)
        return _op(pl.SiteOp, s.at, sym_name=s.name, role=pl.ref(s.role), threads=threads, guarantees=guarantees)

    def call(self, f: c.Call) -> pl.PlOp:
        signature = SignatureAttr.of(f.signature)
        site = _optional_ref(f.site)
        return _op(pl.CallOp, f.at, sym_name=f.name, symbol=f.symbol, signature=signature, site=site)

    def claim(self, x: c.Claim) -> pl.PlOp:
        return _op(
            pl.ClaimOp,
            x.at,
            sym_name=x.name,
            kind=KindAttr(Kind(x.kind)),
            size=x.size,
            align=x.align,
            ring=_optional_ref(x.ring),
            lifetime=LifetimeAttr.of(x.lifetime),
            dtype=x.dtype or None,
            tile=pl.integers(x.tile) if x.tile else None,
            swizzle=x.swizzle or None,
            proxy=x.proxy if x.proxy != "generic" else None,
            scope=x.scope if x.kind == "counter" else None,
            restart=x.restart or None,
        )

    def ring(self, r: c.Ring) -> list[pl.PlOp]:
        """The endpoint and its mbarriers, which are claims of one slot a stage."""
        buffers = [x.name for x in self.contract.claims if x.ring == r.name]
        slots = [
            _op(
                pl.ClaimOp,
                r.at,
                sym_name=f"{r.name}_{which}",
                kind=KindAttr(Kind.mbarrier),
                size=1,
                align=8,
                ring=pl.ref(r.name),
                lifetime=LifetimeAttr.of(c.Lifetime()),
            )
            for which in ("full", "empty")
        ]
        endpoint = _op(
            pl.RingOp,
            r.at,
            sym_name=r.name,
            side=SideAttr(Side(r.side)),
            on=pl.ref(r.on),
            buffers=pl.refs(buffers),
            full=pl.ref(f"{r.name}_full"),
            empty=pl.ref(f"{r.name}_empty"),
            depths=pl.integers(r.depth),
            full_count=CountAttr.of(r.full),
            empty_count=CountAttr.of(r.empty),
            bytes=r.bytes,
            space=r.space,
            scope=r.scope,
            proxy=r.proxy,
            priority=r.priority,
            producers=r.producers if r.producers > 1 else None,
            init=r.init or None,
            init_signature=SignatureAttr.of(r.init_signature) if r.init_signature else None,
            drains=r.drains,
        )
        return [endpoint, *slots]

    def counter(self, x: c.Counter) -> list[pl.PlOp]:
        """The endpoint and its words, which are a claim: those of all connected endpoints get one place."""
        slots = f"{x.name}_base"
        claim = c.Claim(slots, "counter", x.words, x.at, scope=x.scope, restart=x.restart)
        endpoint = _op(
            pl.CounterOp,
            x.at,
            sym_name=x.name,
            side=SideAttr(Side(x.side)),
            on=pl.ref(x.on),
            slots=pl.ref(slots),
            arrivals=CountAttr.of(x.arrivals) if x.arrivals else None,
        )
        return [endpoint, self.claim(claim)]

    def stream(self, s: c.Stream) -> pl.PlOp:
        return _op(
            pl.StreamOp,
            s.at,
            sym_name=s.name,
            on=pl.refs(s.roles),
            phases=pl.strings(s.phases),
            exclusive=ArrayAttr([pl.strings(phases) for phases in s.exclusive]),
            fenced=s.fenced,
        )

    def topology(self, t: c.Topology) -> pl.PlOp:
        clusters = ArrayAttr([pl.integers(shape) for shape in t.clusters])
        return _op(pl.TopologyOp, t.at, clusters=clusters, occupancy=pl.integers(t.occupancy))

    def warp(self, w: c.WarpHandle) -> pl.PlOp:
        return _op(pl.WarpOp, w.at, sym_name=w.name, of=pl.ref(w.of))

    def export(self, e: c.Export) -> pl.PlOp:
        return _op(
            pl.ExportOp,
            e.at,
            sym_name=e.name,
            symbol=e.symbol,
            signature=SignatureAttr.of(e.signature),
            dtype=e.dtype,
            placement=e.placement,
            registers=e.registers,
            threads=e.threads,
            align=e.align,
            requires=pl.strings(e.requires),
            completion=e.completion,
            uses=self.uses(e.uses, e.calls),
        )

    def import_(self, i: c.Import) -> pl.PlOp:
        return _op(
            pl.ImportOp,
            i.at,
            sym_name=i.name,
            symbol=i.symbol,
            signature=SignatureAttr.of(i.signature),
            produce=i.produce,
            produce_signature=SignatureAttr.of(i.produce_signature),
            dtype=i.dtype,
            demand=i.demand,
            chunk=i.chunk,
            site=pl.ref(i.site),
            frame=i.frame,
            scratch=_optional_ref(i.scratch),
            barrier=_optional_ref(i.barrier),
            completion=i.completion,
            rendezvous=pl.strings(["ready"] if i.barrier else []),
        )

    def fact(self, f: c.Fact) -> pl.PlOp:
        return _op(pl.FactOp, f.at, sym_name=f.name, type_name=f.type, value=str(f.value))

    def use_fact(self, f: c.FactUse) -> pl.PlOp:
        required = None if f.required is None else str(f.required)
        return _op(pl.UseFactOp, f.at, sym_name=f.name, type_name=f.type, field=f.field, required=required)

    def buffer(self, b: c.Buffer) -> pl.PlOp:
        return _op(pl.BufferOp, b.at, label=b.name, dtype=b.dtype, rank=b.rank, access=b.access, align=b.align)

    def argument(self, a: c.Argument) -> pl.PlOp:
        return _op(pl.ArgumentOp, a.at, label=a.name, type_name=a.type)

    def domain(self, d: c.Domain) -> pl.PlOp:
        return _op(
            pl.DomainOp,
            d.at,
            sym_name=d.name,
            ranks=d.ranks,
            rank_field=d.rank_field or None,
            ranks_field=d.ranks_field or None,
        )

    def view(self, v: c.View) -> pl.PlOp:
        return _op(
            pl.ViewOp,
            v.at,
            sym_name=v.name,
            domain=pl.ref(v.domain),
            kind=v.kind,
            field=v.field,
            allocation=v.allocation or v.name,
        )

    def all(self) -> list[pl.PlOp]:
        """All operations, each kind in order of declaration."""
        k = self.contract
        made: list[pl.PlOp] = []
        if k.provider:
            made.append(_op(pl.ProviderOp, k.provider.at, symbol=k.provider.symbol, abi=k.provider.abi))
        if k.parameters:
            made.append(self.parameters(k.parameters))
        if k.topology:
            made.append(self.topology(k.topology))

        def add(build: Function[..., pl.PlOp], entries: Iterable[c.Entry]) -> None:
            made.extend(build(e) for e in entries)

        add(self.role, k.roles)
        add(self.site, k.sites)
        add(self.claim, k.claims)
        for ring in k.rings:
            made.extend(self.ring(ring))
        for counter in k.counters:
            made.extend(self.counter(counter))
        add(self.stream, k.streams)
        add(self.warp, k.warp_handles)
        add(self.callable, k.callables)
        add(self.call, k.calls)
        add(self.export, k.exports)
        add(self.import_, k.imports)
        add(self.fact, k.facts)
        add(self.use_fact, k.fact_uses)
        add(self.buffer, k.buffers)
        add(self.argument, k.arguments)
        add(self.domain, k.domains)
        add(self.view, k.views)
        return made


def package_op(contract: c.Contract, digest: str, path: str) -> pl.PackageOp:
    """The `pl.package` of a contract. `path` is how the link finds the package file again."""
    return pl.PackageOp.create(
        properties={
            "sym_name": StringAttr(contract.name),
            "version": StringAttr(contract.version),
            "digest": StringAttr(digest),
            "path": StringAttr(path),
            "target": StringAttr(contract.target),
            "toolkit": StringAttr(contract.toolkit),
            "fp": fp_values(contract.fp),
            "defines": pl.strings(sorted(contract.defined)),
        },
        regions=[pl.block(_PackageOps(contract).all())],
        location=_at(contract.at),
    )


class PipelineBuilder:
    """Builds one pipeline. The floating-point mode is that of its packages, on whose equality the verifier insists."""

    def __init__(self, name: str, target: str, toolkit: str, at: Place | None = None, roles: Iterable[str] = ()):
        self.packages: list[pl.PackageOp] = []
        self.others: list[pl.PlOp] = []
        self.at = at
        role_order = ArrayAttr([pl.ref(*r.split(".")) for r in roles])
        self.properties: dict[str, Attribute] = {
            "sym_name": StringAttr(name),
            "target": StringAttr(target),
            "toolkit": StringAttr(toolkit),
            "capacities": ValuesAttr.of(TARGETS[target].capacities()),
            "fp": fp_values(c.FpMode()),
            **({"role_order": role_order} if len(role_order) else {}),
        }

    def package(self, contract: c.Contract, digest: str, path: str) -> pl.PackageOp:
        op = package_op(contract, digest, path)
        self.packages.append(op)
        return op

    def fact(self, name: str, type_name: str, value: int | float, at: Place | None = None) -> None:
        """A fact that the pipeline sets itself."""
        properties: dict[str, Attribute] = {
            "sym_name": StringAttr(name),
            "type_name": StringAttr(type_name),
            "value": StringAttr(str(value)),
        }
        self.others.append(pl.FactOp.create(properties=properties, location=location(at)))

    def connect(self, link: str, provider: str, user: str, at: Place | None = None) -> None:
        """Pair `provider` with `user`, each `package.thing` (a pipeline's own fact is just `thing`)."""
        properties: dict[str, Attribute] = {
            "link": LinkAttr(Link(link)),
            "provider": pl.ref(*provider.split(".")),
            "user": pl.ref(*user.split(".")),
        }
        self.others.append(pl.ConnectOp.create(properties=properties, location=location(at)))

    def module(self) -> ModuleOp:
        if self.packages:
            self.properties["fp"] = self.packages[0].fp
        body = pl.block([*self.packages, *self.others])
        pipeline = pl.PipelineOp.create(properties=self.properties, regions=[body], location=location(self.at))
        module = ModuleOp([pipeline])
        module.location = pipeline.location
        return module
