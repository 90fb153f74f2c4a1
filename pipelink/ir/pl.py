"""The `pl` dialect: the whole grammar of a pipeline, from the contracts of its packages to the linker's decisions.

An operation states what a contract says; the properties after `=>` are decided or learnt by passes and absent before.
Names are symbols: `@package::@thing` across packages, `@thing` within one. Sizes are bytes where no unit is named.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from math import isfinite, prod
from struct import Struct
from struct import error as StructError

from xdsl.dialects.builtin import (
    I64,
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import Block, Dialect, Operation, Region
from xdsl.irdl import (
    IRDLOperation,
    eq,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
)
from xdsl.traits import HasParent, IsolatedFromAbove, NoTerminator, SymbolOpInterface, SymbolTable
from xdsl.utils.exceptions import VerifyException

from pipelink.frontends.contract import IDENTIFIER, RESTARTS, SCOPES, SYMBOL
from pipelink.ir.attributes import (
    ATTRIBUTES,
    CountAttr,
    Kind,
    KindAttr,
    LifetimeAttr,
    LinkAttr,
    Side,
    SideAttr,
    SignatureAttr,
    ValuesAttr,
)
from pipelink.ir.maps import ExactMap, MapError, parse

INT = IntegerAttr.constr(type=eq(i64))
INTS = DenseArrayBase.constr(i64)
REF = SymbolRefAttr
REFS = ArrayAttr[SymbolRefAttr]
STRINGS = ArrayAttr[StringAttr]


GRAMMARS = {
    "sym_name": IDENTIFIER,
    **dict.fromkeys(("entry", "field", "init", "produce", "rank_field", "ranks_field", "symbol", "type_name"), SYMBOL),
}
"""Of the properties that reach generated code as names."""

CAPACITIES = {"barrier": 1, "parameters": 0, "registers": 1, "setmaxnreg": 0, "smem": 0, "threads": 32, "tmem": 0}
"""What `pl.pipeline` states of a thread block, each with the least that it may be."""

FACTS = {"i32": Struct("<i"), "u32": Struct("<I"), "i64": Struct("<q"), "f32": Struct("<f")}
"""The types of facts and how memory holds them."""

CLUSTER = 16
"""Blocks of a cluster at most, the non-portable sizes included."""

PROXIES = ("generic", "async")
VIEWS = ("local", "peer", "multicast")

REGISTERS = (24, 256)  # a thread's budget: PTX ISA, setmaxnreg, and the 255 of an instruction's operand, rounded up


class PlOp(IRDLOperation):
    """Base of the dialect's operations; each checks itself in `check`."""

    def verify_(self) -> None:
        for name, grammar in GRAMMARS.items():
            value = self.properties.get(name)
            if isinstance(value, StringAttr) and not grammar.fullmatch(value.data):
                raise VerifyException(f"'{self.name}' needs {name} of the grammar {grammar.pattern}, not {value}")
        self.check()

    def check(self) -> None:
        """What the values of the operation owe each other. Raises VerifyException."""


def _at_least(op: Operation, low: int, **values: IntegerAttr) -> None:
    for name, value in values.items():
        if value.value.data < low:
            raise VerifyException(f"'{op.name}' needs {name} of at least {low}, not {value.value.data}")


def _range(op: Operation, name: str, value: DenseArrayBase[I64], low: int = 0, high: int | None = None) -> None:
    numbers = value.get_values()
    if len(numbers) != 2 or numbers[0] > numbers[1]:
        raise VerifyException(f"'{op.name}' needs {name} as [least, most], not {list(numbers)}")
    if numbers[0] < low or (high is not None and numbers[1] > high):
        limits = f"of at least {low}" if high is None else f"of {low} to {high}"
        raise VerifyException(f"'{op.name}' needs {name} {limits}, not {list(numbers)}")


def _shape(op: Operation, extents: Sequence[int]) -> None:
    if len(extents) != 3 or min(extents) < 1 or prod(extents) > CLUSTER:
        raise VerifyException(f"'{op.name}' needs clusters of three extents, {CLUSTER} blocks at most: {list(extents)}")


def _among(op: Operation, name: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        raise VerifyException(f"'{op.name}' needs {name} of {', '.join(known)}, not {value}")


def _power_of_two(op: Operation, align: int) -> None:
    if align < 1 or align & (align - 1):
        raise VerifyException(f"'{op.name}' needs an alignment that is a power of two, not {align}")


def _together(op: Operation, *names: str) -> None:
    """In the pretty form one group of the syntax holds them; the generic form could state some of them alone."""
    given = [name for name in names if name in op.properties]
    if given and len(given) != len(names):
        raise VerifyException(f"'{op.name}' has {', '.join(given)}, and so needs all of {', '.join(names)}")


def _integers(op: Operation, name: str, values: ValuesAttr) -> None:
    if strays := [key for key, value in values.data.items() if not isinstance(value, int)]:
        raise VerifyException(f"'{op.name}' needs integers in {name}, and '{strays[0]}' is none")


def _fact(op: Operation, type_name: str, *values: StringAttr | None) -> None:
    if type_name not in FACTS:
        raise VerifyException(f"'{op.name}' needs a type of {', '.join(FACTS)}, not {type_name}")
    for value in values:
        try:
            if value is not None:
                fact_bytes(type_name, value.data)
        except (ValueError, OverflowError, StructError):
            raise VerifyException(f"'{op.name}': {value} is no {type_name}") from None


def fact_bytes(type_name: str, text: str) -> bytes:
    """A fact's value as memory holds it. Raises ValueError, OverflowError or struct.error where it is none."""
    value = float(text) if type_name == "f32" else int(text)
    if not isfinite(value):
        raise ValueError(text)
    return FACTS[type_name].pack(value)


@cache
def exact_map(text: str) -> ExactMap:
    """The map that `text` spells, evaluated once for all who ask. Raises MapError."""
    return parse(text)


def _map(op: Operation, name: str, text: str) -> ExactMap:
    try:
        return exact_map(text)
    except (MapError, RecursionError) as error:
        raise VerifyException(f"'{op.name}' needs an exact map as {name}: {error}") from None


@irdl_op_definition
class PipelineOp(PlOp):
    """One composition: packages and how they are connected, for one target. A link makes one kernel of it.

    `capacities` holds what one thread block has: smem bytes, barrier ids, warps, registers a multiprocessor,
    threads, parameter bytes. `role_order` names roles that take the lowest warps, in order. => what was dropped and
    why; the events that order storage; the block's threads, the bytes used of each domain, and what proves the
    placement; the shape of its cluster and the blocks that a multiprocessor is to hold, 1 where not stated.
    """

    name = "pl.pipeline"
    sym_name = prop_def(SymbolNameConstraint())
    target = prop_def(StringAttr)
    toolkit = prop_def(StringAttr)
    capacities = prop_def(ValuesAttr)
    fp = prop_def(ValuesAttr)
    role_order = opt_prop_def(REFS)
    dropped = opt_prop_def(STRINGS)
    events = opt_prop_def(STRINGS)
    threads = opt_prop_def(INT)
    cluster = opt_prop_def(INTS)
    occupancy = opt_prop_def(INT)
    footprint = opt_prop_def(ValuesAttr)
    proofs = opt_prop_def(ValuesAttr)
    body = region_def("single_block")
    traits = traits_def(SymbolOpInterface(), SymbolTable(), NoTerminator(), IsolatedFromAbove())
    assembly_format = (
        "$sym_name `target` $target `toolkit` $toolkit `capacities` $capacities `fp` $fp"
        " (`role_order` $role_order^)?"
        " (`=` `>` `dropped` $dropped^)? (`events` $events^)?"
        " (`threads` $threads^ `footprint` $footprint `proofs` $proofs)? (`cluster` $cluster^ `occupancy` $occupancy)?"
        " attr-dict-with-keyword $body"
    )

    def check(self) -> None:
        _integers(self, "fp", self.fp)
        _integers(self, "capacities", self.capacities)
        _together(self, "threads", "footprint", "proofs")
        _together(self, "cluster", "occupancy")
        if self.cluster is not None:
            _shape(self, self.cluster.get_values())
        if self.occupancy is not None:
            _at_least(self, 1, occupancy=self.occupancy)
        has = self.capacities.integers
        for name, least in CAPACITIES.items():
            if has.get(name, -1) < least:
                raise VerifyException(f"'{self.name}' needs a capacity {name} of at least {least}, not {has.get(name)}")

    @property
    def shape(self) -> tuple[int, ...]:
        """The blocks of its cluster in x, y and z."""
        return (1, 1, 1) if self.cluster is None else tuple(self.cluster.get_values())

    @property
    def clustered(self) -> bool:
        return prod(self.shape) > 1

    @property
    def blocks(self) -> int:
        """The thread blocks that a multiprocessor is to hold."""
        return 1 if self.occupancy is None else self.occupancy.value.data


@irdl_op_definition
class PackageOp(PlOp):
    """A separately compiled package: `digest` is that of its contract, which lists the digest of every member."""

    name = "pl.package"
    sym_name = prop_def(SymbolNameConstraint())
    version = prop_def(StringAttr)
    digest = prop_def(StringAttr)
    path = prop_def(StringAttr)
    target = prop_def(StringAttr)
    toolkit = prop_def(StringAttr)
    fp = prop_def(ValuesAttr)
    defines = prop_def(STRINGS)
    body = region_def("single_block")
    traits = traits_def(SymbolOpInterface(), SymbolTable(), NoTerminator(), IsolatedFromAbove(), HasParent(PipelineOp))
    assembly_format = (
        "$sym_name `version` $version `digest` $digest `path` $path `target` $target `toolkit` $toolkit `fp` $fp"
        " `defines` $defines attr-dict-with-keyword $body"
    )

    def check(self) -> None:
        _integers(self, "fp", self.fp)
        for kind in (ParamOp, ProviderOp, TopologyOp):
            if len([op for op in self.body.block.ops if isinstance(op, kind)]) > 1:
                raise VerifyException(f"'{self.name}' has one {kind.name} at most")


IN_PACKAGE = (SymbolOpInterface(), HasParent(PackageOp))


@irdl_op_definition
class ParamOp(PlOp):
    """The package's region of the kernel parameters, filled by its host side: a C struct, its fields as
    `{name = [offset, size]}`. => `offset` in the parameter block."""

    name = "pl.param"
    type_name = prop_def(StringAttr)
    size = prop_def(INT)
    align = prop_def(INT)
    fields = prop_def(ValuesAttr)
    offset = opt_prop_def(INT)
    traits = traits_def(HasParent(PackageOp))
    assembly_format = "$type_name `size` $size `align` $align `fields` $fields (`=` `>` `offset` $offset^)? attr-dict"

    def check(self) -> None:
        _at_least(self, 1, size=self.size)
        _power_of_two(self, self.align.value.data)
        for name, value in self.fields.data.items():
            if not isinstance(value, tuple) or [type(n) for n in value] != [int, int]:
                raise VerifyException(f"'{self.name}' needs fields as [offset, size], and '{name}' is none")


@irdl_op_definition
class RoleOp(PlOp):
    """A group of whole warps with its own entry function. `align` is in warps, `registers` the range of budgets it
    accepts, `need` the registers that its code is known to use. => its first warp."""

    name = "pl.role"
    sym_name = prop_def(SymbolNameConstraint())
    entry = prop_def(StringAttr)
    signature = prop_def(SignatureAttr)
    warps = prop_def(INT)
    align = prop_def(INT)
    registers = prop_def(INTS)
    need = prop_def(INT)
    uses = prop_def(REFS)
    first_warp = opt_prop_def(INT)
    traits = traits_def(*IN_PACKAGE)
    assembly_format = (
        "$sym_name `entry` $entry $signature `warps` $warps `align` $align `registers` $registers `need` $need"
        " `uses` $uses (`=` `>` `at` $first_warp^)? attr-dict"
    )

    def check(self) -> None:
        _at_least(self, 1, warps=self.warps, align=self.align)
        _range(self, "registers", self.registers, *REGISTERS)
        if not 0 <= self.need.value.data <= REGISTERS[1]:
            raise VerifyException(f"'{self.name}' needs need of 0 to {REGISTERS[1]}, not {self.need.value.data}")


@irdl_op_definition
class CallableOp(PlOp):
    """An exported device function that runs on its caller's threads."""

    name = "pl.callable"
    sym_name = prop_def(SymbolNameConstraint())
    symbol = prop_def(StringAttr)
    signature = prop_def(SignatureAttr)
    uses = prop_def(REFS)
    traits = traits_def(*IN_PACKAGE)
    assembly_format = "$sym_name `symbol` $symbol $signature `uses` $uses attr-dict"


@irdl_op_definition
class SiteOp(PlOp):
    """A place in a role from which it calls and imports: the participating threads of the role, and its guarantees."""

    name = "pl.site"
    sym_name = prop_def(SymbolNameConstraint())
    role = prop_def(REF)
    threads = prop_def(INTS)
    guarantees = prop_def(STRINGS)
    traits = traits_def(*IN_PACKAGE)
    assembly_format = "$sym_name `in` $role `threads` $threads `guarantees` $guarantees attr-dict"

    def check(self) -> None:
        _range(self, "threads", self.threads)


@irdl_op_definition
class CallOp(PlOp):
    """A foreign callable that the package calls through `symbol`, which the linker defines."""

    name = "pl.call"
    sym_name = prop_def(SymbolNameConstraint())
    symbol = prop_def(StringAttr)
    signature = prop_def(SignatureAttr)
    site = opt_prop_def(REF)
    traits = traits_def(*IN_PACKAGE)
    assembly_format = "$sym_name `symbol` $symbol $signature (`site` $site^)? attr-dict"


@irdl_op_definition
class ClaimOp(PlOp):
    """A claim by handle: bytes of shared memory, mbarrier slots of 8 bytes, named barrier ids, tensor-memory columns or
    counter words, of one stage where it belongs to a ring. `tile` and `swizzle` (bytes) are its layout, `proxy` says
    who accesses it; a counter states who may see it (`scope`) and how it starts each launch (`restart`).
    => `live`, the event indices between which it holds its storage; `shares`, the claims that may lie over it;
    `at`, its base."""

    name = "pl.claim"
    sym_name = prop_def(SymbolNameConstraint())
    kind = prop_def(KindAttr)
    size = prop_def(INT)
    align = prop_def(INT)
    ring = opt_prop_def(REF)
    lifetime = prop_def(LifetimeAttr)
    dtype = opt_prop_def(StringAttr)
    tile = opt_prop_def(INTS)
    swizzle = opt_prop_def(INT)
    proxy = opt_prop_def(StringAttr)
    scope = opt_prop_def(StringAttr)
    restart = opt_prop_def(StringAttr)
    live = opt_prop_def(INTS)
    shares = opt_prop_def(REFS)
    base = opt_prop_def(INT)
    traits = traits_def(*IN_PACKAGE)
    assembly_format = (
        "$sym_name $kind `size` $size `align` $align (`ring` $ring^)? `lifetime` $lifetime (`dtype` $dtype^)?"
        " (`tile` $tile^)? (`swizzle` $swizzle^)? (`proxy` $proxy^)? (`scope` $scope^ `restart` $restart)?"
        " (`=` `>` `live` $live^)? (`shares` $shares^)? (`at` $base^)? attr-dict"
    )

    def check(self) -> None:
        _at_least(self, 1, size=self.size)
        _power_of_two(self, self.align.value.data)
        if self.tile is not None and min(self.tile.get_values(), default=0) < 1:
            raise VerifyException(f"'{self.name}' needs a tile of positive extents, not {list(self.tile.get_values())}")
        if self.live is not None:
            _range(self, "live", self.live)
        if self.proxy is not None:
            _among(self, "proxy", self.proxy.data, PROXIES)
        _together(self, "scope", "restart")
        if (self.scope is not None) != (self.kind.data is Kind.counter):
            raise VerifyException(f"'{self.name}': a counter, and nothing else, has a scope and a restart")
        if self.scope is not None and self.restart is not None:
            _among(self, "scope", self.scope.data, SCOPES)
            _among(self, "restart", self.restart.data, RESTARTS)


@irdl_op_definition
class RingOp(PlOp):
    """One endpoint of an mbarrier ring: the code `on` which it acts, its buffers and mbarriers (claims, per stage),
    the depths it accepts, the arrivals on `full` (by the producer) and `empty` (by the consumer), the bytes of one
    stage. A consumer names how many `producers` fill a stage, if several. `drains`: after the consumer's last wait the
    producer neither writes nor will write. => its depth and the arrival counts in this kernel."""

    name = "pl.ring"
    sym_name = prop_def(SymbolNameConstraint())
    side = prop_def(SideAttr)
    on = prop_def(REF)
    buffers = prop_def(REFS)
    full = prop_def(REF)
    empty = prop_def(REF)
    depths = prop_def(INTS)
    full_count = prop_def(CountAttr)
    empty_count = prop_def(CountAttr)
    bytes_ = prop_def(INT, prop_name="bytes")
    space = prop_def(StringAttr)
    scope = prop_def(StringAttr)
    proxy = prop_def(StringAttr)
    priority = prop_def(INT)
    producers = opt_prop_def(INT)
    init = opt_prop_def(StringAttr)
    init_signature = opt_prop_def(SignatureAttr)
    drains = opt_prop_def(UnitAttr)
    depth = opt_prop_def(INT)
    arrivals = opt_prop_def(INTS)
    traits = traits_def(*IN_PACKAGE)
    assembly_format = (
        "$sym_name $side `on` $on `buffers` $buffers `full` $full $full_count `empty` $empty $empty_count"
        " `depths` $depths `bytes` $bytes `space` $space `scope` $scope `proxy` $proxy `priority` $priority"
        " (`producers` $producers^)? (`init` $init^ $init_signature)? (`drains` $drains^)?"
        " (`=` `>` `depth` $depth^ `arrivals` $arrivals)? attr-dict"
    )

    def check(self) -> None:
        _range(self, "depths", self.depths, low=1)
        for count in (self.full_count, self.empty_count):
            if not 1 <= count.times.value.data < 1 << 20:  # PTX ISA, mbarrier.init
                raise VerifyException(f"'{self.name}' needs arrivals of 1 to {(1 << 20) - 1}, not {count}")
        _among(self, "scope", self.scope.data, SCOPES[:2])
        _among(self, "proxy", self.proxy.data, PROXIES)
        if self.producers is not None:
            _at_least(self, 2, producers=self.producers)
            if self.side.data is Side.producer:
                raise VerifyException(f"'{self.name}': a consumer says how many producers fill a stage")
        _together(self, "init", "init_signature")
        _together(self, "depth", "arrivals")
        if self.arrivals is not None and len(self.arrivals) != 2:
            raise VerifyException(
                f"'{self.name}' needs arrivals as [full, empty], not {list(self.arrivals.get_values())}"
            )


@irdl_op_definition
class CounterOp(PlOp):
    """An endpoint of counters that packages share: the code `on` which it acts, its `slots` (a claim of words, with
    scope and restart rule), and the `arrivals` that a producer adds to a word or a consumer waits for. => the `total`
    that all producers add."""

    name = "pl.counter"
    sym_name = prop_def(SymbolNameConstraint())
    side = prop_def(SideAttr)
    on = prop_def(REF)
    slots = prop_def(REF)
    arrivals = opt_prop_def(CountAttr)
    total = opt_prop_def(INT)
    traits = traits_def(*IN_PACKAGE)
    assembly_format = (
        "$sym_name $side `on` $on `slots` $slots (`arrivals` $arrivals^)? (`=` `>` `total` $total^)? attr-dict"
    )

    def check(self) -> None:
        if self.arrivals is None and self.side.data is Side.producer:
            raise VerifyException(f"'{self.name}': a producer states the arrivals that it adds to a word")
        if self.arrivals is not None:
            _at_least(self, 1, arrivals=self.arrivals.times)


@irdl_op_definition
class StreamOp(PlOp):
    """A stream of instructions that the roles `on` run, all their threads, in `phases`. Of the phases in one list of
    `exclusive` no two overlap; `fenced`: between them stands a fence between the proxies."""

    name = "pl.stream"
    sym_name = prop_def(SymbolNameConstraint())
    on = prop_def(REFS)
    phases = prop_def(STRINGS)
    exclusive = prop_def(ArrayAttr[ArrayAttr[StringAttr]])
    fenced = opt_prop_def(UnitAttr)
    traits = traits_def(*IN_PACKAGE)
    assembly_format = "$sym_name `on` $on `phases` $phases `exclusive` $exclusive (`fenced` $fenced^)? attr-dict"

    def check(self) -> None:
        phases = [p.data for p in self.phases]
        for name in (p.data for group in self.exclusive for p in group):
            _among(self, "exclusive phases", name, phases)
        if len(set(phases)) < len(phases):
            raise VerifyException(f"'{self.name}' names a phase twice")


@irdl_op_definition
class TopologyOp(PlOp):
    """The launches that the package can live with: shapes of `clusters` (none: any), blocks on a multiprocessor."""

    name = "pl.topology"
    clusters = prop_def(ArrayAttr[DenseArrayBase[I64]])
    occupancy = prop_def(INTS)
    traits = traits_def(HasParent(PackageOp))
    assembly_format = "`clusters` $clusters `occupancy` $occupancy attr-dict"

    def check(self) -> None:
        _range(self, "occupancy", self.occupancy, low=1)
        for cluster in self.clusters:
            _shape(self, cluster.get_values())


@irdl_op_definition
class WarpOp(PlOp):
    """A handle that reads the first warp of the role that runs the code of `of`."""

    name = "pl.warp"
    sym_name = prop_def(SymbolNameConstraint())
    of = prop_def(REF)
    traits = traits_def(*IN_PACKAGE)
    assembly_format = "$sym_name `of` $of attr-dict"


@irdl_op_definition
class ExportOp(PlOp):
    """A tensor left in registers of the caller's threads: `placement` maps (thread, register) to the element that it
    holds. `symbol` runs the producer. `requires` are guarantees of the call site, `align` its first thread's."""

    name = "pl.export"
    sym_name = prop_def(SymbolNameConstraint())
    symbol = prop_def(StringAttr)
    signature = prop_def(SignatureAttr)
    dtype = prop_def(StringAttr)
    placement = prop_def(StringAttr)
    registers = prop_def(INT)
    threads = prop_def(INT)
    align = prop_def(INT)
    requires = prop_def(STRINGS)
    completion = prop_def(StringAttr)
    uses = prop_def(REFS)
    traits = traits_def(*IN_PACKAGE)
    assembly_format = (
        "$sym_name `symbol` $symbol $signature `dtype` $dtype `placement` $placement `registers` $registers"
        " `threads` $threads `align` $align `requires` $requires `completion` $completion `uses` $uses attr-dict"
    )

    def check(self) -> None:
        _at_least(self, 1, registers=self.registers, threads=self.threads, align=self.align)
        _map(self, "placement", self.placement.data)


@irdl_op_definition
class ImportOp(PlOp):
    """A tensor demanded chunk by chunk: `demand` maps (thread, position, chunk) to an element. `lends` are its frame
    registers, scratch and barrier; `rendezvous` the events at which its participants meet."""

    name = "pl.import"
    sym_name = prop_def(SymbolNameConstraint())
    symbol = prop_def(StringAttr)
    signature = prop_def(SignatureAttr)
    produce = prop_def(StringAttr)
    produce_signature = prop_def(SignatureAttr)
    dtype = prop_def(StringAttr)
    demand = prop_def(StringAttr)
    chunk = prop_def(StringAttr)
    site = prop_def(REF)
    frame = prop_def(INT)
    scratch = opt_prop_def(REF)
    barrier = opt_prop_def(REF)
    completion = prop_def(StringAttr)
    rendezvous = prop_def(STRINGS)
    traits = traits_def(*IN_PACKAGE)
    assembly_format = (
        "$sym_name `symbol` $symbol $signature `produce` $produce $produce_signature `dtype` $dtype"
        " `demand` $demand `chunk` $chunk `site` $site `lends` `frame` $frame (`scratch` $scratch^)?"
        " (`barrier` $barrier^)? `completion` $completion `rendezvous` $rendezvous attr-dict"
    )

    def check(self) -> None:
        _at_least(self, 0, frame=self.frame)
        demand = _map(self, "demand", self.demand.data)
        if self.chunk.data and self.chunk.data not in dict(demand.domain):
            raise VerifyException(f"'{self.name}' is chunked by '{self.chunk.data}', which its demand does not have")
        if len(self.rendezvous) and self.barrier is None:
            raise VerifyException(f"'{self.name}' has a rendezvous, and so needs a barrier")


@irdl_op_definition
class FactOp(PlOp):
    """A typed constant that this package, or the pipeline itself, owns and others schedule against."""

    name = "pl.fact"
    sym_name = prop_def(SymbolNameConstraint())
    type_name = prop_def(StringAttr)
    value = prop_def(StringAttr)
    traits = traits_def(SymbolOpInterface(), HasParent(PackageOp, PipelineOp))
    assembly_format = "$sym_name `:` $type_name `=` $value attr-dict"

    def check(self) -> None:
        _fact(self, self.type_name.data, self.value)


@irdl_op_definition
class UseFactOp(PlOp):
    """A field of this package's parameters that the linker sources from a fact. => the value it gets."""

    name = "pl.use_fact"
    sym_name = prop_def(SymbolNameConstraint())
    type_name = prop_def(StringAttr)
    field = prop_def(StringAttr)
    required = opt_prop_def(StringAttr)
    value = opt_prop_def(StringAttr)
    traits = traits_def(*IN_PACKAGE)
    assembly_format = (
        "$sym_name `:` $type_name `field` $field (`requires` $required^)? (`=` `>` `value` $value^)? attr-dict"
    )

    def check(self) -> None:
        _fact(self, self.type_name.data, self.required, self.value)


@irdl_op_definition
class BufferOp(PlOp):
    """Memory that the caller lends at open, one for all packages that name it; `align` is bytes."""

    name = "pl.buffer"
    label = prop_def(StringAttr)
    dtype = prop_def(StringAttr)
    rank = prop_def(INT)
    access = prop_def(StringAttr)
    align = prop_def(INT)
    traits = traits_def(HasParent(PackageOp))
    assembly_format = "$label `dtype` $dtype `rank` $rank `access` $access `align` $align attr-dict"


@irdl_op_definition
class ArgumentOp(PlOp):
    """A value that the caller gives at open, one for all packages that name it."""

    name = "pl.argument"
    label = prop_def(StringAttr)
    type_name = prop_def(StringAttr)
    traits = traits_def(HasParent(PackageOp))
    assembly_format = "$label `:` $type_name attr-dict"


@irdl_op_definition
class DomainOp(PlOp):
    """A communication domain that the package joins; `ranks` is 0 where any number will do. The fields of its
    parameters that are named get the caller's rank and the number of ranks."""

    name = "pl.domain"
    sym_name = prop_def(SymbolNameConstraint())
    ranks = prop_def(INT)
    rank_field = opt_prop_def(StringAttr)
    ranks_field = opt_prop_def(StringAttr)
    traits = traits_def(*IN_PACKAGE)
    assembly_format = "$sym_name `ranks` $ranks (`rank_field` $rank_field^)? (`ranks_field` $ranks_field^)? attr-dict"

    def check(self) -> None:
        _at_least(self, 0, ranks=self.ranks)


@irdl_op_definition
class ViewOp(PlOp):
    """A view of a symmetric `allocation` of a domain, in `field` of the package's parameters: the local address, that
    of each peer, or one for multicast."""

    name = "pl.view"
    sym_name = prop_def(SymbolNameConstraint())
    domain = prop_def(REF)
    kind = prop_def(StringAttr)
    field = prop_def(StringAttr)
    allocation = prop_def(StringAttr)
    traits = traits_def(*IN_PACKAGE)
    assembly_format = "$sym_name `domain` $domain `kind` $kind `field` $field `allocation` $allocation attr-dict"

    def check(self) -> None:
        _among(self, "kind", self.kind.data, VIEWS)


@irdl_op_definition
class ProviderOp(PlOp):
    """Host code that fills the package's region of the parameters; `abi` is the version of its C interface."""

    name = "pl.provider"
    symbol = prop_def(StringAttr)
    abi = prop_def(INT)
    traits = traits_def(HasParent(PackageOp))
    assembly_format = "$symbol `abi` $abi attr-dict"


@irdl_op_definition
class ConnectOp(PlOp):
    """A pair: what provides on the left, what uses it on the right. => for a tensor, the routes that could deliver it,
    the events that order storage, and the route that was taken, with its schedule and the reasons against others."""

    name = "pl.connect"
    link = prop_def(LinkAttr)
    provider = prop_def(REF)
    user = prop_def(REF)
    candidates = opt_prop_def(STRINGS)
    orders = opt_prop_def(STRINGS)
    route = opt_prop_def(StringAttr)
    schedule = opt_prop_def(ValuesAttr)
    reasons = opt_prop_def(STRINGS)
    traits = traits_def(HasParent(PipelineOp))
    assembly_format = (
        "$link $provider `to` $user (`=` `>` `candidates` $candidates^ `orders` $orders)?"
        " (`route` $route^ `schedule` $schedule `reasons` $reasons)? attr-dict"
    )

    def check(self) -> None:
        _together(self, "candidates", "orders")
        _together(self, "route", "schedule", "reasons")


@irdl_op_definition
class GroupOp(PlOp):
    """=> A register group: roles that share warpgroups `[first, end)` (in warps) and so one register budget."""

    name = "pl.group"
    roles = prop_def(REFS)
    warps = prop_def(INTS)
    budget = opt_prop_def(INT)
    need = prop_def(INT)
    traits = traits_def(HasParent(PipelineOp))
    assembly_format = "$roles `warps` $warps `need` $need (`budget` $budget^)? attr-dict"

    def check(self) -> None:
        _range(self, "warps", self.warps)


@irdl_op_definition
class StubOp(PlOp):
    """=> A handle function's definition: the constant that `symbol` returns, and what it stands for."""

    name = "pl.stub"
    symbol = prop_def(StringAttr)
    value = prop_def(INT)
    reads = prop_def(REF)
    traits = traits_def(HasParent(PipelineOp))
    assembly_format = "$symbol `=` $value `reads` $reads attr-dict"


@irdl_op_definition
class TrampolineOp(PlOp):
    """=> A foreign symbol's definition: `call` and `produce` call the export that serves it, `import` moves a chunk."""

    name = "pl.trampoline"
    symbol = prop_def(StringAttr)
    kind = prop_def(StringAttr)
    user = prop_def(REF)
    provider = prop_def(REF)
    traits = traits_def(HasParent(PipelineOp))
    assembly_format = "$symbol $kind `from` $user `to` $provider attr-dict"


@irdl_op_definition
class DispatchOp(PlOp):
    """=> The kernel: ring initialisers in order, then each role at its warps. `parameters` is the block's size,
    `counters` where in it the address of the counters is, if there are any."""

    name = "pl.dispatch"
    symbol = prop_def(StringAttr)
    threads = prop_def(INT)
    parameters = prop_def(INT)
    counters = opt_prop_def(INT)
    inits = prop_def(REFS)
    roles = prop_def(REFS)
    traits = traits_def(HasParent(PipelineOp))
    assembly_format = (
        "$symbol `threads` $threads `parameters` $parameters (`counters` $counters^)? `inits` $inits `roles` $roles"
        " attr-dict"
    )


OPERATIONS: list[type[PlOp]] = [
    PipelineOp,
    PackageOp,
    ParamOp,
    RoleOp,
    CallableOp,
    SiteOp,
    CallOp,
    ClaimOp,
    RingOp,
    CounterOp,
    StreamOp,
    TopologyOp,
    WarpOp,
    ExportOp,
    ImportOp,
    FactOp,
    UseFactOp,
    BufferOp,
    ArgumentOp,
    DomainOp,
    ViewOp,
    ProviderOp,
    ConnectOp,
    GroupOp,
    StubOp,
    TrampolineOp,
    DispatchOp,
]

PL = Dialect("pl", [*OPERATIONS], [*ATTRIBUTES])


def block(operations: Iterable[Operation] = ()) -> Region:
    """A region of one block."""
    return Region(Block(list(operations)))


def integer(value: int) -> IntegerAttr:
    return IntegerAttr(value, i64)


def integers(values: Iterable[int]) -> DenseArrayBase[I64]:
    return DenseArrayBase.from_list(i64, list(values))


def strings(values: Iterable[str]) -> ArrayAttr[StringAttr]:
    return ArrayAttr([StringAttr(v) for v in values])


def ref(*names: str) -> SymbolRefAttr:
    """`ref("load", "a")` is `@load::@a`."""
    return SymbolRefAttr(names[0], list(names[1:]))


def refs(names: Iterable[str]) -> ArrayAttr[SymbolRefAttr]:
    return ArrayAttr([ref(n) for n in names])
