"""The record of a link: every decision with its reason, as data. It goes into the image as `record.json`."""

import hashlib
from importlib.metadata import version
from typing import Any

from xdsl.ir import Attribute

from pipelink.backend import nvjitlink, nvrtc, sass
from pipelink.backend.link import Linked
from pipelink.backend.postlink import Image
from pipelink.backend.toolchain import toolkit
from pipelink.ir.attributes import Kind
from pipelink.ir.pl import (
    ArgumentOp,
    BufferOp,
    ClaimOp,
    ConnectOp,
    CounterOp,
    DispatchOp,
    DomainOp,
    FactOp,
    GroupOp,
    PackageOp,
    ParamOp,
    ProviderOp,
    RingOp,
    RoleOp,
    UseFactOp,
    ViewOp,
)
from pipelink.ir.symbols import Symbols, package_of, path_of, qualified, symbol_name

SCHEMA = 1
Json = dict[str, Any]


def digest(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


def _int(attribute: Any) -> int | None:
    return None if attribute is None else int(attribute.value.data)


def _text(attribute: Attribute | None) -> str:
    return getattr(attribute, "data", "") if attribute is not None else ""


def _dotted(ref: Any) -> str:
    return ".".join(path_of(ref))


def _owner(op: Any) -> str:
    package = package_of(op)
    return package.sym_name.data if package else ""


def _counting(claim: ClaimOp) -> Json:
    """How the runtime starts a counter each launch."""
    if claim.kind.data is not Kind.counter:
        return {}
    return {"scope": _text(claim.scope), "restart": _text(claim.restart)}


def _claims(symbols: Symbols, events: list[str]) -> list[Json]:
    made: list[Json] = []
    for claim in symbols.ops(ClaimOp):
        ring = claim.ring and symbols.get(claim.ring, claim, RingOp)
        depth = _int(ring.depth) or 1 if ring else 1
        live = list(claim.live.get_values()) if claim.live else []
        phase = claim.lifetime.phase.data
        made.append(
            {
                "name": qualified(claim),
                "kind": str(claim.kind.data),
                "base": _int(claim.base),
                "size": claim.size.value.data * depth * (8 if claim.kind.data is Kind.mbarrier else 1),
                "align": claim.align.value.data,
                "live": [f"phase {phase}"] if phase else [events[i] for i in live],
                "shares": [_dotted(s) for s in claim.shares or ()],
                **_counting(claim),
            }
        )
    return made


def _rings(symbols: Symbols) -> list[Json]:
    return [
        {
            "name": qualified(r),
            "side": str(r.side.data),
            "depth": _int(r.depth),
            "depths": list(r.depths.get_values()),
            "arrivals": list(r.arrivals.get_values()) if r.arrivals else [],
            "bytes": r.bytes_.value.data,
        }
        for r in symbols.ops(RingOp)
    ]


def _counters(symbols: Symbols) -> list[Json]:
    return [
        {"name": qualified(c), "side": str(c.side.data), "slots": _dotted(c.slots), "total": _int(c.total)}
        for c in symbols.ops(CounterOp)
    ]


def _domains(symbols: Symbols) -> list[Json]:
    return [
        {
            "name": symbol_name(d),
            "package": _owner(d),
            "ranks": d.ranks.value.data,
            "rank_field": _text(d.rank_field),
            "ranks_field": _text(d.ranks_field),
        }
        for d in symbols.ops(DomainOp)
    ]


def _views(symbols: Symbols) -> list[Json]:
    return [
        {
            "name": symbol_name(v),
            "package": _owner(v),
            "domain": _dotted(v.domain),
            "kind": v.kind.data,
            "field": v.field.data,
            "allocation": v.allocation.data,
        }
        for v in symbols.ops(ViewOp)
    ]


def _roles(symbols: Symbols) -> list[Json]:
    return [
        {"name": qualified(r), "first_warp": _int(r.first_warp), "warps": r.warps.value.data}
        for r in symbols.ops(RoleOp)
    ]


def _groups(symbols: Symbols) -> list[Json]:
    return [
        {
            "roles": [_dotted(r) for r in g.roles],
            "warps": list(g.warps.get_values()),
            "budget": _int(g.budget),
            "need": g.need.value.data,
        }
        for g in symbols.ops(GroupOp)
    ]


def _parameters(symbols: Symbols, dispatch: DispatchOp) -> Json:
    regions: list[Json] = []
    for param in symbols.ops(ParamOp):
        owner = _owner(param)
        fields = param.fields.data
        facts = [u for u in symbols.ops(UseFactOp) if _owner(u) == owner]
        written: list[Json] = []
        for use in facts:
            offset, size = fields[use.field.data]  # type: ignore[misc]
            value = {"fact": symbol_name(use), "type": use.type_name.data, "value": _text(use.value)}
            written.append({**value, "field": use.field.data, "offset": offset, "size": size})
        regions.append(
            {
                "package": owner,
                "type": param.type_name.data,
                "offset": _int(param.offset),
                "size": param.size.value.data,
                "align": param.align.value.data,
                "fields": {name: list(span) for name, span in fields.items()},  # type: ignore[arg-type]
                "facts": written,
            }
        )
    counters = {} if dispatch.counters is None else {"counters": dispatch.counters.value.data}
    return {"size": max(dispatch.parameters.value.data, 128), "regions": regions, **counters}


def _connections(symbols: Symbols) -> list[Json]:
    made: list[Json] = []
    for connect in symbols.ops(ConnectOp):
        entry: Json = {
            "link": str(connect.link.data),
            "provider": _dotted(connect.provider),
            "user": _dotted(connect.user),
        }
        if connect.route is not None and connect.schedule is not None:
            schedule = {k: v for k, v in connect.schedule.data.items() if k != "plan"}
            entry["route"] = connect.route.data
            entry["schedule"] = schedule
            entry["reasons"] = [r.data for r in connect.reasons or ()]
            entry["orders"] = [o.data for o in connect.orders or ()]
        made.append(entry)
    return made


def _code(image: Image) -> Json:
    use = image.log.function(image.linked.kernel)
    code = image.code
    return {
        "registers": image.kernel.registers,
        "stack": use.stack,
        "spill_stores": use.spill_stores,
        "spill_loads": use.spill_loads,
        "instructions": len(code.instructions),
        "groups": [{"budget": r.budget, "used": r.registers} for r in sass.regions(code) if r.budget],
        "barriers": sorted({u.id for u in sass.barriers(code) if u.id is not None}),
    }


def _tools(linked: Linked) -> Json:
    major, minor = nvjitlink.library()[1]
    rtc_major, rtc_minor = nvrtc.library()[1]
    return {
        "pipelink": version("pipelink"),
        "toolkit": toolkit().version,
        "nvjitlink": f"{major}.{minor}",
        "nvrtc": f"{rtc_major}.{rtc_minor}",
        "xdsl": version("xdsl"),
        "z3": version("z3-solver"),
        "options": list(linked.options),
    }


def make(image: Image) -> Json:
    """The record of a link that `postlink` has proven."""
    linked = image.linked
    pipeline = linked.pipeline
    symbols = Symbols(pipeline)
    (dispatch,) = symbols.ops(DispatchOp)
    events = [e.data for e in pipeline.events or ()]
    return {
        "schema": SCHEMA,
        "pipeline": pipeline.sym_name.data,
        "target": pipeline.target.data,
        "kernel": linked.kernel,
        "threads": dispatch.threads.value.data,
        "dynamic_shared": pipeline.footprint.integers["smem"] if pipeline.footprint else 0,
        "cluster": list(pipeline.shape),
        "occupancy": pipeline.blocks,
        "fp": pipeline.fp.integers,
        "packages": [
            {"name": p.sym_name.data, "version": p.version.data, "digest": p.digest.data, "toolkit": p.toolkit.data}
            for p in symbols.ops(PackageOp)
        ],
        "events": events,
        "claims": _claims(symbols, events),
        "rings": _rings(symbols),
        "counters": _counters(symbols),
        "roles": _roles(symbols),
        "groups": _groups(symbols),
        "footprint": pipeline.footprint.integers if pipeline.footprint else {},
        "capacities": pipeline.capacities.integers,
        "proofs": pipeline.proofs.data if pipeline.proofs else {},
        "dropped": [d.data for d in pipeline.dropped or ()],
        "connections": _connections(symbols),
        "facts": [{"name": qualified(f), "type": f.type_name.data, "value": f.value.data} for f in symbols.ops(FactOp)],
        "parameters": _parameters(symbols, dispatch),
        "buffers": [
            {
                "name": b.label.data,
                "package": _owner(b),
                "dtype": b.dtype.data,
                "rank": b.rank.value.data,
                "access": b.access.data,
                "align": b.align.value.data,
            }
            for b in symbols.ops(BufferOp)
        ],
        "arguments": [
            {"name": a.label.data, "package": _owner(a), "type": a.type_name.data} for a in symbols.ops(ArgumentOp)
        ],
        "domains": _domains(symbols),
        "views": _views(symbols),
        "providers": [
            {"package": _owner(p), "symbol": p.symbol.data, "abi": p.abi.value.data} for p in symbols.ops(ProviderOp)
        ],
        "code": _code(image),
        "generated": digest(linked.text.encode()),
        "cubin": digest(linked.cubin),
        "tools": _tools(linked),
    }
