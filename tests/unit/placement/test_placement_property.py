"""The same placement for any hash seed and any order of the input; the optimum of exhaustive search on many models.

PIPELINK_PLACEMENT_MODELS sets how many models are compared (2,000 by default).
"""

import hashlib
import os
import random
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from placement_brute import deepest, least_footprint
from placement_problems import gemm, mesh

from bench.placement import composition
from pipelink.passes.placement import Claim, Domain, Infeasible, Problem, Ring, check, exact, solve
from pipelink.passes.placement.conflict import Component, Space
from pipelink.passes.placement.exact import Outcome

ROOT = Path(__file__).parents[3]
MODELS = int(os.environ.get("PIPELINK_PLACEMENT_MODELS", "2000"))


def problems() -> list[Problem]:
    return [gemm(), mesh(9, 24), mesh(8, 18), composition(20, 1), composition(42, 3), composition(42, 7)]


def digest(found: list[Problem]) -> str:
    return hashlib.sha256(repr([asdict(solve(problem)) for problem in found]).encode()).hexdigest()


def test_five_hash_seeds_give_one_placement() -> None:
    path = os.pathsep.join([str(ROOT), str(Path(__file__).parent)])
    script = "from test_placement_property import digest, problems; print(digest(problems()))"
    digests = {
        subprocess.run(
            [sys.executable, "-c", script],
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("0", "1", "7", "12345", "4294967295")
    }
    assert digests == {digest(problems())}


@pytest.mark.parametrize("number", range(6))
def test_twenty_shuffles_give_one_placement(number: int) -> None:
    problem = problems()[number]
    expected = digest([problem])
    shuffle = random.Random(number)
    for _ in range(20):
        parts = {
            name: tuple(shuffle.sample(getattr(problem, name), k=len(getattr(problem, name))))
            for name in ("domains", "claims", "rings", "roles")
        }
        assert digest([replace(problem, **parts)]) == expected


def small(seed: int) -> Problem:
    draw = random.Random(seed)
    names = [f"c{i}" for i in range(draw.randint(2, 5))]
    rings = (Ring("r", 1, draw.randint(1, 3)),)
    claims = tuple(
        Claim(n, "x", draw.randint(1, 5), draw.choice((1, 1, 1, 2, 3, 4)), draw.choice((None, None, None, "r")))
        for n in names
    )
    density = draw.random()
    apart = frozenset((a, b) for a in names for b in names if a < b and draw.random() < density)
    return Problem((Domain("x", draw.randint(5, 13), base=draw.choice((0, 0, 1))),), claims, rings, (), apart)


def test_thousands_of_small_models_have_the_exhaustive_optimum() -> None:
    infeasible = 0
    for seed in range(MODELS):
        problem = small(seed)
        depths = deepest(problem)
        if depths is None:
            infeasible += 1
            with pytest.raises(Infeasible):
                solve(problem)
            continue
        placement = solve(problem)
        assert placement.depths == depths, seed
        assert placement.footprint["x"] == least_footprint(problem, problem.domains[0], depths), seed
        assert check(problem, placement) == [], seed
        assert all(proof.proven for proof in placement.certificate.proofs), seed
    assert MODELS / 20 < infeasible < MODELS / 2


def test_the_exact_search_alone_has_the_exhaustive_optimum() -> None:
    """Without bounds and first-fit before it: every height from one under the bound up to the optimum is asked."""
    asked = 0
    for seed in range(MODELS, MODELS + MODELS // 2):
        problem = replace(small(seed), rings=(Ring("r", 1, 1),))
        domain = replace(problem.domains[0], capacity=60)
        (space, least) = Space(problem, domain), least_footprint(problem, domain, {"r": 1})
        assert least is not None
        parts = space.components({"r": 1})
        unit = space.unit({"r": 1})
        tops = [_least(part, asked_from=max(0, part.bound - 1)) for part in parts]
        asked += sum(count for _, count in tops)
        assert max(top for top, _ in tops) * unit == least, seed
    assert asked > MODELS


def _least(part: Component, asked_from: int) -> tuple[int, int]:
    """The least height that the exact search packs, and how often it was asked."""
    for count, height in enumerate(range(asked_from, 100), 1):
        outcome: Outcome = exact.search(part, height, 100_000)[0]
        if outcome.status == "fits":
            assert part.height(outcome.bases) <= height
            return height, count
        assert outcome.status == "refuted"
    raise AssertionError("nothing packs")
