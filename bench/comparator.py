"""The judge of a kernel's output against a float32 reference, for arrays of NumPy and tensors of torch alike."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

NORM = 3e-3  # |out - ref| / |ref|; rounding to bf16 alone makes 1.7e-3
ELEMENT = 2.0**-7  # |out - ref| / max(|ref|, rms(ref)) of each element; rounding to bf16 alone makes up to 2^-8
BASELINE = 1.5  # the largest of these against that of the framework's own bf16 path


@dataclass(frozen=True)
class Errors:
    """How far an output is from its reference."""

    norm: float
    element: float
    finite: bool  # no NaN and no infinity: every element was written

    def json(self) -> dict[str, object]:
        # JSON has neither NaN nor infinity, which the square of a finite error may be.
        norm, element = (value if math.isfinite(value) else None for value in (self.norm, self.element))
        return {"norm": norm, "element": element, "finite": self.finite}


def errors(out: Any, ref: Any) -> Errors:
    """Errors of `out` against `ref`, both float32 of one shape. Raises ValueError for shapes that differ."""
    if tuple(out.shape) != tuple(ref.shape):
        raise ValueError(f"the output has shape {tuple(out.shape)}, the reference {tuple(ref.shape)}")
    size = float((ref * ref).mean()) ** 0.5
    if not 0 < size < float("inf"):
        raise ValueError("the reference is zero or not finite: it can judge nothing")
    wrong = abs(out - ref)
    finite = bool((wrong < float("inf")).all())  # false for NaN too
    norm = float((wrong * wrong).mean()) ** 0.5 / size
    wrong /= abs(ref).clip(min=size)
    return Errors(norm, float(wrong.max()), finite)


def verdict(out: Errors, baseline: Errors) -> list[str]:
    """The criteria that `out` misses; empty if it is right. `baseline` is the framework's bf16 path on the same inputs.
    Raises ValueError if that is not finite."""
    if not baseline.finite:
        raise ValueError("the baseline is not finite: it can judge nothing")
    checks: Mapping[str, bool] = {
        "finite": out.finite,
        "norm": out.norm <= NORM,
        "element": out.element <= ELEMENT,
        "baseline": out.element <= BASELINE * baseline.element,
    }
    return [name for name, holds in checks.items() if not holds]


def audit_faults(records: Any, blocks: int, multiprocessors: int) -> list[str]:
    """What is wrong with the records of the package `audit`, [blocks][4] of int64 as its header states them, that were
    -1 before the launch: each block must have recorded once and seen no word change."""
    if tuple(records.shape) != (blocks, 4):
        raise ValueError(f"records have shape {tuple(records.shape)}, not {(blocks, 4)}")
    where, first, last, changed = (records[:, column] for column in range(4))
    checks: Mapping[str, bool] = {
        "multiprocessor": bool(((where >= 0) & (where < multiprocessors)).all()),
        "clock": bool(((first >= 0) & (last > first)).all()),
        "changed": bool((changed == 0).all()),
    }
    return [name for name, holds in checks.items() if not holds]
