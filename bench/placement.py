"""How well and how fast placements are solved: synthetic compositions, and claims files such as MiniMalloc's.

    python -m bench.placement [--handles 4 10 20 42 80 160] [--seeds 20] [--files claims.csv ...] [--json FILE]

A composition is an attention, a GEMM or a megakernel of many operators that are live in phases. Sizes are irregular
and scaled so that the fullest moment takes 95-99 % of shared memory at a ring depth between the least and the greatest.
First-fit in lexical and in decreasing-size order, at the depths that the solver found, is shown beside the solver.
Files have one capacity; any placement within it will do. Times are of the process and of the wall: other jobs may share
the machine.
"""

import argparse
import json
import os
import platform
import random
import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from pipelink.backend.archive import write_atomically
from pipelink.passes.placement import Claim, Domain, Infeasible, Placement, Problem, Ring, Role, check, solve
from pipelink.passes.placement.bounds import maximal_cliques
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
    """Scales what is no barrier so that what is live together takes 95-99 % of shared memory at a depth in between."""
    (ring,) = sketch.rings
    depth = sketch.draw.randint(ring.min_depth, ring.max_depth)
    tight = sketch.draw.uniform(0.95, 0.99)
    together = _together(sketch)
    for _ in range(3):  # rounding to whole units shifts which is the fullest
        held = {c.name: c.size * (depth if c.ring else 1) for c in sketch.claims}
        factor = SMEM * tight / max(sum(held[name] for name in names) for names in together)
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


def _together(sketch: Sketch) -> list[list[str]]:
    """The names of claims of shared memory that are all live with each other, for every such set: where lifetimes are
    general there need be no phase in which all of them are."""
    names = [c.name for c in sketch.claims if c.domain == "smem"]
    met = [frozenset(j for j, b in enumerate(names) if b != a and sketch.live[a] & sketch.live[b]) for a in names]
    return [[names[i] for i in clique] for clique in maximal_cliques(met)]


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
    handles: int
    seconds: float
    wall: float
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
    start, wall = time.process_time(), time.perf_counter()
    try:
        placement = solve(problem)
    except Infeasible as failure:
        if "not proven" not in str(failure):
            raise
        return Row(f"{handles}:{seed}", handles, *_since(start, wall), False, 0, 0, (0, 0), 0, 0)
    seconds = _since(start, wall)
    assert check(problem, placement) == []
    proof = next(p for p in placement.certificate.proofs if p.objective == "footprint of smem")
    return Row(
        f"{handles}:{seed}",
        handles,
        *seconds,
        all(p.proven for p in placement.certificate.proofs),
        proof.value,
        proof.bound,
        _plain(_smem(problem), placement),
        placement.certificate.nodes,
        placement.certificate.rlimit,
    )


def _since(start: float, wall: float) -> tuple[float, float]:
    """Seconds of the process and of the wall."""
    return round(time.process_time() - start, 4), round(time.perf_counter() - wall, 4)


@dataclass(frozen=True)
class FileRow:
    """One claims file: what the solver made of it, and what the independent check said of that."""

    name: str
    claims: int
    placed: bool
    faults: tuple[str, ...]
    seconds: float
    wall: float
    nodes: int


def place(file: Path, capacity: int, work: int) -> FileRow:
    problem = read(file, capacity).problem
    start, wall = time.process_time(), time.perf_counter()
    try:
        placement = solve(problem, work, smallest=False)
    except Infeasible:
        return FileRow(file.stem, len(problem.claims), False, (), *_since(start, wall), work)
    spent = _since(start, wall)
    nodes = placement.certificate.nodes
    return FileRow(file.stem, len(problem.claims), True, tuple(check(problem, placement)), *spent, nodes)


def _machine() -> str:
    """The processor, in words that name no host."""
    cpus = Path("/proc/cpuinfo")
    model = re.search(r"model name\s*: (.*)", cpus.read_text()) if cpus.exists() else None
    return f"{os.cpu_count()} cores of {model[1] if model else platform.machine()}, shared with other jobs"


def _library(name: str) -> str:
    from importlib.metadata import version

    return f"{name} {version(name)}"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--handles", type=int, nargs="*", default=[4, 10, 20, 42, 80, 160])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--json", type=Path, help="write every row")
    parser.add_argument("--files", type=Path, nargs="+", default=[], help="claims files, after the compositions")
    parser.add_argument("--capacity", type=int, default=1 << 20, help="of the files")
    parser.add_argument("--work", type=int, default=4_000_000, help="work limit in search nodes, for files")
    options = parser.parse_args(arguments)
    rows: list[Row] = []
    for handles in options.handles:
        for seed in range(options.seeds):
            rows.append(measure(handles, seed))
            print(rows[-1], flush=True)
    files: list[FileRow] = []
    for file in options.files:
        files.append(place(file, options.capacity, options.work))
        print(files[-1], flush=True)
    if options.json:
        files_given = [f"--files {' '.join(f'{f.parent.name}/{f.name}' for f in options.files)}"] * bool(options.files)
        handles_given = f"--handles {' '.join(map(str, options.handles))} --seeds {options.seeds}"
        given = " ".join([handles_given, *files_given])
        found = {
            "command": f"python -m bench.placement {given}".strip(),
            "machine": _machine(),
            "versions": [f"Python {platform.python_version()}", _library("z3-solver"), _library("pipelink")],
            "compositions": [asdict(row) for row in rows],
            "files": [asdict(row) for row in files],
        }
        options.json.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(options.json, (json.dumps(found, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()
