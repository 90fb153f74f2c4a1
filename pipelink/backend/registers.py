"""What a register group needs, measured from machine code, and the links that it takes to place it.

ptxas allocates registers, not the solver. Where the first link shows that a group does not fit (a message of ptxas, a
spill), a probe gives that group the largest legal budget and reads its need from the code; the placement is solved once
more with it, and if the code then still does not fit, the link fails with the numbers. At most three links.
"""

from collections.abc import Callable, Mapping

from xdsl.dialects.builtin import ModuleOp

from pipelink.backend import sass
from pipelink.backend.link import link
from pipelink.backend.postlink import Fault, Image, faults, refuse
from pipelink.frontends.package import Package
from pipelink.ir.diagnostics import fail
from pipelink.ir.locations import place_of
from pipelink.ir.pl import GroupOp, PipelineOp, RoleOp, integer
from pipelink.ir.symbols import Symbols, path_of, pipeline_of
from pipelink.passes.placement.registers import entry_registers

GRAIN = 8  # setmaxnreg takes multiples of 8 (PTX ISA)
PRESSED = 2  # code that is short of registers uses its budget but for so many (measured)


def _groups(pipeline: PipelineOp) -> list[GroupOp]:
    return sorted(Symbols(pipeline).ops(GroupOp), key=lambda g: g.warps.get_values()[0])


def _warpgroups(group: GroupOp) -> int:
    first, end = group.warps.get_values()
    return -(-(end - first) // 4)


def _range(pipeline: PipelineOp, group: GroupOp) -> tuple[int, int]:
    """The budgets that all roles of a group accept."""
    symbols = Symbols(pipeline)
    ranges = [symbols.get(r, pipeline, RoleOp).registers.get_values() for r in group.roles]
    return max(r[0] for r in ranges), min(r[1] for r in ranges)


def lacks(found: Mapping[str, list[Fault]]) -> str:
    """What the faults say about registers; "" where they do not."""
    return "; ".join(text for fault in found.values() for clause, text in fault if clause == "L-REGS")


def used(image: Image) -> dict[int, int]:
    """By budget, the registers that the code under it uses."""
    return {r.budget: r.registers for r in sass.regions(image.code) if r.budget is not None}


def _pressed(image: Image) -> GroupOp | None:
    """The group that lacks registers most: the least of budget minus use. Where ptxas has dropped the budgets nothing
    can be measured; then it is a group that states no need, or the one with the least to spare over it."""
    groups = [(g, g.budget.value.data) for g in image.groups if g.budget is not None]
    measured = used(image)

    def spare(item: tuple[GroupOp, int]) -> tuple[bool, int]:
        group, budget = item
        need = group.need.value.data
        return (False, budget - measured[budget]) if budget in measured else (need != 0, budget - need)

    return min(groups, key=spare)[0] if groups else None


def _probe(image: Image, group: GroupOp, packages: Mapping[str, Package]) -> int:
    """Link once with `group` at its largest legal budget, all others at their least, and measure its need."""
    probe = image.linked.module.clone()
    pipeline = pipeline_of(probe)
    groups = _groups(pipeline)
    chosen = next(g for g in groups if g.warps == group.warps)
    assert pipeline.threads is not None
    threads, registers = pipeline.threads.value.data, pipeline.capacities.integers["registers"]
    pool = entry_registers(registers, threads, pipeline.blocks) * threads // 128
    for other in groups:
        if other is not chosen:
            low = -(-_range(pipeline, other)[0] // GRAIN) * GRAIN
            other.budget = integer(low)
            pool -= low * _warpgroups(other)
    budget = min(pool // _warpgroups(chosen), _range(pipeline, chosen)[1]) // GRAIN * GRAIN
    chosen.budget = integer(budget)
    count = used(Image(link(probe, packages))).get(budget, budget)
    return budget + GRAIN if count >= budget - PRESSED else -(-count // GRAIN) * GRAIN


def _name(group: GroupOp) -> str:
    return ", ".join(f"'{'.'.join(path_of(r))}'" for r in group.roles)


def link_fitting(module: ModuleOp, packages: Mapping[str, Package], solve: Callable[[ModuleOp], None]) -> Image:
    """Link and prove. `solve` runs the passes from `pl-relocate` on. Raises PipelinkError: L-REGS if registers lack."""
    image = Image(link(module, packages))
    found = faults(image)
    said = lacks(found)
    group = _pressed(image) if said else None
    if group is None:
        return refuse(image, found)
    need, name, at = _probe(image, group, packages), _name(group), place_of(pipeline_of(module))
    for own in _groups(pipeline_of(module)):
        if own.warps == group.warps:
            own.need = integer(need)
    solve(module)
    image = Image(link(module, packages))
    found = faults(image)
    if still := lacks(found):
        hint = "give the other groups less (.registers in PL_ROLE), or use fewer threads"
        raise fail("L-REGS", f"group {name} needs {need} registers a thread: {said}; then {still}", at, hint=hint)
    return refuse(image, found)
