"""pl-place: claims in, placement and proof out; status 1 and the explanation where they do not fit."""

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from pipelink.tools.pl_place import main

CSV = "id,lower,upper,size\nb1,0,3,4\nb2,3,9,4\nb3,0,9,4\nb4,9,21,4\nb5,0,21,4\n"
RING = {
    "domains": [{"name": "smem", "capacity": 1024, "unit": "bytes"}],
    "rings": [{"name": "kv", "min_depth": 1, "max_depth": 4}],
    "roles": [{"name": "core", "warps": 4, "align": 4}],
    "claims": [
        {"name": "k", "size": 128, "align": 128, "ring": "kv", "phases": [0]},
        {"name": "out", "size": 256, "phases": [1, 2]},
        {"name": "sums", "size": 64, "role": "core", "per_warp": 32},
    ],
}


@pytest.fixture
def place(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Runs the command on a file of this name and text; (status, stdout, stderr without the folder)."""

    def run(name: str, text: str | bytes, *options: str) -> tuple[int, str, str]:
        file = tmp_path / name
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        with pytest.raises(SystemExit) as stop:
            main([str(file), *options])
        out, err = capsys.readouterr()
        return int(stop.value.code or 0), out, err.replace(f"{tmp_path}/", "")

    return run


def test_csv_is_placed_and_proven(place) -> None:
    status, out, err = place("b.csv", CSV, "--capacity", "12")
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "memory: 12 of 12"
    spans = {line.split()[3]: (int(line.split()[0]), int(line.split()[2])) for line in lines[1:6]}
    assert set(spans) == {"b1", "b2", "b3", "b4", "b5"}
    assert all(end - start == 4 for start, end in spans.values())
    assert lines[6] == "footprint of memory: 12, proven: clique bound 12 met"
    assert lines[7].startswith("work: 0 of 200000 nodes")


def test_what_does_not_fit_has_status_1_and_its_explanation(place) -> None:
    status, out, err = place("b.csv", CSV, "--capacity", "11")
    assert (status, out) == (1, "")
    assert err.splitlines()[0] == (
        "b.csv: error[L-OVERLAP]: memory: needs 12 live at once, has 11, over by 1; "
        "minimal conflicting set (3 of 3 live): b1 4, b3 4, b5 4"
    )
    assert "b.csv:2: note: 'b1' takes 4" in err
    assert "help: claim b3 of 3; or claims b3 and b5 with disjoint lifetimes" in err


def test_json_has_rings_roles_and_phases(place) -> None:
    status, out, err = place("c.json", json.dumps(RING))
    assert (status, err) == (0, "")
    assert "smem: 704 of 1024 bytes\n" in out
    assert "depth of ring kv: 4, proven: the ring's greatest depth\n" in out
    assert "role core: warps 0 .. 4\n" in out
    assert "sums" in out


def test_capacity_replaces_that_of_the_one_domain(place) -> None:
    status, out, _ = place("c.json", json.dumps(RING), "--capacity", "640")
    assert status == 0
    assert "depth of ring kv: 3, proven: depth 4 refuted: smem clique bound 704 over 640\n" in out


def test_any_leaves_the_smallest_unsought(place) -> None:
    claims = [{"name": f"c{i}", "size": size} for i, size in enumerate((3, 5, 9))]
    _, out, _ = place("c.json", json.dumps({"capacity": 100, "claims": claims}), "--any")
    assert "footprint of memory: 17, proven: clique bound 17 met; no lower packing sought" in out


def test_svg_shows_every_span(place, tmp_path: Path) -> None:
    drawing = tmp_path / "out.svg"
    assert place("b.csv", CSV, "--capacity", "12", "--svg", str(drawing))[0] == 0
    root = ElementTree.fromstring(drawing.read_text())
    space = "{http://www.w3.org/2000/svg}"
    titles = [title.text for title in root.iter(f"{space}title")]
    assert [title.split(":")[0] for title in titles if title] == ["b1", "b2", "b3", "b4", "b5"]
    boxes = [rect.attrib for rect in root.iter(f"{space}rect") if rect.find(f"{space}title") is not None]
    assert len({(box["x"], box["y"]) for box in boxes}) == 5


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("x.json", "{", "Input data was truncated"),
        ("x.json", b"\xff", "JSON is malformed: invalid character"),
        ("x.json", '{"claims": [], "colour": 1}', "Object contains unknown field `colour`"),
        ("x.json", '{"claims": [{"name": "a", "size": "4"}]}', "Expected `int`, got `str` - at `$.claims[0].size`"),
        ("x.json", '{"claims": [{"name": "a", "size": 4}]}', "no capacity: name it with --capacity"),
        ("x.json", '{"capacity": 9, "claims": [{"name": "a", "size": 0}]}', "claim a: size 0 is not positive"),
        ("x.json", '{"capacity": 9, "claims": [{"name": "a", "size": 1, "lower": 3}]}', "claim a: live from 3 to None"),
        (
            "x.json",
            '{"capacity": 9, "claims": [{"name": "a", "size": 1, "lower": 3, "upper": 4, "phases": [1]}]}',
            "claim a: phases, or lower and upper, not both",
        ),
        ("x.json", '{"capacity": 9, "domains": [{"name": "m", "capacity": 3}], "claims": []}', "one of them says"),
        ("x.csv", "id,lower,size\na,0,1\n", "no column upper"),
        ("x.csv", "id,lower,upper,size\na,0,1,x\n", "Expected `int`, got `str`"),
        ("x.csv", "id,lower,upper,size\na,0,1,1,7\n", "unknown field"),
        ("x.csv", "id,lower,upper,size\na,0,1,1\n", "no capacity"),
        ("x.csv", b"\xff\xfe", "codec can't decode"),
    ],
)
def test_faulty_files_are_refused(place, name: str, text: str | bytes, message: str) -> None:
    status, out, err = place(name, text)
    assert (status, out) == (1, "")
    assert "error[L-SYNTAX]" in err
    assert message in err
    assert "Traceback" not in err


def test_a_missing_file_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main([str(tmp_path / "none.json")])
    assert stop.value.code == 1
    assert "error[L-FILE]: No such file or directory" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "text", "options", "said"),
    [
        ("x.csv", "id,lower,upper,size\na,0,1,1\nb,0,1,0\n", (), "x.csv:3: error[L-SYNTAX]: claim b: size 0 is not"),
        ("x.csv", "id,lower,upper,size,align\na,0,1,4,-8\n", (), "x.csv:2: error[L-SYNTAX]: claim a: alignment -8"),
        ("x.csv", "id,lower,upper,size\na,0,1,1\na,0,1,1\n", (), "x.csv:3: error[L-SYNTAX]: claim a is named twice"),
        ("x.csv", "id,lower,upper,size\na,5,1,1\n", (), "x.csv:2: error[L-SYNTAX]: claim a: live from 5 to 1"),
        ("x.json", '{\n"claims": [\n{"name": "a", "size": 1}],}', (), "x.json:3: error[L-SYNTAX]: JSON is malformed"),
        ("x.json", '{"claims": [{"name": "", "size": 1}]}', (), "a name that cannot be printed: ''"),
        ("x.json", '{"claims": [{"name": "a\\u0000", "size": 1}]}', (), "a name that cannot be printed: 'a\\x00'"),
        ("x.json", '{"claims": []}', ("--capacity", "-1"), "domain memory: capacity -1 is negative"),
        ("x.json", '{"claims": []}', ("--work", "-5"), "error[L-USAGE]: --work counts search nodes: -5 is negative"),
    ],
)
def test_bad_input_is_an_error_with_its_line(place, name: str, text: str, options: tuple[str, ...], said: str) -> None:
    status, out, err = place(name, text, *(options or ("--capacity", "9")))
    assert (status, out) == (1, "")
    assert said in err
    assert "internal error" not in err


def test_absurd_numbers_are_answered(place) -> None:
    huge = '{"claims": [{"name": "a", "size": 1000000000000000000000}, {"name": "b", "size": 7, "align": 999983}]}'
    status, _, err = place("x.json", huge, "--capacity", "10")
    assert status == 1
    assert "over by 999,999,999,999,999,999,997" in err
    assert place("y.json", '{"claims": []}', "--capacity", "0")[0] == 0
