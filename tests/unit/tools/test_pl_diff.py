"""pl-diff: what changed, whom it can break, and the version step; all held against what a link then says."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import samples
from msgspec.structs import replace
from samples import MANIFEST, Result, command, write_packages

from pipelink.frontends import contract as c
from pipelink.frontends import package
from pipelink.frontends.classes import CLASSES
from pipelink.frontends.diff import EFFECTS, SILENT, Step, declared, differences, needed
from pipelink.ir.clauses import CATALOGUE
from pipelink.tools.pl_diff import main

AT = c.Location("x.cu", 9, 1)
Change = Callable[[c.Contract], c.Contract]


def entry(field: str, index: int = 0, **values: Any) -> Change:
    """One entry of a collection with other values."""

    def change(old: c.Contract) -> c.Contract:
        entries = list(getattr(old, field))
        entries[index] = replace(entries[index], **values)
        return replace(old, **{field: tuple(entries)})

    return change


def without(field: str, index: int = 0) -> Change:
    return lambda old: replace(old, **{field: tuple(e for i, e in enumerate(getattr(old, field)) if i != index)})


def also(field: str, made: Any) -> Change:
    return lambda old: replace(old, **{field: (*getattr(old, field), made)})


def plainly(**values: Any) -> Change:
    return lambda old: replace(old, **values)


# (package, change, the step it calls for, the clause it is told to risk, whether the sample pipeline breaks)
CASES: dict[str, tuple[str, Change, str, str, bool]] = {
    "bytes": ("load", entry("rings", bytes=2048), "major", "L-BYTES", True),
    "depth": ("load", entry("rings", depth=(5, 8)), "major", "L-DEPTH", True),
    "wider depth": ("load", entry("rings", depth=(2, 8)), "minor", "", False),
    "arrivals": ("load", entry("rings", empty=c.Count("once", 3)), "major", "L-ARRIVALS", True),
    "proxy": ("load", entry("rings", proxy="generic"), "major", "L-PAIR", True),
    "initialiser": ("load", entry("rings", init="", init_signature=None), "major", "L-INIT", True),
    "buffer": ("load", entry("claims", swizzle=64), "major", "L-PAIR", True),
    "signature": ("load", entry("callables", signature=c.Signature("int", (), True)), "major", "L-SIGNATURE", True),
    "callable gone": ("load", without("callables"), "major", "L-UNRESOLVED", True),
    "ring gone": ("mma", lambda old: without("rings")(without("claims")(old)), "major", "L-UNRESOLVED", True),
    "callable new": (
        "load",
        also("callables", c.Callable("more", "m", samples.VOID, AT)),
        "minor",
        "L-DUPLICATE",
        False,
    ),
    "requirement": ("load", entry("fact_uses", required=9), "major", "L-FACT", True),
    "requirement dropped": ("load", entry("fact_uses", required=None), "minor", "", False),
    "fact": ("mma", entry("facts", value=16), "minor", "L-FACT", True),
    "fact gone": ("mma", without("facts"), "major", "L-UNRESOLVED", True),
    "completion": ("mma", entry("exports", completion="partial"), "major", "L-TENSOR", True),
    "demand on the site": ("mma", entry("exports", requires=("converged", "full")), "major", "L-SITE", True),
    "guarantee gone": ("store", entry("sites", guarantees=("entered once",)), "major", "L-SITE", True),
    "guarantee more": ("store", entry("sites", guarantees=("entered once", "converged", "x")), "minor", "", False),
    "frame": ("store", entry("imports", frame=4), "major", "L-TENSOR", True),
    "scratch": ("store", entry("imports", scratch=""), "major", "L-ROUTE", True),
    "claim": ("store", entry("claims", size=1 << 18), "minor", "L-OVERLAP", True),
    "smaller claim": ("store", entry("claims", size=4096), "minor", "L-ROUTE", False),
    "smaller scratch": ("store", entry("claims", index=1, size=1024), "minor", "L-ROUTE", True),
    "arguments no more": ("load", entry("callables", signature=samples.COORD), "minor", "", False),
    "role wider": ("store", entry("roles", registers=(32, 240)), "minor", "", False),
    "target": ("load", plainly(target="sm_100a"), "major", "L-TARGET", True),
    "mode": ("load", plainly(fp=c.FpMode(ftz=True)), "major", "L-FPMODE", True),
    "topology": ("load", plainly(topology=c.Topology(AT, ((2, 1, 1),))), "major", "L-TOPOLOGY", False),
    "symbol": ("load", entry("callables", symbol="load_dead", index=0), "patch", "", False),
    "flags": ("load", plainly(flags=("-O1",)), "patch", "", False),
    "place": ("load", plainly(at=replace(AT, line=7)), "patch", "", False),
}


class Diff:
    """The sample packages in a folder, and one of them changed."""

    def __init__(self, folder: Path):
        self.folder = folder
        write_packages(folder, samples.contracts())
        (folder / "m.toml").write_text(MANIFEST)

    def changed(self, name: str, change: Change, data: bytes = b"no object") -> Path:
        old = package.read(self.folder / f"{name}.plpkg").contract
        package.write(self.folder / "new.plpkg", change(old), {"object.fatbin": data})
        return self.folder / "new.plpkg"

    def run(self, name: str, *options: object) -> Result:
        result = command(main, self.folder / f"{name}.plpkg", self.folder / "new.plpkg", *options)
        text = [part.replace(f"{self.folder}/", "") for part in (result.out, result.err)]
        return Result(result.status, *text)


@pytest.fixture
def diff(tmp_path: Path) -> Diff:
    return Diff(tmp_path)


@pytest.mark.parametrize("case", CASES)
def test_what_is_said_to_break_breaks(diff: Diff, case: str) -> None:
    name, change, step, clause, breaks = CASES[case]
    diff.changed(name, change)
    result = diff.run(name, "--against", diff.folder / "m.toml", "--format", "json")
    found = json.loads(result.out)
    worst = [d for d in found["differences"] if d["step"] == step]
    assert found["needed"] == step
    assert any(clause in d["clauses"] if clause else not d["clauses"] for d in worst)
    assert all(bool(d["breaks"]) == bool(d["clauses"]) for d in worst)
    (pipeline,) = found["pipelines"]
    assert pipeline["breaks"] is breaks
    fired = {error["clause"] for error in pipeline["errors"]}
    assert fired <= {name for d in found["differences"] for name in d["clauses"]}
    assert (clause in fired) is breaks
    assert result.status == 1  # the version is still 1.0.0


def test_a_difference_names_both_values_and_both_places(diff: Diff) -> None:
    diff.changed("load", entry("rings", bytes=2048, at=replace(AT, file="load.cu")))
    assert diff.run("load").out.splitlines() == [
        "load.cu:6:1 -> load.cu:9:1: major: ring 'ring': bytes: 4096 -> 2048; "
        "can break the other endpoint, which waits for the same bytes (L-BYTES)",
        "load.cu:1:1: patch: package: 1 location moved",
        "version 1.0.0 -> 1.0.0: no step; major is needed: too small",
    ]


def test_of_lists_and_structs_only_what_differs_is_shown(diff: Diff) -> None:
    diff.changed("mma", entry("exports", signature=c.Signature("void", ("int *",)), uses=("a", "ring_full", "first")))
    out = diff.run("mma").out
    assert "signature: parameters=[float *] -> parameters=[int *];" in out
    assert "uses: [ring_empty] -> none\n" in out


def test_nothing_differs(diff: Diff) -> None:
    diff.changed("load", lambda old: old)
    assert diff.run("load") == Result(0, "version 1.0.0 -> 1.0.0: no step; nothing differs\n", "")


def test_new_code_alone_is_a_patch(diff: Diff) -> None:
    diff.changed("load", plainly(version="1.0.1"), b"other")
    result = diff.run("load")
    assert (result.status, result.err) == (0, "")
    assert re.match(r"load.cu:1:1: patch: member 'object.fatbin': sha256: \w{12} -> \w{12}\n", result.out)
    assert result.out.endswith("version 1.0.0 -> 1.0.1: a patch step; patch is needed\n")


@pytest.mark.parametrize(("version", "status"), [("1.0.1", 1), ("1.1.0", 0), ("2.0.0", 0), ("0.9.0", 1), ("next", 1)])
def test_the_declared_step_must_suffice(diff: Diff, version: str, status: int) -> None:
    diff.changed("mma", lambda old: replace(entry("facts", value=16)(old), version=version))
    result = diff.run("mma")
    assert (result.status, result.err) == (status, "")
    assert result.out.endswith("too small\n") is bool(status)


@pytest.mark.parametrize(
    ("old", "new", "step"),
    [
        ("1.2.3", "2.0.0", Step.major),
        ("1.2.3", "1.3.0", Step.minor),
        ("1.2.3", "1.2.4", Step.patch),
        ("1.2.3", "1.2.3", Step.none),
        ("1.2.3", "1.1.9", Step.none),
        ("1.2", "1.3", Step.minor),
        ("0.2.3", "0.3.0", Step.major),
        ("0.2.3", "0.2.4", Step.minor),
        ("0.0.3", "0.0.4", Step.major),
        ("0.9.0", "1.0.0", Step.major),
        ("1.0.0-rc1", "1.0.0", Step.major),
        ("1.0.0+a", "1.0.0+b", Step.none),
        ("1.0.0", "one", None),
    ],
)
def test_steps_are_those_of_semantic_versions(old: str, new: str, step: Step | None) -> None:
    assert declared(old, new) == step


def test_a_pipeline_that_breaks_is_named_with_its_errors(diff: Diff) -> None:
    diff.changed("mma", lambda old: replace(entry("facts", value=16)(old), version="2.0.0"))
    result = diff.run("mma", "--against", diff.folder / "m.toml")
    assert result.status == 1
    assert result.out.endswith("major step; minor is needed\nm.toml: breaks: L-FACT\n")
    assert "error[L-FACT]: 'load.tile' requires 8, 'mma.tile' is 16" in result.err


def test_a_pipeline_that_did_not_fit_before_is_not_laid_to_the_change(diff: Diff) -> None:
    (diff.folder / "m.toml").write_text(
        MANIFEST.replace('store = "store.plpkg"\n', "").replace('mma = "mma.plpkg"\n', "")
    )
    diff.changed("load", lambda old: replace(entry("rings", depth=(2, 8))(old), version="1.1.0"))
    result = diff.run("load", "--against", diff.folder / "m.toml")
    assert (result.status, result.err) == (0, "")
    assert "m.toml: did not fit before, and does not now: L-UNRESOLVED" in result.out


def test_a_pipeline_without_the_package_cannot_break(diff: Diff) -> None:
    diff.changed("load", plainly(version="2.0.0", target="sm_100a"))
    (diff.folder / "m.toml").write_text(MANIFEST.replace('load = "load.plpkg"\n', ""))
    assert diff.run("load", "--against", diff.folder / "m.toml").out.endswith("m.toml: does not use it\n")
    result = diff.run("load", "--against", diff.folder / "m.toml", "--format", "json")
    assert result.status == 0
    (pipeline,) = json.loads(result.out)["pipelines"]
    assert (pipeline["uses"], pipeline["breaks"], pipeline["errors"]) == (False, False, [])


def test_a_package_that_is_renamed_is_no_longer_found(diff: Diff) -> None:
    diff.changed("load", plainly(version="2.0.0", name="loader"))
    result = diff.run("load", "--against", diff.folder / "m.toml")
    assert result.status == 1
    assert "major: package: name: load -> loader; can break manifests that list the package (L-NAME)" in result.out
    assert "m.toml: breaks: L-NAME" in result.out


@pytest.mark.parametrize("form", ["text", "json"])
def test_other_errors_have_status_2(diff: Diff, form: str) -> None:
    diff.changed("load", lambda old: old)
    (diff.folder / "m.toml").write_text("[pipeline")
    result = diff.run("load", "--against", diff.folder / "m.toml", "--format", form)
    assert (result.status, result.out) == (2, "")
    if form == "text":
        assert result.err.startswith("m.toml:1:10: error[L-SYNTAX]: ")
    else:
        assert json.loads(result.err)["clause"] == "L-SYNTAX"
    (diff.folder / "new.plpkg").write_bytes(b"no package")
    assert (diff.run("load").status, diff.run("load").out) == (2, "")
    assert command(main, "one").status == 2


def test_the_tables_name_what_the_schema_has() -> None:
    entries = {(s, f) for s, f in CLASSES if f not in SILENT and f"{s}.{f}" not in SILENT}
    whole = {(s, what) for s, _ in CLASSES for what in ("added", "removed")}
    assert EFFECTS.keys() <= entries | whole | {("Contract", "name")}
    named = {clause for effects in EFFECTS.values() for effect, _ in effects for clause in effect.clauses}
    assert named <= CATALOGUE.keys()


@pytest.mark.parametrize(
    ("field", "step"),
    [
        (("Buffer of a ring", "kind"), "major"),
        (("Claim", "dtype"), "minor"),
        (("Role", "entry"), "patch"),
        (("Contract", "flags"), "patch"),
    ],
)
def test_a_field_that_no_table_names_goes_by_its_class(
    diff: Diff, monkeypatch: pytest.MonkeyPatch, field: tuple[str, str], step: str
) -> None:
    """What a schema gains has a class, or it does not import."""
    monkeypatch.delitem(EFFECTS, field, raising=False)
    changes: dict[str, tuple[str, Change]] = {
        "kind": ("load", lambda old: replace(old, claims=(replace(old.claims[0], kind="tmem"), *old.claims[1:]))),
        "dtype": ("store", entry("claims", dtype="f32")),
        "entry": ("store", entry("roles", entry="other")),
        "flags": ("load", plainly(flags=("-O1",))),
    }
    name, change = changes[field[1]]
    old = package.read(diff.folder / f"{name}.plpkg").contract
    assert needed(differences(old, change(old))) == Step[step]


def test_an_entry_of_a_new_kind_is_minor_where_it_comes_and_major_where_it_goes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for what in ("added", "removed"):
        monkeypatch.delitem(EFFECTS, ("Site", what))
    old, new = samples.store(), replace(samples.store(), sites=())
    assert needed(differences(new, old)) == Step.minor
    assert needed(differences(old, new)) == Step.major


def test_a_field_of_the_package_itself_has_one_too() -> None:
    old = samples.load()
    for field in ("target", "toolkit", "ir_version", "fp", "flags", "main", "defined", "undefined", "static_shared"):
        value: Any = {"target": "sm_100a", "toolkit": "14.0", "ir_version": (9, 9), "fp": c.FpMode(ftz=True)}.get(field)
        value = value or {"main": "x.cu", "static_shared": 4}.get(field, ("more",))
        assert needed(differences(old, replace(old, **{field: value}))) >= Step.patch
