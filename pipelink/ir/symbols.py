"""Symbol lookup and symbol uses over one module: an index made once by whoever needs it.

xDSL's own lookup scans, and its symbol uses are not implemented.
"""

from collections.abc import Iterator
from typing import TypeVar

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute, Operation, ParametrizedAttribute

from pipelink.ir.pl import PackageOp, PipelineOp, PlOp

OpT = TypeVar("OpT", bound=Operation)


def symbol_name(op: Operation) -> str:
    """The name of a symbol operation; "" where it has none."""
    name = op.properties.get("sym_name")
    return name.data if isinstance(name, StringAttr) else ""


def package_of(op: Operation) -> PackageOp | None:
    parent = op.parent_op()
    return parent if isinstance(parent, PackageOp) else None


def qualified(op: Operation) -> str:
    """`package.thing`: the name of an operation within its pipeline."""
    package = package_of(op)
    return f"{package.sym_name.data}.{symbol_name(op)}" if package else symbol_name(op)


def reference(op: Operation) -> SymbolRefAttr:
    """The reference to `op` from the level of its pipeline: `@package::@thing`."""
    package = package_of(op)
    name = symbol_name(op)
    return SymbolRefAttr(package.sym_name.data, [name]) if package else SymbolRefAttr(name)


def path_of(ref: SymbolRefAttr) -> tuple[str, ...]:
    return (ref.root_reference.data, *(n.data for n in ref.nested_references))


def references_in(attribute: Attribute) -> Iterator[SymbolRefAttr]:
    """Every symbol reference inside an attribute, in order."""
    match attribute:
        case SymbolRefAttr():
            yield attribute
        case ArrayAttr():
            for element in attribute.data:
                yield from references_in(element)
        case DictionaryAttr():
            for element in attribute.data.values():
                yield from references_in(element)
        case ParametrizedAttribute():
            for element in attribute.parameters:
                yield from references_in(element)
        case _:
            return


class Symbols:
    """The symbols of one pipeline. Build it anew after a pass has added or erased operations."""

    def __init__(self, pipeline: PipelineOp):
        self.pipeline = pipeline
        self.packages = {p.sym_name.data: p for p in pipeline.body.block.ops if isinstance(p, PackageOp)}
        self.table: dict[tuple[str, ...], Operation] = {
            (name,): op for op in pipeline.body.block.ops if (name := symbol_name(op))
        }
        for name, package in self.packages.items():
            for op in package.body.block.ops:
                if symbol := symbol_name(op):
                    self.table.setdefault((name, symbol), op)

    def find(self, ref: SymbolRefAttr, near: Operation) -> Operation | None:
        """What `ref` names in an operation `near`: `@thing` in its own package, `@package::@thing` anywhere."""
        path = path_of(ref)
        package = package_of(near)
        if len(path) == 1 and package is not None:
            path = (package.sym_name.data, *path)
        return self.table.get(path)

    def get(self, ref: SymbolRefAttr, near: Operation, kind: type[OpT]) -> OpT:
        """As `find`, for a reference that the verifier has seen to name a `kind`."""
        found = self.find(ref, near)
        if not isinstance(found, kind):
            raise KeyError(f"{ref} does not name a {kind.__name__}")
        return found

    def ops(self, kind: type[OpT]) -> list[OpT]:
        """All operations of a kind, pipeline level first, then package by package, in order."""
        return [op for op in self.pipeline.walk() if isinstance(op, kind)]

    def uses(self, op: Operation) -> Iterator[tuple[SymbolRefAttr, Operation | None]]:
        """Every symbol that the properties of `op` name, with what it resolves to."""
        for attribute in op.properties.values():
            for found in references_in(attribute):
                yield found, self.find(found, op)


def pipeline_of(module: Operation) -> PipelineOp:
    """The pipeline of a module. Raises KeyError where there is not exactly one."""
    found = [op for op in module.walk() if isinstance(op, PipelineOp)]
    if len(found) != 1:
        raise KeyError(f"a module holds one pl.pipeline, not {len(found)}")
    return found[0]


def children(op: PipelineOp | PackageOp) -> list[PlOp]:
    return [child for child in op.body.block.ops if isinstance(child, PlOp)]
