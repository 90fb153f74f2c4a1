"""Register budgets of warpgroups: what `setmaxnreg` allows and the fairest way to spend it.

Budgets are per thread, multiples of 8, equal over a warpgroup (PTX ISA, setmaxnreg). A block owns what it got at
launch: the sum of the budgets of its warpgroups x 128 may not exceed entry x threads, where entry is the register count
that its launch bound leaves a thread. A sum over it deadlocks.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pipelink.passes.placement.model import WARP, WARPGROUP, Role

STEP = 8
LEAST = 24
GROUP_THREADS = WARP * WARPGROUP
MOST_PER_THREAD = 255
TOP = 256

Cost = tuple[int, int]  # less is better; adds up over roles


def register_cap(register_file: int, threads: int, occupancy: int = 1) -> int:
    """Registers that the compiler may give a thread under a launch bound of `occupancy` blocks.

    Each quarter of a multiprocessor runs a quarter of its warps, the odd ones too, on a quarter of its registers:
    ptxas gives 128 to a block of 416 threads, as it does to one of 512.
    """
    warps = -(-occupancy * (threads // WARP) // WARPGROUP)
    return min(register_file // (GROUP_THREADS * warps) // STEP * STEP, MOST_PER_THREAD)


def entry_registers(register_file: int, threads: int, occupancy: int = 1) -> int:
    """Registers of each thread at launch, in whole allocation steps."""
    return register_cap(register_file, threads, occupancy) // STEP * STEP


def pool(register_file: int, warpgroups: int, occupancy: int = 1) -> int:
    """What the budgets of `warpgroups` may add up to, one budget a warpgroup."""
    return entry_registers(register_file, warpgroups * GROUP_THREADS, occupancy) * warpgroups


def need_of(role: Role) -> int:
    return role.min_registers if role.need is None else role.need


@dataclass(frozen=True)
class Group:
    """Roles that share a budget because they share warpgroups."""

    roles: tuple[Role, ...]
    warpgroups: int

    @cached_property
    def least(self) -> int:
        return max(-(-r.min_registers // STEP) * STEP for r in self.roles)

    @cached_property
    def most(self) -> int:
        return min(r.max_registers // STEP * STEP for r in self.roles)

    @cached_property
    def need(self) -> int:
        return max(need_of(r) for r in self.roles)

    def at_surplus(self, surplus: int) -> int:
        """The least budget that leaves every role this much above its need, as far as the range goes."""
        return max(self.least, min(self.most, -(-(self.need + surplus) // STEP) * STEP))


class Fairness:
    """Compares budgets: the least surplus (budget minus need) first, then the next least, and so on; then by name.

    Both are sums over roles, so that partial budgets compare: a role with surplus s weighs more than all roles with a
    greater one, and by name the first role weighs more than all later ones.
    """

    def __init__(self, roles: Sequence[Role]) -> None:
        self._base = len(roles) + 1
        names = sorted(r.name for r in roles)
        self._weight = {name: (TOP + 1) ** (len(names) - 1 - k) for k, name in enumerate(names)}

    def role_cost(self, role: Role, budget: int) -> Cost:
        surplus = budget - need_of(role)
        return self._base ** (TOP - surplus), (TOP - budget) * self._weight[role.name]

    def cost(self, roles: Sequence[Role], budgets: Mapping[str, int]) -> Cost:
        return add(*(self.role_cost(r, budgets[r.name]) for r in roles))

    def uniform(self, roles: Sequence[Role], cap: int) -> dict[str, int] | None:
        """What each role makes of one cap for all; none where one of them needs more."""
        if any(r.min_registers > cap for r in roles):
            return None
        return {r.name: min(cap, r.max_registers) for r in roles}

    def spend(self, groups: Sequence[Group], available: int) -> dict[str, int] | None:
        """The fairest budgets whose sum over warpgroups is at most `available`; none where there are none.

        All groups rise to the greatest common surplus, as far as each may go; no fairer budgets are below that. The
        few steps left are a knapsack, exact since costs add up.
        """
        if any(g.least > g.most for g in groups) or _total(groups, -TOP) > available:
            return None
        surplus = bisect_left(range(-TOP, TOP + 1), True, key=lambda s: _total(groups, s) > available) - TOP - 1
        spare = (available - _total(groups, surplus)) // STEP
        table: dict[int, tuple[Cost, tuple[int, ...]]] = {0: ((0, 0), ())}
        for group in groups:
            table = self._add_group(table, group, group.at_surplus(surplus), spare)
        _, chosen = min(table.values())
        return {r.name: b for g, b in zip(groups, chosen, strict=True) for r in g.roles}

    def _add_group(
        self, table: dict[int, tuple[Cost, tuple[int, ...]]], group: Group, least: int, spare: int
    ) -> dict[int, tuple[Cost, tuple[int, ...]]]:
        budgets = range(least, min(group.most, least + spare // group.warpgroups * STEP) + 1, STEP)
        costs = [(b, add(*(self.role_cost(r, b) for r in group.roles))) for b in budgets]
        grown: dict[int, tuple[Cost, tuple[int, ...]]] = {}
        for used, (cost, chosen) in table.items():
            for steps, (budget, extra) in enumerate(costs):
                total = used + steps * group.warpgroups
                if total > spare:
                    break
                entry = (add(cost, extra), (*chosen, budget))
                if total not in grown or entry < grown[total]:
                    grown[total] = entry
        return grown


def _total(groups: Sequence[Group], surplus: int) -> int:
    return sum(g.at_surplus(surplus) * g.warpgroups for g in groups)


def add(*costs: Cost) -> Cost:
    return sum(c[0] for c in costs), sum(c[1] for c in costs)
