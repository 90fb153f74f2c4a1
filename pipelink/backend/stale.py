"""What linking by symbols alone does, for a demonstration: packages that an older pipeline had unchanged keep the
constants that they got there, whatever the new owners of these say. Symbols resolve, so such a kernel links.

Constants are what contracts make of others' numbers: facts, ring depths, arrival counts and totals of counters. Storage
is placed anew, so that what goes wrong is what contracts would have carried.
"""

from collections.abc import Mapping

from xdsl.dialects.builtin import ModuleOp

from pipelink.ir.pl import CounterOp, RingOp, StubOp, UseFactOp
from pipelink.ir.symbols import Symbols, package_of, pipeline_of, qualified


def keep_constants(module: ModuleOp, older: ModuleOp) -> list[str]:
    """Give the unchanged packages of a finished module the constants of an older one; what differs, in words."""
    symbols, before = Symbols(pipeline_of(module)), Symbols(pipeline_of(older))
    digests = {name: package.digest for name, package in before.packages.items()}
    unchanged = {n for n, package in symbols.packages.items() if digests.get(n) == package.digest}
    return [*_facts(symbols, before, unchanged), *_handles(symbols, before, unchanged)]


def _facts(symbols: Symbols, before: Symbols, unchanged: set[str]) -> list[str]:
    old = {qualified(use): use.value for use in before.ops(UseFactOp)}
    kept: list[str] = []
    for use in symbols.ops(UseFactOp):
        value, package = old.get(qualified(use)), package_of(use)
        if value is None or use.value is None or value == use.value or package is None:
            continue
        if package.sym_name.data in unchanged:
            kept.append(f"{qualified(use)} stays {value.data}, its owner says {use.value.data}")
            use.value = value
    return kept


def _handles(symbols: Symbols, before: Symbols, unchanged: set[str]) -> list[str]:
    old: Mapping[str, StubOp] = {stub.symbol.data: stub for stub in before.ops(StubOp)}
    kept: list[str] = []
    for stub in symbols.ops(StubOp):
        read, other = symbols.find(stub.reads, symbols.pipeline), old.get(stub.symbol.data)
        package = package_of(read) if isinstance(read, RingOp | CounterOp) else None
        if package is None or other is None or other.value == stub.value or package.sym_name.data not in unchanged:
            continue
        name = stub.symbol.data.removeprefix("plh_").replace("__", ".")
        kept.append(f"{name} stays {other.value.value.data}, the contracts say {stub.value.value.data}")
        stub.value = other.value
    return kept
