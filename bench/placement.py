"""How well and how fast placements are solved: synthetic compositions, and claims files such as MiniMalloc's.

    python bench/placement.py [--handles 4 10 20 42 80 160] [--seeds 20] [--json FILE]
    python bench/placement.py --files claims.csv ... --capacity 1048576 [--work N]

A composition is an attention, a GEMM or a megakernel of many operators that are live in phases. Sizes are irregular
and scaled so that the fullest moment takes 95-99 % of shared memory at a ring depth between the least and the greatest.
First-fit in lexical and in decreasing-size order, at the depths that the solver found, is shown beside the solver.
"""

import argparse
import json
import platform
import random
import statistics
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pipelink.passes.placement import Claim, Domain, Infeasible, Placement, Problem, Ring, Role, check, solve
from pipelink.passes.placement.claims import read
from pipelink.passes.placement.conflict import Space
from pipelink.passes.placement.firstfit import first_fit

SMEM = 232448  # bytes of one block of sm_90a
SIZES = (4096, 8192, 8192, 12288, 16384, 16384, 24576, 32768, 49152)
ALIGNS = (16, 128, 128, 256, 1024, 1024)


@dataclass
class Sketch:
    """A composition under construction: claims with the phases in which they are live (none: all the time)."""

    draw: random.Random
    phases: int
    claims: list[Claim] = field(default_factory=list[Claim])
    live: dict[str, frozenset[int]] = field(default_factory=dict[str, frozenset[int]])
    rings: list[Ring] = field(default_factory=list[Ring])
    roles: list[Role] = field(default_factory=list[Role])
    general: bool = False

    @property
    def handles(self) -> int:
        return len(self.claims) + len(self.roles)

    def add(self, claim: Claim, live: Iterable[int] | None = None) -> None:
        self.claims.append(claim)
        self.live[claim.name] = frozenset(range(self.phases) if live is None else live)

    def span(self) -> Iterable[int]:
        """One to three phases in a row; where lifetimes are general, now and then any set of phases."""
        if self.general and self.draw.random() < 0.4:
            return self.draw.sample(range(self.phases), self.draw.randint(1, max(1, self.phases // 2)))
        first = self.draw.randrange(self.phases)
        return range(first, min(self.phases, first + self.draw.choice((1, 1, 1, 2, 2, 3))))

    def size(self) -> int:
        irregular = (1024 * self.draw.randint(1, 40), 16 * self.draw.randint(1, 400), 16 * self.draw.randint(400, 2400))
        return self.draw.choice((*SIZES, *irregular))


def _attention(sketch: Sketch) -> None:
    sketch.rings.append(Ring("kv", 2, 4))
    sketch.roles += [Role("load", 4, 4, need=24), Role("core", 8, 4, 160, need=200)]
    for name in ("k", "v"):
        sketch.add(Claim(name, "smem", 24576, 1024, "kv"))
    sketch.add(Claim("q", "smem", 32768, 1024), {0})
    sketch.add(Claim("out", "smem", 30720, 1024), range(1, sketch.phases))
    for name in ("k_full", "k_empty", "v_full", "v_empty"):
        sketch.add(Claim(name, "smem", 8, 8, "kv"))


def _gemm(sketch: Sketch) -> None:
    sketch.rings.append(Ring("ab", 2, 6))
    sketch.roles += [Role("load", 1, need=24), Role("mma", 1, need=24), Role("epilogue", 8, 4, 96, need=184)]
    sketch.add(Claim("a", "smem", 16384, 1024, "ab"), {0})
    sketch.add(Claim("b", "smem", 24576, 1024, "ab"), {0})
    sketch.add(Claim("out", "smem", 49152, 1024), range(1, sketch.phases))
    sketch.add(Claim("bias", "smem", 1008, 16))
    for name in ("full", "empty"):
        sketch.add(Claim(name, "smem", 8, 8, "ab"))
    sketch.add(Claim("acc", "tmem", 256, 32))


def _megakernel(sketch: Sketch) -> None:
    sketch.rings.append(Ring("instruction", 2, 4))
    sketch.roles += [Role(name, 1, need=24) for name in ("loader", "storer", "launcher", "controller")]
    sketch.roles.append(Role("consumer", 16, 4, 64, need=96))
    sketch.add(Claim("instruction", "smem", 128, 128, "instruction"))
    for name in ("instruction_full", "instruction_empty"):
        sketch.add(Claim(name, "smem", 8, 8, "instruction"))


def _tiny(sketch: Sketch) -> None:
    sketch.rings.append(Ring("r", 2, 4))
    sketch.roles.append(Role("core", 4, 4))
    sketch.add(Claim("tile", "smem", sketch.size(), 1024, "r"))
    sketch.add(Claim("full", "smem", 8, 8, "r"))


def composition(handles: int, seed: int) -> Problem:
    """The composition of this many handles (claims and roles) and seed; the same one over Python versions."""
    draw = random.Random(1000 * seed + handles)
    phases = max(2, handles // 6)
    sketch = Sketch(draw, phases, general=seed % 4 == 3)
    kinds = (_megakernel,) if handles >= 42 else (_attention, _gemm, _megakernel)
    kind = _tiny if handles < 10 else kinds[seed % len(kinds)]
    kind(sketch)
    if sketch.handles > handles:  # the smallest have fewer barriers
        sketch.claims = sketch.claims[: handles - len(sketch.roles)]
    number = 0
    while sketch.handles < handles:
        _operator(sketch, number)
        number += 1
    return _fill(sketch)


def _operator(sketch: Sketch, number: int) -> None:
    draw, name = sketch.draw, f"op{number:03}"
    kind = draw.random()
    if kind < 0.65:
        sketch.add(Claim(name, "smem", sketch.size(), draw.choice(ALIGNS)), sketch.span())
    elif kind < 0.85:
        sketch.add(Claim(name, "smem", 8 * draw.choice((1, 1, 2, 4)), 8), sketch.span())
    elif kind < 0.93:
        sketch.add(Claim(name, "counter", 1), None)
    else:
        sketch.add(Claim(name, "barrier", 1), sketch.span())


def _fill(sketch: Sketch) -> Problem:
    """Scales what is not a barrier so that the fullest phase takes 95-99 % of shared memory at a depth in between."""
    (ring,) = sketch.rings
    depth = sketch.draw.randint(ring.min_depth, ring.max_depth)
    tight = sketch.draw.uniform(0.95, 0.99)
    for _ in range(3):  # rounding to whole units shifts the fullest phase
        load = [0] * sketch.phases
        for claim in sketch.claims:
            for phase in sketch.live[claim.name] if claim.domain == "smem" else ():
                load[phase] += claim.size * (depth if claim.ring else 1)
        factor = SMEM * tight / max(load)
        sketch.claims = [_scaled(claim, factor) for claim in sketch.claims]
    names = sorted(c.name for c in sketch.claims)
    apart = {(a, b) for a in names for b in names if a < b and not sketch.live[a] & sketch.live[b]}
    domains = (
        Domain("smem", SMEM, unit="bytes"),
        Domain("barrier", 16, base=1, unit="ids"),
        Domain("tmem", 512, 32, unit="columns"),
        Domain("counter", 1 << 20, unit="words"),
    )
    return Problem(domains, tuple(sketch.claims), tuple(sketch.rings), tuple(sketch.roles), frozenset(apart))


def _scaled(claim: Claim, factor: float) -> Claim:
    if claim.domain != "smem" or claim.size < 128:
        return claim
    unit = 512 if claim.align == 1024 else 16
    size = max(unit, round(claim.size * factor) // unit * unit)
    return Claim(claim.name, claim.domain, size, claim.align, claim.ring)


@dataclass(frozen=True)
class Row:
    """One solved problem; `plain` is what first-fit reaches, in lexical and in decreasing-size order."""

    name: str
    claims: int
    seconds: float
    proven: bool
    footprint: int
    bound: int
    plain: tuple[int, int]
    nodes: int
    rlimit: int


def _smem(problem: Problem) -> Space:
    return Space(problem, next(d for d in problem.domains if d.name == "smem"))


def _plain(space: Space, placement: Placement) -> tuple[int, int]:
    """Heights of first-fit in claim order (lexical) and in decreasing size, at the depths of `placement`."""
    unit = space.unit(placement.depths)
    heights = [space.domain.base, space.domain.base]
    for part in space.components(placement.depths):
        lexical = list(range(len(part.sizes)))
        for k, order in enumerate((lexical, sorted(lexical, key=lambda i: (-part.sizes[i], i)))):
            heights[k] = max(heights[k], part.height(first_fit(part, order)) * unit)
    return heights[0], heights[1]


def measure(handles: int, seed: int) -> Row:
    """Solves one composition. Raises AssertionError where the independent check objects."""
    problem = composition(handles, seed)
    start = time.process_time()
    placement = solve(problem)
    seconds = time.process_time() - start
    assert check(problem, placement) == []
    proof = next(p for p in placement.certificate.proofs if p.objective == "footprint of smem")
    return Row(
        f"{handles}:{seed}",
        len(problem.claims),
        round(seconds, 4),
        all(p.proven for p in placement.certificate.proofs),
        proof.value,
        proof.bound,
        _plain(_smem(problem), placement),
        placement.certificate.nodes,
        placement.certificate.rlimit,
    )


def _summary(handles: int, rows: Sequence[Row]) -> str:
    seconds = [row.seconds for row in rows]
    gap = max((row.footprint - row.bound) / row.footprint for row in rows)
    lexical, falling = ([row.plain[k] / row.footprint - 1 for row in rows] for k in (0, 1))
    return (
        f"| {handles} | {sum(row.proven for row in rows)}/{len(rows)} | {statistics.median(seconds):.3f} | "
        f"{max(seconds):.2f} | {100 * gap:.2f} % | +{100 * statistics.median(lexical):.1f} % (max "
        f"{100 * max(lexical):.1f}) | +{100 * statistics.median(falling):.1f} % (max {100 * max(falling):.1f}) |"
    )


def _compositions(handles: Sequence[int], seeds: int) -> list[Row]:
    rows: list[Row] = []
    print("| handles | proven | median s | worst s | worst gap | first-fit, lexical | first-fit, by size |")
    print("|---|---|---|---|---|---|---|")
    for count in handles:
        solved = [measure(count, seed) for seed in range(seeds)]
        print(_summary(count, solved), flush=True)
        rows += solved
    return rows


def _files(files: Sequence[Path], capacity: int, work: int) -> None:
    print("| file | claims | placed | CPU s | nodes |")
    print("|---|---|---|---|---|")
    for file in files:
        problem = read(file, capacity).problem
        start = time.process_time()
        try:
            placement = solve(problem, work, smallest=False)
            faults = check(problem, placement)
            state, nodes = ("; ".join(faults) or "yes, checked"), placement.certificate.nodes
        except Infeasible:
            state, nodes = "no", work
        seconds = time.process_time() - start
        print(f"| {file.stem} | {len(problem.claims)} | {state} | {seconds:.1f} | {nodes} |", flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--handles", type=int, nargs="+", default=[4, 10, 20, 42, 80, 160])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--json", type=Path, help="write every row")
    parser.add_argument("--files", type=Path, nargs="+", help="claims files instead of compositions")
    parser.add_argument("--capacity", type=int, default=1 << 20)
    parser.add_argument("--work", type=int, default=200_000, help="work limit in search nodes, for files")
    options = parser.parse_args(arguments)
    print(f"Python {platform.python_version()}, {platform.machine()}, CPU seconds of one core\n")
    if options.files:
        _files(options.files, options.capacity, options.work)
        return
    rows = _compositions(options.handles, options.seeds)
    if options.json:
        fields = [{name: getattr(row, name) for name in Row.__dataclass_fields__} for row in rows]
        options.json.write_text(json.dumps({"command": sys.argv, "rows": fields}, indent=1) + "\n")


if __name__ == "__main__":
    main()
