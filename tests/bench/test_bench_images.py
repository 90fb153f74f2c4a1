"""Control images, the discovery of cases, and planted edits."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from bench import images, prepare
from bench.images import digest

RECORD: dict[str, Any] = {
    "cubin": digest(b"linked"),
    "members": {"kernel.cubin": digest(b"linked"), "providers/a.so": digest(b"native")},
    "claims": [{"base": 1024, "name": "a.b"}],
    "buffers": [{"name": "x", "package": "a"}, {"name": "out", "package": "a"}, {"name": "x", "package": "b"}],
}


def image(record: dict[str, Any] = RECORD, cubin: bytes = b"linked") -> bytes:
    members = {"record.json": json.dumps(record).encode(), "kernel.cubin": cubin, "providers/a.so": b"native"}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in members.items():
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, data)
    return out.getvalue()


def read(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_a_control_differs_in_its_kernel_and_digests_alone() -> None:
    made = read(images.with_cubin(image(), b"control"))
    record = json.loads(made["record.json"])
    assert list(made) == ["record.json", "kernel.cubin", "providers/a.so"]
    assert made["kernel.cubin"] == b"control"
    assert made["providers/a.so"] == b"native"
    assert record["cubin"] == record["members"]["kernel.cubin"] == digest(b"control")
    changed = {**record, "cubin": RECORD["cubin"], "members": RECORD["members"]}
    assert changed == RECORD
    assert record["members"]["providers/a.so"] == digest(b"native")


def test_a_control_is_the_same_bytes_each_time() -> None:
    assert images.with_cubin(image(), b"control") == images.with_cubin(image(), b"control")


def test_an_image_states_its_buffers_and_identity(tmp_path: Path) -> None:
    path = tmp_path / "one.plimg"
    path.write_bytes(image())
    assert images.buffer_names(path) == ["out", "x"]
    assert images.identity(path) == {"file": "one.plimg", "image": digest(image()), "cubin": digest(b"linked")}


def test_cases_are_found_by_their_names(tmp_path: Path) -> None:
    for name in (
        "b",
        "a",
        "a.control-lto",
        "a.control-plain",
        "a.plant-one",
        "a.racecheck-two",
        "ab",
        "ab.plant-three",
    ):
        (tmp_path / f"{name}.plimg").write_bytes(b"")
    first, second, third = images.discover(tmp_path)
    assert (first.name, second.name, third.name) == ("a", "ab", "b")
    assert list(first.variants()) == ["linked", "lto", "plain"]
    assert list(first.plants) == ["one"]
    assert {tool: list(found) for tool, found in first.traps.items()} == {
        "memcheck": [], "racecheck": ["two"], "synccheck": [],
    }  # fmt: skip
    assert list(second.plants) == ["three"]
    assert not third.controls
    assert images.label_of(first.controls["lto"]) == "lto"
    assert images.label_of(third.image) == "b"


def test_a_folder_without_images_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"bench\.prepare"):
        images.discover(tmp_path)


SOURCE = """#define PLV_load__a 131072u
#define PLV_mainloop__b 65536u
#define PLV_audit__guarded 196608u
#define PLV_swiglu__out 0u
  case 4:
    store(at0, frame[66], frame[67]);
  pl_sync_cta(2, 256);  // the scratch is free again
  pl_sync_cta(2, 256);  // the stores are visible
  load_tile_coord(&((const pl_parameters *)context)->load, a0, a1);
  __syncthreads();
"""


def test_each_fault_edits_one_place() -> None:
    made = {label: (kind, text) for kind, label, text in prepare.faults(SOURCE)}
    kinds = {label: kind for label, (kind, _) in made.items()}
    tools = {"outside": "memcheck", "unordered": "racecheck", "divergent": "synccheck"}
    assert kinds == {**dict.fromkeys(("constant", "transfer", "coordinate", "overlap"), "plant"), **tools}
    before = SOURCE.splitlines()
    for label, (_, text) in made.items():
        gone = [line for line in before if line not in text.splitlines()]
        assert len(gone) == 1, label
    assert "#define PLV_mainloop__b 64512u\n" in made["constant"][1]
    assert "frame[68], frame[67]" in made["transfer"][1]
    assert "->load, a1, a0)" in made["coordinate"][1]
    assert "#define PLV_audit__guarded 131072u\n" in made["overlap"][1]
    assert "scratch is free" in made["unordered"][1]
    assert "#define PLV_swiglu__out 229376u\n" in made["outside"][1]


def test_faults_that_do_not_fit_are_left_out() -> None:
    assert [label for _, label, _ in prepare.faults("#define PLV_mainloop__b 65536u\n")] == ["constant"]
    assert not list(prepare.faults("int main;\n"))


def test_an_ambiguous_edit_is_refused() -> None:
    with pytest.raises(ValueError, match="2 times"):
        prepare.transfer("frame[66] frame[66]")
