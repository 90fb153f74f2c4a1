"""A tensor's demand fits its placement, and the import's site fits the export's requirements."""

from math import gcd

from pipelink.ir.attributes import Kind
from pipelink.ir.diagnostics import Note
from pipelink.ir.locations import place_of
from pipelink.ir.pl import ClaimOp, ExportOp, ImportOp, RoleOp, exact_map
from pipelink.ir.symbols import qualified
from pipelink.passes.rules import Checked

C_TYPES = {"f32": "float", "i32": "int", "u32": "unsigned int"}
"""Element types of register tensors: transfers move 32-bit values and never convert them."""


def _shape(text: str) -> tuple[tuple[str, int], ...]:
    return tuple(exact_map(text).outputs)


def check_tensors(checked: Checked) -> None:
    for _, export, import_ in checked.reach.connected(ExportOp, ImportOp):
        _check_tile(checked, export, import_)
        _check_threads(checked, export, import_)
        _check_lends(checked, export, import_)


def _conflict(
    checked: Checked, clause: str, what: str, export: ExportOp, import_: ImportOp, a: str, b: str, hint: str = ""
) -> None:
    checked.errors.error(
        clause,
        f"tensor '{qualified(import_)}': {what} {b}, where '{qualified(export)}' has {a}",
        place_of(import_),
        Note(f"'{qualified(export)}' has {what} {a}", place_of(export)),
        Note(f"'{qualified(import_)}' has {what} {b}", place_of(import_)),
        hint=hint,
    )


def _chunk_that_fits(export: ExportOp, import_: ImportOp) -> str:
    """The largest part of the demanded chunk that divides the placed tile, for each axis that chunks walk along."""
    chunks = dict(exact_map(import_.demand.data).domain).get(import_.chunk.data, 1)
    has = dict(_shape(export.placement.data))
    hints: list[str] = []
    for axis, extent in _shape(import_.demand.data):
        held = has.get(axis, extent)
        if held != extent and extent % chunks == 0 and held % (extent // chunks):
            hints.append(f"a chunk of {gcd(held, extent // chunks)} along {axis} divides the tile of {held}")
    return "; ".join(hints)


def _check_tile(checked: Checked, export: ExportOp, import_: ImportOp) -> None:
    pairs = [
        ("element type", export.dtype.data, import_.dtype.data),
        ("completion", export.completion.data, import_.completion.data),
        ("tile", str(dict(_shape(export.placement.data))), str(dict(_shape(import_.demand.data)))),
    ]
    for what, a, b in pairs:
        if a != b:
            hint = _chunk_that_fits(export, import_) if what == "tile" else ""
            _conflict(checked, "L-TENSOR", what, export, import_, a, b, hint)
    if export.dtype.data not in C_TYPES:
        message = f"tensor '{qualified(export)}' has element type {export.dtype.data}"
        checked.errors.error("L-TENSOR", message, place_of(export), hint=f"register tensors hold {', '.join(C_TYPES)}")


def _check_threads(checked: Checked, export: ExportOp, import_: ImportOp) -> None:
    """The producer runs on the site's threads: their number, alignment and guarantees are what it requires."""
    site = checked.reach.site_of(import_)
    if site is None:
        return
    first, end = site.threads.get_values()
    demanded, held = exact_map(import_.demand.data).domain[0][1], export.threads.value.data
    if not end - first == demanded == held:
        threads = f"{end - first} at its site, {demanded} in its demand"
        _conflict(checked, "L-SITE", "threads", export, import_, str(held), threads)
    role = checked.symbols.find(site.role, site)
    if isinstance(role, RoleOp):
        available = 32 * role.warps.value.data
        if end > available:
            message = (
                f"site '{qualified(site)}' names threads up to {end} of role '{qualified(role)}', which has {available}"
            )
            checked.errors.error("L-SITE", message, place_of(site), Note("the role is here", place_of(role)))
        align, given = export.align.value.data, 32 * role.align.value.data
        if first % align or given % align:
            at = f"thread {first} of a role that is aligned to {given} threads"
            _conflict(checked, "L-SITE", "first thread aligned to", export, import_, str(align), at)
    has = {g.data for g in site.guarantees}
    for needed in (r.data for r in export.requires):
        if needed not in has:
            checked.errors.error(
                "L-SITE",
                f"site '{qualified(site)}' does not guarantee '{needed}', which '{qualified(export)}' requires",
                place_of(site),
                Note(f"'{qualified(export)}' requires it", place_of(export)),
                hint=f"add '{needed}' to the site's guarantees if it holds",
            )


def _check_lends(checked: Checked, export: ExportOp, import_: ImportOp) -> None:
    lent, held = import_.frame.value.data, export.registers.value.data
    if lent < held:
        _conflict(checked, "L-TENSOR", "frame registers", export, import_, str(held), str(lent))
    for ref, kind in ((import_.scratch, Kind.smem), (import_.barrier, Kind.barrier)):
        claim = ref and checked.symbols.find(ref, import_)
        if isinstance(claim, ClaimOp) and claim.kind.data is not kind:
            message = f"'{qualified(import_)}' lends '{qualified(claim)}', a claim of {claim.kind.data}, as {kind}"
            checked.errors.error(
                "L-ANNOTATION", message, place_of(import_), Note("it is claimed here", place_of(claim))
            )
