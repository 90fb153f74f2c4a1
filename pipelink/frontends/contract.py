"""The contract of a package as data: the schema of `contract.json`, the one member that states all others.

Every name is an identifier of one grammar (`IDENTIFIER`), since names reach generated code. Sizes are bytes unless a
field says otherwise. Maps are the closed form text of `pipelink.ir.maps`. The paper's Table 1 lists what it holds.
"""

import re
from typing import Literal, get_args

import msgspec

SCHEMA_VERSION = 1

# No double underscore: handle symbols join package and handle with one (see `handle_symbol`).
IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*")
SYMBOL = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def handle_symbol(package: str, handle: str) -> str:
    """The external device function through which `package` reads `handle`; injective over identifiers."""
    return f"plh_{package}__{handle}"


def ring_handles(ring: str) -> tuple[str, ...]:
    """The handles of a ring besides those of its buffers."""
    return tuple(f"{ring}_{part}" for part in ("full", "empty", "depth", "full_count", "empty_count"))


def counter_handles(counter: str) -> tuple[str, ...]:
    """The handles of an endpoint of counters."""
    return f"{counter}_base", f"{counter}_arrivals"


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Base of every declared thing."""


class Location(Entry, frozen=True):
    """Where the annotation stands: a relative path, 1-based line and column."""

    file: str
    line: int
    column: int


class Signature(Entry, frozen=True):
    """An `extern "C"` device function's type, captured by the compiler, spelled as it spells it.

    `args` is true where the first parameter is a pointer to the package's own parameters, `context` where the next is
    a `const pl_context *`; the linker supplies both. `parameters` are the others: a call and its callable share them.
    """

    result: str
    parameters: tuple[str, ...]
    args: bool = False
    context: bool = False


class FpMode(Entry, frozen=True):
    """Floating-point options of NVVM; the defaults are nvcc's. All packages of a pipeline share one mode, since the
    machine code is made at the link and nvJitLink applies one mode to all."""

    ftz: bool = False
    prec_div: bool = True
    prec_sqrt: bool = True
    fma: bool = True

    def nvcc_flags(self) -> tuple[str, ...]:
        """Flags of nvcc and NVRTC."""
        values = {"ftz": self.ftz, "prec-div": self.prec_div, "prec-sqrt": self.prec_sqrt, "fmad": self.fma}
        return tuple(f"--{name}={'true' if value else 'false'}" for name, value in values.items())

    def link_options(self) -> tuple[str, ...]:
        """Options of nvJitLink, which reads 0 and 1 only."""
        values = {"ftz": self.ftz, "prec-div": self.prec_div, "prec-sqrt": self.prec_sqrt, "fma": self.fma}
        return tuple(f"-{name}={value:d}" for name, value in values.items())

    @classmethod
    def parse(cls, options: str) -> "FpMode":
        """Read the `nvvmOptions` of a fatbin entry: `-ftz=0 -prec_div=1 -prec_sqrt=1 -fmad=1`.

        Raises ValueError where one of the four is absent or is neither 0 nor 1.
        """
        found = dict(re.findall(r"(?:^|\s)-(\w+)=(\S+)", options))
        values: list[bool] = []
        for name in ("ftz", "prec_div", "prec_sqrt", "fmad"):
            if found.get(name) not in ("0", "1"):
                raise ValueError(f"no floating-point option {name} in {options!r}")
            values.append(found[name] == "1")
        return cls(*values)


class Field(Entry, frozen=True):
    name: str
    offset: int
    size: int


class Parameters(Entry, frozen=True):
    """The struct of kernel parameters that the package's host side fills: measured, never restated."""

    type: str
    size: int
    align: int
    fields: tuple[Field, ...]
    at: Location


class Role(Entry, frozen=True):
    """A group of whole warps with its own entry function. `align` counts warps: 4 starts on a warpgroup.

    `registers` is the range of budgets it accepts, `need` the registers a thread its code is known to use (0: unknown).
    """

    name: str
    entry: str
    signature: Signature
    warps: int
    at: Location
    align: int = 1
    registers: tuple[int, int] = (24, 240)
    need: int = 0
    uses: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()


class Callable(Entry, frozen=True):
    """An exported device function that runs on its caller's threads. `uses` are handles, `calls` calls and imports."""

    name: str
    symbol: str
    signature: Signature
    at: Location
    uses: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()


class Site(Entry, frozen=True):
    """A place in a role's code from which it calls or imports: who takes part, and what the role guarantees there."""

    name: str
    role: str
    threads: int
    at: Location
    first_thread: int = 0
    guarantees: tuple[str, ...] = ()


class Call(Entry, frozen=True):
    """A foreign callable that the package's code calls through `symbol`, which the linker defines."""

    name: str
    symbol: str
    signature: Signature
    at: Location
    site: str = ""


class Lifetime(Entry, frozen=True):
    """`kernel`: all of it. `phase`: one phase of an instruction stream. `between`: from event `start` to event `end`.

    Events are `begin` and `end` of the kernel and `TENSOR.ready`, `TENSOR.done` of a tensor connection.
    """

    kind: Literal["kernel", "phase", "between"] = "kernel"
    phase: str = ""
    start: str = "begin"
    end: str = "end"


ClaimKind = Literal["smem", "mbarrier", "barrier", "tmem", "counter"]
Scope = Literal["cta", "cluster", "gpu", "system"]
Restart = Literal["", "launch", "self", "epoch"]
SCOPES: tuple[str, ...] = get_args(Scope)
RESTARTS: tuple[str, ...] = get_args(Restart)[1:]


class Claim(Entry, frozen=True):
    """Something claimed by handle. `size` is bytes (smem), slots (mbarrier), ids (barrier), columns (tmem), words
    (counter), of one stage where `ring` names a ring. A tile claim states its layout: `swizzle` bytes need alignment
    8 times as large (PTX ISA, tensor swizzling modes). `proxy` is `async` where TMA or wgmma access it. A counter
    states its `scope` and how it starts each launch: by the session's memset, by its users at exit, or never (epochs).
    """

    name: str
    kind: ClaimKind
    size: int
    at: Location
    align: int = 1
    ring: str = ""
    lifetime: Lifetime = Lifetime()
    dtype: str = ""
    tile: tuple[int, ...] = ()
    swizzle: int = 0
    proxy: Literal["generic", "async"] = "generic"
    scope: Scope = "cta"
    restart: Restart = ""


class Count(Entry, frozen=True):
    """Arrivals on one mbarrier a phase: `times`, or `times` for each warp or thread of the side that arrives."""

    per: Literal["once", "warp", "thread"] = "once"
    times: int = 1


class Ring(Entry, frozen=True):
    """One endpoint of an mbarrier ring. `full` is arrived on by the producer, `empty` by the consumer.

    Its handles are its buffers, `NAME_full` and `NAME_empty` (byte offsets of the first slot), `NAME_depth`,
    `NAME_full_count` and `NAME_empty_count`. `drains`: once the consumer has waited for the last stage it consumes, the
    producer neither writes nor will write. `on` names the role, callable or export whose code is this endpoint.
    A consumer says how many `producers` fill a stage: each some of the buffers, with `full` arrivals of its own.
    """

    name: str
    side: Literal["producer", "consumer"]
    on: str
    depth: tuple[int, int]
    full: Count
    empty: Count
    bytes: int
    at: Location
    init: str = ""
    init_signature: Signature | None = None
    init_uses: tuple[str, ...] = ()
    drains: bool = False
    space: Literal["smem"] = "smem"
    scope: Literal["cta", "cluster"] = "cta"
    proxy: Literal["async", "generic"] = "async"
    priority: int = 0
    producers: int = 1


class Counter(Entry, frozen=True):
    """One endpoint of counters in device memory that packages share: producers raise words, consumers wait on them.

    Its handles are `NAME_base`, the index of the first word, and `NAME_arrivals`, what all producers add to one word.
    `arrivals` is what this producer adds to a word for each thing that it announces, or what a consumer expects
    of all for one.
    """

    name: str
    side: Literal["producer", "consumer"]
    on: str
    words: int
    at: Location
    scope: Scope = "gpu"
    restart: Restart = "launch"
    arrivals: Count | None = None


class Stream(Entry, frozen=True):
    """A stream of instructions that `roles` run in `phases`. Of the phases in one entry of `exclusive` no two overlap:
    between them all threads of the roles meet; where `fenced`, with a fence between the proxies too."""

    name: str
    roles: tuple[str, ...]
    phases: tuple[str, ...]
    at: Location
    exclusive: tuple[tuple[str, ...], ...] = ()
    fenced: bool = False


class Topology(Entry, frozen=True):
    """The launches that the package can live with: cluster shapes (none stated: any), blocks a multiprocessor."""

    at: Location
    clusters: tuple[tuple[int, int, int], ...] = ()
    occupancy: tuple[int, int] = (1, 32)


class WarpHandle(Entry, frozen=True):
    """A handle that reads the first warp of the role that runs the code of `of` (a role, callable or export)."""

    name: str
    of: str
    at: Location


class Export(Entry, frozen=True):
    """A tile left in registers: thread t of the caller holds the element that `placement` maps (t, r) to in frame[r].

    `symbol` runs the producer on the caller's threads: `void f(T *frame)` after its linker-supplied parameters.
    """

    name: str
    symbol: str
    signature: Signature
    dtype: str
    placement: str
    registers: int
    threads: int
    at: Location
    align: int = 1
    requires: tuple[str, ...] = ()
    completion: str = ""
    uses: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()


class Import(Entry, frozen=True):
    """A tile demanded by chunks: thread t wants the element that `demand` maps (t, p, chunk) to in dst[p].

    The linker defines `produce` (runs the producer, then the rendezvous `ready`) and `symbol`
    (`void f(const T *frame, int chunk, T *dst)`). What it lends: a frame, scratch claimed in shared memory, a barrier.
    """

    name: str
    symbol: str
    signature: Signature
    produce: str
    produce_signature: Signature
    dtype: str
    demand: str
    chunk: str
    site: str
    frame: int
    at: Location
    scratch: str = ""
    barrier: str = ""
    completion: str = ""


class Fact(Entry, frozen=True):
    """A constant that this package owns and others schedule against."""

    name: str
    type: Literal["i32", "u32", "i64", "f32"]
    value: int | float
    at: Location


class FactUse(Entry, frozen=True):
    """A field of this package's parameters that the linker sources from a fact."""

    name: str
    type: Literal["i32", "u32", "i64", "f32"]
    field: str
    at: Location
    required: int | float | None = None


class Buffer(Entry, frozen=True):
    """Memory that the caller lends at `open`. `align` is bytes of its address and of its outer strides."""

    name: str
    dtype: str
    rank: int
    access: Literal["read", "write", "update"]
    at: Location
    align: int = 16


class Argument(Entry, frozen=True):
    """A value that the caller gives at `open`."""

    name: str
    type: Literal["i32", "i64", "f32", "u64"]
    at: Location


class Domain(Entry, frozen=True):
    """A communication domain that the package joins, of so many `ranks` (0: any). The session writes the caller's rank
    and the number of ranks to the fields, 4 bytes each, that are named."""

    name: str
    at: Location
    ranks: int = 0
    rank_field: str = ""
    ranks_field: str = ""


class View(Entry, frozen=True):
    """A view of a symmetric allocation of a domain, in `field`: the `local` address, the `peer` addresses (one for each
    rank, in order), or one `multicast` address. `allocation` is the caller's name for it, by default the view's."""

    name: str
    domain: str
    kind: Literal["local", "peer", "multicast"]
    field: str
    at: Location
    allocation: str = ""


class Provider(Entry, frozen=True):
    """Host code that fills the package's parameters: member `provider.so`, entry `symbol`, interface version `abi`."""

    symbol: str
    abi: int
    at: Location


class Kernel(Entry, frozen=True):
    """A `__global__` function of the object, with the launch attributes that the object states (0: none)."""

    name: str
    max_threads: int = 0
    cluster: tuple[int, int, int] = (0, 0, 0)


class Member(Entry, frozen=True):
    """A file of the package. `object.fatbin` always; `provider.so` and `source/...` where the author ships them."""

    name: str
    sha256: str
    size: int


class Contract(Entry, frozen=True):
    """All of one package: what it requires and what it promises, and how its object was made."""

    name: str
    version: str
    target: str
    toolkit: str
    ir_version: tuple[int, int]
    fp: FpMode
    flags: tuple[str, ...]
    members: tuple[Member, ...]
    at: Location
    schema: int = SCHEMA_VERSION
    main: str = ""
    defined: tuple[str, ...] = ()
    undefined: tuple[str, ...] = ()
    static_shared: int = 0
    kernels: tuple[Kernel, ...] = ()
    parameters: Parameters | None = None
    roles: tuple[Role, ...] = ()
    callables: tuple[Callable, ...] = ()
    calls: tuple[Call, ...] = ()
    sites: tuple[Site, ...] = ()
    claims: tuple[Claim, ...] = ()
    rings: tuple[Ring, ...] = ()
    counters: tuple[Counter, ...] = ()
    streams: tuple[Stream, ...] = ()
    topology: Topology | None = None
    warp_handles: tuple[WarpHandle, ...] = ()
    exports: tuple[Export, ...] = ()
    imports: tuple[Import, ...] = ()
    facts: tuple[Fact, ...] = ()
    fact_uses: tuple[FactUse, ...] = ()
    buffers: tuple[Buffer, ...] = ()
    arguments: tuple[Argument, ...] = ()
    domains: tuple[Domain, ...] = ()
    views: tuple[View, ...] = ()
    provider: Provider | None = None
