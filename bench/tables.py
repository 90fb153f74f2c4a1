"""Write the tables of a page from result files, between its markers.

python3 -m bench.tables PAGE [RESULTS] [--check]

A marker line `<!-- table NAME -->` starts a table, `<!-- end -->` ends it; what lies between is generated from
RESULTS/NAME*.json. With --check nothing is written, and the exit status says whether the page is as it would be.
"""

import argparse
import json
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

Json = dict[str, Any]
SECTION = re.compile(r"(?<=<!-- table )(?P<name>\w+)(?P<start> -->\n).*?(?P<end><!-- end -->)", re.DOTALL)


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def origin(result: Json) -> str:
    """Card, versions, commit and command of a result, for the line under its table."""
    card, versions = result["card"], result["versions"]
    where = f"{card.get('name', 'no GPU')}, driver {card.get('driver', 'none')}"
    with_ = ", ".join(f"{k} {v}" for k, v in versions.items() if v != "absent")
    return f"{where}; {with_}; commit {result['commit']}; `{' '.join(result['command'])}`"


def _number(value: float | None, form: str) -> str:
    return "not finite" if value is None else format(value, form)


def _judged(checked: Json) -> Iterable[tuple[str, ...]]:
    """A row for each set of kernels of one pipeline that were judged alike at one size."""
    baseline = _number(checked["baseline"]["element"], ".2e")
    alike: dict[tuple[str, ...], list[str]] = {}
    for r in checked["results"]:
        errors = _number(r["norm"], ".2e"), _number(r["element"], ".2e")
        alike.setdefault((r["size"], r["case"], *errors, ", ".join(r["faults"]) or "none"), []).append(r["variant"])
    for (size, case, norm, element, faults), kernels in alike.items():
        yield size, case, ", ".join(kernels), norm, element, baseline, faults


def correct(result: Json) -> str:
    """Errors of each image and control at each size; then what was planted and how many replays were right."""
    rows = [row for checked in result["sizes"] for row in _judged(checked)]
    parts = [table(("M x N x K", "pipeline", "kernels", "norm", "element", "torch's element", "faults"), rows)]
    planted = [
        (r["case"], r["plant"], _number(r["norm"], ".2e"), "; ".join(r["faults"]) or "none")
        for r in result["plants"]["results"]
    ]
    parts.append(table(("pipeline", "kernel", "norm", "faults"), planted))
    replays = [(r["case"], r["size"], r["replays"], len(r["wrong"])) for r in result["replays"]]
    parts.append(table(("pipeline", "M x N x K", "replays of a graph", "wrong"), replays))
    return "\n\n".join(parts)


def compare(result: Json) -> str:
    """Ratios of an image against its controls and against itself."""
    rows = [
        (r["size"], r["label"], r["pairs"], f"{r['ratio']:.5f}", f"{r['ratio_q1']:.5f} to {r['ratio_q3']:.5f}",
         f"{r['median_a_ms']:.4f}", f"{r['tflops_a']:.0f}")
        for r in result["results"]
    ]  # fmt: skip
    name = result["images"][0]["file"]
    return f"`{name}`\n\n" + table(
        ("M x N x K", "against", "pairs", "ratio", "quartiles", "median ms", "TFLOP/s"), rows
    )


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


def sanitize(result: Json) -> str:
    rows = [
        (r["tool"], r["image"], r["status"] + (f" ({r['count']})" if r["count"] else ""),
         "errors" if r["planted"] else "clean", _code(r["text"].partition("; ")[0]))
        for r in result["results"]
    ]  # fmt: skip
    return table(("tool", "image", "found", "wanted", "first finding"), rows)


def _spread(value: Json) -> str:
    return f"{value['median']:.1f} [{value['q1']:.1f}, {value['q3']:.1f}]"


def host_cost(result: Json) -> str:
    rows = [(r["image"], *(_spread(r[k]) for k in ("open", "launch", "bare"))) for r in result["results"]]
    return table(("image", "open, us", "launch, us", "bare cuLaunchKernelEx, us"), rows)


def facts(result: Json) -> str:
    """Each upgrade of one constant, linked with contracts and by symbols alone."""
    found = {(r["name"], r["link"]): r for r in result["results"]}
    base = found["base", "contracts"]
    rows = [("none", "", "", _runs(base), "")]
    for name, upgrade in result["upgrades"].items():
        constant = f"`{upgrade['constant']}` {upgrade['before']} to {upgrade['after']}"
        stale = found[name, "symbols"]
        kept = "; ".join(stale["stale"])
        rows.append((upgrade["owner"], constant, _runs(found[name, "contracts"]), _runs(stale), kept))
    return table(("repacked", "constant", "with contracts", "by symbols alone", "what stays stale"), rows)


def _runs(result: Json) -> str:
    """`right at 64x64x64`, sizes with one verdict together."""
    sizes: dict[str, list[str]] = {}
    for run in result["runs"]:
        verdict = run["verdict"] + (f" ({run['unwritten']:.0%})" if run.get("unwritten") else "")
        sizes.setdefault(verdict, []).append(run["size"])
    return "; ".join(f"{verdict} at {', '.join(at)}" for verdict, at in sizes.items())


TABLES: dict[str, Callable[[Json], str]] = {f.__name__: f for f in (correct, compare, sanitize, host_cost, facts)}


def section(name: str, results: Path) -> str:
    """The tables of every result whose file name starts with `name`, oldest name first. Raises KeyError for a name that
    has no table, FileNotFoundError where there is no result."""
    make = TABLES[name]
    paths = sorted(p for p in results.glob("*.json") if re.fullmatch(rf"{name}([.-].*)?", p.stem))
    if not paths:
        raise FileNotFoundError(f"no result {name}*.json in {results}")
    parts: list[str] = []
    for path in paths:
        result = json.loads(path.read_text())
        parts.append(f"{make(result)}\n\n{path.name}: {origin(result)}\n")
    return "\n".join(parts)


def fill(page: str, results: Path) -> str:
    """The page with every marked table generated anew."""
    return SECTION.sub(lambda m: f"{m['name']}{m['start']}\n{section(m['name'], results)}\n{m['end']}", page)


def main(args: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser("bench.tables", description=__doc__)
    parser.add_argument("page", type=Path)
    parser.add_argument("results", type=Path, nargs="?", help="a folder; results/STEM beside STEM.md by default")
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args(args)
    old = given.page.read_text()
    new = fill(old, given.results or given.page.parent / "results" / given.page.stem)
    if given.check:
        return int(new != old)
    given.page.write_text(new)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
