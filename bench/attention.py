"""Attention on the GPU, with torch: inputs, outputs, references and what others make of them.

out[b, i, h] = sum over j of softmax_j(score(q[b, i, h] . k[b, j, h'])) v[b, j, h'] for the keys j that query i sees;
it stands at key i + keys - queries. Tensors are bf16 of [batch, length, heads, 128].
"""
# pyright: basic, reportMissingImports=false

import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bench import problem

HEAD = 128
TILE = 128  # queries of a tile, keys of a block
GUARD = 3  # rows and heads of memory around the output that must stay as they are


@dataclass(frozen=True)
class Shape:
    """Extents of one problem."""

    batch: int
    queries: int
    keys: int
    heads: int = 32
    key_heads: int = 8

    def __str__(self) -> str:
        return f"{self.batch}x{self.queries}x{self.keys} {self.heads}/{self.key_heads}"


@dataclass(frozen=True)
class Variant:
    """What a pipeline computes: a mask with its numbers, and a cap of scores or none. `span` is the keys of a window or
    chunk, the local blocks of `blocksparse`, the blocks that a tile of `selected` chooses."""

    name: str
    mask: str
    span: int = 0
    softcap: float = 0
    stride: int = 0

    def __str__(self) -> str:
        said = " ".join([self.mask, *(str(n) for n in (self.span, self.stride) if n)])
        return said + (f", softcap {self.softcap:g}" if self.softcap else "")

    def arguments(self) -> dict[str, float]:
        """What `Image.open` takes."""
        names = {"window": "window", "chunked": "chunk", "blocksparse": "local_blocks"}
        made: dict[str, float] = {"scale": HEAD**-0.5}
        if self.mask in names:
            made[names[self.mask]] = self.span
        if self.mask == "blocksparse":
            made["vertical_stride"] = self.stride
        return made | ({"softcap": self.softcap} if self.softcap else {})

    def sees(self, query: Any, key: Any, head: Any, heads: int) -> Any:
        """Whether the query at a position sees the key at one, whatever was chosen: elements of torch."""
        if self.mask == "full":
            return (query >= key) | (query < key)
        if self.mask == "window":
            return (key <= query) & (key > query - self.span)
        if self.mask == "chunked":
            return (key <= query) & (key >= query - query % self.span)
        if self.mask == "blocksparse":
            own, block, slide = query // 64, key // 64, max(1, self.stride // heads)
            return (key <= query) & ((own - block < self.span) | ((block + head * slide + 1) % self.stride == 0))
        return key <= query


class Tensors:
    """Inputs and outputs of one shape. `kind` says what is drawn: `normal`; `large`, scores of deviation 9; `rising`,
    keys that grow with their position; `jumping`, now and then a block whose scores are larger by hundreds."""

    def __init__(self, shape: Shape, seed: int, kind: str = "normal", transposed: bool = False):
        t = problem.torch()
        self.shape, self.kind = shape, kind
        self.generator = t.Generator(device="cuda").manual_seed(seed)
        sizes = [(shape.queries, shape.heads), (shape.keys, shape.key_heads), (shape.keys, shape.key_heads)]
        self.q, self.k, self.v = (self._empty(length, heads, transposed) for length, heads in sizes)
        self.memory = t.empty(
            shape.batch, shape.queries + GUARD, shape.heads + GUARD, HEAD, device="cuda", dtype=t.bfloat16
        )
        self.out = self.memory[:, : shape.queries, : shape.heads]
        self.lse = t.empty(shape.batch, shape.heads, shape.queries, device="cuda", dtype=t.float32)
        self.chosen: Any = None  # [batch, key heads, tiles, blocks]: what `choose` has drawn
        self.choices: dict[str, Any] = {}
        self.draw()
        self.poison()

    def choose(self, count: int) -> None:
        """For each tile of 128 queries, up to `count` blocks of keys before its own, uniformly; as buffers too."""
        t = problem.torch()
        tiles, blocks = -(-self.shape.queries // TILE), -(-self.shape.keys // TILE)
        own = t.arange(tiles, device="cuda") + (self.shape.keys - self.shape.queries) // TILE
        extents = (self.shape.batch, self.shape.key_heads, tiles)
        order = t.rand(*extents, blocks, device="cuda", generator=self.generator)
        order.masked_fill_(t.arange(blocks, device="cuda") >= own[:, None], 2)
        picked = order.argsort(-1)[..., :count].int().contiguous()
        counts = own.clamp(max=picked.shape[-1]).int().expand(extents).contiguous()
        self.chosen = t.zeros(*extents, blocks, device="cuda", dtype=t.bool)
        ranks = t.arange(picked.shape[-1], device="cuda") < counts[..., None]
        self.chosen.scatter_(-1, picked.long(), ranks)
        self.chosen |= t.arange(blocks, device="cuda") == own[:, None]
        self.choices = {"counts": counts, "blocks": picked}

    def _empty(self, length: int, heads: int, transposed: bool) -> Any:
        t = problem.torch()
        batch = self.shape.batch
        if transposed:
            return t.empty(batch, heads, length, HEAD, device="cuda", dtype=t.bfloat16).transpose(1, 2)
        return t.empty(batch, length, heads, HEAD, device="cuda", dtype=t.bfloat16)

    def draw(self) -> None:
        """New inputs in the same memory."""
        t = problem.torch()
        for tensor in (self.q, self.k, self.v):
            tensor.copy_(t.randn(tensor.shape, device="cuda", generator=self.generator))
        at = t.arange(self.shape.keys, device="cuda")
        if self.kind == "large":
            self.q.mul_(3)
            self.k.mul_(3)
        if self.kind == "rising":
            self.k.mul_((1 + 20 * at / self.shape.keys)[None, :, None, None])
        if self.kind == "jumping":
            # From the newest block back, each step of 512 keys multiplies scores by 3: maxima jump by up to hundreds.
            self.k.mul_((3.0 ** ((self.shape.keys - 1 - at) // 512).clamp(max=4))[None, :, None, None])

    def poison(self) -> None:
        self.memory.fill_(float("nan"))
        self.lse.fill_(float("nan"))

    def buffers(self) -> dict[str, Any]:
        return {"q": self.q, "k": self.k, "v": self.v, "out": self.out, "lse": self.lse, **self.choices}

    def guarded(self) -> bool:
        """Whether memory beside the output is as it was."""
        rows, heads = self.memory[:, self.shape.queries :], self.memory[:, :, self.shape.heads :]
        return bool(rows.isnan().all()) and bool(heads.isnan().all())

    def heads_first(self) -> tuple[Any, Any, Any]:
        """q, k and v as torch's attention takes them."""
        return self.q.transpose(1, 2), self.k.transpose(1, 2), self.v.transpose(1, 2)


def mask_of(variant: Variant, made: Tensors) -> Any:
    """Of bool: [batch or 1, heads or 1, queries, keys]."""
    t = problem.torch()
    shape = made.shape
    query = t.arange(shape.queries, device="cuda")[:, None] + shape.keys - shape.queries
    key = t.arange(shape.keys, device="cuda")[None, :]
    if variant.mask == "blocksparse":
        return variant.sees(query, key, t.arange(shape.heads, device="cuda")[:, None, None], shape.heads)[None]
    seen = variant.sees(query, key, 0, shape.heads)[None, None]
    if made.chosen is None:
        return seen
    chosen = made.chosen.repeat_interleave(TILE, 2).repeat_interleave(TILE, 3)[:, :, : shape.queries, : shape.keys]
    return seen & chosen.repeat_interleave(shape.heads // shape.key_heads, 1)


def operations(variant: Variant, made: Tensors) -> int:
    """Multiplications and additions of both products for the pairs of a query and a key that count; whole tiles."""
    t = problem.torch()
    shape = made.shape
    if made.chosen is not None:
        own = shape.batch * shape.key_heads * made.chosen.shape[2]
        pairs = (int(made.chosen.sum()) - own) * TILE**2 + own * TILE * (TILE + 1) // 2
        return 4 * HEAD * pairs * (shape.heads // shape.key_heads)
    position = t.arange(shape.queries, device="cuda") + shape.keys - shape.queries
    if variant.mask == "blocksparse":
        own, block = t.arange(shape.queries // 64, device="cuda")[:, None], t.arange(shape.keys // 64, device="cuda")
        seen = (variant.sees(64 * own, 64 * block, head, shape.heads) for head in range(shape.heads))
        total = sum(int(s.sum()) for s in seen) * 64**2 - shape.heads * shape.queries * 63 // 2
        return 4 * HEAD * shape.batch * total
    first, last = t.zeros_like(position), position
    if variant.mask == "full":
        last = last * 0 + shape.keys - 1
    if variant.mask == "window":
        first = (last - variant.span + 1).clamp(min=0)
    if variant.mask == "chunked":
        first = last - last % variant.span
    return 4 * HEAD * shape.heads * shape.batch * int((last - first + 1).clamp(min=0).sum())


def reference(variant: Variant, made: Tensors) -> tuple[Any, Any]:
    """Outputs and logarithms in float32 throughout. A row without a key has zeros and -inf."""
    scores, values = _scores(variant, made)
    lse = scores.logsumexp(-1)
    weights = scores.sub_(lse.nan_to_num(neginf=0)[..., None]).exp_()
    return (weights @ values).transpose(1, 2), lse


def _scores(variant: Variant, made: Tensors) -> tuple[Any, Any]:
    q, k, v = (tensor.float() for tensor in made.heads_first())
    ratio = made.shape.heads // made.shape.key_heads
    k, v = k.repeat_interleave(ratio, 1), v.repeat_interleave(ratio, 1)
    scores = q @ k.transpose(-1, -2) * HEAD**-0.5
    if variant.softcap:
        scores = variant.softcap * (scores / variant.softcap).tanh_()
    return scores.masked_fill_(~mask_of(variant, made), -math.inf), v


def baseline(variant: Variant, made: Tensors) -> tuple[Any, str]:
    """What others make of it in bf16, as float32, and by which way: cuDNN's attention where that has the variant, else
    float32 with the two roundings that no bf16 kernel can avoid, of weights and of outputs: a stricter measure."""
    square = made.shape.queries == made.shape.keys
    if not variant.softcap and (variant.mask == "full" or (variant.mask == "causal" and square)):
        with contextlib.suppress(RuntimeError):  # a shape that cuDNN refuses
            return cudnn(variant, made)().float(), "cudnn"
    scores, v = _scores(variant, made)
    most = scores.amax(-1, keepdim=True).nan_to_num(neginf=0)
    weights = scores.sub_(most).exp_()
    sums = weights.sum(-1, keepdim=True)
    out = (weights.bfloat16().float() @ v / sums).nan_to_num()
    return out.bfloat16().float().transpose(1, 2), "rounded"


def cudnn(variant: Variant, made: Tensors) -> Callable[[], Any]:
    """cuDNN's attention, full or causal of as many queries as keys."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    attend = problem.torch().nn.functional.scaled_dot_product_attention
    q, k, v = made.heads_first()

    def run() -> Any:
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            return attend(q, k, v, is_causal=variant.mask == "causal", enable_gqa=True).transpose(1, 2)

    return run


def flex(variant: Variant, made: Tensors) -> Callable[[], Any]:
    """FlexAttention with the variant's mask and cap, compiled; not for `full`, which has no mask."""
    t = problem.torch()
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    q, k, v = made.heads_first()

    shape, chosen = made.shape, made.chosen
    ratio = shape.heads // shape.key_heads

    def seen(batch: Any, head: Any, query: Any, key: Any) -> Any:
        found = variant.sees(query, key, head, shape.heads)
        return found if chosen is None else found & chosen[batch, head // ratio, query // TILE, key // TILE]

    def capped(score: Any, _b: Any, _h: Any, _query: Any, _key: Any) -> Any:
        return variant.softcap * t.tanh(score / variant.softcap)

    if variant.mask in ("blocksparse", "selected"):
        mask = _sparse_mask(variant, made, seen)
    else:
        mask = create_block_mask(seen, None, None, made.shape.queries, made.shape.keys, device="cuda")
    t._dynamo.reset()  # past its limit of recompilations it would run eagerly, without a word
    compiled = t.compile(flex_attention, dynamic=False)
    score = capped if variant.softcap else None

    def run() -> Any:
        return compiled(q, k, v, score_mod=score, block_mask=mask, enable_gqa=True).transpose(1, 2)

    return run


def _sparse_mask(variant: Variant, made: Tensors, seen: Callable[..., Any]) -> Any:
    """FlexAttention's mask of a sparse variant, whose whole map of elements would not fit: from that of blocks."""
    t = problem.torch()
    from torch.nn.attention.flex_attention import BlockMask

    shape = made.shape
    tiles = shape.queries // TILE
    diagonal = t.eye(tiles, device="cuda", dtype=t.bool)
    if variant.mask == "selected":
        some = made.chosen.repeat_interleave(shape.heads // shape.key_heads, 1)
        every = some & ~diagonal
    else:
        at, head = t.arange(shape.queries // 64, device="cuda"), t.arange(shape.heads, device="cuda")[:, None, None]
        halves = variant.sees(64 * at[:, None], 64 * at, head, shape.heads).view(1, shape.heads, tiles, 2, tiles, 2)
        some, every = halves.any(3).any(-1), halves.all(3).all(-1) & ~diagonal
    lists: list[Any] = []
    for blocks in (some & ~every, every):
        lists += [blocks.sum(-1).int(), blocks.int().argsort(dim=-1, descending=True, stable=True).int()]
    return BlockMask.from_kv_blocks(*lists, BLOCK_SIZE=TILE, mask_mod=seen, seq_lengths=(shape.queries, shape.keys))
