"""An independent check of a placement against the rules of the problem; it shares nothing with the solver."""

from collections.abc import Iterator

from pipelink.passes.placement.model import Domain, Placement, Problem


def check(problem: Problem, placement: Placement) -> list[str]:
    """Every violation, in words; none for a valid placement."""
    return [
        *_names(problem, placement),
        *_depths(problem, placement),
        *_addresses(problem, placement),
        *_overlaps(problem, placement),
        *_warps(problem, placement),
        *_block(problem, placement),
        *_registers(problem, placement),
    ]


def _names(problem: Problem, placement: Placement) -> Iterator[str]:
    pairs = (
        ("claims", {c.name for c in problem.claims}, set(placement.bases)),
        ("rings", {r.name for r in problem.rings}, set(placement.depths)),
        ("roles", {r.name for r in problem.roles}, set(placement.warps)),
        ("domains", {d.name for d in problem.domains}, set(placement.footprint)),
    )
    for what, expected, given in pairs:
        if expected != given:
            yield f"{what}: placed {sorted(given)}, expected {sorted(expected)}"


def _depths(problem: Problem, placement: Placement) -> Iterator[str]:
    for ring in problem.rings:
        depth = placement.depths.get(ring.name, ring.min_depth)
        if not ring.min_depth <= depth <= ring.max_depth:
            yield f"ring {ring.name}: depth {depth} is not in {ring.min_depth}..{ring.max_depth}"


def _extents(problem: Problem, placement: Placement, domain: str) -> list[tuple[str, int, int]]:
    """(claim, first address, end) of every placed claim of a domain."""
    extents: list[tuple[str, int, int]] = []
    widths = {role.name: role.warps for role in problem.roles}
    for claim in problem.claims:
        if claim.domain == domain and claim.name in placement.bases:
            stages = placement.depths.get(claim.ring, 0) if claim.ring is not None else 1
            start = placement.bases[claim.name]
            stage = claim.size + (claim.per_warp * widths[claim.role] if claim.role is not None else 0)
            stage += -stage % claim.line
            extents.append((claim.name, start, start + stage * stages))
    return extents


def _addresses(problem: Problem, placement: Placement) -> Iterator[str]:
    claims = {c.name: c for c in problem.claims}
    for domain in problem.domains:
        extents = _extents(problem, placement, domain.name)
        for name, start, end in extents:
            if start < domain.base or end > domain.capacity:
                yield f"claim {name}: [{start}, {end}) is not in {domain.name} [{domain.base}, {domain.capacity})"
            if start % claims[name].align or start % domain.align:
                yield f"claim {name}: {start} is not aligned to {claims[name].align} in {domain.name}"
            if start % claims[name].line:
                yield f"claim {name}: {start} does not begin a line of {claims[name].line} in {domain.name}"
        top = max((end for _, _, end in extents), default=domain.base)
        if placement.footprint.get(domain.name) != top:
            yield f"domain {domain.name}: footprint {placement.footprint.get(domain.name)}, claims end at {top}"
        yield from _multiprocessor(problem, domain, top)


def _multiprocessor(problem: Problem, domain: Domain, top: int) -> Iterator[str]:
    """Whether a multiprocessor has what its blocks take, each with `top` units of the domain."""
    taken = top
    if domain.least_power and top:
        taken = domain.least_power
        while taken < top:
            taken *= 2
        if taken > domain.capacity:
            yield f"domain {domain.name}: a block allocates {taken} of {domain.capacity}"
    each = taken + domain.reserved
    blocks = problem.occupancy
    shared = domain.multiprocessor > 0 and blocks > 1 and top > domain.base
    if shared and (each + -each % domain.grain) * blocks > domain.multiprocessor:
        yield f"domain {domain.name}: {blocks} blocks of {taken} are over {domain.multiprocessor}"


def _overlaps(problem: Problem, placement: Placement) -> Iterator[str]:
    for domain in problem.domains:
        extents = _extents(problem, placement, domain.name)
        for k, (a, a_start, a_end) in enumerate(extents):
            for b, b_start, b_end in extents[k + 1 :]:
                apart = a_end <= b_start or b_end <= a_start
                shared = {(a, b), (b, a)} & problem.disjoint_lifetimes
                if not apart and not shared:
                    yield f"claims {a} [{a_start}, {a_end}) and {b} [{b_start}, {b_end}) overlap in {domain.name}"


def _owners(problem: Problem, placement: Placement) -> dict[int, list[str]]:
    """The roles on each warp that has one."""
    owners: dict[int, list[str]] = {}
    for role in problem.roles:
        first = placement.warps.get(role.name, 0)
        for warp in range(first, first + role.warps):
            owners.setdefault(warp, []).append(role.name)
    return owners


def _warps(problem: Problem, placement: Placement) -> Iterator[str]:
    for role in problem.roles:
        first = placement.warps.get(role.name, 0)
        if first % role.align:
            yield f"role {role.name}: first warp {first} is not aligned to {role.align}"
    for warp, names in sorted(_owners(problem, placement).items()):
        if len(names) > 1:
            yield f"warp {warp}: shared by roles {', '.join(names)}"
        if not 0 <= warp < problem.max_warps:
            yield f"warp {warp} of role {names[0]} is outside the block's {problem.max_warps}"


def _register_groups(problem: Problem, placement: Placement) -> list[set[int]]:
    """Sets of warpgroups tied together by roles that lie in several of them."""
    groups: list[set[int]] = []
    for role in problem.roles:
        first = placement.warps.get(role.name, 0)
        touched = {warp // 4 for warp in range(first, first + role.warps)}
        tied = [g for g in groups if g & touched]
        groups = [g for g in groups if not g & touched] + [touched.union(*tied)]
    return groups


def _settable(problem: Problem, placement: Placement) -> bool:
    return problem.has_register_groups and len(_register_groups(problem, placement)) > 1


def _block(problem: Problem, placement: Placement) -> Iterator[str]:
    owners = _owners(problem, placement)
    end = max(owners, default=-1) + 1
    warps = (end + 3) // 4 * 4 if _settable(problem, placement) else end
    if placement.threads != warps * 32:
        yield f"block: {placement.threads} threads, roles need {warps * 32}"
    if placement.threads > problem.max_warps * 32:
        yield f"block: {placement.threads} threads, at most {problem.max_warps * 32}"
    blocks = problem.occupancy
    if placement.threads // 32 * blocks > problem.multiprocessor_warps:
        most = problem.multiprocessor_warps * 32
        yield f"block: {blocks} of {placement.threads} threads, a multiprocessor has {most}"
    if blocks > problem.max_blocks:
        yield f"block: {blocks} on a multiprocessor, which holds {problem.max_blocks}"
    idle = [warp for first, end in placement.idle for warp in range(first, end)]
    if idle != [warp for warp in range(placement.threads // 32) if warp not in owners]:
        yield f"block: idle warps {placement.idle} are not those without a role"


def _registers(problem: Problem, placement: Placement) -> Iterator[str]:
    if not problem.roles:
        return
    quarter = (problem.occupancy * max(placement.threads // 32, 1) + 3) // 4  # warps that share its registers
    per_thread = problem.register_file // 4 // (32 * quarter) // 8 * 8
    if not _settable(problem, placement):
        if placement.registers:
            yield "registers: budgets where no warpgroup can set its own"
        for role in problem.roles:
            if role.min_registers > min(per_thread, 255):
                yield f"role {role.name}: needs {role.min_registers} registers, a thread has {min(per_thread, 255)}"
        return
    for role in problem.roles:
        budget = placement.registers.get(role.name, 0)
        if budget % 8 or not role.min_registers <= budget <= role.max_registers:
            limits = f"{role.min_registers}..{role.max_registers}"
            yield f"role {role.name}: budget {budget} is not a multiple of 8 in {limits}"
    yield from _pool(problem, placement, min(per_thread, 248))


def _pool(problem: Problem, placement: Placement, entry: int) -> Iterator[str]:
    owners = _owners(problem, placement)
    total = 0
    for warpgroup in range(placement.threads // 128):
        names = sorted({n for warp in range(4 * warpgroup, 4 * warpgroup + 4) for n in owners.get(warp, ())})
        budgets = {placement.registers.get(name, 0) for name in names} or {24}
        if len(budgets) > 1:
            yield f"warpgroup {warpgroup}: roles {', '.join(names)} have different budgets {sorted(budgets)}"
        total += max(budgets) * 128
    if total > entry * placement.threads:
        yield f"registers: budgets take {total}, the block starts with {entry * placement.threads}"
