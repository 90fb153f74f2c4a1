"""Write the tables of docs/attention.md from result files, between its markers, as bench.tables does for other pages.

python3 -m bench.attention_tables PAGE [RESULTS] [--check]
"""

from collections.abc import Sequence

from bench import tables
from bench.tables import Json


def attention_correct(result: Json) -> str:
    """For each variant and kind of inputs, the worst of its shapes; then the replays."""
    groups: dict[tuple[str, str, str], list[Json]] = {}
    for r in result["results"]:
        groups.setdefault((r["pipeline"], r["kind"], r["way"]), []).append(r)
    rows = [(name, kind, way, *_worst(found)) for (name, kind, way), found in groups.items()]
    parts = [
        tables.table(
            ("pipeline", "inputs", "beside", "cases", "rms over theirs", "largest over theirs", "logarithm", "faults"),
            rows,
        )
    ]
    replays = [(r["pipeline"], r["variant"], r["shape"], r["replays"], *_worst([r])[1:]) for r in result["replays"]]
    parts.append(
        tables.table(
            (
                "pipeline",
                "variant",
                "shape",
                "replays",
                "rms over theirs",
                "largest over theirs",
                "logarithm",
                "faults",
            ),
            replays,
        )
    )
    return "\n\n".join(parts)


def _worst(found: Sequence[Json]) -> tuple[object, ...]:
    def ratio(what: str) -> str:
        known = [r[what] / r["baseline"][what] for r in found if r["baseline"][what] > 0]
        return f"{max(known):.2f}" if known else "none made"

    faults = sorted({fault for r in found for fault in r["faults"]})
    logarithm = max(r["logarithm"] for r in found)
    return len(found), ratio("rms"), ratio("largest"), f"{logarithm:.1e}", ", ".join(faults) or "none"


def attention_speed(result: Json) -> str:
    """How fast each pipeline is, and how many times as fast as the others."""
    rows = [
        (r["variant"], r["length"], r["against"], r["pairs"], f"{r['ms']:.3f}", f"{r['tflops']:.0f}",
         f"{r['other_ms']:.3f}", f"{r['speed']:.4f}", f"{r['speed_q1']:.4f} to {r['speed_q3']:.4f}")
        for r in result["results"]
    ]  # fmt: skip
    columns = ("variant", "length", "against", "pairs", "ms", "TFLOP/s", "their ms", "times as fast", "quartiles")
    before, after = (result["yardstick"][when]["tflops"] for when in ("before", "after"))
    said = f"A product of 8192^3 before and after: {before:.0f} and {after:.0f} TFLOP/s."
    kind = result["results"][0]["kind"]
    return f"Inputs: {kind}. {said}\n\n{tables.table(columns, rows)}"


def main(args: Sequence[str] | None = None) -> int:
    tables.TABLES.update(attention_correct=attention_correct, attention_speed=attention_speed)
    return tables.main(args)


if __name__ == "__main__":
    raise SystemExit(main())
