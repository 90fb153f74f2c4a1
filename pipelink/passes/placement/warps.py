"""Gives every role its warps and every register group its budget: an exact search, one warpgroup at a time.

Roles that start in a warpgroup stand as low in it as their order and alignment allow; only the one that reaches over
its end may stand higher, and then no higher than it must. Any placement can be moved down to such a one without
changing who shares a warpgroup, so nothing better is missed.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from pipelink.passes.placement.model import WARP, WARPGROUP, Problem, Role
from pipelink.passes.placement.registers import LEAST, Cost, Fairness, Group, need_of, pool, register_cap
from pipelink.passes.placement.work import Work

NODE_LIMIT = 20_000

Key = tuple[Cost, int, tuple[int, ...]]  # budgets, warps of the block, first warps in role order: less is better


@dataclass(frozen=True)
class Team:
    """First warp of each role, threads of the block, and budgets (empty where there is one group or none are set).

    `surplus` is the least budget minus need of any role, the budget being what a thread has where none is set.
    """

    warps: dict[str, int] = field(default_factory=dict[str, int])
    threads: int = 0
    registers: dict[str, int] = field(default_factory=dict[str, int])
    groups: tuple[Group, ...] = ()
    warpgroups: int = 0
    surplus: int = 0


@dataclass(frozen=True)
class _State:
    """Everything below warpgroup `next` is decided; `end` is the first free warp; `groups` may grow at its end."""

    next: int
    end: int
    left: tuple[Role, ...]
    warps: dict[str, int]
    groups: tuple[Group, ...]


@dataclass(frozen=True)
class _Fill:
    """Roles that start in one warpgroup and where; `end` is past the last of them."""

    roles: tuple[Role, ...]
    warps: tuple[int, ...]
    end: int


class _Search:
    """The best team over exactly `warpgroups` warpgroups."""

    def __init__(self, problem: Problem, warpgroups: int, work: Work) -> None:
        rank = {name: k for k, name in enumerate(problem.role_order)}
        self.roles = tuple(sorted(problem.roles, key=lambda r: (rank.get(r.name, len(rank)), r.name)))
        self.problem = problem
        self.warpgroups = warpgroups
        self.padded = warpgroups * WARPGROUP
        self.limit = min(problem.max_warps, self.padded)
        self.pool = pool(problem.register_file, warpgroups, problem.occupancy)
        self.work = work
        self.nodes_left = work.nodes_for(NODE_LIMIT)
        self.fairness = Fairness(self.roles)
        self.spent: dict[tuple[Group, ...], dict[str, int] | None] = {}
        self.best: tuple[Key, Team] | None = None

    def extend(self, state: _State) -> None:
        self.nodes_left -= 1
        if self.nodes_left < 0:
            return
        self.work.nodes += 1
        lowest = max(state.end, state.next * WARPGROUP)
        used = lowest + sum(r.warps for r in state.left) if state.left else state.end
        budgets = self._budgets(state, used) if used <= self.limit else None
        if budgets is None:
            return
        first = tuple(state.warps.get(r.name, lowest) for r in self.roles)
        block = self.padded if self._several(state) else used
        key: Key = (self.fairness.cost(self.roles, budgets), block, first)
        if self.best is not None and key >= self.best[0]:
            return
        if state.left:
            for fill in self._fills(state):
                self.extend(_advance(state, fill))
        elif used > (self.warpgroups - 1) * WARPGROUP:  # fewer warpgroups have been tried
            self.best = (key, self._team(state, budgets))

    def _budgets(self, state: _State, used: int) -> dict[str, int] | None:
        """The best budgets that any completion of `state`, over `used` warps or more, could have; exact at its end."""
        if self._several(state):
            spent = self._spend(state.groups) if self.padded <= self.problem.max_warps else None
            return None if spent is None else spent | {r.name: r.max_registers for r in state.left}
        if self.problem.has_register_groups and state.left:  # it may still become several groups
            return {r.name: r.max_registers for r in self.roles}
        cap = register_cap(self.problem.register_file, used * WARP, self.problem.occupancy)
        return self.fairness.uniform(self.roles, cap)

    def _several(self, state: _State) -> bool:
        return self.problem.has_register_groups and len(state.groups) > 1

    def _spend(self, groups: tuple[Group, ...]) -> dict[str, int] | None:
        if groups not in self.spent:
            idle = self.warpgroups - sum(g.warpgroups for g in groups)
            self.spent[groups] = self.fairness.spend(groups, self.pool - idle * LEAST)
        return self.spent[groups]

    def _team(self, state: _State, budgets: dict[str, int]) -> Team:
        several = self._several(state)
        threads = (self.padded if several else state.end) * WARP
        surplus = min(budgets[r.name] - need_of(r) for r in self.roles)
        return Team(state.warps, threads, budgets if several else {}, state.groups, self.warpgroups, surplus)

    def _fills(self, state: _State) -> list[_Fill]:
        """What may start in the next warpgroup; per set of roles and reach the one that is lowest in role order."""
        start, stop = max(state.end, state.next * WARPGROUP), (state.next + 1) * WARPGROUP
        lowest: dict[tuple[frozenset[str], int], tuple[tuple[int, ...], _Fill]] = {}
        for fill in _orders(state.left, start, stop, _Fill((), (), state.end)):
            at = dict(zip((r.name for r in fill.roles), fill.warps, strict=True))
            vector = tuple(at.get(r.name, stop) for r in state.left)
            # Past the last role its end counts; before, only what it takes of the next warpgroup does.
            reach = fill.end if len(at) == len(state.left) else max(fill.end, stop)
            key = (frozenset(at), reach)
            if key not in lowest or vector < lowest[key][0]:
                lowest[key] = (vector, fill)
        return [fill for _, fill in sorted(lowest.values(), key=lambda f: (f[0], f[1].end))]


def _orders(left: tuple[Role, ...], start: int, stop: int, fill: _Fill, after: int = 0) -> Iterator[_Fill]:
    """Every way to start roles of `left` at warps in [start, stop), in every order that may be the lowest.

    Two unaligned roles in a row are in role order, or swapping them were lower: `after` is where the last one stood.
    """
    yield fill
    for k, role in enumerate(left):
        at = _align(start, role.align)
        end = at + role.warps
        if end <= stop and (role.align > 1 or k >= after):
            longer = _Fill((*fill.roles, role), (*fill.warps, at), end)
            yield from _orders(left[:k] + left[k + 1 :], end, stop, longer, k if role.align == 1 else 0)
        over = _align(max(start, stop - role.warps + 1), role.align)
        if over < stop:
            yield _Fill((*fill.roles, role), (*fill.warps, over), over + role.warps)


def _align(warp: int, align: int) -> int:
    return -(-warp // align) * align


def _advance(state: _State, fill: _Fill) -> _State:
    """The state past the warpgroup `state.next` and those that the last role of `fill` covers whole."""
    names = {r.name for r in fill.roles}
    left = tuple(r for r in state.left if r.name not in names)
    warps = state.warps | {r.name: at for r, at in zip(fill.roles, fill.warps, strict=True)}
    first, groups = state.next, state.groups
    after = max(first + 1, -(-fill.end // WARPGROUP))
    open_ = state.end > first * WARPGROUP
    if open_ and fill.roles:
        # The last group reaches into this warpgroup and takes all that starts here; it was counted up to here.
        last = groups[-1]
        groups = (*groups[:-1], Group(last.roles + fill.roles, last.warpgroups + after - first - 1))
    elif fill.roles:
        groups = (*groups, Group(fill.roles, after - first))
    # A role that ends inside its last warpgroup leaves it open to others.
    partial = fill.end % WARPGROUP != 0 and after > first + 1
    return replace(state, next=after - 1 if partial else after, end=fill.end, left=left, warps=warps, groups=groups)


def arrange(problem: Problem, work: Work) -> tuple[Team | None, bool]:
    """The best team over the fewest warpgroups that admit one, none if no count does; and whether that is proven."""
    total = sum(r.warps for r in problem.roles)
    if not total:
        return Team(), True
    proven = True
    for warpgroups in range(-(-total // WARPGROUP), -(-problem.max_warps // WARPGROUP) + 1):
        search = _Search(problem, warpgroups, work)
        search.extend(_State(0, 0, search.roles, {}, ()))
        proven = proven and search.nodes_left >= 0
        if search.best is not None:
            return search.best[1], proven
    return None, proven
