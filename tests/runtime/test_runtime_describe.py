"""What is printed of an image, and the command that prints it."""

import json
from pathlib import Path
from typing import Any

import pipelink_runtime as plrt
import pytest
from pipelink_runtime.__main__ import main
from runtime_samples import Build, Fake, Json, provided

GOLDEN = Path(__file__).with_name("description.txt")


def described() -> Json:
    """The sample with two roles under a budget, and a tensor between them."""
    made = provided(
        roles=[
            {"name": "scale.load", "first_warp": 0, "warps": 1},
            {"name": "scale.math", "first_warp": 4, "warps": 4},
        ],
        groups=[
            {"roles": ["scale.load"], "warps": [0, 4], "budget": 40, "need": 24},
            {"roles": ["scale.math"], "warps": [4, 8], "budget": 216, "need": 190},
        ],
        connections=[
            {"link": "fact", "provider": "scale.tile", "user": "scale.tile"},
            {
                **{"link": "tensor", "provider": "scale.sum", "user": "scale.sum", "route": "direct"},
                **{"reasons": ["same thread, same register"], "orders": ["ready"], "schedule": {}},
            },
        ],
    )
    made["buffers"].append({**made["buffers"][1], "package": "store", "align": 128})
    made["code"].update(registers=128, spill_stores=8, spill_loads=4)
    return made


@pytest.fixture
def no_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    from pipelink_runtime import driver

    monkeypatch.setattr(driver, "LIBRARY", "libno_such_driver.so.1")
    driver.load.cache_clear()


@pytest.mark.usefixtures("no_driver")
def test_the_table(build: Build) -> None:
    image = plrt.Image.load(build(described()))
    assert str(image.describe()) + "\n" == GOLDEN.read_text()


@pytest.mark.usefixtures("no_driver")
def test_the_data(build: Build) -> None:
    about = plrt.Image.load(build(described())).describe().json()
    assert about["roles"] == [
        {"name": "scale.load", "warps": [0, 1], "threads": 32, "registers": 40},
        {"name": "scale.math", "warps": [4, 8], "threads": 128, "registers": 216},
    ]
    assert about["routes"] == [
        {"provider": "scale.sum", "user": "scale.sum", "route": "direct", "reasons": ["same thread, same register"]}
    ]
    assert about["packages"] == [{"name": "scale", "version": "1.2.3", "digest": "0" * 64, "native": True}]
    assert about["buffers"][1] == {"name": "out", "dtype": "f32", "rank": 2, "access": "write", "align": 128}
    assert about["facts"] == [{"name": "scale.tile", "type": "i32", "value": "48"}]
    assert about["occupancy"] == {"blocks": 2, "source": "record"}
    assert (about["registers"], about["spill_bytes"], about["shared_bytes"]) == (128, 12, 4096)
    json.dumps(about)


@pytest.mark.usefixtures("no_driver")
@pytest.mark.parametrize(
    ("shared", "registers", "blocks"), [(100_000, 32, 2), (4096, 40, 6), (4096, 41, 5), (232448, 32, 1)]
)
def test_occupancy_by_the_record(build: Build, shared: int, registers: int, blocks: int) -> None:
    made = described()
    made["dynamic_shared"] = shared
    made["code"]["registers"] = registers
    assert plrt.Image.load(build(made)).describe().json()["occupancy"]["blocks"] == blocks


def test_occupancy_by_the_device(build: Build, fake: Fake) -> None:
    fake.set(blocks=3)
    image = plrt.Image.load(build(described()))
    assert image.describe().json()["occupancy"] == {"blocks": 3, "source": "device"}
    assert "occupancy:      3 a multiprocessor (of this device)" in str(image.describe())


def test_a_device_that_cannot_run_it(build: Build, fake: Fake) -> None:
    fake.set(major=8)
    assert plrt.Image.load(build(described())).describe().json()["occupancy"]["source"] == "record"


def test_roles_without_a_budget_have_the_registers_of_the_kernel(build: Build, fake: Fake) -> None:
    made = described()
    made["groups"][0]["budget"] = None
    assert plrt.Image.load(build(made)).describe().json()["roles"][0]["registers"] == 128


@pytest.mark.usefixtures("no_driver")
def test_describe_on_the_command_line(build: Build, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(build(described()))
    assert main(["describe", path]) == 0
    assert capsys.readouterr().out == GOLDEN.read_text()
    assert main(["describe", path, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == plrt.Image.load(path).describe().json()


def test_unpack_on_the_command_line(build: Build, tmp_path: Path, provider_code: bytes) -> None:
    assert main(["unpack", str(build(described())), str(tmp_path / "new" / "folder")]) == 0
    folder = tmp_path / "new" / "folder"
    names = sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())
    assert names == ["kernel.cubin", "providers/scale.so", "record.json"]
    assert (folder / "providers" / "scale.so").read_bytes() == provider_code
    assert json.loads((folder / "record.json").read_bytes())["kernel"] == "pl_scaled"


def test_errors_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    missing: Any = tmp_path / "none.plimg"
    assert main(["describe", str(missing)]) == 1
    assert (
        capsys.readouterr().err
        == f"error: {missing}: No such file or directory; give the path of an image that pl-link wrote\n"
    )
