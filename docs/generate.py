"""Writes the generated sections of the documentation from the code, between `<!-- generated: NAME -->` markers.

`python docs/generate.py` rewrites them, `--check` names the pages that are out of date and returns 1. Examples of the
dialect come from a real link, so the packages must have been built: `make packages` first.
"""

import argparse
import contextlib
import importlib
import inspect
import json
import re
import statistics
import sys
import typing
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Any
from unittest.mock import patch

import msgspec
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from pipelink.frontends import contract, manifest
from pipelink.frontends.classes import CLASSES
from pipelink.frontends.contract import Contract, FpMode, Location
from pipelink.ir import attributes, clauses, pl
from pipelink.ir.builder import package_op
from pipelink.passes import LINK, get_all_passes
from pipelink.tools.pl_link import load

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "components" / "gemm_swiglu" / "h200_shifted.toml"
MARKED = re.compile(r"(<!-- generated: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
LONG = 150  # characters of a string or list in an example; the rest is left out


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of Markdown."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines) + "\n"


def prose(docstring: str | None) -> str:
    """A docstring as paragraphs of Markdown."""
    return "\n\n".join(" ".join(part.split()) for part in inspect.cleandoc(docstring or "").split("\n\n"))


def code(text: str) -> str:
    return f"`{text}`" if text else ""


# ---- commands -------------------------------------------------------------------------------------------------------


def parser_of(module: str) -> argparse.ArgumentParser:
    """The argument parser that the command of `module` makes."""
    found: list[argparse.ArgumentParser] = []

    def stop(parser: argparse.ArgumentParser, *_: object, **__: object) -> typing.NoReturn:
        found.append(parser)
        raise SystemExit

    names = ("parse_args", "parse_known_args")
    with patch.multiple(argparse.ArgumentParser, **dict.fromkeys(names, stop)), contextlib.suppress(SystemExit):
        importlib.import_module(module).main([])
    return found[0]


def command(name: str) -> str:
    """What `--help` says, as a table that does not depend on the version of Python."""
    parser = parser_of("pipelink.tools." + name.replace("-", "_"))
    actions = [a for a in parser._actions if a.dest not in ("help", "version") or a.help]
    rows = [(code(_spelled(a)), (a.help or "") % {"default": a.default, "prog": name}) for a in actions]
    positional = " ".join(f"[{a.dest}]" if a.nargs == "?" else a.dest for a in actions if not a.option_strings)
    return f"`{name} [options] {positional}`\n\n" + table(("argument", "meaning"), rows)


def _spelled(action: argparse.Action) -> str:
    value = "" if action.nargs == 0 else f" {action.metavar or action.dest.upper()}"
    return ", ".join(action.option_strings) + value if action.option_strings else action.dest


# ---- structs --------------------------------------------------------------------------------------------------------


def type_name(hint: Any) -> str:
    """A type as the formats know it."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is tuple:
        if arguments[-1] is Ellipsis:
            return f"list of {type_name(arguments[0])}"
        return f"[{', '.join(type_name(a) for a in arguments)}]"
    if origin is dict:
        return f"table of {type_name(arguments[1])}"
    if origin is typing.Literal:
        return " or ".join(f"`{a!r}`".replace("'", '"') for a in arguments)
    if origin in (UnionType, typing.Union):
        return " or ".join("null" if a is type(None) else type_name(a) for a in arguments)
    names = {str: "string", int: "integer", float: "number", bool: "boolean"}
    return names.get(hint) or f"[{hint.__name__}](#{hint.__name__.lower()})"


def fields(struct: type[msgspec.Struct]) -> list[tuple[str, str, str]]:
    """(name, type, default) of each field; no default where it is required."""
    hints = typing.get_type_hints(struct)
    return [(code(f.encode_name), type_name(hints[f.name]), _default(f)) for f in msgspec.structs.fields(struct)]


def _default(field: msgspec.structs.FieldInfo) -> str:
    if field.default_factory is not msgspec.NODEFAULT:
        return "empty"
    default: Any = field.default
    match default:
        case msgspec.NODEFAULT:
            return "required"
        case msgspec.Struct() | () | "":
            return "empty" if default in ((), "") else "its defaults"
        case None:
            return "null"
        case bool():
            return code(str(default).lower())
        case [*items]:
            return code(str(items))
        case value:
            return code(str(value))


def manifest_keys() -> str:
    tables = {"pipeline": manifest.PipelineTable, "placement": manifest.PlacementTable}
    rows: list[tuple[str, ...]] = []
    for name, kind, default in fields(manifest.Manifest):
        if struct := tables.get(name.strip("`")):
            rows += [(f"`[{name.strip('`')}]` {key}", *rest) for key, *rest in fields(struct)]
        else:
            rows.append((f"`[{name.strip('`')}]`", kind, default))
    return table(("key", "type", "default"), rows)


def contract_schema() -> str:
    structs = [s for _, s in inspect.getmembers(contract, inspect.isclass) if issubclass(s, contract.Entry)]
    structs = sorted((s for s in structs if s is not contract.Entry), key=lambda s: inspect.getsourcelines(s)[1])
    parts: list[str] = []
    for struct in [Contract, *(s for s in structs if s is not Contract)]:
        parts.append(f"#### {struct.__name__}\n")
        parts += [prose(struct.__doc__) + "\n"] * bool(struct.__doc__)
        parts.append(table(("field", "type", "default"), fields(struct)))
    return "\n".join(parts)


def clause_table() -> str:
    """The catalogue, group by group: each clause with its rule, why it matters, what fails it and what mends that."""
    parts: list[str] = []
    for title, group in clauses.GROUPS.items():
        parts.append(f"### {title}")
        for c in group:
            parts.append(f"#### {c.name}\n\n{c.rule[0].upper()}{c.rule[1:]}. {c.why}")
            language = "text" if c.language == "console" else c.language
            parts.append(f"```{language}\n{c.example.rstrip()}\n```\n\n{c.fix}")
    return "\n\n".join(parts) + "\n"


# ---- the dialect ----------------------------------------------------------------------------------------------------


@cache
def stages() -> tuple[ModuleOp, dict[str, str], dict[str, str]]:
    """The example after a link; the pass that decided each `op.property`, the pass that made each op."""
    module = load(EXAMPLE, [])
    decided: dict[str, str] = {}
    made: dict[str, str] = {}
    known = set(_held(module))
    for name in LINK:
        step = get_all_passes()[name]()
        step().apply(Context(), module)
        for what in [*_held(module), *step.produces]:
            if what not in known:
                (decided if what.count(".") == 2 else made).setdefault(what, name)
                known.add(what)
    return module, decided, made


def _held(module: ModuleOp) -> Iterable[str]:
    for op in module.walk():
        yield op.name
        yield from (f"{op.name}.{name}" for name in op.properties)


@cache
def examples() -> dict[str, str]:
    """One printed operation of each kind: of the linked example, else of a contract that has what it lacks."""
    at = Location("x.cu", 1, 1)
    other = Contract(
        "x", "1.0.0", "sm_90a", "13.5.37", (1, 1), FpMode(), (), (), at,
        arguments=(contract.Argument("alpha", "f32", at),),
        domains=(contract.Domain("tp", at, 4),),
        views=(contract.View("peers", "tp", "peer", "peers", at),),
    )  # fmt: skip
    found: dict[str, str] = {}
    for op in [*stages()[0].walk(), *package_op(other, "", "x.plpkg").walk()]:
        found.setdefault(op.name, _printed(op))
    return found


def _printed(op: Operation) -> str:
    """The operation on one line, without its region, digests and the middle of what is long."""
    head = str(op).partition(" {\n")[0]
    head = re.sub(r'"[0-9a-f]{64}"', '"..."', head)
    head = re.sub(r'"(?:[^"\\]|\\.)*"', lambda m: m[0] if len(m[0]) < LONG else m[0][:40] + '..."', head)
    return head + (" { ... }" if op.regions else "")


def grammar(format_: str) -> str:
    """xDSL's assembly format as a grammar line: `$x` a property, `[...]` may be absent."""
    text = format_.replace("`=` `>`", "=>").replace(" attr-dict-with-keyword", "").replace(" attr-dict", "")
    text = text.replace("$body", "{ ... }").replace("`", "").replace("^", "")
    return text.replace("(", "[").replace(")?", "]")


TYPES = {
    "SymbolNameConstraint()": "name",
    repr(pl.INT): "integer",
    repr(pl.INTS): "integers",
    "BaseAttr(StringAttr)": "string",
    "BaseAttr(SymbolRefAttr)": "reference",
    "BaseAttr(UnitAttr)": "present or not",
    "BaseAttr(SymbolRefAttr)))": "references",
    "BaseAttr(StringAttr)))": "strings",
}


def property_type(constraint: object) -> str:
    text = repr(constraint)
    if text.startswith("ArrayOf"):
        text = text.partition("constr=")[2]
        if text.startswith("ArrayOf"):
            return "lists of strings"
        if text.startswith("ParamAttrConstraint") or text.startswith("DenseArray"):
            return "lists of integers"
    named = re.fullmatch(r"BaseAttr\((\w+)Attr\)", text)
    if text not in TYPES and named:
        return f"[{named[1].lower()}](#pl{named[1].lower()})"
    return TYPES[text]


def operation(op: type[pl.PlOp]) -> str:
    _, decided, made = stages()
    rows: list[tuple[str, str, str]] = []
    for name, definition in op.get_irdl_definition().properties.items():
        by = decided.get(f"{op.name}.{name}", "")
        optional = "" if by or type(definition).__name__ == "PropertyDef" else "optional"
        rows.append((code(name), property_type(definition.constr), code(by) or optional))
    lines = [f"### {op.name}\n", prose(op.__doc__).replace("=> ", "⇒ ") + "\n"]
    lines += [f"Made by `{made[op.name]}`.\n"] if op.name in made else []
    lines += [f"`{op.name} {grammar(str(op.assembly_format))}`\n", table(("property", "type", "decided by"), rows)]
    example = examples().get(op.name)
    lines.append(f"```mlir\n{example}\n```\n" if example else "No frontend makes it yet.\n")
    return "\n".join(lines)


def operations() -> str:
    return "\n".join(operation(op) for op in pl.OPERATIONS)


def attribute_list() -> str:
    enums = {attributes.KindAttr: attributes.Kind, attributes.SideAttr: attributes.Side}
    enums |= {attributes.LinkAttr: attributes.Link}
    parts: list[str] = []
    for attribute in attributes.ATTRIBUTES:
        name = attribute.name
        said = prose(attribute.__doc__)
        if enum := enums.get(typing.cast(Any, attribute)):
            said = "One of " + ", ".join(code(str(member)) for member in enum) + "."
        parts.append(f"### {name}\n\n{said}\n")
    return "\n".join(parts)


def pass_table() -> str:
    rows: list[tuple[str, ...]] = []
    for name in LINK:
        step = get_all_passes()[name]()
        listed = [", ".join(code(p) for p in names) for names in (step.requires, step.produces)]
        rows.append((code(name), prose(step.__doc__), *listed))
    return table(("pass", "what it does", "requires", "produces"), rows)


# ---- how large modules do -------------------------------------------------------------------------------------------


def ir_scale() -> str:
    """Seconds by size of the module, from `docs/results/ir_scale.json`; then its profile."""
    found = json.loads((ROOT / "docs" / "results" / "ir_scale.json").read_text())
    steps = list(found["modules"][0]["seconds"])
    rows = [
        (str(m["operations"]), *(f"{m['seconds'][s]['median']:.3f} ({m['seconds'][s]['most']:.3f})" for s in steps))
        for m in found["modules"]
    ]
    python, xdsl = (found["versions"][name] for name in ("python", "xdsl"))
    said = f"Median (most) of {found['runs']} runs in seconds of the process, one core, Python {python}"
    columns = ("operations", *steps)
    profile = "\n".join(line.rstrip() for line in found["profile"])
    return f"{said}, xDSL {xdsl}:\n\n{table(columns, rows)}\n```text\n{profile}\n```\n"


# ---- mutants --------------------------------------------------------------------------------------------------------


def _judged() -> dict[str, Any]:
    return json.loads((ROOT / "docs" / "results" / "mutants.json").read_text())


def mutant_table() -> str:
    """Outcomes by class."""
    rows = [(*outcome.split(": "), str(n)) for outcome, n in _judged()["outcomes"].items()]
    return table(("class", "outcome", "mutants"), rows)


def promise_table() -> str:
    """The fields that nobody can check, with the changes of each that link."""
    linked = _judged()["promises"]
    rows: list[tuple[str, str, str]] = []
    for (struct, field), kind in CLASSES.items():
        if kind == "promise" and struct != "Buffer of a ring":
            name = field if struct == "Contract" else f"{COLLECTIONS.get(struct, struct)}.{field}"
            rows.append((struct, code(field), str(linked.get(name, ""))))
    return table(("entry", "field", "changes that link"), rows)


COLLECTIONS = {
    kind.__name__: field.name
    for field in msgspec.structs.fields(contract.Contract)
    for kind in typing.get_args(field.type)
    if isinstance(kind, type)
}


def placement_table() -> str:
    """What `bench/placement.py` measured, from its JSON."""
    found = json.loads((ROOT / "docs" / "results" / "placement.json").read_text())
    rows: list[tuple[str, ...]] = []
    for handles in dict.fromkeys(row["handles"] for row in found["compositions"]):
        own = [row for row in found["compositions"] if row["handles"] == handles]
        placed = [row for row in own if row["footprint"]]
        seconds, wall = [row["seconds"] for row in own], [row["wall"] for row in own]
        gap = max((row["footprint"] - row["bound"]) / row["footprint"] for row in placed)
        plain = [[row["plain"][k] / row["footprint"] - 1 for row in placed] for k in (0, 1)]
        counts = (f"{sum(row['proven'] for row in own)}/{len(own)}", str(len(own) - len(placed)))
        quick = sum(row["proven"] and row["seconds"] <= 10 for row in own)
        times = (f"{statistics.median(seconds):.3f}", f"{max(seconds):.2f} ({max(wall):.2f})", str(quick))
        fits = (f"+{100 * statistics.median(p):.1f} % (+{100 * max(p):.1f})" for p in plain)
        rows.append((str(handles), *counts, *times, f"{100 * gap:.2f} %", *fits))
    columns = ("handles", "proven", "not placed", "median s", "worst s (wall)", "proven in 10 s", "worst gap")
    files = [
        (
            r["name"].partition(".")[0],
            str(r["claims"]),
            _placed(r),
            r.get("killed") or f"{r['seconds']:.1f} ({r['wall']:.1f})",
        )
        for r in found["files"]
    ]
    commands = "\n\n".join(code(command) for command in found["command"])
    head = f"{commands}\n\n{', '.join(found['versions'])}; {found['machine']}.\n"
    compositions = table((*columns, "first-fit, lexical", "first-fit, by size"), rows)
    return "\n".join([head, compositions, table(("MiniMalloc's", "claims", "placed", "s (wall)"), files)])


def _placed(row: dict[str, Any]) -> str:
    return "; ".join(row["faults"]) or ("yes, checked" if row["placed"] else "no")


COMMANDS = ("pl-pack", "pl-link", "pl-opt", "pl-inspect", "pl-diff", "pl-check-frontend", "pl-place")
SECTIONS: dict[str, Callable[[], str]] = {
    **{name: lambda name=name: command(name) for name in COMMANDS},
    "manifest": manifest_keys,
    "contract": contract_schema,
    "clauses": clause_table,
    "ir-scale": ir_scale,
    "mutants": mutant_table,
    "promises": promise_table,
    "passes": pass_table,
    "operations": operations,
    "placement": placement_table,
    "attributes": attribute_list,
}


def generate(text: str) -> str:
    """A page with its generated sections made anew."""
    return MARKED.sub(lambda m: m[1] + "\n" + SECTIONS[m[2]]() + "\n" + m[3], text)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; return 1 where a page is out of date")
    check: bool = parser.parse_args(arguments).check
    stale: list[Path] = []
    for page in sorted((ROOT / "docs").glob("*.md")):
        text = page.read_text()
        if (made := generate(text)) != text:
            stale.append(page)
            if not check:
                page.write_text(made)
    for page in stale:
        print(f"{page.relative_to(ROOT)}: {'out of date: run make docs' if check else 'written'}", file=sys.stderr)
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
