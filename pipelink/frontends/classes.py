"""Who can tell that a field of a contract is wrong. Every field has its class; one without fails on import.

* `paired`: another declaration must agree, of the same package or of one it is connected to.
* `captured`: the packer reads it from the object or measures it; `recheck` reads it again.
* `inert`: it cannot change the kernel.
* `promise`: nobody can check it: it says what opaque code does, or what its author wants.

`make mutants` changes every field of shipped pipelines and holds the outcome against its class.
"""

from typing import Literal

import msgspec

from pipelink.frontends import contract

Class = Literal["paired", "captured", "inert", "promise"]

VALUES = (contract.Count, contract.FpMode, contract.Lifetime, contract.Location, contract.Signature)
"""Structs that are values: they have the class of the field that holds them."""

_TABLE: dict[str, dict[Class, str]] = {
    "Field": {"captured": "name offset size"},
    "Parameters": {"captured": "type size align fields", "inert": "at"},
    "Role": {
        "captured": "entry signature uses calls",
        "inert": "name at",
        "promise": "warps align registers need",
    },
    "Callable": {"paired": "name", "captured": "symbol signature uses calls", "inert": "at"},
    "Site": {"paired": "role threads", "inert": "name at", "promise": "first_thread guarantees"},
    "Call": {"paired": "name", "captured": "symbol signature", "inert": "at", "promise": "site"},
    "Claim": {
        "captured": "name",
        "inert": "at",
        "promise": "kind size align ring lifetime dtype tile swizzle proxy scope restart",
    },
    "Buffer of a ring": {
        "paired": "kind size ring dtype tile swizzle",
        "captured": "name",
        "inert": "at",
        "promise": "align lifetime proxy scope restart",
    },
    "Ring": {
        "paired": "name side full empty bytes space scope proxy producers",
        "captured": "on init init_signature init_uses",
        "inert": "at",
        "promise": "depth drains priority",
    },
    "Counter": {
        "paired": "name side words scope restart",
        "captured": "on",
        "inert": "at",
        "promise": "arrivals",
    },
    "Stream": {"inert": "name at", "promise": "roles phases exclusive fenced"},
    "Topology": {"inert": "at", "promise": "clusters occupancy"},
    "WarpHandle": {"captured": "name of", "inert": "at"},
    "Export": {
        "paired": "name dtype completion",
        "captured": "symbol signature placement registers threads uses calls",
        "inert": "at",
        "promise": "align requires",
    },
    "Import": {
        "paired": "name dtype site completion",
        "captured": "symbol signature produce produce_signature demand chunk",
        "inert": "at",
        "promise": "frame scratch barrier",
    },
    "Fact": {"paired": "name type", "inert": "at", "promise": "value"},
    "FactUse": {"paired": "name required", "captured": "type field", "inert": "at"},
    "Buffer": {"inert": "name dtype rank access at align"},
    "Argument": {"inert": "name type at"},
    "Domain": {"inert": "name at ranks rank_field ranks_field"},
    "View": {"inert": "name domain kind field at allocation"},
    "Provider": {"inert": "symbol abi at"},
    "Kernel": {"captured": "name max_threads cluster"},
    "Member": {"captured": "name sha256 size"},
    "Contract": {
        "paired": "name target toolkit schema exports callables facts",
        "captured": "ir_version fp members defined undefined static_shared kernels parameters calls imports claims"
        " rings counters warp_handles",
        "inert": "version flags at main buffers arguments domains views provider",
        "promise": "roles sites streams topology fact_uses",
    },
}


def _table() -> dict[tuple[str, str], Class]:
    found: dict[tuple[str, str], Class] = {}
    for struct, classes in _TABLE.items():
        for kind, names in classes.items():
            for name in names.split():
                if (struct, name) in found:
                    raise TypeError(f"{struct}.{name} has two classes")
                found[struct, name] = kind
    structs = [s for s in vars(contract).values() if isinstance(s, type) and issubclass(s, contract.Entry)]
    entries = [s for s in structs if s not in (contract.Entry, *VALUES)]
    fields = {(s.__name__, f) for s in entries for f in s.__struct_fields__}
    fields |= {("Buffer of a ring", f) for f in contract.Claim.__struct_fields__}
    if fields != found.keys():
        raise TypeError(f"fields without a class, or classes without a field: {sorted(fields ^ found.keys())}")
    return found


CLASSES = _table()


def classify(entry: msgspec.Struct, field: str) -> Class:
    """The class of a field. A claim that belongs to a ring is a buffer of it, and the consumer's must agree."""
    struct = "Buffer of a ring" if isinstance(entry, contract.Claim) and entry.ring else type(entry).__name__
    return CLASSES[struct, field]
