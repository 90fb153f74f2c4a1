"""The parameter block: facts first, then each package's region by its host provider, or by name where it has none."""

import ctypes
import operator
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pipelink_runtime.buffers import Lent
from pipelink_runtime.domains import Domain, Domains, written
from pipelink_runtime.errors import ArgumentError, ProviderError, nearest
from pipelink_runtime.providers import Grid, PlServices, Request, call
from pipelink_runtime.record import Argument, Provider, Record, Region, domain_fields, own_fields

BLOCK_ALIGN = 128
_LIMITS: Grid = (2**31 - 1, 65535, 65535)
_INTEGERS = {"i32": (-(2**31), 2**31), "u32": (0, 2**32), "i64": (-(2**63), 2**63), "u64": (0, 2**64)}
Values = Mapping[str, int | float]


@dataclass(frozen=True)
class Inputs:
    """What the caller gave, already checked, and the device's number of multiprocessors."""

    buffers: Mapping[str, Lent]
    arguments: Values
    multiprocessors: int
    domains: Domains = field(default_factory=dict[str, Domain])


class Block:
    """The parameters of one session, at an address that stays the same."""

    def __init__(self, content: bytes):
        self._memory = ctypes.create_string_buffer(len(content) + BLOCK_ALIGN)
        self.size = len(content)
        self.address = -(-ctypes.addressof(self._memory) // BLOCK_ALIGN) * BLOCK_ALIGN
        ctypes.memmove(self.address, content, len(content))

    def __bytes__(self) -> bytes:
        return ctypes.string_at(self.address, self.size)

    def put_address(self, offset: int, value: int) -> None:
        ctypes.c_uint64.from_address(self.address + offset).value = value


def check_arguments(record: Record, given: Mapping[str, Any]) -> dict[str, int | float]:
    """The arguments by name, as Python numbers. Raises ArgumentError with all that is wrong."""
    needs = {need.name: need for need in record.arguments}
    problems = [f"argument {n!r} is unknown{nearest(n, needs)}" for n in given if n not in needs]
    missing = sorted(set(needs) - set(given))
    problems += [f"argument {n!r} is missing: {needs[n].package} needs {needs[n].type}" for n in missing]
    values: dict[str, int | float] = {}
    for need in record.arguments:
        if need.name not in given:
            continue
        try:
            values[need.name] = _number(need, given[need.name])
        except ArgumentError as error:
            problems.append(str(error))
    if problems:
        raise ArgumentError("\n".join(problems))
    return values


def _number(need: Argument, value: Any) -> int | float:
    subject = f"argument {need.name!r}: {value!r}"
    if need.type == "f32":
        try:
            return float(value)
        except (TypeError, ValueError):
            raise ArgumentError(f"{subject} is no number, {need.package} needs {need.type}") from None
    try:
        whole = operator.index(value)
    except TypeError:
        raise ArgumentError(f"{subject} is no integer, {need.package} needs {need.type}") from None
    low, end = _INTEGERS[need.type]
    if not low <= whole < end:
        raise ArgumentError(f"{subject} is outside of {need.type}, which {need.package} needs: {low} to {end - 1}")
    return whole


def build(
    record: Record, inputs: Inputs, functions: Mapping[str, Any], services: PlServices, grid: Grid | None
) -> tuple[Block, Grid]:
    """The filled block and the grid. `functions` are the providers' by package.

    Raises ProviderError and ArgumentError.
    """
    content = bytearray(record.block)
    grids: dict[str, Grid] = {} if grid is None else {"the caller": grid}
    for region in record.regions:
        if region.package not in functions:
            content[region.offset : region.offset + region.size] = _filled(record, region, inputs)
    for provider in record.providers:
        region = record.region(provider.package)
        filled, chosen = call(functions[provider.package], services, _asked(record, provider, inputs))
        if region:
            content[region.offset : region.offset + region.size] = filled
        if any(chosen):
            grids[provider.package] = chosen
    return Block(bytes(content)), agreed(record, grids)


def _asked(record: Record, provider: Provider, inputs: Inputs) -> Request:
    package = provider.package
    region = record.region(package)
    return Request(
        provider=provider,
        region=region,
        prefilled=prefill(record, region, inputs.domains) if region else b"",
        sourced=sourced(record, region) if region else (),
        buffers=[(b, inputs.buffers[b.name]) for b in record.buffers if b.package == package],
        arguments=[(a, inputs.arguments[a.name]) for a in record.arguments if a.package == package],
        multiprocessors=inputs.multiprocessors,
    )


def sourced(record: Record, region: Region) -> tuple[tuple[str, int, int], ...]:
    """(field, offset, end) of every field that is sourced from a fact or a communication domain."""
    names = [fact.field for fact in region.facts] + sorted(domain_fields(record, region.package))
    spans = [(name, *region.fields[name]) for name in names]
    return tuple((name, offset, offset + size) for name, offset, size in spans)


def prefill(record: Record, region: Region, domains: Domains) -> bytes:
    """Zeros but for the fields that are sourced from facts and communication domains."""
    content = bytearray(region.size)
    for fact in region.facts:
        content[fact.offset : fact.offset + len(fact.packed)] = fact.packed
    for name, packed in written(record, region.package, domains):
        offset = region.fields[name][0]
        content[offset : offset + len(packed)] = packed
    return bytes(content)


def _filled(record: Record, region: Region, inputs: Inputs) -> bytes:
    """The region of a package without a provider: each field is a fact, or named like a buffer or an argument."""
    content = bytearray(prefill(record, region, inputs.domains))
    for name, encoding in own_fields(record, region).items():
        value = inputs.buffers[name].address if name in inputs.buffers else inputs.arguments[name]
        struct.pack_into(encoding, content, region.fields[name][0], value)
    return bytes(content)


def agreed(record: Record, grids: Mapping[str, Grid]) -> Grid:
    """The one grid that was set. Raises ProviderError where providers disagree, ArgumentError where none is set."""
    chosen = sorted(set(grids.values()))
    said = ", ".join(f"{grids[who]} by {who}" for who in sorted(grids))
    if not chosen:
        raise ArgumentError("no provider of the image sets the grid: give grid=(x, y, z) to open")
    if len(chosen) > 1:
        kind = ArgumentError if "the caller" in grids else ProviderError
        raise kind(f"the grid is set to {said}: one of them must decide")
    (grid,) = chosen
    if any(not 1 <= extent <= limit for extent, limit in zip(grid, _LIMITS, strict=True)):
        raise ArgumentError(f"the grid is set to {said}: its extents must be within 1 and {_LIMITS}")
    if any(extent % size for extent, size in zip(grid, record.cluster, strict=True)):
        raise ArgumentError(f"the grid is set to {said}: it must be whole clusters of {record.cluster}")
    return grid


def given_grid(grid: Any) -> Grid | None:
    """`grid=` of open: one to three extents. Raises ArgumentError."""
    if grid is None:
        return None
    try:
        extents = tuple(operator.index(extent) for extent in grid)
    except TypeError:
        raise ArgumentError(f"grid={grid!r}: needs a tuple of one to three integers") from None
    if not 1 <= len(extents) <= 3:
        raise ArgumentError(f"grid={grid!r}: needs one to three integers")
    x, y, z = (*extents, 1, 1)[:3]
    return x, y, z
