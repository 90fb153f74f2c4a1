"""What `pl-link` says of one decision of the placement, on the problem of the real pipeline; it links nothing."""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

from xdsl.dialects.builtin import ModuleOp

from pipelink.ir.diagnostics import fail
from pipelink.ir.pl import ClaimOp
from pipelink.ir.suggest import nearest
from pipelink.ir.symbols import pipeline_of, qualified
from pipelink.passes.placement import Infeasible, Placement, Problem, dump_smt, solve, why_here, why_not_depth, why_role
from pipelink.passes.relocate import Model


def answer(module: ModuleOp, options: argparse.Namespace) -> None:
    """Print the answers. Also where the pipeline cannot be placed: then they say what conflicts.

    `module` has been analysed up to `pl-relocate`. Raises PipelinkError, L-USAGE, for a name that it does not have."""
    _Decisions(module).answer(options)


class _Decisions:
    def __init__(self, module: ModuleOp) -> None:
        self.model = Model(pipeline_of(module))
        self.problem: Problem = self.model.problem()
        self.placement: Placement | None = None
        self.failure: Infeasible | None = None
        try:
            self.placement = solve(self.problem)
        except Infeasible as failure:
            self.failure = failure

    def answer(self, options: argparse.Namespace) -> None:
        lines: list[str] = []
        if options.why_here is not None:
            lines += self._here(options.why_here)
        if options.why_not is not None:
            lines += self._not(options.why_not)
        if options.dump_smt:
            self._dump(options.dump_smt)
        sys.stdout.writelines(f"{line}\n" for line in lines)

    def _here(self, handle: str) -> Iterator[str]:
        name = _plain(handle)
        claims = {qualified(op): op for op in self.model.symbols.ops(ClaimOp)}
        rings = self._rings()
        if name in claims:
            yield from self._claim(name, claims[name])
        elif name in rings:
            own = next(r for r in self.problem.rings if r.name == rings[name])
            depth = self.placement.depths[own.name] if self.placement else own.min_depth
            yield why_not_depth(self.problem, own.name, min(depth + 1, own.max_depth))
        elif name in self.model.roles:
            yield from self._failed("warps", "registers", "occupancy")
            if self.placement:
                yield why_role(self.problem, self.placement, name)
        elif dropped := [d.data for d in self.model.pipeline.dropped or () if f" '{name}':" in d.data]:
            yield f"{name} was dropped: {dropped[0].partition(': ')[2]}"
        else:
            _unknown("handle", handle, [*claims, *rings, *self.model.roles])

    def _claim(self, name: str, claim: ClaimOp) -> Iterator[str]:
        block = self.model.sharing.block_of.get(claim, claim)
        if block is not claim:
            yield f"{name} is the same storage as {qualified(block)}"
        name = qualified(block)
        if name not in self.model.claims:
            yield f"{name}: it takes no storage: nothing that is linked uses it, or its route needs none"
            return
        domain = next(c.domain for c in self.problem.claims if c.name == name)
        yield from self._failed(domain, "occupancy")
        placement, problem = self.placement, self.problem
        if self.failure and domain not in {e.domain for e in self.failure.explanations}:
            yield f"other domains do not fit; {domain} alone would:"
            problem = _alone(self.problem, domain)
            placement = solve(problem)
        if placement:
            yield why_here(problem, placement, name)

    def _failed(self, *domains: str) -> Iterator[str]:
        for explanation in self.failure.explanations if self.failure else ():
            if explanation.domain in domains:
                yield explanation.text
                yield from (f"it would fit with {suggestion}" for suggestion in explanation.suggestions)

    def _not(self, asked: str) -> Iterator[str]:
        ring, equals, depth = asked.rpartition("=")
        if not equals or not depth.isdecimal():
            raise fail("L-USAGE", f"--why-not takes RING=DEPTH, not '{asked}'", hint="such as --why-not load.ring=4")
        rings = self._rings()
        name = _plain(ring)
        if name not in rings:
            _unknown("ring", ring, rings)
        yield why_not_depth(self.problem, rings[name], int(depth))

    def _rings(self) -> dict[str, str]:
        """The name of each endpoint, and that of its ring in the problem."""
        return {qualified(end): name for name, ring in self.model.rings.items() for end in ring.endpoints}

    def _dump(self, file: Path) -> None:
        from pipelink.backend.archive import write_atomically

        least = {ring.name: ring.min_depth for ring in self.problem.rings}
        depths = self.placement.depths if self.placement else least
        write_atomically(file, dump_smt(self.problem, depths).encode())


def _alone(problem: Problem, domain: str) -> Problem:
    """One domain of a problem, without warps: its roles only say how wide claims are."""
    plain = problem.resolved()
    claims = tuple(c for c in plain.claims if c.domain == domain)
    names = {c.name for c in claims}
    return replace(
        plain,
        domains=tuple(d for d in plain.domains if d.name == domain),
        claims=claims,
        roles=(),
        role_order=(),
        claim_order=tuple(n for n in plain.claim_order if n in names),
        disjoint_lifetimes=frozenset(p for p in plain.disjoint_lifetimes if names.issuperset(p)),
    )


def _plain(handle: str) -> str:
    """`@package::@handle`, the IR's spelling, as `package.handle`."""
    return handle.strip().replace("::", ".").replace("@", "")


def _unknown(what: str, name: str, known: list[str] | dict[str, str]) -> NoReturn:
    raise fail("L-USAGE", f"the pipeline has no {what} '{name}'", hint=nearest(_plain(name), known))
