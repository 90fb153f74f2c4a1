"""Problems that several tests use."""

import random
from dataclasses import replace

from pipelink.passes.placement import Claim, Domain, Problem, Ring, Role

STAGE = 16384 + 32768


def gemm(**changes: object) -> Problem:
    problem = Problem(
        domains=(Domain("smem", 232448, unit="bytes"),),
        claims=(
            Claim("a", "smem", 16384, 1024, ring="ab"),
            Claim("b", "smem", 32768, 1024, ring="ab"),
            Claim("out", "smem", 32768, 1024),
            Claim("scratch", "smem", 16384, 1024),
            Claim("full", "smem", 8, 8, ring="ab"),
            Claim("empty", "smem", 8, 8, ring="ab"),
        ),
        rings=(Ring("ab", 2, 8),),
        roles=(Role("load", 1, need=24), Role("epilogue", 8, 4, need=184)),
        disjoint_lifetimes=frozenset({("a", "out"), ("a", "scratch"), ("b", "out"), ("b", "scratch")}),
        role_order=("load", "epilogue"),
    )
    return replace(problem, **changes)  # pyright: ignore[reportArgumentType]


def mesh(seed: int, count: int, capacity: int = 4096) -> Problem:
    """Claims live over random intervals of time, as the operators of an instruction stream are."""
    draw = random.Random(seed)
    spans = [(start := draw.randrange(8), start + draw.randint(1, 3)) for _ in range(count)]
    claims = tuple(Claim(f"c{i:02}", "smem", draw.randint(5, 90), draw.choice([1, 4, 16, 32])) for i in range(count))
    apart = frozenset(
        (claims[i].name, claims[j].name)
        for i in range(count)
        for j in range(i + 1, count)
        if spans[i][1] <= spans[j][0] or spans[j][1] <= spans[i][0]
    )
    return Problem((Domain("smem", capacity),), claims, disjoint_lifetimes=apart)
