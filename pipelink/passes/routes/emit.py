"""CUDA text of a plan: one device function without headers, register indices all constants."""

from collections.abc import Sequence
from itertools import groupby

from pipelink.ir.maps.forms import Const
from pipelink.passes.routes.plan import Access, Guard, Move, Plan, Step, Sync

# Shared-space PTX (PTX ISA: st, ld, bar.sync). The memory clobbers keep accesses on their side of the barriers.
DEVICE_PRELUDE = """\
template <class T> static __device__ __forceinline__ unsigned pl_to_bits(T value) {
  static_assert(sizeof(T) == 4, "staging moves 4-byte registers");
  return reinterpret_cast<unsigned&>(value);
}
template <class T> static __device__ __forceinline__ T pl_from_bits(unsigned bits) {
  return reinterpret_cast<T&>(bits);
}
template <class T> static __device__ __forceinline__ void pl_st_shared_b32(unsigned address, T a) {
  asm volatile("st.shared.b32 [%0], %1;" ::"r"(address), "r"(pl_to_bits(a)) : "memory");
}
template <class T> static __device__ __forceinline__ void pl_st_shared_v2(unsigned address, T a, T b) {
  asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(address), "r"(pl_to_bits(a)), "r"(pl_to_bits(b)) : "memory");
}
template <class T> static __device__ __forceinline__ void pl_st_shared_v4(unsigned address, T a, T b, T c, T d) {
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(pl_to_bits(a)), "r"(pl_to_bits(b)),
               "r"(pl_to_bits(c)), "r"(pl_to_bits(d)) : "memory");
}
template <class T> static __device__ __forceinline__ void pl_ld_shared_b32(unsigned address, T& a) {
  unsigned x;
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(x) : "r"(address) : "memory");
  a = pl_from_bits<T>(x);
}
template <class T> static __device__ __forceinline__ void pl_ld_shared_v2(unsigned address, T& a, T& b) {
  unsigned x, y;
  asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];" : "=r"(x), "=r"(y) : "r"(address) : "memory");
  a = pl_from_bits<T>(x);
  b = pl_from_bits<T>(y);
}
template <class T> static __device__ __forceinline__ void pl_ld_shared_v4(unsigned address, T& a, T& b, T& c, T& d) {
  unsigned x, y, z, w;
  asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : "r"(address) : "memory");
  a = pl_from_bits<T>(x);
  b = pl_from_bits<T>(y);
  c = pl_from_bits<T>(z);
  d = pl_from_bits<T>(w);
}
static __device__ __forceinline__ void pl_sync_cta(unsigned barrier, unsigned threads) {
  asm volatile("barrier.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
static __device__ __forceinline__ void pl_sync_warp() { __syncwarp(); }
"""

_SUFFIX = {4: "b32", 8: "v2", 16: "v4"}
Bases = dict[tuple[int, ...], tuple[str, int]]  # from an address's differences over threads to its variable and base


def emit_cuda(
    plan: Plan,
    function_name: str,
    element_type: str = "float",
    thread_expr: str = "threadIdx.x",
    scratch_expr: str = "0u",
    barrier_expr: str = "0",
) -> str:
    """`extern "C" __device__ void NAME(const T* frame, int chunk, T* dst)`, to follow DEVICE_PRELUDE.

    `thread_expr` is the thread among the participants, from 0; `scratch_expr` the shared-space byte address of the
    scratch; `barrier_expr` the barrier's id. Chunks are cases of a switch, since an index that depends on the chunk
    would put the frame in local memory. A chunk outside the plan does nothing but sync. A plan without scratch emits
    no shared memory. Raises ValueError where chunks differ in their syncs.
    """
    bases, declared = _bases(plan)
    lines = [
        f'extern "C" __device__ void {function_name}(const {element_type}* frame, int chunk, {element_type}* dst) {{'
    ]
    if _reads_thread(plan):
        lines.append(f"  const unsigned t = {thread_expr};")
    if declared:
        lines.append(f"  const unsigned scratch = {scratch_expr};")
    lines += [f"  const unsigned {name} = scratch + ({form});" for name, form in declared]
    if len(plan.schedule) == 1:
        lines.append("  (void)chunk;")
    for segment in _segments(plan):
        lines += _segment(segment, bases, barrier_expr)
    return "\n".join([*lines, "}", ""])


def _accesses(plan: Plan) -> list[Access]:
    return [step for steps in plan.schedule for step in steps if isinstance(step, Access)]


def _reads_thread(plan: Plan) -> bool:
    steps = [step for steps in plan.schedule for step in steps if not isinstance(step, Sync)]
    return any(step.guard is not None for step in steps) or bool(_accesses(plan))


def _differences(access: Access) -> tuple[int, ...]:
    table = access.address.tables[0]
    return tuple(value - table[0] for value in table)


def _bases(plan: Plan) -> tuple[Bases, list[tuple[str, str]]]:
    """One hoisted variable for all addresses that differ by a constant, which folds into the instruction."""
    lowest: dict[tuple[int, ...], Access] = {}
    for access in _accesses(plan):
        key = _differences(access)
        held = lowest.get(key)
        if held is None or access.address.tables[0][0] < held.address.tables[0][0]:
            lowest[key] = access
    bases: Bases = {}
    declared: list[tuple[str, str]] = []
    for number, (key, access) in enumerate(lowest.items()):
        name = f"at{number}"
        bases[key] = (name, access.address.tables[0][0])
        form = access.address.forms[0]
        declared.append((name, f"{form.value}u" if isinstance(form, Const) else str(form)))
    return bases, declared


def _segments(plan: Plan) -> list[list[Sequence[Step]]]:
    """segments[i][chunk]: alternately what each chunk does between syncs, and a sync that all chunks share."""
    split = [_split(steps) for steps in plan.schedule]
    shared = [[part for part in parts if part and isinstance(part[0], Sync)] for parts in split]
    if any(syncs != shared[0] for syncs in shared):
        raise ValueError("the chunks of a plan must sync alike")
    return [list(column) for column in zip(*split, strict=True)]


def _split(steps: Sequence[Step]) -> list[Sequence[Step]]:
    parts: list[Sequence[Step]] = []
    start = 0
    for at, step in enumerate(steps):
        if isinstance(step, Sync):
            parts += [steps[start:at], steps[at : at + 1]]
            start = at + 1
    return [*parts, steps[start:]]


def _segment(chunks: list[Sequence[Step]], bases: Bases, barrier: str) -> list[str]:
    bodies = [_body(steps, bases, barrier) for steps in chunks]
    if all(body == bodies[0] for body in bodies):
        return ["  " + line for line in bodies[0]]
    lines = ["  switch (chunk) {"]
    for chunk, body in enumerate(bodies):
        lines += [f"  case {chunk}:", *("    " + line for line in body), "    break;"]
    return [*lines, "  }"]


def _body(steps: Sequence[Step], bases: Bases, barrier: str) -> list[str]:
    lines: list[str] = []
    for guard, group in groupby(steps, key=_guard):
        inner = [line for step in group for line in _step(step, bases, barrier)]
        if guard is None:
            lines += inner
        else:
            lines += [f"if ({guard}) {{", *("  " + line for line in inner), "}"]
    return lines


def _guard(step: Step) -> Guard | None:
    return None if isinstance(step, Sync) else step.guard


def _step(step: Step, bases: Bases, barrier: str) -> list[str]:
    if isinstance(step, Move):
        return [f"dst[{position}] = frame[{register}];" for position, register in step.pairs]
    if isinstance(step, Sync):
        call = "pl_sync_warp()" if step.scope == "warp" else f"pl_sync_cta({barrier}, {step.threads})"
        return [f"{call};  // {step.why}"]
    name, base = bases[_differences(step)]
    extra = step.address.tables[0][0] - base
    address = f"{name} + {extra}" if extra else name
    array, op = ("frame", "st") if step.kind == "store" else ("dst", "ld")
    registers = ", ".join(f"{array}[{register}]" for register in step.registers)
    return [f"pl_{op}_shared_{_SUFFIX[step.width]}({address}, {registers});"]
