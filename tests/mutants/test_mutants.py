"""A seeded sample of the mutants of shipped pipelines; `make mutants` judges all of them."""

import random
from pathlib import Path

import msgspec
import pytest
from mutants import SAME, Mutant, Outcome, Pipeline, mutants, report

from pipelink.backend.link import link
from pipelink.backend.link import load_packages as packages_of
from pipelink.frontends import classes, contract, package
from pipelink.tools.pl_link import finish, load

SAMPLE = 200


@pytest.fixture(scope="module")
def pipeline(packages: Path) -> Pipeline:
    return Pipeline(packages / "h200.toml")


def test_a_sample_of_mutants(pipeline: Pipeline) -> None:
    chosen = random.Random(7).sample(pipeline.mutants(), SAMPLE)
    made = report([pipeline.judge(mutant) for mutant in chosen])
    assert made["wrong"] == []
    assert len(made["outcomes"]) >= 5  # each class, and promises with several outcomes


def test_inert_fields_leave_the_bytes_of_the_cubin(pipeline: Pipeline, packages: Path, tmp_path: Path) -> None:
    original = load(packages / "h200.toml", ())
    finish(original)
    inert = [m for m in pipeline.mutants() if m.kind == "inert"]
    random.Random(11).shuffle(inert)
    mutant = next(m for m in inert if pipeline.judge(m).result == SAME)
    for name, file in pipeline.files.items():
        (tmp_path / file.name).write_bytes(file.read_bytes())
        if name == mutant.package:
            package.write(tmp_path / file.name, mutant.contract, pipeline.packages[name].members)
    (tmp_path / "mutant.toml").write_text((packages / "h200.toml").read_text())
    changed = load(tmp_path / "mutant.toml", ())
    finish(changed)
    linked = [link(m, packages_of(m, [f])).cubin for m, f in ((original, packages), (changed, tmp_path))]
    assert linked[0] == linked[1]


def test_a_field_without_a_class_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    class Novel(contract.Entry, frozen=True):
        name: str

    monkeypatch.setattr(contract, "Novel", Novel, raising=False)
    with pytest.raises(TypeError, match=r"fields without a class.*Novel.*name"):
        classes._table()  # pyright: ignore[reportPrivateUsage]


def test_what_is_wrong_is_reported(pipeline: Pipeline) -> None:
    """The judge can fail: a paired field that links, and a refusal that names something else."""
    mutant = next(m for m in pipeline.mutants() if m.path == "rings[0].bytes")
    assert pipeline.judge(mutant).right
    passed = Outcome(mutant, SAME, "", right=False)
    assert report([passed])["wrong"] == [f"{mutant} [paired]: same kernel: "]
    unnamed = msgspec.structs.replace(mutant.contract, name="x")
    words = Mutant(mutant.package, mutant.path, mutant.entry, "paired", mutant.change, ("nowhere",), unnamed)
    assert not pipeline.judge(words).right


def test_every_field_has_mutants(pipeline: Pipeline) -> None:
    """Every field that some package of the pipeline fills is changed."""
    changed = {m.path.rpartition(".")[2] for p in pipeline.packages.values() for m in mutants(p.contract)}
    known = {name for _, name in classes.CLASSES}
    absent = {"at", "schema", "members", "max_threads", "cluster", "sha256", "static_shared", "space"}
    fields = {
        f
        for e in (contract.Role, contract.Claim, contract.Ring, contract.Export, contract.Import, contract.Site)
        for f in e.__struct_fields__
    }
    assert changed <= known
    assert fields - absent <= changed
