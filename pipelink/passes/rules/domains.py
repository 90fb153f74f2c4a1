"""Packages that join a communication domain agree on its ranks and allocations; their fields hold what is written."""

from pipelink.ir.diagnostics import Note
from pipelink.ir.locations import place_of
from pipelink.ir.pl import DomainOp, ParamOp, PlOp, ViewOp
from pipelink.ir.suggest import nearest
from pipelink.ir.symbols import package_of, path_of, qualified
from pipelink.passes.rules import Checked

ADDRESS = 8  # bytes


def check_domains(checked: Checked) -> None:
    domains = checked.symbols.ops(DomainOp)
    _check_ranks(checked, domains)
    for domain in domains:
        for field in (domain.rank_field, domain.ranks_field):
            if field is not None:
                _check_field(checked, domain, field.data, 4)
    owner: dict[str, ViewOp] = {}
    for view in checked.symbols.ops(ViewOp):
        domain = checked.symbols.get(view.domain, view, DomainOp)
        _check_field(checked, view, view.field.data, ADDRESS, view.kind.data == "peer", domain.ranks.value.data)
        first = owner.setdefault(view.allocation.data, view)
        ours, theirs = (path_of(v.domain)[-1] for v in (first, view))
        if ours != theirs:
            message = f"allocation '{view.allocation.data}' is of domain '{ours}' and of domain '{theirs}'"
            note = Note(f"'{qualified(first)}' views it in '{ours}'", place_of(first))
            checked.errors.error("L-DOMAIN", message, place_of(view), note, hint="one allocation lies in one domain")


def _check_ranks(checked: Checked, domains: list[DomainOp]) -> None:
    """A domain is one for all packages that name it."""
    stated: dict[str, DomainOp] = {}
    for domain in (d for d in domains if d.ranks.value.data):
        first = stated.setdefault(domain.sym_name.data, domain)
        ours, theirs = first.ranks.value.data, domain.ranks.value.data
        if ours != theirs:
            message = f"domain '{domain.sym_name.data}' has {theirs} ranks for '{qualified(domain)}', {ours} before"
            note = Note(f"'{qualified(first)}' has {ours}", place_of(first))
            checked.errors.error("L-DOMAIN", message, place_of(domain), note)


def _check_field(checked: Checked, op: PlOp, name: str, size: int, several: bool = False, ranks: int = 0) -> None:
    """A field of the package's parameters of `size` bytes, or of as many times that as there are ranks."""
    package = package_of(op)
    params = [p for p in package.body.block.ops if isinstance(p, ParamOp)] if package else []
    fields = params[0].fields.data if params else {}
    span = fields.get(name)
    if not isinstance(span, tuple) or not isinstance(length := span[1], int):
        message = f"'{qualified(op)}' goes to field '{name}', which the package's parameters lack"
        checked.errors.error("L-DOMAIN", message, place_of(op), hint=nearest(name, fields))
        return
    fits = length == size * ranks if several and ranks else length % size == 0 if several else length == size
    if not fits:
        needs = f"{size} bytes a rank" + (f", {size * ranks} in all" if ranks else "") if several else f"{size} bytes"
        message = f"'{qualified(op)}' needs {needs} in field '{name}', which has {length}"
        checked.errors.error("L-DOMAIN", message, place_of(op), Note("the parameters are here", place_of(params[0])))
