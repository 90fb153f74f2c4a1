"""Packages and records as text for people: what `pl-link -v` and `pl-inspect` print."""

from collections.abc import Iterable, Sequence
from typing import Any, cast

Json = dict[str, Any]


def _table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """One table, with columns as wide as they need in a pipe and the terminal's width on a terminal."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(*columns, title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD)
    cells = [[str(c) for c in row] for row in rows]
    if not cells:
        return
    for row in cells:
        table.add_row(*row)
    console = Console(highlight=False)
    console.print(table) if console.is_terminal else Console(highlight=False, width=160).print(table)


def _claims(record: Json) -> None:
    order = {kind: i for i, kind in enumerate(("smem", "mbarrier", "barrier", "tmem", "counter"))}
    claims = sorted(record["claims"], key=lambda c: (order[c["kind"]], -1 if c["base"] is None else c["base"]))
    rows = [
        (
            c["kind"],
            c["name"],
            "none" if c["base"] is None else c["base"],
            c["size"],
            c["align"],
            " to ".join(c["live"]),
            ", ".join(c["shares"]),
        )
        for c in claims
    ]
    _table("Placement", ("kind", "claim", "base", "size", "align", "live", "may lie over"), rows)


def _roles(record: Json) -> None:
    budgets = {role: g for g in record["groups"] for role in g["roles"]}
    used = {g["budget"]: g["used"] for g in record["code"]["groups"]}
    rows: list[Sequence[object]] = []
    for role in record["roles"]:
        group = budgets.get(role["name"], {})
        budget = group.get("budget")
        warps = f"{role['first_warp']}..{role['first_warp'] + role['warps'] - 1}"
        rows.append((role["name"], warps, budget or record["code"]["registers"], used.get(budget, "")))
    _table("Roles", ("role", "warps", "register budget", "registers used"), rows)


def _connections(record: Json) -> None:
    rows = [
        (c["link"], c["provider"], c["user"], c.get("route", ""), "; ".join(c.get("reasons", ())))
        for c in record["connections"]
    ]
    _table("Connections", ("kind", "provider", "user", "route", "why"), rows)


def _span(bounds: Sequence[int]) -> str:
    return f"{bounds[0]}..{bounds[1]}"


def show_record(record: Json) -> None:
    """The placement and the decisions of a linked image."""
    code = record["code"]
    print(f"pipeline {record['pipeline']} for {record['target']}: kernel {record['kernel']}")
    print(
        f"  {record['threads']} threads, {record['dynamic_shared']} of {record['capacities']['smem']} bytes of shared"
        f" memory, {record['parameters']['size']} bytes of parameters"
    )
    print(
        f"  {code['instructions']} instructions, {code['registers']} registers at entry, stack {code['stack']},"
        f" spills {code['spill_stores'] + code['spill_loads']}"
    )
    packages = [(p["name"], p["version"], p["digest"]) for p in record["packages"]]
    _table("Packages", ("package", "version", "digest"), packages)
    _claims(record)
    _roles(record)
    rings = [(r["name"], r["side"], r["depth"], _span(r["depths"]), r["arrivals"]) for r in record["rings"]]
    _table("Rings", ("ring", "side", "depth", "accepts", "arrivals (full, empty)"), rings)
    _connections(record)
    _table("Proofs", ("objective", "value and proof"), record["proofs"].items())
    _table("Dropped", ("what and why",), [(d,) for d in record["dropped"]])
    if control := record.get("control"):
        print(f"control: {control['lto']}\nplain nvcc control: {control['plain']}")


def show_package(package: Json, digest: str) -> None:
    """A contract, section by section."""
    print(f"package {package['name']} {package['version']} for {package['target']}, toolkit {package['toolkit']}")
    print(f"  digest {digest}")
    lists: dict[str, list[Any]] = {k: v for k, v in package.items() if isinstance(v, list)}
    sections: dict[str, list[Json]] = {k: v for k, v in lists.items() if v and isinstance(v[0], dict)}
    for name, entries in sections.items():
        columns = [k for k in dict.fromkeys(k for e in entries for k in e) if k != "at"]
        rows = [[_brief(e.get(c, "")) for c in columns] for e in entries]
        _table(name.replace("_", " "), columns, rows)
    shown = {*sections, "name", "version", "target", "toolkit"}
    others = [(k, _brief(v)) for k, v in package.items() if k not in shown and v not in ("", [], None)]
    _table("other", ("field", "value"), others)


def _brief(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{k}={_brief(v)}" for k, v in cast(Json, value).items() if k != "at")
    if isinstance(value, list):
        return ", ".join(_brief(v) for v in cast(list[Any], value))
    return str(value)
