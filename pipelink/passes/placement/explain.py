"""Says why a domain, the warps or the registers cannot be placed: what conflicts, by how much, and what would fit."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pipelink.passes.placement.conflict import Component, Space
from pipelink.passes.placement.model import NAMED, WARP, Claim, Explanation, Kind, Problem, Role
from pipelink.passes.placement.packer import Packer, Verdict
from pipelink.passes.placement.registers import entry_registers
from pipelink.passes.placement.warps import Team, arrange
from pipelink.passes.placement.work import Work

TRIES_LIMIT = 20_000  # search nodes for the changes that are tried
TEAM_LIMIT = 50_000  # search nodes for the explanation of a team


def explain_domain(space: Space, packer: Packer, verdict: Verdict) -> Explanation:
    """Why `space` does not pack at the least depths, given that `verdict` is not that it fits."""
    return _Autopsy(space, packer).explain(verdict)


class _Autopsy:
    def __init__(self, space: Space, packer: Packer) -> None:
        self.space = space
        self.packer = packer
        self.tries = Packer(Work(TRIES_LIMIT))
        self.depths = {ring.name: ring.min_depth for ring in space.problem.rings}
        self.unit = space.unit(self.depths)
        self.room = space.domain.capacity - space.domain.base
        self.word = f" {space.domain.unit}" if space.domain.unit else ""
        shared = space.domain.multiprocessor or space.domain.least_power
        self.has = f"has {self.room:,}{_each(space.problem) if shared else ''}"

    def explain(self, verdict: Verdict) -> Explanation:
        explanation = self._too_much() or self._padding() or self._fragments(verdict)
        return replace(explanation, suggestions=tuple(self._suggest(explanation)))

    def _size(self, claim: Claim) -> int:
        return self.space.size(claim, self.depths)

    def _cliques(self) -> Iterator[tuple[Component, tuple[int, ...], list[Claim]]]:
        """Claims live together, the largest first, and where they are in which component."""
        for part, member in zip(self.space.components(self.depths), self.space.members, strict=True):
            for clique in part.cliques:
                claims = [self.space.claims[member[k]] for k in clique]
                yield part, clique, sorted(claims, key=lambda c: (-self._size(c), c.name))

    def _too_much(self) -> Explanation | None:
        def weight(claims: list[Claim]) -> int:
            return sum(self._size(c) for c in claims)

        live = max((claims for _, _, claims in self._cliques()), key=lambda c: (weight(c), -len(c)))
        need = weight(live)
        if need <= self.room:
            return None
        least = live[:]
        while weight(least[:-1]) > self.room:
            least.pop()
        text = (
            f"{self.space.domain.name}: needs {need:,}{self.word} live at once, {self.has}, over by "
            f"{need - self.room:,}; minimal conflicting set ({len(least)} of {len(live)} live): {self._list(least)}"
        )
        return self._explanation("capacity", least, need, text, live)

    def _padding(self) -> Explanation | None:
        over: list[tuple[int, int, list[Claim]]] = []
        for part, clique, claims in self._cliques():
            if part.plain(clique) * self.unit > self.space.domain.capacity:
                over.append((part.stacked(clique) * self.unit - self.space.domain.base, -len(claims), claims))
        need, _, live = max(over, key=lambda o: o[:2], default=(0, 0, list[Claim]()))
        if need <= self.room:
            return None
        least, need = self._shrink(live)
        weight = sum(self._size(c) for c in least)
        text = (
            f"{self.space.domain.name}: alignment pads claims of {weight:,}{self.word} live at once to at least "
            f"{need:,} in every order, {self.has}, over by {need - self.room:,}: "
            f"{self._list(least, aligned=True)}"
        )
        return self._explanation("alignment", least, need, text)

    def _shrink(self, live: list[Claim]) -> tuple[list[Claim], int]:
        """Drops claims, smallest first, while the rest still pads over the capacity."""

        def stacked(claims: list[Claim]) -> int:
            space = self._only(claims)
            (part,) = space.components(self.depths)
            height = part.stacked(tuple(range(len(claims))))
            return height * space.unit(self.depths) - space.domain.base

        for claim in reversed(live):
            rest = [c for c in live if c is not claim]
            if rest and stacked(rest) > self.room:
                live = rest
        return live, stacked(live)

    def _fragments(self, verdict: Verdict) -> Explanation:
        layout = self.packer.smallest(self.space, self.depths)
        claims = sorted(self.space.claims, key=lambda c: (-self._size(c), c.name))
        peak = max(sum(self._size(c) for c in live) for _, _, live in self._cliques())
        peaks = f"peak live load {peak:,} of {self.room:,}{self.word}"
        head = f"{self.space.domain.name}: no clique is over capacity ({peaks})"
        if verdict.status == "undecided":
            need = layout.footprint - self.space.domain.base
            text = f"{head} but no packing was found within the work limit, the lowest takes {need:,} (not proven)"
            return self._explanation("fragmentation", claims, need, text)
        need = max(layout.bound, self.space.domain.capacity + 1) - self.space.domain.base
        least = claims
        for claim in reversed(claims):
            rest = [c for c in least if c is not claim]
            if self.packer.fits(self._only(rest), self.depths).status == "refuted":
                least = rest
        text = f"{head} but these {len(least)} of {len(claims)} claims admit no packing: {self._list(least)}"
        return self._explanation("fragmentation", least, need, text)

    def _only(self, claims: list[Claim]) -> Space:
        kept = {c.name for c in claims}
        return Space(self.space.problem, self.space.domain, frozenset(c.name for c in self.space.claims) - kept)

    def _explanation(
        self, kind: Kind, claims: list[Claim], need: int, text: str, live: Sequence[Claim] = ()
    ) -> Explanation:
        named = {c.name for c in claims}
        members = tuple((c.name, self._size(c)) for c in claims)
        beside = tuple((c.name, self._size(c)) for c in live if c.name not in named)
        domain = self.space.domain
        over = need - self.room
        return Explanation(domain.name, kind, members, need, self.room, over, text, beside=beside, unit=domain.unit)

    def _list(self, claims: list[Claim], aligned: bool = False) -> str:
        named = [self._describe(c, aligned) for c in claims[:NAMED]]
        more = [f"and {len(claims) - NAMED} more"] if len(claims) > NAMED else []
        return ", ".join(named + more)

    def _describe(self, claim: Claim, aligned: bool) -> str:
        at = f"@{self.space.align(claim)}" if aligned else ""
        ring = f" (ring {claim.ring} at its least depth {self.depths[claim.ring]})" if claim.ring else ""
        return f"{claim.name} {self._size(claim):,}{at}{ring}"

    # Suggestions: one change each, all of them tried.

    def _suggest(self, explanation: Explanation) -> Iterator[str]:
        names = [name for name, _ in explanation.claims]
        claims = [c for name in names for c in self.space.claims if c.name == name]
        found = [
            *self._shallower(sorted({c.ring for c in claims if c.ring})),
            *self._smaller(claims, explanation.over),
            *self._looser(claims),
            *self._shared(claims),
        ]
        yield from found or self._fewer(claims)

    def _fits(self, problem: Problem, depths: dict[str, int] | None = None) -> bool:
        return self.tries.fits(Space(problem, self.space.domain), depths or self.depths).status == "fits"

    def _shallower(self, rings: list[str]) -> Iterator[str]:
        for ring in rings:
            for depth in range(self.depths[ring] - 1, 0, -1):
                if self._fits(self.space.problem, self.depths | {ring: depth}):
                    yield f"ring {ring} at depth {depth}"
                    break

    def _smaller(self, claims: list[Claim], over: int) -> Iterator[str]:
        for claim in claims:
            stages = self.depths[claim.ring] if claim.ring else 1
            size = claim.size - -(-over // stages)
            if size >= 1 and self._fits(self._with(replace(claim, size=size))):
                stage = " a stage" if claim.ring else ""
                yield f"claim {claim.name} of {size:,}{self.word}{stage}"
                return

    def _looser(self, claims: list[Claim]) -> Iterator[str]:
        """The greatest lower alignment of one claim, each half of the one before, that makes the rest fit."""
        for claim in claims[:NAMED]:
            align = claim.align
            while align % 2 == 0 and align > self.space.domain.align:
                align //= 2
                if self._fits(self._with(replace(claim, align=align))):
                    yield f"claim {claim.name} aligned to {align}"
                    return

    def _with(self, claim: Claim) -> Problem:
        problem = self.space.problem
        return replace(problem, claims=tuple(claim if c.name == claim.name else c for c in problem.claims))

    def _shared(self, claims: list[Claim]) -> Iterator[str]:
        problem = self.space.problem
        for k, a in enumerate(claims[:NAMED]):
            for b in claims[k + 1 : NAMED]:
                pair = (min(a.name, b.name), max(a.name, b.name))
                if self._fits(replace(problem, disjoint_lifetimes=problem.disjoint_lifetimes | {pair})):
                    yield f"claims {a.name} and {b.name} with disjoint lifetimes"
                    return

    def _fewer(self, claims: list[Claim]) -> Iterator[str]:
        """The fewest members, last first, without which the rest fits; none where other conflicts remain."""
        for count in range(1, len(claims)):
            gone = frozenset(c.name for c in claims[-count:])
            if self.tries.fits(Space(self.space.problem, self.space.domain, gone), self.depths).status == "fits":
                yield f"without {', '.join(sorted(gone))}"
                return


def _each(problem: Problem) -> str:
    """What divides a multiprocessor among blocks, in words."""
    return f" for each of {problem.occupancy} blocks a multiprocessor" if problem.occupancy > 1 else ""


def explain_occupancy(problem: Problem) -> Explanation | None:
    """Why a multiprocessor cannot hold so many blocks, whatever they take; None where it can."""
    most = min(problem.max_blocks, problem.multiprocessor_warps)
    if problem.occupancy <= most:
        return None
    need, over = problem.occupancy, problem.occupancy - most
    text = f"occupancy: {need} blocks are asked of a multiprocessor, which holds {most}, over by {over}"
    return Explanation("occupancy", "occupancy", (), need, most, over, text, (f"{most} blocks a multiprocessor",))


def explain_team(problem: Problem, proven: bool) -> Explanation:
    """Why no team exists; `proven` is whether the search for one was exhausted."""
    total = sum(r.warps for r in problem.roles)
    if total > problem.max_warps:
        return _too_many_warps(problem, total, "")
    if not proven:
        text = "warps: no team was found within the work limit (not proven that there is none)"
        return Explanation("warps", "warps", _by_warps(problem), total, problem.max_warps, 0, text)
    anyone = replace(problem, roles=tuple(Role(r.name, r.warps, r.align) for r in problem.roles))
    if not _team(_plenty(anyone)):
        return _scattered(anyone)
    if not _team(_plenty(problem)):
        return _no_common_budget(problem)
    return _too_few_registers(problem)


def _team(problem: Problem) -> Team | None:
    return arrange(problem, Work(TEAM_LIMIT))[0]


def _plenty(problem: Problem) -> Problem:
    return replace(problem, register_file=256 * WARP * (problem.occupancy * problem.max_warps + 3))


def _by_warps(problem: Problem) -> tuple[tuple[str, int], ...]:
    return tuple((r.name, r.warps) for r in sorted(problem.roles, key=lambda r: (-r.warps, r.name)))


def _too_many_warps(problem: Problem, need: int, why: str) -> Explanation:
    over = need - problem.max_warps
    roles = _by_warps(problem)
    listed = ", ".join(f"{name} {warps}" for name, warps in roles)
    has = f"the block has {problem.max_warps}" + (_each(problem) and f" as one of {problem.occupancy} a multiprocessor")
    text = f"warps: roles need {need}{why}, {has}, over by {over}: {listed}"
    suggestions = tuple(_narrower(problem, over))
    return Explanation("warps", "warps", roles, need, problem.max_warps, over, text, suggestions)


def _scattered(problem: Problem) -> Explanation:
    """Enough warps, but not at the alignments: the warps that a block would have to have."""
    reach = sum(r.warps + r.align for r in problem.roles)
    team = _team(_plenty(replace(problem, max_warps=reach)))
    assert team is not None
    return _too_many_warps(problem, team.threads // WARP, " at their alignments")


def _narrower(problem: Problem, over: int) -> Iterator[str]:
    for role in sorted(problem.roles, key=lambda r: (-r.warps, r.name)):
        smaller = replace(role, warps=role.warps - over) if role.warps > over else None
        if smaller and _team(_plenty(_with_role(problem, smaller))):
            yield f"role {role.name} with {smaller.warps} warps"
            return
    for role in sorted(problem.roles, key=lambda r: (r.warps, r.name)):
        rest = tuple(r for r in problem.roles if r.name != role.name)
        if _team(_plenty(replace(problem, roles=rest, role_order=()))):
            yield f"without role {role.name}"
            return


def _with_role(problem: Problem, role: Role) -> Problem:
    return replace(problem, roles=tuple(role if r.name == role.name else r for r in problem.roles))


def _no_common_budget(problem: Problem) -> Explanation:
    ranges = ", ".join(
        f"{r.name} {r.min_registers}..{r.max_registers}" for r in sorted(problem.roles, key=lambda r: r.name)
    )
    need = max(r.min_registers for r in problem.roles)
    capacity = min(r.max_registers for r in problem.roles)
    roles = tuple((r.name, r.min_registers) for r in sorted(problem.roles, key=lambda r: r.name))
    text = f"registers: roles that must share a warpgroup have no budget in common: {ranges}"
    return Explanation("registers", "registers", roles, need, capacity, need - capacity, text, tuple(_leaner(problem)))


def _too_few_registers(problem: Problem) -> Explanation:
    """Measured on the team that the least sufficient register file would admit."""
    step = 8 * WARP  # no smaller change of the file changes what a thread starts with
    files = range(problem.register_file // step * step + step, _plenty(problem).register_file, step)
    enough = bisect_left(files, True, key=lambda file: _team(replace(problem, register_file=file)) is not None)
    team = _team(replace(problem, register_file=files[enough]))
    assert team is not None
    entry = entry_registers(problem.register_file, team.threads, problem.occupancy)
    capacity = entry * team.threads
    shares = [(g, g.least * (g.warpgroups * 128 if team.registers else team.threads)) for g in team.groups]
    idle = team.warpgroups - sum(g.warpgroups for g in team.groups) if team.registers else 0
    need = sum(share for _, share in shares) + idle * 24 * 128
    listed = ", ".join(f"{' and '.join(sorted(r.name for r in g.roles))} {g.least} a thread = {n:,}" for g, n in shares)
    has = f"{team.threads} threads start with {entry} each = {capacity:,}{_each(problem)}"
    text = f"registers: least budgets need {need:,}, {has}, over by {need - capacity:,}: {listed}"
    roles = tuple((r.name, r.min_registers) for g in team.groups for r in sorted(g.roles, key=lambda r: r.name))
    suggestions = tuple(_leaner(problem))
    return Explanation("registers", "registers", roles, need, capacity, need - capacity, text, suggestions)


def _leaner(problem: Problem) -> Iterator[str]:
    """The greatest lower least budget of one role, the hungriest first, that admits a team."""
    for role in sorted(problem.roles, key=lambda r: (-r.min_registers, r.name)):
        for registers in range((role.min_registers - 1) // 8 * 8, 23, -8):
            if _team(_with_role(problem, replace(role, min_registers=registers))):
                yield f"role {role.name} with at least {registers} registers"
                return
