"""A fact has one type for all, the value that its consumers require, and a field to be written to."""

from xdsl.dialects.builtin import StringAttr

from pipelink.ir.diagnostics import Note
from pipelink.ir.locations import place_of
from pipelink.ir.pl import FACTS, FactOp, ParamOp, UseFactOp, fact_bytes
from pipelink.ir.suggest import nearest
from pipelink.ir.symbols import package_of, qualified
from pipelink.passes.rules import Checked


def check_facts(checked: Checked) -> None:
    for _, fact, use in checked.reach.connected(FactOp, UseFactOp):
        _check_agreement(checked, fact, use)
    for use in checked.symbols.ops(UseFactOp):
        _check_field(checked, use)


def _check_agreement(checked: Checked, fact: FactOp, use: UseFactOp) -> None:
    notes = (
        Note(f"'{qualified(fact)}' is {fact.type_name.data} {fact.value.data}", place_of(fact)),
        Note(f"'{qualified(use)}' schedules against it", place_of(use)),
    )
    if fact.type_name.data != use.type_name.data:
        message = f"fact '{qualified(use)}' is used as {use.type_name.data} and owned as {fact.type_name.data}"
        checked.errors.error("L-FACT", message, place_of(use), *notes, cause=f"fact {qualified(fact)}")
    elif use.required is not None and _bytes(use, use.required) != _bytes(fact, fact.value):
        message = f"'{qualified(use)}' requires {use.required.data}, '{qualified(fact)}' is {fact.value.data}"
        hint = f"use a package whose fact is {use.required.data}, or one that does not require it"
        checked.errors.error("L-FACT", message, place_of(use), *notes, hint=hint, cause=f"fact {qualified(fact)}")


def _bytes(op: FactOp | UseFactOp, value: StringAttr) -> bytes:
    return fact_bytes(op.type_name.data, value.data)


def _check_field(checked: Checked, use: UseFactOp) -> None:
    package = package_of(use)
    params = [op for op in package.body.block.ops if isinstance(op, ParamOp)] if package else []
    fields = params[0].fields.data if params else {}
    name, size = use.field.data, FACTS[use.type_name.data].size
    found = fields.get(name)
    if found is None:
        message = f"fact '{qualified(use)}' goes to field '{name}', which the package's parameters lack"
        checked.errors.error("L-FACT", message, place_of(use), hint=nearest(name, fields))
    elif isinstance(found, tuple) and found[1] != size:
        message = f"fact '{qualified(use)}' of {size} bytes goes to field '{name}' of {found[1]} bytes"
        checked.errors.error("L-FACT", message, place_of(use))
