"""Transfers that the route tests share."""

from dataclasses import dataclass
from functools import lru_cache

from pipelink.ir.maps import ExactMap, parse
from pipelink.passes.routes import Lends, Plan, feasible

LENDS = Lends(frame_registers=128, destination_registers=32, scratch_bytes=32768, barrier=True, element_bytes=4)


@dataclass(frozen=True, eq=False)
class Case:
    placement: ExactMap
    demand: ExactMap
    chunk: str | None = "c"

    @lru_cache  # noqa: B019 - the cases are constants of this module
    def plan(self, kind: str, lends: Lends = LENDS) -> Plan:
        candidates = feasible(self.placement, self.demand, self.chunk, lends)
        return next(candidate.plan for candidate in candidates if candidate.kind == kind)


# The accumulator of two consumer warpgroups: WGMMA's D fragment, rows split over the warpgroups.
WGMMA = parse("(t:256, r:128) -> (m:128, n:256) { m = t/32*16 + t%32/4 + r/2%2*8; n = r/4*8 + t%4*2 + r%2 }")
# The same, columns split over the warpgroups: a chunk is then in the frame of one warpgroup only.
WGMMA_COLUMNS = parse(
    "(t:256, r:128) -> (m:128, n:256) {"
    " m = r/64*64 + t%128/32*16 + t%32/4 + r/2%2*8; n = t/128*128 + r%64/4*8 + t%4*2 + r%2 }"
)
ROW_HALVES = parse("(t:256, p:16, c:8) -> (m:128, n:256) { m = t%128; n = c*32 + t/128*16 + p }")
FRAGMENT = parse(
    "(t:256, p:16, c:8) -> (m:128, n:256) { m = t/32*16 + p/2%2*8 + t%32/4; n = c*32 + p/4*8 + t%4*2 + p%2 }"
)
WARP_LOCAL = parse("(t:256, p:16, c:8) -> (m:128, n:256) { m = t/2; n = c*32 + t%2*16 + p }")

CASES = {
    "row halves": Case(WGMMA, ROW_HALVES),
    "fragment": Case(WGMMA, FRAGMENT),
    "warp local": Case(WGMMA, WARP_LOCAL),
    "columns split": Case(WGMMA_COLUMNS, ROW_HALVES),
    # 96 threads, 5 registers: sizes and rows that are no powers of two
    "odd sizes": Case(
        parse("(t:96, r:5) -> (m:20, n:24) { m = (t*5 + r)/24; n = (t*5 + r)%24 }"),
        parse("(t:96, p:5) -> (m:20, n:24) { m = (p*96 + t)/24; n = (p*96 + t)%24 }"),
        None,
    ),
    # four lanes hold each row's value, each thread wants the values of its own row pair
    "replicated": Case(
        parse("(t:128, r:2) -> (m:64) { m = t/32*16 + r*8 + t/4%8 }"),
        parse("(t:128, p:2) -> (m:64) { m = t/2%32*2 + p }"),
        None,
    ),
    # each chunk is every eighth column; positions within a vector come in reverse
    "strided chunks": Case(
        parse("(t:64, r:32) -> (m:64, n:32) { m = t; n = r }"),
        parse("(t:64, p:4, c:8) -> (m:64, n:32) { m = t ^ 1; n = (3 - p)*8 + c }"),
    ),
    # a cube, read along another axis
    "cube": Case(
        parse("(t:64, r:8) -> (x:8, y:8, z:8) { x = t/8; y = t%8; z = r }"),
        parse("(t:64, p:8) -> (x:8, y:8, z:8) { x = p; y = t%8; z = t/8 }"),
        None,
    ),
}

PLANS = [
    (name, kind)
    for name, kinds in {
        "row halves": ["staged"],
        "fragment": ["direct", "staged"],
        "warp local": ["staged"],
        "columns split": ["staged"],
        "odd sizes": ["staged"],
        "replicated": ["staged"],
        "strided chunks": ["staged"],
        "cube": ["staged"],
    }.items()
    for kind in kinds
]
