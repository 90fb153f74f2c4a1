"""bf16 in NumPy, which has no such type: 16-bit words, and the reference of GEMM + SwiGLU on them."""

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint16]
Floats = NDArray[np.float32]
NAN = 0x7FC0


def to_bf16(values: Floats) -> Words:
    """Round finite numbers to nearest, ties to even."""
    bits = values.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def to_float(words: Words) -> Floats:
    return (words.astype(np.uint32) << 16).view(np.float32)


def draw(seed: int, rows: int, columns: int, scale: float = 1.0) -> Words:
    """A matrix of normal numbers."""
    return to_bf16((np.random.default_rng(seed).standard_normal((rows, columns)) * scale).astype(np.float32))


def swiglu(product: Floats) -> Floats:
    """silu(gate) * up: gates are the even columns of the product, ups the odd ones."""
    gate, up = product[:, 0::2], product[:, 1::2]
    return np.divide(gate, 1 + np.exp(-gate), dtype=np.float32) * up


def reference(x: Words, w: Words) -> Floats:
    """out[M, N/2] of x[M, K] and w[N, K], in float32."""
    return swiglu(to_float(x) @ to_float(w).T)


def baseline(x: Words, w: Words) -> Floats:
    """The same with the product rounded to bf16 first, as a framework does that runs two kernels."""
    return to_float(to_bf16(swiglu(to_float(to_bf16(to_float(x) @ to_float(w).T)))))
