"""A large module parses, verifies and prints quickly: far from the bound, but not where something grows wrongly."""

import time

import pytest

from bench.ir_scale import module, steps

BOUND = 0.3  # seconds of the process


@pytest.mark.parametrize("step", ["parse", "verify", "print", "verify contracts"])
def test_a_module_of_500_operations(step: str) -> None:
    run = steps(module(540))[step]
    taken: list[float] = []
    for _ in range(3):
        start = time.process_time()
        run()
        taken.append(time.process_time() - start)
    assert min(taken) <= BOUND


def test_the_module_is_as_large_as_it_says() -> None:
    assert module(540).count("pl.") >= 500
