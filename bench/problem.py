"""The problem on the GPU, with torch: inputs, outputs, references, timing. The one module that knows torch's names.

out[M, N/2] = silu(gate) * up, where gate and up are the even and odd columns of x[M, K] w[N, K]^T, all in bf16.
"""
# pyright: basic, reportMissingImports=false

import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bench import images
from bench.sizes import AUDIT_WORDS, Size


def torch() -> Any:
    """torch, with float32 products in float32."""
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    return torch


def fresh_seed() -> int:
    return secrets.randbelow(2**31)


class Problem:
    """Tensors of one size. `out` and `audit` are poisoned before each launch."""

    def __init__(self, size: Size, seed: int):
        t = torch()
        self.size = size
        self.generator = t.Generator(device="cuda").manual_seed(seed)
        self.x = t.empty(size.m, size.k, device="cuda", dtype=t.bfloat16)
        self.w = t.empty(size.n, size.k, device="cuda", dtype=t.bfloat16)
        self.out = t.empty(size.m, size.n // 2, device="cuda", dtype=t.bfloat16)
        self.audit = t.empty(size.blocks, AUDIT_WORDS, device="cuda", dtype=t.int64)
        self.draw()
        self.poison()

    def draw(self) -> None:
        """New inputs in the same memory: rows of x of norm sqrt(K), products of deviation 1.5."""
        for tensor, scale in ((self.x, 1.0), (self.w, 1.5 * self.size.k**-0.5)):
            rows = max(1, 2**28 // tensor.shape[1])
            for at in range(0, tensor.shape[0], rows):
                part = tensor[at : at + rows]
                made = torch().randn(part.shape, device="cuda", generator=self.generator)
                part.copy_(made.mul_(scale))

    def poison(self) -> None:
        self.out.fill_(float("nan"))
        self.audit.fill_(-1)

    def buffers(self, image: Path) -> dict[str, Any]:
        """The buffers that the image declares."""
        lent = {"x": self.x, "w": self.w, "out": self.out, "audit": self.audit}
        return {name: lent[name] for name in images.buffer_names(image)}

    def reference(self) -> Any:
        """In float32 throughout."""
        product = self.x.float() @ self.w.float().t()
        return torch().nn.functional.silu(product[:, 0::2]).mul_(product[:, 1::2])

    def baseline(self) -> Any:
        """torch's own bf16 path, as float32: a product rounded to bf16, then silu and a product of that."""
        product = self.x @ self.w.t()
        return (torch().nn.functional.silu(product[:, 0::2]) * product[:, 1::2]).float()


def current_stream() -> int:
    return torch().cuda.current_stream().cuda_stream


def synchronize() -> None:
    torch().cuda.synchronize()


def multiprocessors() -> int:
    return torch().cuda.get_device_properties(0).multi_processor_count


def same_bits(a: Any, b: Any) -> bool:
    return bool((a.view(torch().int16) == b.view(torch().int16)).all())


def time_each(launches: Sequence[Callable[[], None]]) -> list[float]:
    """Milliseconds of each launch, between events of its own on the current stream."""
    event = torch().cuda.Event
    marks = [(event(enable_timing=True), event(enable_timing=True)) for _ in launches]
    synchronize()
    for launch, (start, end) in zip(launches, marks, strict=True):
        start.record()
        launch()
        end.record()
    synchronize()
    return [start.elapsed_time(end) for start, end in marks]


def capture(launch: Callable[[int], None]) -> Callable[[], None]:
    """A CUDA graph of what `launch` enqueues on the stream it is given; returns its replay."""
    graph = torch().cuda.CUDAGraph()
    with torch().cuda.graph(graph):
        launch(current_stream())
    return graph.replay
