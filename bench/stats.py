"""Paired timing: in which order two kernels are launched and loaded, and what the pairs say."""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

Json = dict[str, object]
WARM_UP = 3  # untimed launches of each side after a load


class Launcher(Protocol):
    """A loaded kernel, ready to be launched."""

    def __call__(self) -> None: ...

    def close(self) -> None: ...


Open = Callable[[], Launcher]
Timer = Callable[[Sequence[Callable[[], None]]], Sequence[float]]
"""Runs launches one after the other and returns the milliseconds of each."""


@dataclass(frozen=True)
class Pair:
    """One launch of each side, next to each other; times in milliseconds."""

    half: int  # before (0) or after (1) both were loaded again
    order: str  # "ab" or "ba"
    a: float
    b: float

    def json(self) -> list[object]:
        return [self.half, self.order, round(self.a, 6), round(self.b, 6)]


def orders(pairs: int) -> list[str]:
    """The order of the launches within each pair of one half: each side goes first equally often."""
    if pairs <= 0 or pairs % 2:
        raise ValueError(f"half of the pairs must be an even number, not {pairs}")
    return ["ab", "ba"] * (pairs // 2)


def alternate(open_a: Open, open_b: Open, pairs: int, timer: Timer) -> list[Pair]:
    """Time `pairs` pairs of single launches, a multiple of 4. Both sides are loaded anew for the second half, the other
    one first, so that neither where a module lies nor who goes first favours a side. Raises ValueError."""
    sequence = orders(pairs // 2)
    if pairs % 4:
        raise ValueError(f"the pairs must be a multiple of 4, not {pairs}")
    made: list[Pair] = []
    for half in (0, 1):
        made += _half(half, open_a, open_b, sequence, timer)
    return made


def _half(half: int, open_a: Open, open_b: Open, sequence: Sequence[str], timer: Timer) -> list[Pair]:
    if half == 0:
        a = open_a()
        b = open_b()
    else:
        b = open_b()
        a = open_a()
    try:
        timer([a, b] * WARM_UP)
        times = timer([side for order in sequence for side in ((a, b) if order == "ab" else (b, a))])
    finally:
        a.close()
        b.close()
    pairs = zip(sequence, times[0::2], times[1::2], strict=True)
    return [Pair(half, o, *((first, second) if o == "ab" else (second, first))) for o, first, second in pairs]


def quartiles(values: Sequence[float]) -> tuple[float, float, float]:
    """Lower quartile, median, upper quartile, interpolated within the values' range. Raises ValueError."""
    if len(values) < 2:
        raise ValueError("quartiles need two values at least")
    low, median, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, median, high


def summary(pairs: Sequence[Pair]) -> Json:
    """Medians of both sides and quartiles of the ratio a/b of each pair: above 1, a is slower."""
    ratios = [p.a / p.b for p in pairs]
    low, median, high = quartiles(ratios)
    halves = [[r for r, p in zip(ratios, pairs, strict=True) if p.half == half] for half in (0, 1)]
    return {
        "pairs": len(pairs),
        "median_a_ms": statistics.median(p.a for p in pairs),
        "median_b_ms": statistics.median(p.b for p in pairs),
        "ratio_q1": low,
        "ratio": median,
        "ratio_q3": high,
        "ratio_halves": [statistics.median(half) for half in halves],
    }
