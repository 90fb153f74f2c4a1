"""No error without a clause: the source of every command is read, and each place that reports names one it can look up.

What names the clause is followed to literals: through conditionals, tables, variables, and parameters of helpers.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

import pipelink
from pipelink.ir.clauses import CATALOGUE

ROOT = Path(pipelink.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
MAKERS = ("fail", "Diagnostic")  # of pipelink.ir.diagnostics: their first argument is the clause
OWN = ROOT / "ir" / "diagnostics.py"


class Unknown(Exception):
    """What names a clause leads to no literal."""


@dataclass(frozen=True)
class Source:
    """A module as read: its tree, and for each node what encloses it."""

    path: Path
    tree: ast.Module
    parents: dict[ast.AST, ast.AST]

    @classmethod
    def of(cls, path: Path, text: str) -> "Source":
        tree = ast.parse(text)
        return cls(path, tree, {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)})

    def within(self, node: ast.AST) -> Iterator[ast.AST]:
        while (parent := self.parents.get(node)) is not None:
            yield parent
            node = parent

    def function(self, node: ast.AST) -> ast.FunctionDef | None:
        return next((n for n in self.within(node) if isinstance(n, ast.FunctionDef)), None)

    def calls(self) -> Iterator[ast.Call]:
        return (node for node in ast.walk(self.tree) if isinstance(node, ast.Call))

    def imports(self, name: str) -> str:
        """The module from which `name` is imported, "" if none."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom) and any(alias.name == name for alias in node.names):
                return node.module or ""
        return ""


@cache
def source(path: Path) -> Source:
    return Source.of(path, path.read_text())


def reports(src: Source) -> Iterator[tuple[ast.Call, ast.expr | None]]:
    """Every call that makes an error, with what names its clause; None where the callee's default holds."""
    for call in src.calls():
        match call.func:
            case ast.Name(id=name) if name in MAKERS and src.imports(name) == "pipelink.ir.diagnostics":
                yield call, argument(call, 0)
            case ast.Attribute(attr="error", value=receiver):
                yield from _error(src, call, ast.unparse(receiver))


def _error(src: Source, call: ast.Call, receiver: str) -> Iterator[tuple[ast.Call, ast.expr | None]]:
    name = receiver.rpartition(".")[2]
    owner = next((n.name for n in src.within(call) if isinstance(n, ast.ClassDef)), "")
    if name in ("errors", "inlined"):  # Diagnostics
        yield call, argument(call, 0)
    elif name == "reader" or (name, owner) == ("self", "Reader"):
        yield call, argument(call, 1)
    elif name not in ("parser", "super()"):  # argparse's own
        raise Unknown(f"{src.path.name}:{call.lineno}: {receiver}.error: whose?")


def argument(call: ast.Call, index: int) -> ast.expr | None:
    """The clause of a call: by its position or its name."""
    named = [k.value for k in call.keywords if k.arg == "clause"]
    return named[0] if named else call.args[index] if len(call.args) > index else None


def clauses(src: Source, node: ast.expr) -> set[str]:
    """The clauses that an expression can name. Raises Unknown where they are not all known."""
    match node:
        case ast.Constant(value=str(text)):
            return {text}
        case ast.IfExp(body=body, orelse=orelse):
            return clauses(src, body) | clauses(src, orelse)
        case ast.Subscript(value=ast.Name(id=table)):
            return listed(src, table)
        case ast.Call(func=ast.Attribute(attr="get", value=ast.Name(id=table)), args=[_, otherwise]):
            return listed(src, table) | clauses(src, otherwise)
        case ast.Name():
            return bound(src, node)
        case _:
            raise Unknown(f"{src.path.name}:{node.lineno}: {ast.unparse(node)}")


def listed(src: Source, table: str) -> set[str]:
    """The values of a table of a module, or of the one that it is imported from."""
    if module := src.imports(table):
        return listed(source(ROOT.parent / (module.replace(".", "/") + ".py")), table)
    for node in src.tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == table and isinstance(node.value, ast.Dict):
            return set().union(*(clauses(src, value) for value in node.value.values))
    raise Unknown(f"{src.path.name}: no table {table}")


def bound(src: Source, name: ast.Name) -> set[str]:
    """What a name of a function holds: what it is assigned, what callers pass, or the clause of a fault."""
    function = src.function(name)
    assert function is not None
    assigned = [
        node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name.id
    ]
    parameters = [parameter.arg for parameter in function.args.args]
    faults = [
        f for f in ast.walk(function) if isinstance(f, ast.For) and ast.unparse(f.target) == f"({name.id}, message)"
    ]
    if assigned:
        return set().union(*(clauses(src, value) for value in assigned))
    if name.id in parameters:
        return passed(src, function, parameters.index(name.id))
    if faults:
        return yielded(src)
    raise Unknown(f"{src.path.name}:{name.lineno}: {name.id}")


def passed(src: Source, function: ast.FunctionDef, index: int) -> set[str]:
    """What the callers of a function pass for a parameter, and its default."""
    found: set[str] = set()
    if len(function.args.defaults) >= len(function.args.args) - index:
        found |= clauses(src, function.args.defaults[index - len(function.args.args)])
    for call in src.calls():
        if isinstance(call.func, ast.Name) and call.func.id == function.name:
            found |= clauses(src, call.args[index])
    if not found:
        raise Unknown(f"{src.path.name}: nobody calls {function.name}")
    return found


def yielded(src: Source) -> set[str]:
    """The clauses of the faults that a module's checks yield."""
    found: set[str] = set()
    for node in ast.walk(src.tree):
        match node:
            case ast.Yield(value=ast.Tuple(elts=[first, _])):
                found |= clauses(src, first)
            case _:
                pass
    return found


def found_in(src: Source) -> set[str]:
    """Every clause that a module reports. Raises Unknown where a report names none."""
    found: set[str] = set()
    for call, clause in reports(src):
        if clause is not None:
            found |= clauses(src, clause)
        elif ast.unparse(call.func).endswith("errors.error") or isinstance(call.func, ast.Name):
            raise Unknown(f"{src.path.name}:{call.lineno}: no clause")
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_error_names_a_clause_of_the_catalogue(path: Path) -> None:
    if path != OWN:
        assert found_in(source(path)) <= CATALOGUE.keys()


def test_every_clause_is_used() -> None:
    assert set().union(*(found_in(source(path)) for path in FILES if path != OWN)) == CATALOGUE.keys()


def _texts(src: Source) -> Iterator[ast.Constant]:
    """Every string of a module but docstrings."""
    for node in ast.walk(src.tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and type(src.parents[node]) is not ast.Expr:
            yield node


def raw(src: Source) -> list[str]:
    """Errors that are printed, or that end a process, by themselves."""
    found = [f"{src.path.name}:{t.lineno}" for t in _texts(src) if "error:" in str(t.value).lower()]
    for node in ast.walk(src.tree):
        match node:
            case ast.Call(
                func=ast.Name(id="SystemExit") | ast.Attribute(attr="exit"),
                args=[ast.Constant() | ast.JoinedStr() as text],
            ):
                found += [f"{src.path.name}:{node.lineno}"] * (not isinstance(getattr(text, "value", ""), int))
            case _:
                pass
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_prints_an_error_of_its_own(path: Path) -> None:
    assert raw(source(path)) == []


HEADER = "from pipelink.ir.diagnostics import Diagnostic, fail\nCLAUSES = {'a': 'L-PAIR', 'b': 'L-BYTES'}\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("raise fail('L-PAIR', 'x')", {"L-PAIR"}),
        ("errors.error('L-PAIR' if x else 'L-BYTES', 'x')", {"L-PAIR", "L-BYTES"}),
        ("checked.errors.error(CLAUSES[x], 'x')", {"L-PAIR", "L-BYTES"}),
        ("Diagnostic(CLAUSES.get(x, 'L-FACT'), 'x')", {"L-PAIR", "L-BYTES", "L-FACT"}),
        ("def f(c):\n    raise fail(c, 'x')\nf('L-FACT')", {"L-FACT"}),
        ("def f():\n    c = 'L-FACT'\n    raise fail(c, 'x')", {"L-FACT"}),
        ("reader.error('text', 'L-SIGNATURE')", {"L-SIGNATURE"}),
        ("reader.error('text')", set()),
        ("raise fail(text, 'x')", None),
        ("raise fail(f'L-{x}', 'x')", None),
        ("errors.error(clause_of(x), 'x')", None),
        ("def f(c):\n    raise fail(c, 'x')\nf(g())", None),
        ("somebody.error('x')", None),
    ],
)
def test_the_reader_follows_what_names_a_clause(text: str, said: set[str] | None) -> None:
    src = Source.of(Path("x.py"), HEADER + text)
    if said is not None:
        assert found_in(src) == said
        return
    with pytest.raises((Unknown, AssertionError)):
        found_in(src)


@pytest.mark.parametrize(
    "text", ["print('error: x')", "print(f'{x}: Error: {y}')", "sys.exit('x')", "raise SystemExit(f'{x}')"]
)
def test_the_reader_sees_what_is_printed_raw(text: str) -> None:
    assert raw(Source.of(Path("x.py"), text)) == ["x.py:1"]
