"""The comparator accepts right outputs and rejects each planted fault, by the criterion that should notice it."""

from collections.abc import Callable

import numpy as np
import pytest

from bench import bf16
from bench.bf16 import Floats
from bench.comparator import ELEMENT, Errors, audit_faults, errors, verdict

SEED, M, N, K = 11, 96, 256, 128


@pytest.fixture(scope="module")
def case() -> tuple[Floats, Floats, Errors]:
    """A right output (rounded to bf16), the reference, and the baseline's errors."""
    x, w = bf16.draw(SEED, M, K), bf16.draw(SEED + 1, N, K, 1.5 * K**-0.5)
    ref = bf16.reference(x, w)
    return bf16.to_float(bf16.to_bf16(ref)), ref, errors(bf16.baseline(x, w), ref)


def judged(out: Floats, case: tuple[Floats, Floats, Errors]) -> list[str]:
    return verdict(errors(out, case[1]), case[2])


def test_a_rounded_reference_is_right(case: tuple[Floats, Floats, Errors]) -> None:
    assert judged(case[0], case) == []
    assert 1e-3 < errors(case[0], case[1]).norm < 2e-3
    assert case[2].norm > 2e-3  # the baseline rounds twice


def test_an_element_that_was_not_written_is_found(case: tuple[Floats, Floats, Errors]) -> None:
    out = case[0].copy()
    out[-1, -1] = np.nan
    assert "finite" in judged(out, case)
    out[-1, -1] = np.inf
    assert "finite" in judged(out, case)


def test_one_wrong_element_is_found(case: tuple[Floats, Floats, Errors]) -> None:
    out = case[0].copy()
    row, column = np.unravel_index(np.argmax(abs(case[1])), case[1].shape)
    out[row, column] *= 1 + 2 * ELEMENT
    assert judged(out, case) == ["element"]
    assert errors(out, case[1]).norm < 3e-3  # which the norm alone would have passed


def test_a_small_element_is_judged_against_the_size_of_all(case: tuple[Floats, Floats, Errors]) -> None:
    out, ref, _ = case
    size = float(np.sqrt((ref * ref).mean()))
    row, column = np.unravel_index(np.argmin(abs(ref)), ref.shape)
    near, far = out.copy(), out.copy()
    near[row, column] += np.float32(0.4 * ELEMENT * size)
    far[row, column] += np.float32(1.5 * ELEMENT * size)
    assert judged(near, case) == []
    assert "element" in judged(far, case)


def test_a_small_error_everywhere_is_found_by_the_norm(case: tuple[Floats, Floats, Errors]) -> None:
    out = (case[1] * np.float32(1.0035)).astype(np.float32)
    assert judged(out, case) == ["norm"]


MISPLACED: dict[str, Callable[[Floats], Floats]] = {
    "row": lambda out: np.roll(out, 1, axis=0),
    "columns": lambda out: np.roll(out, 8, axis=1),
    "mirrored": lambda out: out[:, ::-1],
    "zero": lambda out: np.zeros_like(out),
}


@pytest.mark.parametrize("fault", MISPLACED)
def test_misplaced_elements_are_found(fault: str, case: tuple[Floats, Floats, Errors]) -> None:
    assert {"norm", "element", "baseline"} <= set(judged(MISPLACED[fault](case[0]), case))


def test_exchanged_gate_and_up_are_found(case: tuple[Floats, Floats, Errors]) -> None:
    x, w = bf16.draw(SEED, M, K), bf16.draw(SEED + 1, N, K, 1.5 * K**-0.5)
    exchanged = w.reshape(N // 2, 2, K)[:, ::-1].reshape(N, K)
    assert judged(bf16.reference(x, exchanged), case)


def test_a_worse_baseline_does_not_excuse_an_error(case: tuple[Floats, Floats, Errors]) -> None:
    out, ref, _ = case
    wrong = errors((ref * np.float32(1.01)).astype(np.float32), ref)
    assert verdict(wrong, Errors(norm=1.0, element=1.0, finite=True)) == ["norm", "element"]
    assert verdict(errors(out, ref), Errors(norm=0.0, element=1e-9, finite=True)) == ["baseline"]


def test_what_can_judge_nothing_is_refused(case: tuple[Floats, Floats, Errors]) -> None:
    zero = np.zeros((4, 4), np.float32)
    with pytest.raises(ValueError, match="reference"):
        errors(zero, zero)
    with pytest.raises(ValueError, match="reference"):
        errors(zero, zero + np.nan)
    with pytest.raises(ValueError, match="shape"):
        errors(zero, np.ones((4, 5), np.float32))
    with pytest.raises(ValueError, match="baseline"):
        verdict(errors(case[0], case[1]), Errors(0.0, 0.0, False))


def good_records() -> np.ndarray:
    return np.array([[0, 100, 900, 0], [131, 50, 60, 0], [7, 0, 1, 0]], np.int64)


def test_good_audit_records_have_no_fault() -> None:
    assert audit_faults(good_records(), 3, 132) == []


@pytest.mark.parametrize(
    ("at", "value", "fault"),
    [
        ((1, 3), 1, "changed"),
        ((0, 3), -1, "changed"),
        ((1, 0), 132, "multiprocessor"),
        ((1, 0), -1, "multiprocessor"),
        ((1, 2), 50, "clock"),
        ((2, 1), -1, "clock"),
    ],
)
def test_each_wrong_audit_record_is_found(at: tuple[int, int], value: int, fault: str) -> None:
    records = good_records()
    records[at] = value
    assert audit_faults(records, 3, 132) == [fault]


def test_a_missing_audit_record_is_refused() -> None:
    with pytest.raises(ValueError, match="records"):
        audit_faults(good_records(), 4, 132)


def test_rounding_to_bf16_is_to_nearest_even() -> None:
    values = np.array([1.0, 1 + 2**-8, 1 + 3 * 2**-8, -1 - 2**-8 - 2**-20, 3.0e38], np.float32)
    expected = [1.0, 1.0, 1 + 2**-6, -1 - 2**-7]
    assert bf16.to_float(bf16.to_bf16(values))[:4].tolist() == expected
