"""Images that are damaged, changed, or say what cannot be: one line each, and nothing is loaded."""

import copy
import json
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pipelink_runtime as plrt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pipelink_runtime import archive
from runtime_samples import (
    CUBIN,
    Build,
    Json,
    argument,
    buffer,
    counted,
    digest,
    provided,
    record,
    write,
    write_members,
)

Edit = Callable[[Json], Any]


def refused(path: Path) -> str:
    with pytest.raises(plrt.ImageError) as raised:
        plrt.Image.load(path)
    message = str(raised.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    return message.removeprefix(f"{path}: ")


def sound(stated: Json) -> dict[str, bytes]:
    stated = {**stated, "members": {"kernel.cubin": digest(CUBIN)}}
    return {"record.json": json.dumps(stated).encode(), "kernel.cubin": CUBIN}


def test_a_sound_image(build: Build) -> None:
    path = build(provided())
    image = plrt.Image.load(str(path))
    assert image.record["kernel"] == "pl_scaled"
    assert repr(image) == f"<Image scaled for sm_90a, {path}>"


def test_stored_members(tmp_path: Path) -> None:
    plrt.Image.load(write_members(tmp_path / "stored.plimg", sound(record()), zipfile.ZIP_STORED))


def test_no_file(tmp_path: Path) -> None:
    assert refused(tmp_path / "none.plimg").startswith("No such file or directory")
    assert refused(tmp_path).startswith("Is a directory")


def test_no_zip(tmp_path: Path) -> None:
    path = tmp_path / "text.plimg"
    path.write_bytes(b"no zip at all")
    assert refused(path) == "damaged, or no image: link it again"


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda m: m.pop("kernel.cubin"), "member 'kernel.cubin' is missing"),
        (lambda m: m.pop("record.json"), "no image: it needs one record.json"),
        (lambda m: m.update({"notes.txt": b""}), "member 'notes.txt' is not stated"),
        (lambda m: m.update({"../escape": b""}), "member '../escape' is not stated"),
        (lambda m: m.update({"kernel.cubin": CUBIN + b"!"}), "member 'kernel.cubin' is not what record.json states"),
        (lambda m: m.update({"record.json": b"{"}), "record.json is no JSON"),
        (lambda m: m.update({"record.json": b"[" * 100_000}), "record.json is no JSON"),
        (lambda m: m.update({"record.json": b"\xff\xfe"}), "record.json is no JSON"),
        (lambda m: m.update({"record.json": b"[]"}), "record.json: record: needs an object"),
    ],
)
def test_members(tmp_path: Path, edit: Callable[[dict[str, bytes]], Any], message: str) -> None:
    members = sound(record())
    edit(members)
    assert message in refused(write_members(tmp_path / "changed.plimg", members))


def test_members_that_are_stated_twice(tmp_path: Path) -> None:
    path = tmp_path / "twice.plimg"
    with zipfile.ZipFile(path, "w") as made:
        for name, data in sound(record()).items():
            made.writestr(name, data)
        with pytest.warns(UserWarning, match="Duplicate"):
            made.writestr("kernel.cubin", CUBIN)
    assert "each member once" in refused(path)


def test_sizes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "large.plimg", record())
    monkeypatch.setattr(archive, "MAX_MEMBER", 8)
    assert "member 'kernel.cubin' is larger than" in refused(path)
    monkeypatch.setattr(archive, "MAX_FILE", 8)
    assert refused(path).startswith("larger than")


def test_other_compression(tmp_path: Path) -> None:
    path = write_members(tmp_path / "lzma.plimg", sound(record()), zipfile.ZIP_LZMA)
    assert "packed in a way that images are not" in refused(path)


def put(*path: Any) -> Edit:
    """Set the value at a path of keys and indices; the last of `path` is the value."""

    def edit(stated: Json) -> None:
        *keys, last, value = path
        place: Any = stated
        for key in keys:
            place = place[key]
        place[last] = value

    return edit


REGION = ("parameters", "regions", 0)
EDITS: list[tuple[Edit, str]] = [
    (put("schema", 2), "the image has schema 2, this runtime reads 1"),
    (lambda r: r.pop("threads"), "record has no 'threads': the image is of another version"),
    (put("threads", 0), "threads: needs an integer within 1 and 1024, not 0"),
    (put("threads", True), "threads: needs an integer within 1 and 1024, not True"),
    (put("target", "sm_9"), "target: needs text like"),
    (put("kernel", "../k"), "kernel: needs text like"),
    (put("cluster", [1, 1]), "cluster: needs three extents"),
    (put("buffers", {}), "buffers: needs an array"),
    (put("buffers", 0, "dtype", "f31"), "buffers[0].dtype: needs one of"),
    (put("buffers", 0, "rank", 6), "buffers[0].rank: needs an integer within 0 and 5"),
    (put("buffers", 0, "align", 24), "buffers[0].align: needs a power of two, not 24"),
    (put("arguments", 0, "type", "void"), "arguments[0].type: needs one of i32, u32, i64, u64, f32"),
    (put(*REGION, "offset", 4), "the parameters of scale are misaligned or outside"),
    (put(*REGION, "size", 256), "the parameters of scale are misaligned or outside of the block of 128 bytes"),
    (put(*REGION, "size", 24), "the parameters of scale have a field outside of their 24 bytes"),
    (put(*REGION, "fields", "x", [0]), "fields.x: needs an offset and a size"),
    (put(*REGION, "facts", 0, "field", "n"), "have no field 'n' for a fact of 4 bytes"),
    (put(*REGION, "facts", 0, "value", "many"), "facts[0].value: needs a value of type i32, not 'many'"),
    (put(*REGION, "facts", 0, "value", "2147483648"), "facts[0].value: needs a value of type i32"),
    (lambda r: r["parameters"]["regions"].append(r["parameters"]["regions"][0]), "scale and scale overlap"),
    (put(*REGION, "fields", "y", [0, 8]), "scale has no provider, and no buffer or argument for field 'y'"),
    (put(*REGION, "fields", "x", [0, 4]), "field 'x' of scale has 4 bytes, what it is named after has not"),
    (put("providers", [{"package": "scale", "symbol": "f", "abi": 2}]), "providers[0].abi: needs an integer within 1"),
    (put("providers", [{"package": "scale", "symbol": "f", "abi": 1}]), "its members differ"),
    (put("providers", 2 * [{"package": "scale", "symbol": "f", "abi": 1}]), "a package has two providers"),
]


@pytest.mark.parametrize(("edit", "message"), EDITS)
def test_records(tmp_path: Path, edit: Edit, message: str) -> None:
    stated = copy.deepcopy(record())
    edit(stated)
    assert message in refused(write(tmp_path / "changed.plimg", stated))


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "../kernel.cubin", "providers/../x.so", "record.json", "providers/a/b.so"]
)
def test_names_of_members(tmp_path: Path, name: str) -> None:
    stated = {**record(), "members": {name: digest(b""), "kernel.cubin": digest(CUBIN)}}
    members = {"record.json": json.dumps(stated).encode(), "kernel.cubin": CUBIN}
    assert "members: needs text like" in refused(write_members(tmp_path / "names.plimg", members))


def test_buffers_of_one_name_agree(tmp_path: Path) -> None:
    stated = record(buffers=[buffer("x", "a"), buffer("x", "b", dtype="f16")], arguments=[argument("n", "a", "i32")])
    stated["parameters"]["regions"] = []
    message = refused(write(tmp_path / "two.plimg", stated))
    assert "buffer 'x' is f32 of rank 2 for a, f16 of rank 2 for b" in message


def test_counters_that_cannot_be(tmp_path: Path) -> None:
    path = tmp_path / "counters.plimg"
    assert "of scope system cannot restart by launch" in refused(write(path, counted("launch", "system")))
    assert "claims[1].restart: needs one of launch, self, epoch" in refused(write(path, counted("")))
    nowhere, inside = counted(), counted()
    del nowhere["parameters"]["counters"]
    inside["parameters"]["counters"] = 24
    assert "not their address in the parameters" in refused(write(path, nowhere))
    assert "in a region" in refused(write(path, inside))


# ---- any damage ----


@cache
def pristine() -> tuple[bytes, Json]:
    with TemporaryDirectory() as folder:
        path = write(Path(folder) / "sample.plimg", record())
        return path.read_bytes(), dict(plrt.Image.load(path).record)


def check_line(error: plrt.ImageError) -> None:
    assert "\n" not in str(error)


def load_bytes(data: bytes) -> plrt.Image | None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "damaged.plimg"
        path.write_bytes(data)
        try:
            return plrt.Image.load(path)
        except plrt.ImageError as error:
            check_line(error)
            return None


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_changed_bytes_are_noticed_or_change_nothing(data: st.DataObject) -> None:
    content, said = pristine()
    changed = bytearray(content)
    for _ in range(data.draw(st.integers(1, 3))):
        changed[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    image = load_bytes(bytes(changed))
    assert image is None or image.record == said


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 4000))
def test_cut_off_files_are_noticed(size: int) -> None:
    content, _ = pristine()
    assert load_bytes(content[: min(size, len(content) - 1)]) is None


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_any_value_anywhere_in_a_record(data: st.DataObject) -> None:
    """Loading gives an image or an ImageError, and describing what was loaded too."""
    stated = copy.deepcopy(data.draw(st.sampled_from([record(), counted()])))
    place: Any = stated
    while True:
        key = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
        if not (isinstance(place[key], dict | list) and place[key]) or data.draw(st.booleans()):
            break
        place = place[key]
    place[key] = data.draw(json_values)
    with TemporaryDirectory() as folder:
        path = write(Path(folder) / "changed.plimg", stated)
        try:
            str(plrt.Image.load(path).describe())
        except plrt.ImageError as error:
            check_line(error)
