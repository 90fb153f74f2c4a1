"""The staged rung: through shared-memory scratch that the import lends.

The scratch holds one chunk as a row-major tile, swizzled so that stores and loads are free of bank conflicts. Each
chunk syncs twice: before its stores, since threads may still be loading an earlier chunk from the same scratch; and
after them, so that every store is visible to whoever loads.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from pipelink.ir.maps import ExactMap, FitError, fit
from pipelink.ir.maps.forms import Const, Form, Index, make
from pipelink.passes.routes.plan import Access, Guard, Plan, Scope, Step, Swizzle, Sync
from pipelink.passes.routes.swizzle import Found, Phases, search
from pipelink.passes.routes.transfer import Refused, Rung, Transfer, thread_classes

KIND = "staged"
WARP = 32
REGISTER_BYTES = 4
_LANES = (4, 2, 1)  # elements a vector access: 16, 8, 4 bytes
_SCRATCH_FREE = "the scratch is free again"
_DATA_VISIBLE = "the stores are visible"

Pattern = tuple[tuple[int, ...], ...]
Slots = tuple[tuple[int, int], ...]  # (element offset in the scratch tile, register) of one thread in one chunk


@dataclass(frozen=True, slots=True)
class _Group:
    """One vector access before its address is swizzled: offsets in bytes, None for threads outside the guard."""

    registers: tuple[int, ...]
    guard: Guard | None
    offsets: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class _Side:
    """All accesses of one side, by chunk, at one width."""

    width: int
    chunks: tuple[tuple[_Group, ...], ...]
    phases: Phases

    @property
    def accesses(self) -> int:
        return sum(len(groups) for groups in self.chunks)


@dataclass(frozen=True, slots=True)
class _Layout:
    stores: _Side
    loads: _Side
    found: Found

    @property
    def cost(self) -> tuple[int, int]:
        """Wavefronts, then instructions."""
        wavefronts = sum(side.phases.wavefronts(self.found.swizzle)[1] for side in (self.stores, self.loads))
        return wavefronts, self.stores.accesses + self.loads.accesses


def plan(transfer: Transfer) -> Plan:
    """Layout, swizzle, scope and schedule. Raises Refused where the import lends too little, or no form is found."""
    _check_lends(transfer)
    tile = _Tile.of(transfer)
    layout = _best_layout(transfer, tile)
    swizzle = layout.found.swizzle
    line = 128 if swizzle.masks else 16
    size = -(-tile.size * REGISTER_BYTES // line) * line
    if size > transfer.lends.scratch_bytes:
        raise Refused(f"a chunk takes {size} bytes of scratch, the import lends {transfer.lends.scratch_bytes}")
    scope = _scope(transfer, layout)
    stores, loads = layout.stores, layout.loads
    sharing = "no byte of scratch is used by two warps" if scope == "warp" else "warps share the scratch"
    store_ways, load_ways = (side.phases.wavefronts(swizzle)[0] for side in (stores, loads))
    return Plan(
        KIND,
        transfer.threads,
        REGISTER_BYTES,
        transfer.chunk,
        _schedule(transfer, layout, scope, size),
        sync=scope,
        scratch_bytes=size,
        alignment=max(stores.width, loads.width),
        address=tile.address(swizzle, size),
        swizzle=swizzle,
        store_bytes=stores.width,
        load_bytes=loads.width,
        store_wavefronts=store_ways,
        load_wavefronts=load_ways,
        reasons=(
            f"{stores.width}-byte stores and {loads.width}-byte loads, {layout.found.proof}",
            sharing,
        ),
    )


def _check_lends(transfer: Transfer) -> None:
    if transfer.lends.element_bytes != REGISTER_BYTES:
        raise Refused(f"staging moves 4-byte registers, the elements have {transfer.lends.element_bytes} bytes")
    if transfer.lends.scratch_bytes == 0:
        raise Refused("the import lends no scratch")
    if transfer.threads % WARP:
        raise Refused(f"{transfer.threads} threads are not whole warps, and both barriers need whole warps")


@dataclass(frozen=True)
class _Tile:
    """A chunk's elements packed as a row-major tile: each coordinate by its rank among those that the chunk uses."""

    names: tuple[str, ...]
    shape: tuple[int, ...]
    offsets: tuple[dict[int, int], ...]  # for each chunk, from element to element offset

    @staticmethod
    def of(transfer: Transfer) -> "_Tile":
        chunks = [sorted({e for row in rows for e in row}) for rows in transfer.wanted]
        used = [_used(transfer, elements) for elements in chunks]
        shape = tuple(max(len(ranks[axis]) for ranks in used) for axis in range(len(used[0])))
        offsets: list[dict[int, int]] = []
        for elements, ranks in zip(chunks, used, strict=True):
            offset: dict[int, int] = {}
            for element in elements:
                flat = 0
                for axis, value in enumerate(transfer.coordinates[element]):
                    flat = flat * shape[axis] + ranks[axis][value]
                offset[element] = flat
            offsets.append(offset)
        names = tuple(name for name, _ in transfer.placement.outputs)
        return _Tile(names, shape, tuple(offsets))

    @property
    def size(self) -> int:
        return prod(self.shape)

    def address(self, swizzle: Swizzle, size: int) -> ExactMap:
        """Coordinates inside the chunk -> byte offset."""
        domain = tuple(zip(self.names, self.shape, strict=True))
        rows: Form = Const(0)
        stride = self.size * REGISTER_BYTES
        for name, extent in domain:
            stride //= extent
            rows = make("+", rows, make("*", Index(name), Const(stride)) if extent > 1 else Const(0))
        points = [(swizzle.apply(flat * REGISTER_BYTES),) for flat in range(self.size)]
        try:
            return fit(domain, (("byte", size),), points)
        except FitError:  # rows that are no power of two carry into the swizzled bits
            return ExactMap(domain, (("byte", size),), (swizzle.form(rows),))


def _used(transfer: Transfer, elements: Sequence[int]) -> list[dict[int, int]]:
    points = [transfer.coordinates[e] for e in elements]
    return [{value: rank for rank, value in enumerate(sorted(set(axis)))} for axis in zip(*points, strict=True)]


def _best_layout(transfer: Transfer, tile: _Tile) -> _Layout:
    """The widest accesses if they can be free of conflicts, else the widths with the fewest wavefronts."""
    stores = _sides(_held(transfer, tile), "the frame registers stored")
    loads = _sides(_wanted(transfer, tile), "the destination registers loaded")
    widest = _layout(next(stores), next(loads))
    if widest.found.free:
        return widest
    pairs = product([widest.stores, *stores], [widest.loads, *loads])
    return min((_layout(store, load) for store, load in pairs), key=lambda layout: layout.cost)


def _layout(stores: _Side, loads: _Side) -> _Layout:
    # Units as wide as the wider access: the finest that break neither, so the largest family of swizzles.
    return _Layout(stores, loads, search((stores.phases, loads.phases), max(stores.width, loads.width)))


def _held(transfer: Transfer, tile: _Tile) -> list[list[Slots]]:
    """What each thread stores, by chunk: an element with several holders is stored by the first alone."""
    held: list[list[Slots]] = []
    for offsets in tile.offsets:
        rows: list[list[tuple[int, int]]] = [[] for _ in range(transfer.threads)]
        for element, offset in offsets.items():
            thread, register = transfer.holders[element][0]
            rows[thread].append((offset, register))
        held.append([tuple(sorted(row)) for row in rows])
    return held


def _wanted(transfer: Transfer, tile: _Tile) -> list[list[Slots]]:
    return [
        [tuple(sorted((offsets[e], position) for position, e in enumerate(row))) for row in rows]
        for rows, offsets in zip(transfer.wanted, tile.offsets, strict=True)
    ]


def _sides(slots: list[list[Slots]], what: str) -> Iterator[_Side]:
    """One side at each width that the map allows, widest first. Raises Refused if there is none."""
    for lanes in _LANES:
        try:
            side = _side(slots, lanes, what)
        except Refused:  # scalars refuse only where vectors do, since threads share a list more often than its order
            if lanes == 1:
                raise
            continue
        if side is not None:
            yield side


def _side(slots: list[list[Slots]], lanes: int, what: str) -> _Side | None:
    width = lanes * REGISTER_BYTES
    chunks: list[tuple[_Group, ...]] = []
    known: dict[Slots, Pattern | None] = {}  # threads mostly differ by a shift of whole vectors alone

    def vectors(row: Slots) -> Pattern | None:
        start = row[0][0] // lanes * lanes if row else 0
        shifted = tuple((offset - start, register) for offset, register in row)
        if shifted not in known:
            known[shifted] = _vectors(shifted, lanes)
        return known[shifted]

    for number, rows in enumerate(slots):
        patterns = [vectors(row) for row in rows]
        if any(pattern is None for pattern in patterns):
            return None
        chunks.append(_groups([p for p in patterns if p is not None], rows, f"{what} in chunk {number}"))
    phases = Phases.of(width, (group.offsets for groups in chunks for group in groups))
    return _Side(width, tuple(chunks), phases)


def _vectors(row: Slots, lanes: int) -> Pattern | None:
    """The registers of one thread as aligned vectors, or None where an element of one is missing."""
    if lanes == 1:
        return tuple((register,) for register in sorted(register for _, register in row))
    vectors: dict[int, list[tuple[int, int]]] = {}
    for offset, register in row:
        vectors.setdefault(offset // lanes, []).append((offset % lanes, register))
    for vector in vectors.values():
        if [lane for lane, _ in vector] != list(range(lanes)):
            return None
    return tuple(sorted(tuple(register for _, register in vector) for vector in vectors.values()))


def _groups(patterns: list[Pattern], rows: list[Slots], what: str) -> tuple[_Group, ...]:
    groups: list[_Group] = []
    places = [{register: offset * REGISTER_BYTES for offset, register in row} for row in rows]
    for guard, example in thread_classes(patterns, what):
        inside = guard.holds() if guard else [True] * len(rows)
        for vector in patterns[example]:
            offsets = tuple(place[vector[0]] if is_in else None for place, is_in in zip(places, inside, strict=True))
            groups.append(_Group(vector, guard, offsets))
    return tuple(groups)


def _scope(transfer: Transfer, layout: _Layout) -> Scope:
    """`warp` where each byte of scratch is used by one warp alone, over all chunks; else the lent barrier."""
    owner: dict[int, int] = {}
    for side in (layout.stores, layout.loads):
        for group in (group for groups in side.chunks for group in groups):
            for thread, offset in enumerate(group.offsets):
                if offset is None:
                    continue
                words = range(offset, offset + side.width, REGISTER_BYTES)
                if any(owner.setdefault(word, thread // WARP) != thread // WARP for word in words):
                    return _cta(transfer)
    return "warp"


def _cta(transfer: Transfer) -> Scope:
    if not transfer.lends.barrier:
        raise Refused(f"elements cross warps and the import lends no barrier; {_crossing(transfer)}")
    return "cta"


def _crossing(transfer: Transfer) -> str:
    for chunk, rows in enumerate(transfer.wanted):
        for thread, row in enumerate(rows):
            for position, element in enumerate(row):
                if transfer.holders[element][0][0] // WARP != thread // WARP:
                    return transfer.show_crossing(element, thread, position, chunk)
    return "two warps use the same scratch in different chunks"


def _schedule(transfer: Transfer, layout: _Layout, scope: Scope, size: int) -> tuple[tuple[Step, ...], ...]:
    before, after = (Sync(scope, transfer.threads, why) for why in (_SCRATCH_FREE, _DATA_VISIBLE))
    fitted: dict[tuple[int | None, ...], ExactMap] = {}

    def address(offsets: tuple[int | None, ...]) -> ExactMap:
        if offsets not in fitted:
            fitted[offsets] = _fit_offsets(offsets, layout.found.swizzle, size)
        return fitted[offsets]

    schedule: list[tuple[Step, ...]] = []
    for store, load in zip(layout.stores.chunks, layout.loads.chunks, strict=True):
        stores = [Access("store", layout.stores.width, g.registers, address(g.offsets), g.guard) for g in store]
        loads = [Access("load", layout.loads.width, g.registers, address(g.offsets), g.guard) for g in load]
        schedule.append((before, *stores, after, *loads))
    return tuple(schedule)


def _fit_offsets(offsets: Sequence[int | None], swizzle: Swizzle, size: int) -> ExactMap:
    """(t) -> (byte), of any value outside the guard. Raises Refused where the offsets have no closed form."""
    domain, outputs = (("t", len(offsets)),), (("byte", size),)
    whole = _complete(offsets)
    try:
        return fit(domain, outputs, [(swizzle.apply(a),) for a in whole])
    except FitError:
        pass
    try:
        plain = fit(domain, outputs, [(a,) for a in whole])
    except FitError as error:
        raise Refused(f"the scratch addresses have no closed form in the thread: {error}") from error
    return ExactMap(domain, outputs, (swizzle.form(plain.forms[0]),))


def _complete(offsets: Sequence[int | None]) -> list[int]:
    """Threads outside the guard take the offset of the thread inside whose number differs in the lowest bits only."""
    inside = [(t, a) for t, a in enumerate(offsets) if a is not None]
    return [min(inside, key=lambda pair: pair[0] ^ t)[1] if a is None else a for t, a in enumerate(offsets)]


RUNG = Rung(KIND, plan)
