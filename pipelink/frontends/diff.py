"""The semantic difference of two contracts: what changed, whom that can break by which clause, and the version step.

Entries are matched by name within their collection. Where a change cannot break what was linked before (a range that
widens, a demand that is dropped), it is a minor step whatever its field.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, cast

import msgspec

from pipelink.frontends.classes import CLASSES, VALUES, Class
from pipelink.frontends.contract import Claim, Contract, Lifetime, Signature
from pipelink.frontends.cuda.validate import place
from pipelink.ir.diagnostics import Place
from pipelink.ir.maps import parse


class Step(IntEnum):
    """A step of a version. `major`: a partner can break. `minor`: something is new, or changes what only the linker
    decides. `patch`: code, digests and locations."""

    none = 0
    patch = 1
    minor = 2
    major = 3


@dataclass(frozen=True)
class Effect:
    """What a change calls for: a step, whom it can break ("": nobody), and the clauses that would say so."""

    step: Step
    whom: str = ""
    clauses: tuple[str, ...] = ()


@dataclass(frozen=True)
class Difference:
    """One change. `field` is "added" or "removed" where a whole entry is; `old` and `new` are then "" on one side."""

    entry: str
    field: str
    old: str
    new: str
    old_place: Place | None
    new_place: Place | None
    effect: Effect


# ---- what each change can break -------------------------------------------------------------------------------------


def _narrowed(old: Any, new: Any) -> bool:
    return not (new[0] <= old[0] and old[1] <= new[1])


def _fewer_shapes(old: Any, new: Any) -> bool:
    """Of clusters; where none is stated, any is taken."""
    return bool(new) and not (old and set(old) <= set(new))


_HARMS: dict[str, Callable[[Any, Any], bool]] = {
    "": lambda old, new: True,
    "narrowed": _narrowed,
    "fewer-shapes": _fewer_shapes,
    "larger": lambda old, new: new > old,
    "smaller": lambda old, new: new < old,
    "newer": lambda old, new: _numbers(new) > _numbers(old),
    "stricter": lambda old, new: new and old % new,
    "looser": lambda old, new: old and new % old,
    "gained": lambda old, new: not set(new) <= set(old),
    "lost": lambda old, new: not set(old) <= set(new),
    "stated": lambda old, new: new not in (None, "", 0),
    "dropped": lambda old, new: not new,
    "either": lambda old, new: bool(old) != bool(new),
    "elsewhere": lambda old, new: not _bounds(new) <= _bounds(old),
    "callee": lambda old, new: _retyped(old, new) or ((new.args or new.context) and not (old.args or old.context)),
    "caller": lambda old, new: _retyped(old, new) or (old.context and not new.context),
    "retiled": lambda old, new: parse(old).outputs != parse(new).outputs,
}
"""Whether a change of a field, old to new, can break anybody."""


def _retyped(old: Signature, new: Signature) -> bool:
    return (old.result, old.parameters) != (new.result, new.parameters)


def _bounds(lifetime: Lifetime) -> set[str]:
    """The phase, or the tensors whose events bound it; none for the kernel's own."""
    return {lifetime.phase, *(event.partition(".")[0] for event in (lifetime.start, lifetime.end))} - {"begin", "end"}


def _numbers(version: Any) -> list[int]:
    return [int(n) for n in (version.split(".") if isinstance(version, str) else version)]


_MAJOR: dict[tuple[str, str], str] = {
    ("its callers, importers, users or other endpoints", "L-UNRESOLVED"): "Callable.removed Export.removed Fact.removed"
    " Ring.removed Ring.side Counter.removed Counter.side",
    ("pipelines in which nobody provides it", "L-UNRESOLVED"): "Call.added Import.added FactUse.added Ring.added"
    " Counter.added Role.calls:gained Callable.calls:gained Export.calls:gained",
    ("manifests that order the role", "L-MANIFEST"): "Role.removed",
    ("manifests that list the package", "L-NAME"): "Contract.name",
    ("pipelines of the other target", "L-TARGET"): "Contract.target",
    ("packages compiled in the other mode", "L-FPMODE"): "Contract.fp",
    ("the other endpoint of the ring", "L-PAIR"): "Ring.space Ring.scope Ring.proxy Ring.producers"
    " Claim.ring Buffer_of_a_ring.ring Buffer_of_a_ring.kind Buffer_of_a_ring.dtype Buffer_of_a_ring.tile"
    " Buffer_of_a_ring.swizzle",
    ("the other endpoint of its ring", "L-PAIR L-BYTES"): "Buffer_of_a_ring.added Buffer_of_a_ring.removed"
    " Buffer_of_a_ring.size",
    ("the other endpoint, which counts the same arrivals", "L-ARRIVALS"): "Ring.full Ring.empty Counter.arrivals",
    ("the other endpoint, which waits for the same bytes", "L-BYTES"): "Ring.bytes",
    ("an endpoint that shares no depth with it", "L-DEPTH"): "Ring.depth:narrowed",
    ("the other endpoint: one of them initialises", "L-INIT"): "Ring.init:either",
    ("the other endpoints of the counter", "L-PAIR"): "Counter.words",
    ("the other endpoints of the counter", "L-PAIR L-RESTART"): "Counter.scope Counter.restart",
    ("callers, compiled for the old type", "L-SIGNATURE"): "Callable.signature:callee Export.signature:callee",
    ("the callable that it is connected to", "L-SIGNATURE"): "Call.signature:caller",
    ("the export that it is connected to", "L-SIGNATURE"): "Import.signature Import.produce_signature:caller",
    ("what is called there, which needs its threads", "L-SITE"): "Site.role Site.threads Site.first_thread"
    " Site.guarantees:lost Call.site Import.site",
    ("what its sites call, which needs aligned threads", "L-SITE"): "Role.align:looser",
    (
        "packages whose code nothing else runs",
        "L-SITE L-UNRESOLVED",
    ): "Role.calls:lost Callable.calls:lost Export.calls:lost",
    ("importers whose site lacks it", "L-SITE"): "Export.threads Export.align:stricter Export.requires:gained",
    ("importers of the tensor", "L-TENSOR"): "Export.dtype Export.completion Export.registers:larger"
    " Export.placement:retiled",
    ("the export of the tensor", "L-TENSOR"): "Import.dtype Import.completion Import.frame:smaller"
    " Import.demand:retiled",
    ("importers that no route reaches any more", "L-ROUTE"): "Export.placement",
    ("exports that no route reaches it from any more", "L-ROUTE"): "Import.demand Import.scratch:dropped"
    " Import.barrier:dropped",
    ("users of the fact", "L-FACT"): "Fact.type",
    ("the owner of the fact", "L-FACT"): "FactUse.type FactUse.required:stated",
    ("claims of other packages for the phase", "L-LIFETIME"): "Stream.removed Stream.phases:lost",
    ("pipelines in which nothing runs the phase, or has the event", "L-LIFETIME"): "Claim.lifetime:elsewhere"
    " Buffer_of_a_ring.lifetime:elsewhere",
    ("packages with no shape or occupancy in common", "L-TOPOLOGY"): "Topology.added Topology.clusters:fewer-shapes"
    " Topology.occupancy:narrowed",
    ("the domain's other members", "L-DOMAIN"): "Domain.ranks:stated View.domain View.kind",
    ("callers: a session asks for it, or takes it no more", ""): "Buffer.added Buffer.removed Buffer.dtype Buffer.rank"
    " Buffer.access Buffer.align:stricter Argument.added Argument.removed Argument.type Domain.added Domain.removed"
    " View.added View.removed View.allocation",
}

_MINOR: dict[tuple[str, str], str] = {
    ("pipelines in which another package provides the name too", "L-DUPLICATE"): "Callable.added Export.added"
    " Fact.added Contract.defined:gained",
    ("pipelines in which another package has the phase too", "L-DUPLICATE"): "Stream.added Stream.phases:gained",
    ("manifests that connect it", "L-MANIFEST"): "Call.removed Import.removed FactUse.removed",
    ("users that require the old value; the others are specialised anew", "L-FACT"): "Fact.value",
    ("pipelines with little room left", "L-OVERLAP"): "Claim.added Claim.kind Claim.size:larger Claim.align:stricter"
    " Claim.lifetime Claim.proxy Buffer_of_a_ring.align:stricter Buffer_of_a_ring.lifetime"
    " Buffer_of_a_ring.proxy Ring.drains:dropped Ring.init_uses:gained Role.uses:gained Callable.uses:gained"
    " Export.uses:gained Stream.roles Stream.exclusive:lost Stream.fenced:dropped Parameters.added"
    " Parameters.size:larger Parameters.align:larger Contract.static_shared:larger",
    ("pipelines with few warps or registers left", "L-WARPS L-REGS"): "Role.added Role.warps:larger Role.align:larger",
    ("tensors that are staged through it", "L-ROUTE"): "Claim.size:smaller",
    ("pipelines with few registers left", "L-REGS"): "Role.registers:narrowed Role.need:larger",
    ("launches that would reset it under a peer", "L-RESTART"): "Claim.scope Claim.restart Buffer_of_a_ring.scope"
    " Buffer_of_a_ring.restart",
    ("code that several roles run", "L-SITE"): "WarpHandle.added WarpHandle.of",
    ("linkers with an older toolkit", "L-TOOLKIT"): "Contract.toolkit:newer Contract.ir_version:newer",
    ("runtimes of another provider interface", ""): "Provider.added Provider.removed Provider.abi",
    (
        "",
        "",
    ): "Site.added Site.removed Claim.removed Topology.removed WarpHandle.removed Parameters.removed"
    " Field.added Field.removed Field.offset Field.size",
}

_PATCH: dict[tuple[str, str], str] = {
    ("controls, which are built from the source", "L-CONTROL"): "Contract.main:dropped",
    ("", ""): "Kernel.added Kernel.removed Member.added Member.removed",
}

SILENT = {"name", "at", "Contract.version", "Contract.schema", "Contract.at", "Member.size"}
"""Fields of which nothing is said here: names match entries, locations are counted, versions judged, sizes implied."""


def _effects() -> dict[tuple[str, str], list[tuple[Effect, str]]]:
    """By (struct, field): the effects, the gravest first, each with the name of the harm that has it."""
    found: dict[tuple[str, str], list[tuple[Effect, str]]] = {}
    for step, rows in ((Step.major, _MAJOR), (Step.minor, _MINOR), (Step.patch, _PATCH)):
        for (whom, names), keys in rows.items():
            effect = Effect(step, whom, tuple(names.split()))
            for key in keys.split():
                path, _, harm = key.partition(":")
                struct, _, field = path.replace("_of_a_", " of a ").partition(".")
                found.setdefault((struct, field), []).append((effect, harm))
    return found


EFFECTS = _effects()


_OTHERS: dict[Class, Effect] = {
    "paired": Effect(Step.major, "declarations that must agree with it"),
    "captured": Effect(Step.patch),
    "inert": Effect(Step.patch),
    "promise": Effect(Step.minor),
}
"""By the class of a field of which no table says more."""


def _effect(struct: str, field: str, old: Any = None, new: Any = None) -> Effect:
    """Of a field, or of a whole entry that is "added" or "removed"."""
    if (struct, field) not in EFFECTS:
        whole = {"added": Effect(Step.minor), "removed": Effect(Step.major, "whoever relies on it")}
        return whole[field] if field in whole else _OTHERS[CLASSES[struct, field]]
    effects = EFFECTS[struct, field]
    harmless = Effect(min(Step.minor, effects[0][0].step))
    return next((effect for effect, harm in effects if _HARMS[harm](old, new)), harmless)


# ---- the difference -------------------------------------------------------------------------------------------------


def differences(old: Contract, new: Contract) -> list[Difference]:
    """What changed, by version step, the largest first; locations that moved are one change."""
    found = list(_entry(old, new, "package", old, new))
    moved = sum(a != b for a, b in _places(old, new))
    if moved:
        many = f"{moved} location{'s' * (moved > 1)} moved"
        found.append(Difference("package", "at", "", many, place(old.at), place(new.at), Effect(Step.patch)))
    return sorted(found, key=lambda d: -d.effect.step)


def needed(found: list[Difference]) -> Step:
    """The least version step that the differences call for."""
    return max((difference.effect.step for difference in found), default=Step.none)


def kind_of(entry: msgspec.Struct) -> str:
    """The name by which the tables know an entry."""
    return "Buffer of a ring" if isinstance(entry, Claim) and entry.ring else type(entry).__name__


def _title(entry: msgspec.Struct) -> str:
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", kind_of(entry)).lower()
    name = getattr(entry, "name", "")
    return f"{words} '{name}'" if name else words


def _at(entry: msgspec.Struct, contract: Contract) -> Place:
    """Where the entry is declared; the package's own place for what has none."""
    return place(getattr(entry, "at", contract.at))


def _entry(a: msgspec.Struct, b: msgspec.Struct, title: str, old: Contract, new: Contract) -> Iterator[Difference]:
    """The changes of one entry that both contracts have."""
    kind = kind_of(a) if kind_of(a) == kind_of(b) else type(a).__name__
    for field in a.__struct_fields__:
        before, after = getattr(a, field), getattr(b, field)
        if before == after or f"{kind}.{field}" in SILENT or (field in SILENT and not isinstance(a, Contract)):
            continue
        if (pair := _entries(before, after)) is not None:
            yield from _matched(*pair, old, new)
        else:
            said = _apart(before, after)
            effect = _effect(kind, field, before, after)
            yield Difference(title, field, *said, _at(a, old), _at(b, new), effect)


def _matched(
    ours: dict[str, msgspec.Struct], theirs: dict[str, msgspec.Struct], old: Contract, new: Contract
) -> Iterator[Difference]:
    """The changes of a collection, in the order of the old contract, then of the new."""
    for name in [*ours, *(name for name in theirs if name not in ours)]:
        a, b = ours.get(name), theirs.get(name)
        if a is not None and b is not None:
            yield from _entry(a, b, _title(b), old, new)
        elif a is not None:
            effect = _effect(kind_of(a), "removed")
            yield Difference(_title(a), "removed", _spelled(a), "", _at(a, old), None, effect)
        elif b is not None:
            yield Difference(_title(b), "added", "", _spelled(b), None, _at(b, new), _effect(kind_of(b), "added"))


def _entries(old: Any, new: Any) -> tuple[dict[str, msgspec.Struct], dict[str, msgspec.Struct]] | None:
    """The entries of both by name, of what is one by ""; None where the field holds no entries."""
    ours, theirs = (_listed(value) for value in (old, new))
    items = [*ours, *theirs]
    if not items or not all(isinstance(item, msgspec.Struct) and not isinstance(item, VALUES) for item in items):
        return None
    return {getattr(item, "name", ""): item for item in ours}, {getattr(item, "name", ""): item for item in theirs}


def _listed(value: Any) -> tuple[Any, ...]:
    if isinstance(value, tuple):
        return cast(tuple[Any, ...], value)
    return () if value is None else (value,)


def _places(old: msgspec.Struct, new: msgspec.Struct) -> Iterator[tuple[Any, Any]]:
    """The locations of what both have."""
    for field in old.__struct_fields__:
        before, after = getattr(old, field), getattr(new, field)
        if field == "at":
            yield before, after
        elif (pair := _entries(before, after)) is not None:
            ours, theirs = pair
            for name in ours.keys() & theirs.keys():
                yield from _places(ours[name], theirs[name])


# ---- values as text -------------------------------------------------------------------------------------------------


def _apart(old: Any, new: Any) -> tuple[str, str]:
    """Both values as text; of structs and lists of names only what the other lacks."""
    if isinstance(old, msgspec.Struct) and isinstance(new, msgspec.Struct):
        changed = [f for f in old.__struct_fields__ if getattr(old, f) != getattr(new, f)]
        return _spelled(old, changed), _spelled(new, changed)
    if isinstance(old, tuple) and isinstance(new, tuple):
        ours, theirs = cast(tuple[Any, ...], old), cast(tuple[Any, ...], new)
        if all(isinstance(item, str) for item in ours + theirs) and set(ours) != set(theirs):
            lost, gained = (tuple(i for i in x if i not in y) for x, y in ((ours, theirs), (theirs, ours)))
            return _spelled(lost), _spelled(gained)
    return _spelled(old), _spelled(new)


def _spelled(value: Any, fields: list[str] | None = None) -> str:
    """As text; of a struct `fields`, by default those that are not at their defaults."""
    if isinstance(value, Signature) and fields is None:
        return f"{value.result} ({', '.join(value.parameters)})"
    if isinstance(value, msgspec.Struct):
        stated = {f.name: getattr(value, f.name) for f in msgspec.structs.fields(value) if _is_shown(f, value, fields)}
        return ", ".join(f"{name}={_spelled(item)}" for name, item in stated.items())
    if isinstance(value, tuple):
        items = [_spelled(item) for item in cast(tuple[Any, ...], value)]
        return f"[{', '.join(items)}]" if items else "none"
    text = "none" if value in (None, "") else str(value)
    return text[:12] if re.fullmatch(r"[0-9a-f]{64}", text) else text


def _is_shown(field: msgspec.structs.FieldInfo, entry: msgspec.Struct, fields: list[str] | None) -> bool:
    if fields is not None:
        return field.name in fields
    return field.name not in ("name", "at", "sha256") and getattr(entry, field.name) != field.default


# ---- versions -------------------------------------------------------------------------------------------------------

_VERSION = re.compile(r"(\d+)(?:\.(\d+))?(?:\.(\d+))?([-+].*)?")


def declared(old: str, new: str) -> Step | None:
    """The step from one version to the other, as semantic versioning counts; None where they are none of its.

    Below 1.0.0 the first number that is not 0 counts as the major one. A version that does not grow is no step; what
    was a pre-release of the same numbers promised nothing, and may change in any way.
    """
    found = [_VERSION.fullmatch(text) for text in (old, new)]
    if found[0] is None or found[1] is None:
        return None
    before, after = ([int(number or 0) for number in match.group(1, 2, 3)] for match in (found[0], found[1]))
    if before == after:
        return Step.major if (found[0][4] or "").startswith("-") and old != new else Step.none
    if after < before:
        return Step.none
    changed = next(i for i in range(3) if before[i] != after[i])
    leading = next((i for i in range(3) if before[i]), 2)
    return (Step.major, Step.minor, Step.patch)[max(0, changed - leading)]
