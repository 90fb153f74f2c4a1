"""What the object shows, checked against its contract: symbols, what each function uses, kernels, FP mode."""

import re
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from pipelink.backend import cubin as cubins
from pipelink.backend import fatbin, nvjitlink
from pipelink.frontends.contract import Contract, Kernel, counter_handles, handle_symbol, ring_handles
from pipelink.frontends.cuda.sources import Sources
from pipelink.frontends.cuda.validate import place
from pipelink.ir.diagnostics import Diagnostics, Place, fail
from pipelink.ir.suggest import nearest

SHARED = "pl_smem"  # the one name of dynamic shared memory: see contract.cuh
COUNTERS = "pl_counters"  # the linker defines it: where the counters of the kernel are

# The device runtime's functions: the word of the source that calls each, and what to do instead.
RUNTIME = {
    "vprintf": ("printf", "printf is not supported in a component"),
    "__assertfail": ("assert", "assert is not supported in a component: build with -DNDEBUG"),
    "malloc": ("malloc", "device malloc is not supported in a component"),
    "free": ("free", "device free is not supported in a component"),
}


@dataclass(frozen=True)
class Facts:
    """One LTO object as read."""

    lto: fatbin.LtoObject
    cubin: cubins.Cubin


def read(data: bytes, target: str, at: Place) -> Facts:
    """Read the object and its relocatable machine code for `target`.

    Raises PipelinkError: L-DEBUG for an object built with -G, L-LTO without LTO IR of the target, L-FEATURE where the
    target lacks an instruction, L-LINK where nvJitLink refuses the object for another reason.
    """
    lto = _lto(data, target, at)
    try:
        source = nvjitlink.Input("object.fatbin", "fatbin", data)
        return Facts(lto, cubins.read(nvjitlink.relocatable(source, target, lto.fp)))
    except nvjitlink.LinkError as error:
        if missing := re.search(r"Instruction '(\S+)'.* not supported on \.target '?(\w+)", error.text + error.log):
            raise fail("L-FEATURE", f"{target} has no `{missing[1]}`", at) from None
        raise fail("L-LINK", str(error), at) from None


def _lto(data: bytes, target: str, at: Place) -> fatbin.LtoObject:
    try:
        lto = fatbin.read_lto(data)
    except fatbin.FatbinError as error:
        debug = "-G" in str(error) or _is_debug(data)
        raise fail("L-DEBUG" if debug else "L-LTO", f"the object: {error}", at) from None
    if lto.target != target:
        raise fail(
            "L-LTO",
            f"the object has LTO IR of {lto.arch}, the package is for {target}",
            at,
            hint=f"-gencode arch={target.replace('sm_', 'compute_')},code={target.replace('sm_', 'lto_')}",
        )
    return lto


def _is_debug(data: bytes) -> bool:
    try:
        return any(entry.debug for entry in fatbin.entries(data))
    except fatbin.FatbinError:
        return False


def check(contract: Contract, facts: Facts, sources: Sources, errors: Diagnostics) -> None:
    """Collect in `errors` where the object is not what the contract says: functions that are not defined (L-INLINE),
    undefined symbols without a name in the contract (L-UNDEFINED), static shared memory (L-STATIC-SHARED)."""
    for title, symbol, at in exported(contract):
        if symbol not in facts.cubin.defined:
            text = f"{title}: the object does not define `{symbol}`"
            errors.error("L-INLINE", text, at, hint=_export_hint(symbol, facts))
    _check_foreign(contract, facts, errors)
    _check_users(contract, facts, errors)
    for symbol in missing(contract, facts):
        handle = symbol.startswith("plh_")
        known = {name for name in foreign(contract) if name.startswith("plh_") is handle}
        word, hint = RUNTIME.get(symbol, ("", nearest(symbol, known) if handle else _FOREIGN_HINT))
        at = sources.find(word or symbol) or sources.find(_plain(symbol)) or Place(sources.main)
        errors.error("L-UNDEFINED", f"no annotation names `{symbol}`", at, hint=hint)
    for variable in sorted(facts.cubin.dynamic_shared - {SHARED}):
        errors.error(
            "L-STATIC-SHARED",
            f"`{variable}` is all of dynamic shared memory under another name, and would lie over what others claim",
            sources.find(variable, "__shared__") or Place(sources.main),
            hint="claim what it needs with PL_CLAIM_SMEM, and reach it through pl_smem + PL_HANDLE(...)",
        )
    for variable, size in facts.cubin.static_shared.items():
        name = _variable(variable)
        errors.error(
            "L-STATIC-SHARED",
            f"`{name}` takes {size} bytes of static shared memory",
            sources.find(name, "__shared__") or Place(sources.main),
            hint=f"PL_CLAIM_SMEM({name}, pl::claim().bytes({size})) and pl_smem + PL_HANDLE({name})",
        )


_FOREIGN_HINT = "name it with PL_CALL, or define it in the component"


def missing(contract: Contract, facts: Facts) -> tuple[str, ...]:
    """The undefined symbols of the object that nothing in the contract names."""
    return tuple(sorted((facts.cubin.undefined | facts.cubin.undefined_data) - set(foreign(contract))))


def _export_hint(symbol: str, facts: Facts) -> str:
    if any(name.startswith(f"_Z{len(symbol)}{symbol}") for name in facts.cubin.defined):
        return f'declare `{symbol}` extern "C"'
    return 'an export is a plain extern "C" __device__ function: not inline, static or a template'


def _check_foreign(contract: Contract, facts: Facts, errors: Diagnostics) -> None:
    """What others are to define may not be defined here."""
    calls = [(f"call {c.name}", c.symbol, c.at) for c in contract.calls]
    imports = [(f"import {i.name}", s, i.at) for i in contract.imports for s in (i.symbol, i.produce)]
    for title, symbol, at in calls + imports:
        if symbol in facts.cubin.defined:
            errors.error("L-ANNOTATION", f"{title}: `{symbol}` is defined here, the linker defines it", place(at))


def _check_users(contract: Contract, facts: Facts, errors: Diagnostics) -> None:
    """The code that an annotation names is the code that uses its handles."""
    symbols = {role.name: role.entry for role in contract.roles}
    symbols |= {entry.name: entry.symbol for entry in (*contract.callables, *contract.exports)}
    buffers = {ring.name: [c.name for c in contract.claims if c.ring == ring.name] for ring in contract.rings}
    named = [
        *((f"ring {r.name}", r.on, (*ring_handles(r.name), *buffers[r.name]), r.at) for r in contract.rings),
        *((f"counter {c.name}", c.on, counter_handles(c.name), c.at) for c in contract.counters),
        *((f"warp handle {w.name}", w.of, (w.name,), w.at) for w in contract.warp_handles),
    ]
    for title, code, names, at in named:
        wanted = {handle_symbol(contract.name, name) for name in names}
        users = {name for name, symbol in symbols.items() if wanted & facts.cubin.references.get(symbol, frozenset())}
        if users and code not in users:
            who = " and ".join(f"`{user}`" for user in sorted(users))
            errors.error("L-ANNOTATION", f"{title}: it names `{code}`, and {who} uses its handles", place(at))


def exported(contract: Contract) -> list[tuple[str, str, Place]]:
    """What the package runs or offers: title, symbol, place."""
    return [
        *((f"role {role.name}", role.entry, place(role.at)) for role in contract.roles),
        *((f"callable {entry.name}", entry.symbol, place(entry.at)) for entry in contract.callables),
        *((f"export {entry.name}", entry.symbol, place(entry.at)) for entry in contract.exports),
        *((f"ring {ring.name}", ring.init, place(ring.at)) for ring in contract.rings if ring.init),
    ]


def foreign(contract: Contract) -> dict[str, str]:
    """The symbols that the linker defines for this package, each with the handle, call or import that names it."""
    found = {handle_symbol(contract.name, name): name for name in handles(contract)}
    found |= dict.fromkeys([COUNTERS] * has_counters(contract), "counters")
    found |= {call.symbol: call.name for call in contract.calls}
    return found | {symbol: i.name for i in contract.imports for symbol in (i.symbol, i.produce)}


def has_counters(contract: Contract) -> bool:
    return bool(contract.counters) or any(claim.kind == "counter" for claim in contract.claims)


def handles(contract: Contract) -> tuple[str, ...]:
    """All handles of the package."""
    names = [claim.name for claim in contract.claims] + [handle.name for handle in contract.warp_handles]
    names += [handle for ring in contract.rings for handle in ring_handles(ring.name)]
    names += [handle for counter in contract.counters for handle in counter_handles(counter.name)]
    return tuple(sorted(set(names)))


def _plain(symbol: str) -> str:
    """The C++ name inside a mangled one: what the source spells."""
    nested = re.match(r"_ZN?K?(\d\w+)", symbol)
    return _last_name(nested[1]) if nested else symbol.rpartition("__")[2]


def _variable(mangled: str) -> str:
    """`_ZZ4bodyPfE5stage` -> `stage`."""
    inner = re.search(r"E(\d+\w+)$", mangled) or re.match(r"_ZL?(\d+\w+)$", mangled)
    return _last_name(inner[1]) if inner else mangled


def _last_name(text: str) -> str:
    """The last of the length-prefixed names that `text` starts with."""
    name = text
    while match := re.match(r"(\d+)", text):
        size = int(match[1])
        name, text = text[match.end() : match.end() + size], text[match.end() + size :]
    return name


def complete(contract: Contract, facts: Facts, target: str) -> Contract:
    """The contract with all that the object shows."""
    known = {handle_symbol(contract.name, name): name for name in handles(contract)}
    called = {call.symbol: call.name for call in contract.calls}
    called |= {symbol: i.name for i in contract.imports for symbol in (i.symbol, i.produce)}

    def using(symbol: str) -> dict[str, Any]:
        references = facts.cubin.references.get(symbol, frozenset[str]())
        return {
            "uses": tuple(sorted(known[s] for s in references if s in known)),
            "calls": tuple(sorted({called[s] for s in references if s in called})),
        }

    cubin = facts.cubin
    return replace(
        contract,
        target=target,
        ir_version=facts.lto.version,
        fp=facts.lto.fp,
        defined=tuple(sorted((cubin.defined | cubin.variables) - cubin.kernel_names)),
        undefined=tuple(sorted(cubin.undefined | cubin.undefined_data)),
        static_shared=sum(cubin.static_shared.values()),
        kernels=tuple(_kernel(name, info) for name, info in cubin.kernels.items()),
        roles=tuple(replace(role, **using(role.entry)) for role in contract.roles),
        callables=tuple(replace(entry, **using(entry.symbol)) for entry in contract.callables),
        exports=tuple(replace(entry, **using(entry.symbol)) for entry in contract.exports),
        rings=tuple(
            replace(ring, init_uses=using(ring.init)["uses"]) if ring.init else ring for ring in contract.rings
        ),
    )


def _kernel(name: str, info: cubins.KernelInfo) -> Kernel:
    threads = 1
    for extent in info.max_threads:
        threads *= extent
    x, y, z, *_ = (*info.cluster, 0, 0, 0)
    return Kernel(name, threads if info.max_threads else 0, (x, y, z))
