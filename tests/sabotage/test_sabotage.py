"""Every check of a link has a canary: the link is sabotaged in one place, and the check that should notice must fail.

A check that no sabotage trips proves nothing and is to be deleted: `test_every_check_is_tripped` sees to that.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp

from pipelink.backend import control, cuda, postlink
from pipelink.backend.link import Linked, link, load_packages
from pipelink.frontends.cuda.pack import headers
from pipelink.ir.attributes import ValuesAttr
from pipelink.ir.pl import ClaimOp, ConnectOp, integer
from pipelink.ir.symbols import Symbols, pipeline_of
from pipelink.tools.pl_link import finish, load

MANIFEST = Path("components/gemm_swiglu/h200.toml")


def text(pattern: str, replacement: str) -> Callable[[str], str]:
    """A sabotage of the generated code: the first match of `pattern` is replaced; it must match."""

    def change(source: str) -> str:
        changed, count = re.subn(pattern, replacement, source, count=1)
        assert count == 1, f"nothing to sabotage: {pattern}"
        assert changed != source
        return changed

    return change


@dataclass(frozen=True)
class Sabotage:
    """What is changed, and the checks that must notice."""

    name: str
    change: Callable[[str], str]
    noticed_by: frozenset[str]


def sabotage(name: str, pattern: str, replacement: str, *noticed_by: str) -> Sabotage:
    return Sabotage(name, text(pattern, replacement), frozenset(noticed_by))


KERNEL = r'extern "C" __global__'
SABOTAGES = [
    sabotage("one stub constant", r"(plh_mainloop__a\(\) \{ return )\d+u", r"\g<1>1024u", "stubs"),
    sabotage("one arrival count", r"(plh_load__ab_empty_count\(\) \{ return )8u", r"\g<1>7u", "stubs"),
    sabotage("one role base in a handle", r"(plh_swiglu__first_warp\(\) \{ return )4u", r"\g<1>0u", "stubs"),
    sabotage("one role base in the kernel", r"if \(warp == 0\)", "if (warp == 1)", "entries"),
    sabotage("no fence after initialising", r"pl_fence_mbarrier_init\(\);", ";", "entries"),
    sabotage("no meeting after initialising", r"__syncthreads\(\);", ";", "entries", "barrier-ids"),
    sabotage("no fence at the rendezvous", r"(frame|a0\);)\n  pl_fence_proxy_async\(\);", r"\1", "rendezvous"),
    sabotage("one barrier id", r"pl_sync_cta\(1, 256\)", "pl_sync_cta(5, 256)", "barrier-ids"),
    sabotage(
        "a barrier id from a register",
        r"pl_sync_cta\(1, 256\)",
        "pl_sync_cta(1 + (blockIdx.x == 77), 256)",
        "barrier-ids",
    ),
    sabotage("a second use of barrier 0", r"pl_sync_cta\(1, 256\)", "pl_sync_cta(0, 256)", "barrier-ids"),
    sabotage("one register budget", r"(setmaxnreg\.inc\.sync\.aligned\.u32 )\d+", r"\g<1>216", "budgets"),
    sabotage("budgets over the pool", r"(setmaxnreg\.dec\.sync\.aligned\.u32 )\d+", r"\g<1>72", "budgets"),
    sabotage("no launch bounds", r"__launch_bounds__\(384, 1\) ", "", "launch-bounds", "no-messages"),
    sabotage("a call that stays", r"__device__ (void swiglu_produce)", r"__device__ __noinline__ \1", "no-stack"),
    sabotage(
        "static shared memory",
        r"(pl_gemm_swiglu_h200\([^\n]*\n)",
        r"\1  __shared__ volatile unsigned extra[4]; extra[threadIdx.x & 3] = threadIdx.x;\n",
        "launch-bounds",
    ),
    sabotage("a GPU-wide fence", r"(pl_sync_cta\(1, 256\);)", r"\1 __threadfence();", "no-gpu-fence"),
    sabotage("a kernel of its own", KERNEL, KERNEL + " void extra() {}\n" + KERNEL, "one-kernel"),
]


@cache
def module() -> ModuleOp:
    made = load(MANIFEST, [])
    finish(made)
    return made


@cache
def packages():
    return load_packages(module(), [MANIFEST.parent, Path("build/gemm_swiglu")])


@cache
def noticed(case: str) -> frozenset[str]:
    """The checks that fault the link of a case."""
    (chosen,) = [s for s in SABOTAGES if s.name == case]
    linked = link(module(), packages(), chosen.change(cuda.generate(module())))
    return frozenset(postlink.faults(postlink.Image(linked)))


@pytest.mark.parametrize("case", [s.name for s in SABOTAGES])
def test_is_noticed(case: str) -> None:
    (chosen,) = [s for s in SABOTAGES if s.name == case]
    assert chosen.noticed_by <= noticed(case)


def _flip_one_register(changed: ModuleOp) -> None:
    """One register of one store of the staged plan."""
    for connect in Symbols(pipeline_of(changed)).ops(ConnectOp):
        if connect.schedule is not None:
            values = connect.schedule.data
            plan = str(values["plan"]).replace('"registers":[0,1]', '"registers":[0,3]', 1)
            assert plan != values["plan"]
            connect.schedule = ValuesAttr.of({**values, "plan": plan})


def test_a_transfer_index_is_noticed() -> None:
    changed = module().clone()
    _flip_one_register(changed)
    assert "transfers" in postlink.faults(postlink.Image(Linked(changed, packages(), *_clean())))


@pytest.mark.parametrize(
    ("claim", "base", "said"),
    [("store", 1, "overlap"), ("out", 512, "aligned"), ("scratch", 0, "overlap"), ("out", 232448 - 1024, "is not in")],
)
def test_a_base_is_noticed(claim: str, base: int, said: str) -> None:
    """A base that is edited in the IR, so that the generated code agrees with it."""
    changed = module().clone()
    for op in Symbols(pipeline_of(changed)).ops(ClaimOp):
        if op.sym_name.data == claim:
            op.base = integer(base)
    found = postlink.placement(postlink.Image(Linked(changed, packages(), *_clean())))
    assert any(said in text for _, text in found)


@cache
def _clean() -> tuple[str, bytes, str, tuple[str, ...]]:
    linked = link(module(), packages())
    return linked.text, linked.cubin, linked.log, linked.options


def test_nothing_is_noticed_without_sabotage() -> None:
    assert postlink.faults(postlink.Image(Linked(module(), packages(), *_clean()))) == {}


def test_the_controls_notice_a_transfer_index_in_the_code() -> None:
    """Nothing but the controls sees a wrong index that the generator wrote from a right plan."""
    changed = text(r"frame\[17\]", "frame[18]")(cuda.generate(module()))
    linked = link(module(), packages(), changed)
    assert postlink.faults(postlink.Image(linked)) == {}
    built = control.build(linked, headers())
    assert not built.lto.identical
    assert not built.plain.identical
    right = replace(linked, text=_clean()[0], cubin=_clean()[1])
    assert control.build(right, headers()).lto.identical


def test_every_check_is_tripped() -> None:
    tripped = frozenset[str]().union(*(noticed(s.name) for s in SABOTAGES)) | {"transfers", "placement"}
    tripped |= {"tensor-memory"}  # by test_p77: no Hopper kernel has it
    assert tripped == frozenset(postlink.CHECKS)
