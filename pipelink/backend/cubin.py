"""Read cubins, relocatable or linked: symbols, data, shared memory, kernel attributes, and what each function uses."""

import re
import struct
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO

# Attribute numbers of .nv.info, read off against `cuobjdump -elf` 13.5.
MAX_THREADS = 0x05
FRAME_SIZE = 0x11
MIN_STACK_SIZE = 0x12
KPARAM_INFO = 0x17
CBANK_PARAM_SIZE = 0x19
MAXREG_COUNT = 0x1B
REGCOUNT = 0x2F
CTA_PER_CLUSTER = 0x3D
NUM_BARRIERS = 0x4C
REG_RECONFIG = 0x54
_PER_FUNCTION = (FRAME_SIZE, MIN_STACK_SIZE, REGCOUNT)

_EM_CUDA = 190
_SHT_RELA, _SHT_NOBITS, _SHT_REL = 4, 8, 9
# NOBITS under CUDA's own type numbers: .nv.global, .nv.shared.*, .nv_debug.shared
_NO_BYTES = (_SHT_NOBITS, 0x70000007, 0x7000000A)
_STT_FUNC, _STT_SECTION, _STT_OBJECT, _STT_CUDA_OBJECT = 2, 3, 1, 13
_STO_CUDA_ENTRY, _STO_CUDA_SHARED = 0x10, 0x40
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION = struct.Struct("<QQq")
_RELOCATION_WITHOUT_ADDEND = struct.Struct("<QQ")  # sections of sm_80 and older

# Every relocatable object refers to these tables of the driver.
_DRIVER = re.compile(r"__U[DF]T(_\w+)?$|\.nv\.|__nv_reservedSMEM")
# A static __shared__ variable of one function appears under this decoration of its mangled name.
_DECORATED = re.compile(r"\$__(.+)__\d+$")
# Shared memory that the driver keeps from sm_90 on; the linker counts it in a kernel's section.
_RESERVED_SHARED = 1024


class CubinError(ValueError):
    """The bytes are not a sound cubin."""


@dataclass(frozen=True)
class Section:
    """One ELF section; `data` is empty where the file holds no bytes for it, `size` counts all the same."""

    name: str
    type: int
    info: int
    data: bytes
    size: int

    @property
    def has_bytes(self) -> bool:
        return self.type not in _NO_BYTES


@dataclass(frozen=True)
class Symbol:
    name: str
    type: int
    is_local: bool
    other: int
    section: int
    value: int
    size: int

    @property
    def is_entry(self) -> bool:
        return bool(self.other & _STO_CUDA_ENTRY)

    @property
    def is_object(self) -> bool:
        return self.type in (_STT_OBJECT, _STT_CUDA_OBJECT)

    @property
    def is_shared(self) -> bool:
        return self.is_object and bool(self.other & _STO_CUDA_SHARED)


@dataclass(frozen=True)
class Relocation:
    """A reference from a place in a section to a symbol (by index)."""

    section: int
    offset: int
    type: int
    symbol: int


@dataclass(frozen=True)
class KernelInfo:
    """What the machine code of one kernel needs. Bytes, registers a thread (at entry), threads a block (x, y, z).
    `parameter_bytes` is the whole bank, `parameters` the (offset, size) of each. `reg_reconfig` tells that the kernel's
    setmaxnreg instructions survived."""

    registers: int
    stack_frame: int
    min_stack: int
    barriers: int
    max_threads: tuple[int, ...]
    cluster: tuple[int, ...]
    parameter_bytes: int
    parameters: tuple[tuple[int, int], ...]
    max_registers: int
    reg_reconfig: bool
    shared_bytes: int


@dataclass(frozen=True)
class Cubin:
    """A cubin as read. Symbols that only the driver resolves are left out of all answers."""

    sections: tuple[Section, ...]
    symbols: tuple[Symbol, ...]
    relocations: tuple[Relocation, ...]
    attributes: Mapping[str, Mapping[int, tuple[bytes, ...]]]

    @cached_property
    def defined(self) -> frozenset[str]:
        """Functions and kernels that the object exports."""
        return self._functions(lambda s: s.section != 0 and not s.is_local)

    @cached_property
    def variables(self) -> frozenset[str]:
        """Variables that the object exports: one that no function uses may be missing."""
        found = (s for s in self.symbols if s.section and s.is_object and not s.is_shared and not s.is_local)
        return frozenset(s.name for s in found if not _DRIVER.match(s.name))

    @cached_property
    def undefined(self) -> frozenset[str]:
        """Functions that the object calls and does not define."""
        return self._functions(lambda s: s.section == 0)

    @cached_property
    def kernel_names(self) -> frozenset[str]:
        return self._functions(lambda s: s.section != 0 and s.is_entry)

    @cached_property
    def undefined_data(self) -> frozenset[str]:
        """Variables that the object uses and does not define."""
        found = (s for s in self.symbols if s.section == 0 and s.is_object and not s.is_shared)
        return frozenset(s.name for s in found if not _DRIVER.match(s.name))

    @cached_property
    def dynamic_shared(self) -> frozenset[str]:
        """Names under which the object declares dynamic shared memory (`extern __shared__`)."""
        return frozenset(s.name for s in self.symbols if s.is_shared and not s.size and not s.is_local)

    @cached_property
    def data(self) -> Mapping[str, bytes]:
        """Device variables by name; those without bytes in the file are zeros."""
        return {
            s.name: self._bytes(s)
            for s in sorted(self.symbols, key=lambda s: s.name)
            if s.section and s.is_object and self._in(s).startswith((".nv.global", ".nv.constant3"))
        }

    @cached_property
    def static_shared(self) -> Mapping[str, int]:
        """Static shared memory by mangled variable name, in bytes (`_ZZ4bodyE5stage`); dynamic arrays have none."""
        shared = [s for s in self.symbols if s.section and s.is_shared and s.size]
        return {_undecorated(s.name): s.size for s in sorted(shared, key=lambda s: s.name)}

    @cached_property
    def kernels(self) -> Mapping[str, KernelInfo]:
        return {name: self._kernel(name) for name in sorted(self.kernel_names)}

    @cached_property
    def uses(self) -> Mapping[str, frozenset[str]]:
        """For each function defined here, all symbols that it reaches: called functions (and what those use), variables
        (and the functions whose addresses they hold), shared memory. Relocatable cubins only: a linked one keeps no
        relocations. Code that inlining has folded away is no use."""
        edges = self._edges()
        return {
            symbol.name: frozenset(_undecorated(self.symbols[i].name) for i in _reachable(index, edges))
            for index, symbol in enumerate(self.symbols)
            if symbol.type == _STT_FUNC and symbol.section
        }

    @cached_property
    def references(self) -> Mapping[str, frozenset[str]]:
        """For each function defined here, the undefined functions that it calls, directly or not."""
        return {name: used & self.undefined for name, used in self.uses.items()}

    def shared_of(self, function: str) -> Mapping[str, int]:
        """The static shared memory that one function reaches, in bytes. Raises KeyError for an unknown function."""
        return {name: size for name, size in self.static_shared.items() if name in self.uses[function]}

    def _functions(self, wanted: Callable[[Symbol], bool]) -> frozenset[str]:
        return frozenset(s.name for s in self.symbols if s.type == _STT_FUNC and wanted(s))

    def _in(self, symbol: Symbol) -> str:
        return self.sections[symbol.section].name if symbol.section < len(self.sections) else ""

    def _bytes(self, symbol: Symbol) -> bytes:
        section = self.sections[symbol.section]
        if not section.has_bytes:
            return bytes(symbol.size)
        return section.data[symbol.value : symbol.value + symbol.size]

    def _edges(self) -> dict[int, set[int]]:
        owners = [self._owners(section) for section in range(len(self.sections))]
        edges: dict[int, set[int]] = {}
        for relocation in self.relocations:
            section = self.sections[relocation.section]
            target = self.symbols[relocation.symbol]
            reached = owners[target.section] if target.type == _STT_SECTION else [relocation.symbol]
            for owner in owners[relocation.section]:
                symbol = self.symbols[owner]
                # Code may be reached from anywhere in its section; a variable covers its own bytes.
                inside = symbol.value <= relocation.offset < symbol.value + symbol.size
                if symbol.type == _STT_FUNC or not section.name.startswith(".nv.global") or inside:
                    edges.setdefault(owner, set()).update(reached)
        return edges

    def _owners(self, index: int) -> list[int]:
        """The symbols that a relocation in this section belongs to: those inside it, and, for a constant bank of one
        function, that function."""
        name = self.sections[index].name
        function = re.match(r"\.nv\.constant\d+\.(.+)$", name)
        return [
            i
            for i, s in enumerate(self.symbols)
            if (s.section == index and (s.type == _STT_FUNC or s.is_object))
            or (function and s.type == _STT_FUNC and s.name == function[1])
        ]

    def _kernel(self, name: str) -> KernelInfo:
        attributes = self.attributes.get(name, {})
        section = next((s.size for s in self.sections if s.name == f".nv.shared.{name}"), 0)
        return KernelInfo(
            registers=_number(attributes, REGCOUNT),
            stack_frame=_number(attributes, FRAME_SIZE),
            min_stack=_number(attributes, MIN_STACK_SIZE),
            barriers=_number(attributes, NUM_BARRIERS),
            max_threads=_words(attributes, MAX_THREADS),
            cluster=_words(attributes, CTA_PER_CLUSTER),
            parameter_bytes=_number(attributes, CBANK_PARAM_SIZE),
            parameters=tuple(sorted(_parameter(p) for p in attributes.get(KPARAM_INFO, ()))),
            max_registers=_number(attributes, MAXREG_COUNT),
            reg_reconfig=REG_RECONFIG in attributes,
            shared_bytes=max(0, section - _RESERVED_SHARED),
        )


def _undecorated(name: str) -> str:
    match = _DECORATED.match(name)
    return match[1] if match else name


def _number(attributes: Mapping[int, tuple[bytes, ...]], attribute: int) -> int:
    return int.from_bytes(attributes[attribute][-1], "little") if attribute in attributes else 0


def _parameter(info: bytes) -> tuple[int, int]:
    """Offset and size of one parameter: an index, ordinal and offset of 16 bits each, then the size from bit 18 on."""
    _, _, offset, flags = struct.unpack("<IHHI", info[:12])
    return offset, flags >> 18


def _words(attributes: Mapping[int, tuple[bytes, ...]], attribute: int) -> tuple[int, ...]:
    data = attributes.get(attribute, (b"",))[-1]
    return struct.unpack(f"<{len(data) // 4}I", data[: len(data) // 4 * 4])


def _reachable(start: int, edges: Mapping[int, Iterable[int]]) -> set[int]:
    found: set[int] = set()
    todo = list(edges.get(start, ()))
    while todo:
        if (node := todo.pop()) not in found:
            found.add(node)
            todo.extend(edges.get(node, ()))
    return found


# ---- reading --------------------------------------------------------------------------------------------------------


def read(data: bytes) -> Cubin:
    """Read a cubin. Raises CubinError for anything that is not one."""
    from elftools.common.exceptions import ELFError

    try:
        sections = _sections(data)
        symbols = _symbols(sections)
        relocations = tuple(_relocations(sections))
        if any(r.section >= len(sections) or r.symbol >= len(symbols) for r in relocations):
            raise CubinError("damaged cubin: a relocation points outside of its tables")
        return Cubin(sections, symbols, relocations, _attributes(sections, symbols))
    except CubinError:
        raise
    except (ELFError, ValueError, LookupError, AssertionError, struct.error, OverflowError, AttributeError) as error:
        raise CubinError(f"not a sound cubin: {type(error).__name__}: {error}") from None


def _sections(data: bytes) -> tuple[Section, ...]:
    from elftools.elf.elffile import ELFFile

    if data[16 + 2 : 16 + 4] != _EM_CUDA.to_bytes(2, "little"):
        raise CubinError("not a cubin: not an ELF file for NVIDIA CUDA")
    elf = ELFFile(BytesIO(data))
    # pyelftools leaves the type of a vendor's section a number or gives it another vendor's name: read it raw.
    start, size = int(elf["e_shoff"]), int(elf["e_shentsize"])
    found: list[Section] = []
    for index in range(elf.num_sections()):
        header = elf.get_section(index)
        (kind,) = struct.unpack_from("<I", data, start + index * size + 4)
        offset, length = int(header["sh_offset"]), int(header["sh_size"])
        stored = b"" if kind in _NO_BYTES else data[offset : offset + length]
        if kind not in _NO_BYTES and len(stored) != length:
            raise CubinError(f"damaged cubin: section {header.name} is cut off")
        found.append(Section(str(header.name), kind, int(header["sh_info"]), stored, length))
    return tuple(found)


def _symbols(sections: tuple[Section, ...]) -> tuple[Symbol, ...]:
    table = {section.name: section.data for section in sections}
    names = table.get(".strtab", b"")
    found: list[Symbol] = []
    for name, info, other, section, value, size in _SYMBOL.iter_unpack(table.get(".symtab", b"")):
        if section < 0xFF00 and section >= len(sections):
            raise CubinError("damaged cubin: a symbol lies in no section")
        text = names[name : names.index(b"\0", name)].decode()
        found.append(Symbol(text, info & 15, info >> 4 == 0, other, section, value, size))
    return tuple(found)


def _relocations(sections: tuple[Section, ...]) -> Iterable[Relocation]:
    for section in sections:
        form = {_SHT_RELA: _RELOCATION, _SHT_REL: _RELOCATION_WITHOUT_ADDEND}.get(section.type)
        if form is not None and not section.name.startswith((".rela.debug", ".rel.debug")):
            for offset, info, *_ in form.iter_unpack(section.data):
                yield Relocation(section.info, offset, info & 0xFFFFFFFF, info >> 32)


def _attributes(sections: tuple[Section, ...], symbols: tuple[Symbol, ...]) -> dict[str, dict[int, tuple[bytes, ...]]]:
    """All .nv.info attributes as {function: {number: values}}; "" holds those of the whole file."""
    found: dict[str, dict[int, tuple[bytes, ...]]] = {}

    def note(function: str, attribute: int, value: bytes) -> None:
        of = found.setdefault(function, {})
        of[attribute] = (*of.get(attribute, ()), value)

    for section in sections:
        if section.name != ".nv.info" and not section.name.startswith(".nv.info."):
            continue
        for attribute, value in _entries(section.data):
            if section.name == ".nv.info" and attribute in _PER_FUNCTION:
                index, number = struct.unpack("<II", value)
                note(symbols[index].name, attribute, number.to_bytes(4, "little"))
            else:
                note(section.name[len(".nv.info.") :], attribute, value)
    return found


def _entries(data: bytes) -> Iterable[tuple[int, bytes]]:
    """Format byte, attribute byte, then two bytes that are the value, or for format 4 the length of what follows."""
    offset = 0
    while offset < len(data):
        form, attribute, value = struct.unpack_from("<BBH", data, offset)
        offset += 4
        if form != 4:
            yield attribute, value.to_bytes(2, "little")[: {1: 0, 2: 1}.get(form, 2)]
            continue
        if offset + value > len(data):
            raise CubinError("damaged cubin: an attribute is cut off")
        yield attribute, data[offset : offset + value]
        offset += value
