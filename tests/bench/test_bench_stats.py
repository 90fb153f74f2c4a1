"""The order of launches and loads, and what pairs come to."""

from collections.abc import Callable, Sequence

import pytest

from bench.stats import WARM_UP, Pair, alternate, orders, quartiles, summary


class Side:
    """A kernel that takes `cost` ms and logs what happens to it."""

    def __init__(self, name: str, cost: float, log: list[str]):
        self.name, self.cost, self.log = name, cost, log
        log.append(f"load {name}")

    def __call__(self) -> None:
        self.log.append(self.name)

    def close(self) -> None:
        self.log.append(f"close {self.name}")


def timer(launches: Sequence[Callable[[], None]]) -> list[float]:
    for launch in launches:
        launch()
    return [launch.cost for launch in launches if isinstance(launch, Side)]


def measured(pairs: int) -> tuple[list[Pair], list[str]]:
    log: list[str] = []
    made = alternate(lambda: Side("a", 3.0, log), lambda: Side("b", 2.0, log), pairs, timer)
    return made, log


def test_each_side_goes_first_equally_often() -> None:
    assert orders(6) == ["ab", "ba", "ab", "ba", "ab", "ba"]


@pytest.mark.parametrize("pairs", [0, -4, 2, 6, 7])
def test_pairs_that_do_not_balance_are_refused(pairs: int) -> None:
    with pytest.raises(ValueError, match=r"even|multiple of 4"):
        measured(pairs)


def test_both_sides_are_loaded_again_in_the_other_order() -> None:
    _, log = measured(4)
    assert [entry for entry in log if " " in entry] == [
        "load a", "load b", "close a", "close b", "load b", "load a", "close a", "close b",
    ]  # fmt: skip


def test_single_launches_alternate() -> None:
    _, log = measured(4)
    half = ["a", "b"] * WARM_UP + ["a", "b", "b", "a"]
    assert [entry for entry in log if " " not in entry] == half * 2


def test_times_go_to_their_side_in_either_order() -> None:
    pairs, _ = measured(8)
    assert [(p.half, p.order, p.a, p.b) for p in pairs] == [
        (half, order, 3.0, 2.0) for half in (0, 1) for order in ("ab", "ba", "ab", "ba")
    ]


def test_sides_are_closed_after_a_failure() -> None:
    log: list[str] = []

    def failing(_: Sequence[Callable[[], None]]) -> list[float]:
        raise RuntimeError("lost")

    with pytest.raises(RuntimeError, match="lost"):
        alternate(lambda: Side("a", 1, log), lambda: Side("b", 1, log), 4, failing)
    assert log == ["load a", "load b", "close a", "close b"]


def test_the_ratio_is_the_median_of_pairs_not_of_sides() -> None:
    # A drifting clock: side medians would give 1.3, every pair says 1.1.
    pairs = [Pair(half, "ab", 1.1 * drift, drift) for half in (0, 1) for drift in (1.0, 2.0, 5.0, 9.0)]
    pairs[0] = Pair(0, "ab", 100.0, 1.0)
    said = summary(pairs)
    assert said["ratio"] == pytest.approx(1.1)
    assert said["ratio_q1"] == pytest.approx(1.1)
    assert said["pairs"] == 8
    assert said["ratio_halves"] == [pytest.approx(1.1), pytest.approx(1.1)]


def test_a_slower_first_side_has_a_ratio_above_one() -> None:
    assert summary(measured(4)[0])["ratio"] == pytest.approx(1.5)


def test_quartiles_of_known_values() -> None:
    assert quartiles([5, 1, 3, 2, 4]) == (2, 3, 4)
    with pytest.raises(ValueError, match="two values"):
        quartiles([1.0])
