"""Sizes M, N, K of the product x[M, K] w[N, K]^T, as commands and results write them: MxNxK."""

from typing import NamedTuple

TILE_M, TILE_N = 128, 256  # of the product, computed by one block
AUDIT_WORDS = 4  # that the package `audit` records for each block


class Size(NamedTuple):
    """Rows of x, rows of w (gate and up rows in turn), and what both have as columns."""

    m: int
    n: int
    k: int

    def __str__(self) -> str:
        return f"{self.m}x{self.n}x{self.k}"

    @property
    def operations(self) -> int:
        """Floating-point operations of the product."""
        return 2 * self.m * self.n * self.k

    @property
    def blocks(self) -> int:
        return -(-self.m // TILE_M) * -(-self.n // TILE_N)


def parse(text: str) -> Size:
    """The size that `text` writes. Raises ValueError."""
    size = Size(*map(int, text.split("x")))
    if min(size) < 1 or size.n % 2:
        raise ValueError(f"{text}: extents are positive, and N is even")
    return size


# Ragged in M, in N, in K; smaller than a tile; a single row; several bands of tiles; full size.
CORRECT = (
    Size(128, 256, 64),
    Size(1, 256, 64),
    Size(300, 1008, 40),
    Size(200, 512, 320),
    Size(77, 2576, 1032),
    Size(4173, 5136, 5120),
    Size(4096, 51200, 5120),
    Size(16384, 51200, 5120),
)
SMALL = (Size(200, 512, 320), Size(77, 528, 200))
TIMED = (Size(4096, 51200, 5120), Size(16384, 51200, 5120))
