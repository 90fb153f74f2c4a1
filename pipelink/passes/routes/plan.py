"""A route's plan as data: the schedule of each chunk and the facts that the record states about it."""

from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from pipelink.ir.maps import Const, ExactMap, Form, parse
from pipelink.ir.maps.forms import make

Scope = Literal["none", "warp", "cta"]


class Guard(msgspec.Struct, frozen=True):
    """The threads where `form`, a map (t) -> (class), has this value."""

    form: ExactMap
    value: int

    def holds(self) -> list[bool]:
        """For each thread whether it takes part."""
        return [value == self.value for value in self.form.tables[0]]

    def __str__(self) -> str:
        return f"{self.form.forms[0]} == {self.value}"


class Sync(msgspec.Struct, frozen=True, tag="sync"):
    """All threads of the scope meet: `threads` of them in the CTA barrier, or each warp on its own."""

    scope: Scope
    threads: int
    why: str

    def __str__(self) -> str:
        who = "each warp" if self.scope == "warp" else f"{self.threads} threads"
        return f"sync {who}: {self.why}"


class Access(msgspec.Struct, frozen=True, tag="access"):
    """One shared-memory instruction: `registers` (frame for a store, destination for a load), in address order.

    `address` maps a thread to its byte offset in the scratch, a multiple of `width` bytes.
    """

    kind: Literal["store", "load"]
    width: int
    registers: tuple[int, ...]
    address: ExactMap
    guard: Guard | None = None

    def __str__(self) -> str:
        names = ", ".join(map(str, self.registers))
        condition = f" if {self.guard}" if self.guard else ""
        what = f"frame[{names}] to" if self.kind == "store" else f"dst[{names}] from"
        return f"{self.kind} {self.width} bytes, {what} {self.address.forms[0]}{condition}"


class Move(msgspec.Struct, frozen=True, tag="move"):
    """Register copies inside each thread: (destination, frame) pairs."""

    pairs: tuple[tuple[int, int], ...]
    guard: Guard | None = None

    def __str__(self) -> str:
        condition = f" if {self.guard}" if self.guard else ""
        return "move " + ", ".join(f"dst[{d}] = frame[{s}]" for d, s in self.pairs) + condition


Step = Sync | Access | Move


class Swizzle(msgspec.Struct, frozen=True):
    """Byte offset b becomes b xor the masks of its set bits from bit 7 up: units move inside their 128-byte line."""

    masks: tuple[int, ...] = ()

    @property
    def unit(self) -> int:
        """Bytes that stay together; 128 where nothing moves."""
        bits = [mask & -mask for mask in self.masks if mask]
        return min(bits, default=128)

    def apply(self, offset: int) -> int:
        for bit, mask in enumerate(self.masks):
            if offset >> (7 + bit) & 1:
                offset ^= mask
        return offset

    def form(self, offset: Form) -> Form:
        """The closed form of the swizzled offset."""
        swizzled, bit = offset, 0
        while bit < len(self.masks):
            mask, length = self.masks[bit], 1
            while bit + length < len(self.masks) and self.masks[bit + length] == mask << length:
                length += 1
            digit = make("%", make("/", offset, Const(128 << bit)), Const(1 << length))
            swizzled = make("^", swizzled, make("*", digit, Const(mask)))
            bit += length
        return swizzled


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a rung of the ladder does not serve, in words."""

    kind: str
    reason: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.reason}"


class Plan(msgspec.Struct, frozen=True):
    """A route. `schedule` has one tuple of steps for each value of the demand's index `chunk`, one if that is None.

    Staged plans state their scratch: `scratch_bytes` at an address aligned to `alignment`, `address` from the tile's
    coordinates inside a chunk to the byte offset, its `swizzle`, the access widths in bytes and the wavefronts of the
    worst access on each side (1: free of bank conflicts). Direct plans have none of it.
    """

    kind: str
    threads: int
    element_bytes: int
    chunk: str | None
    schedule: tuple[tuple[Step, ...], ...]
    sync: Scope = "none"
    scratch_bytes: int = 0
    alignment: int = 1
    address: ExactMap | None = None
    swizzle: Swizzle = Swizzle()
    store_bytes: int = 0
    load_bytes: int = 0
    store_wavefronts: int = 0
    load_wavefronts: int = 0
    reasons: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [f"route {self.kind}, {self.threads} threads"]
        if self.address is not None:
            lines.append(f"scratch {self.scratch_bytes} bytes align {self.alignment}: {self.address}")
        lines += [f"because {reason}" for reason in self.reasons]
        for chunk, steps in enumerate(self.schedule):
            lines.append(f"chunk {chunk}:")
            lines += [f"  {step}" for step in steps]
        return "\n".join(lines)


def to_json(plan: Plan) -> str:
    """The plan as JSON, maps as their text."""
    return msgspec.json.encode(plan, enc_hook=str).decode()


def from_json(text: str) -> Plan:
    """The plan that `to_json` wrote. Raises msgspec.ValidationError, MapError."""
    return msgspec.json.decode(text, type=Plan, dec_hook=_parse)


def _parse(kind: type, value: Any) -> ExactMap:
    if kind is not ExactMap or not isinstance(value, str):
        raise NotImplementedError(f"a plan holds no {kind}")
    return parse(value)
