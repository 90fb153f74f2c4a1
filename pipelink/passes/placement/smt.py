"""Everything that touches Z3: packing decisions over integers, and the problem as SMT-LIB text."""

# z3 ships no usable stubs: its expressions are untyped here and nowhere else.
# pyright: basic

from collections.abc import Mapping
from typing import Any

from pipelink.passes.placement.conflict import Component, Space
from pipelink.passes.placement.exact import Outcome
from pipelink.passes.placement.firstfit import first_fit
from pipelink.passes.placement.model import Problem


class Smt:
    """One Z3 context, used by one solve: what other solves did in the process cannot sway its decisions."""

    def __init__(self) -> None:
        import z3

        self._z3: Any = z3
        self._context: Any = z3.Context()
        self.version: str = z3.get_version_string()

    def packing(self, part: Component, bound: int) -> "Packing":
        return Packing(self._z3, self._context, part, bound)


class Packing:
    """Whether `part` packs under a height; incremental over heights, with the proven `bound` as a lemma."""

    def __init__(self, z3: Any, context: Any, part: Component, bound: int) -> None:
        self._z3 = z3
        self._part = part
        self._solver = z3.Solver(ctx=context)
        self._solver.set("random_seed", 0)
        self._top = z3.Int("top", context)
        self._bases = [z3.Int(f"b{i}", context) * a for i, a in enumerate(part.aligns)]
        self._solver.add(self._top >= bound)
        for i, base in enumerate(self._bases):
            self._solver.add(base >= part.base, base + part.sizes[i] <= self._top)
            for j in sorted(part.neighbours[i]):
                if j < i:
                    below = self._bases[j] + part.sizes[j] <= base
                    self._solver.add(z3.Or(below, base + part.sizes[i] <= self._bases[j]))

    def decide(self, height: int, rlimit: int) -> tuple[Outcome, int]:
        """The outcome under `height` and the resource units used. Bases are first-fit in the order that Z3 found."""
        before = self._used()
        self._solver.push()
        self._solver.set("rlimit", rlimit)
        self._solver.add(self._top <= height)
        verdict = str(self._solver.check())
        outcome = {"sat": self._outcome, "unsat": lambda: Outcome("refuted")}.get(
            verdict, lambda: Outcome("undecided")
        )()
        self._solver.pop()
        return outcome, self._used() - before

    def _outcome(self) -> Outcome:
        model = self._solver.model()
        found = [model.eval(b, model_completion=True).as_long() for b in self._bases]
        order = sorted(range(len(found)), key=lambda i: (found[i], i))
        return Outcome("fits", tuple(first_fit(self._part, order)))

    def _used(self) -> int:
        # Cumulative over the context; absent before the first check.
        counts = {entry[0]: entry[1] for entry in self._solver.statistics()}
        return int(counts.get("rlimit count", 0))


def dump_smt(problem: Problem, depths: Mapping[str, int]) -> str:
    """The packing of every domain and the warps of every role at `depths`, as SMT-LIB 2 text (linear integers)."""
    problem = problem.resolved()
    lines = ["(set-logic QF_LIA)"]
    for domain in sorted(problem.domains, key=lambda d: d.name):
        space = Space(problem, domain)
        blocks = [
            (f"base:{_symbol(c.name)}", space.size(c, depths), space.align(c), space.neighbours[i])
            for i, c in enumerate(space.claims)
        ]
        lines.append(f"; {domain.name}: [{domain.base}, {domain.capacity})")
        lines += _blocks(blocks, domain.base, domain.capacity)
    roles = sorted(problem.roles, key=lambda r: r.name)
    everyone = frozenset(range(len(roles)))
    lines.append(f"; warps: [0, {problem.max_warps})")
    lines += _blocks([(f"warp:{_symbol(r.name)}", r.warps, r.align, everyone) for r in roles], 0, problem.max_warps)
    return "\n".join([*lines, "(check-sat)", "(get-model)", ""])


def _symbol(name: str) -> str:
    """What a quoted symbol may not hold, as URLs spell it."""
    return name.replace("%", "%25").replace("|", "%7C").replace("\\", "%5C")


def _blocks(blocks: list[tuple[str, int, int, frozenset[int]]], base: int, capacity: int) -> list[str]:
    lines: list[str] = []
    for i, (name, size, align, neighbours) in enumerate(blocks):
        lines.append(f"(declare-const |{name}| Int)")
        lines.append(f"(declare-const |{name}/{align}| Int)")
        lines.append(f"(assert (= |{name}| (* {align} |{name}/{align}|)))")
        lines.append(f"(assert (and (>= |{name}| {base}) (<= (+ |{name}| {size}) {capacity})))")
        for j in sorted(neighbours):
            if j < i:
                other, other_size = blocks[j][:2]
                below = f"(<= (+ |{other}| {other_size}) |{name}|)"
                lines.append(f"(assert (or {below} (<= (+ |{name}| {size}) |{other}|)))")
    return lines
