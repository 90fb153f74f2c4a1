"""A matrix multiplication with its epilogue: the usual composition, solved by bounds and first-fit alone."""

import json
import os
import random
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

import pytest
from placement_problems import STAGE, gemm

from pipelink.passes.placement import Claim, Domain, Problem, Ring, Role, check, solve

ROOT = Path(__file__).parents[3]


def test_depth_and_footprint() -> None:
    placement = solve(gemm())
    assert placement.depths == {"ab": 4}
    assert placement.footprint == {"smem": 4 * STAGE + 64}
    out, scratch = placement.bases["out"], placement.bases["scratch"]
    assert out + 32768 <= scratch or scratch + 16384 <= out
    assert max(out + 32768, scratch + 16384) <= 4 * STAGE
    assert check(gemm(), placement) == []


def test_every_objective_is_proven() -> None:
    certificate = solve(gemm()).certificate
    how = {p.objective: (p.value, p.bound, p.proven, p.how) for p in certificate.proofs}
    five = 5 * STAGE + 5 * 16
    assert how == {
        "depth of ring ab": (4, 4, True, f"depth 5 refuted: smem clique bound {five} over 232448"),
        "least register surplus": (32, 32, True, "fewest warpgroups (3), all teams over them exhausted"),
        "footprint of smem": (196672, 196672, True, "clique bound 196672 met"),
    }
    assert certificate.nodes <= certificate.node_limit
    assert (certificate.rlimit, certificate.z3) == (0, "")
    json.dumps(asdict(certificate))


@pytest.mark.parametrize(
    ("order", "warps", "idle"),
    [
        (("load", "epilogue"), {"load": 0, "epilogue": 4}, ((1, 4),)),
        (("epilogue", "load"), {"epilogue": 0, "load": 8}, ((9, 12),)),
        ((), {"epilogue": 0, "load": 8}, ((9, 12),)),
    ],
)
def test_warps_follow_role_order(
    order: tuple[str, ...], warps: dict[str, int], idle: tuple[tuple[int, int], ...]
) -> None:
    placement = solve(gemm(role_order=order))
    assert placement.warps == warps
    assert placement.threads == 384
    assert placement.idle == idle


def test_budgets_raise_the_least_surplus_within_the_pool() -> None:
    # 168 registers at entry, 3 x 168 = 504 to spend: surplus 48 and 32; no other split has a least one of 32 and more.
    placement = solve(gemm())
    assert placement.registers == {"load": 72, "epilogue": 216}
    assert (72 + 2 * 216) * 128 <= 168 * 384


@pytest.mark.parametrize("first", ["a", "b", "out", "full", "empty", "scratch"])
def test_the_first_of_claim_order_takes_the_lowest_address(first: str) -> None:
    placement = solve(gemm(claim_order=(first,)))
    if first in ("full", "empty"):
        # First-fit would pad the buffers behind it: an order that misses the bound is not taken.
        assert placement.footprint == {"smem": 4 * STAGE + 64}
    else:
        assert placement.bases[first] == 0


def test_addresses_follow_claim_order() -> None:
    bases = solve(gemm(claim_order=("b", "a", "scratch", "out", "empty", "full"))).bases
    assert bases == {"b": 0, "a": 131072, "scratch": 0, "out": 16384, "empty": 196608, "full": 196640}


def test_claim_order_holds_wherever_it_costs_no_height() -> None:
    claims = (Claim("a", "smem", 1), Claim("b", "smem", 4, 4), Claim("tall", "smem", 10))
    apart = frozenset({("a", "tall"), ("b", "tall")})
    problem = Problem((Domain("smem", 16),), claims, disjoint_lifetimes=apart, claim_order=("a", "b"))
    assert solve(problem).bases == {"a": 0, "b": 4, "tall": 0}
    alone = Problem((Domain("smem", 16),), claims[:2], claim_order=("a", "b"))
    assert solve(alone).bases == {"a": 4, "b": 0}


def test_fewer_threads_come_before_role_order() -> None:
    placement = solve(Problem(roles=(Role("a", 1), Role("b", 1, 2)), role_order=("a", "b")))
    assert (placement.warps, placement.threads) == ({"a": 1, "b": 0}, 64)


def test_one_register_group_sets_none() -> None:
    placement = solve(gemm(roles=(Role("all", 9),), role_order=()))
    assert (placement.threads, placement.registers, placement.idle) == (288, {}, ())
    placement = solve(gemm(has_register_groups=False))
    assert (placement.threads, placement.registers) == (288, {})
    assert placement.warps == {"epilogue": 0, "load": 8}


def test_no_roles_no_claims() -> None:
    placement = solve(Problem(domains=(Domain("barrier", 16, base=1),)))
    assert (placement.threads, placement.footprint, placement.warps) == (0, {"barrier": 1}, {})


def test_shuffled_inputs_give_the_same_placement() -> None:
    expected = solve(gemm())
    shuffle = random.Random(7)
    for _ in range(10):
        parts = {
            name: tuple(shuffle.sample(getattr(gemm(), name), k=len(getattr(gemm(), name))))
            for name in ("claims", "roles", "domains")
        }
        assert solve(gemm(**parts)) == expected


SCRIPT = """
from dataclasses import asdict
from placement_problems import gemm, mesh
from pipelink.passes.placement import solve
print([asdict(solve(problem)) for problem in (gemm(), mesh(9, 24), mesh(8, 18))])
"""


NO_Z3 = """
import sys
from placement_problems import gemm
from pipelink.passes.placement import solve
solve(gemm())
sys.exit("z3" in sys.modules)
"""


def test_hash_seeds_give_the_same_placement() -> None:
    path = os.pathsep.join([str(ROOT), str(Path(__file__).parent)])
    outputs = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "12345")
    }
    assert len(outputs) == 1
    assert "footprint" in outputs.pop()


def test_it_is_fast_and_leaves_z3_alone() -> None:
    path = os.pathsep.join([str(ROOT), str(Path(__file__).parent)])
    subprocess.run([sys.executable, "-c", NO_Z3], env=os.environ | {"PYTHONPATH": path}, check=True)
    solve(gemm())
    best = min(_seconds() for _ in range(5))
    assert best < 0.05


def _seconds() -> float:
    start = time.perf_counter()
    solve(gemm())
    return time.perf_counter() - start


def test_rings_are_deepened_by_priority_then_name() -> None:
    def depths(p: int, q: int) -> dict[str, int]:
        rings = (Ring("p", 1, 9, p), Ring("q", 1, 9, q))
        claims = (Claim("x", "smem", 3, ring="p"), Claim("y", "smem", 2, ring="q"))
        return solve(Problem((Domain("smem", 20),), claims, rings)).depths

    assert depths(0, 1) == {"p": 6, "q": 1}
    assert depths(1, 0) == {"p": 1, "q": 8}
    assert depths(3, 3) == {"p": 6, "q": 1}


def test_a_ring_is_as_deep_as_its_tightest_domain() -> None:
    claims = (Claim("tile", "smem", 10, ring="r"), Claim("full", "slots", 1, ring="r"))
    placement = solve(Problem((Domain("smem", 1000), Domain("slots", 7)), claims, (Ring("r", 1, 50),)))
    assert placement.depths == {"r": 7}
    assert placement.certificate.proofs[0].how == "depth 8 refuted: slots clique bound 8 over 7"
