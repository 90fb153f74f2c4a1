"""Exhaustive answers for tiny problems, written without the solver: every address, every warp, every budget."""

from itertools import product

from pipelink.passes.placement import Domain, Problem, Role


def least_footprint(problem: Problem, domain: Domain, depths: dict[str, int]) -> int | None:
    """The least first address above all claims of `domain`, by trying every aligned address; none if nothing fits."""
    claims = [c for c in problem.claims if c.domain == domain.name]
    sizes = [c.size * (depths[c.ring] if c.ring else 1) for c in claims]

    def apart(i: int, a: int, j: int, b: int) -> bool:
        pair = tuple(sorted((claims[i].name, claims[j].name)))
        return pair in problem.disjoint_lifetimes or a + sizes[i] <= b or b + sizes[j] <= a

    def packs(top: int, bases: list[int]) -> bool:
        i = len(bases)
        if i == len(claims):
            return True
        return any(
            at % claims[i].align == 0
            and at % domain.align == 0
            and all(apart(i, at, j, b) for j, b in enumerate(bases))
            and packs(top, [*bases, at])
            for at in range(domain.base, top - sizes[i] + 1)
        )

    return next((top for top in range(domain.base, domain.capacity + 1) if packs(top, [])), None)


def deepest(problem: Problem) -> dict[str, int] | None:
    depths = {r.name: r.min_depth for r in problem.rings}

    def fits(trial: dict[str, int]) -> bool:
        return all(least_footprint(problem, d, trial) is not None for d in problem.domains)

    if not fits(depths):
        return None
    for ring in sorted(problem.rings, key=lambda r: (r.priority, r.name)):
        legal = range(ring.min_depth, ring.max_depth + 1)
        depths[ring.name] = max(d for d in legal if fits(depths | {ring.name: d}))
    return depths


def _teams(problem: Problem, roles: list[Role]):
    for starts in product(range(problem.max_warps), repeat=len(roles)):
        spans = [range(s, s + r.warps) for s, r in zip(starts, roles, strict=True)]
        warps = [w for span in spans for w in span]
        aligned = all(s % r.align == 0 for s, r in zip(starts, roles, strict=True))
        if aligned and max(warps) < problem.max_warps and len(set(warps)) == len(warps):
            yield starts, spans


def _group_of(spans: list[range]) -> list[int]:
    """The register group of each role: roles that meet in a warpgroup, directly or through others."""
    group = list(range(len(spans)))
    touched = [{w // 4 for w in span} for span in spans]
    for _ in spans:
        for i, j in product(range(len(spans)), repeat=2):
            if touched[i] & touched[j]:
                group[i] = group[j] = min(group[i], group[j])
    return group


def best_team(problem: Problem):
    """((warps by role, threads, budgets)) by the stated order of objectives over all placements and budgets."""
    order = [*problem.role_order, *sorted({r.name for r in problem.roles} - set(problem.role_order))]
    by_name = {r.name: r for r in problem.roles}
    roles = [by_name[name] for name in order]
    needs = [r.min_registers if r.need is None else r.need for r in roles]
    named = sorted(range(len(roles)), key=lambda i: roles[i].name)
    best = None
    for starts, spans in _teams(problem, roles):
        group = _group_of(spans)
        end = max(span.stop for span in spans)
        single = not problem.has_register_groups or len(set(group)) == 1
        warps = end if single else -(-end // 4) * 4
        if warps > problem.max_warps or (best is not None and -(-end // 4) > best[0][0]):
            continue
        for budgets in _budgets(problem, roles, spans, group, warps, single):
            surplus = [b - n for b, n in zip(budgets, needs, strict=True)]
            key = (
                -(-end // 4),
                [-s for s in sorted(surplus)],
                [-budgets[i] for i in named],
                warps,
                starts,
            )
            if best is None or key < best[0]:
                named_budgets = {} if single else {r.name: b for r, b in zip(roles, budgets, strict=True)}
                best = (key, dict(zip(order, starts, strict=True)), warps * 32, named_budgets)
    return None if best is None else best[1:]


def _budgets(problem: Problem, roles: list[Role], spans: list[range], group: list[int], warps: int, single: bool):
    # A quarter of the warps of all blocks on a quarter of the registers.
    per_thread = problem.register_file // 4 // (-(-warps * problem.occupancy // 4) * 32) // 8 * 8
    if single:
        if all(r.min_registers <= min(per_thread, 255) for r in roles):
            yield tuple(min(r.max_registers, per_thread, 255) for r in roles)
        return
    leaders = sorted(set(group))
    legal: list[list[int]] = []
    for leader in leaders:
        own = [r for r, g in zip(roles, group, strict=True) if g == leader]
        legal.append([b for b in range(24, 257, 8) if all(r.min_registers <= b <= r.max_registers for r in own)])
    for chosen in product(*legal):
        of = dict(zip(leaders, chosen, strict=True))
        budgets = tuple(of[g] for g in group)
        total = 0
        for warpgroup in range(warps // 4):
            here = [b for b, span in zip(budgets, spans, strict=True) if warpgroup in {w // 4 for w in span}]
            total += (here[0] if here else 24) * 128
        if total <= min(per_thread, 248) * warps * 32:
            yield budgets
