"""Result files, sanitizer output, and tables made from results."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench import all as every
from bench import attention_tables, correct, report, sanitize, sizes, tables
from bench.sizes import Size

PROVENANCE: dict[str, Any] = {
    "command": ["python3", "-m", "bench.compare"],
    "commit": "abc",
    "card": {"name": "Card", "driver": "1.2"},
    "versions": {"python": "3.12", "torch": "absent"},
}
PAIRED: dict[str, Any] = {
    **PROVENANCE,
    "images": [{"file": "one.plimg"}],
    "results": [
        {"size": "8x8x8", "label": "null", "pairs": 4, "ratio": 1.00012, "ratio_q1": 0.9, "ratio_q3": 1.1,
         "median_a_ms": 3.3, "median_b_ms": 3.3, "tflops_a": 640.4},
    ],
}  # fmt: skip
JUDGED: dict[str, Any] = {
    **PROVENANCE,
    "failures": [],
    "sizes": [
        {
            "baseline": {"norm": 3e-3, "element": 6e-3, "finite": True},
            "results": [
                {"case": "one", "variant": variant, "size": "8x8x8", "norm": norm, "element": 3.9e-3, "faults": []}
                for variant, norm in (("linked", 1.7e-3), ("lto", 1.7e-3), ("plain", 1.8e-3))
            ],
        }
    ],
    "plants": {
        "results": [
            {"case": "one", "plant": "linked", "missed": False, "norm": 1.7e-3, "faults": []},
            {"case": "one", "plant": "constant", "missed": False, "norm": None, "faults": ["finite", "norm"]},
        ]
    },
    "replays": [{"case": "one", "size": "8x8x8", "replays": 3, "wrong": []}],
}


def test_a_result_says_where_it_comes_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH_COMMIT", "v1-3-gabc")
    report.finish("bench.compare", tmp_path / "deep" / "r.json", {"results": [1.5]}, ["one.plimg", "--pairs", "4"])
    result = json.loads((tmp_path / "deep" / "r.json").read_text())
    assert result["command"] == ["python3", "-m", "bench.compare", "one.plimg", "--pairs", "4"]
    assert result["commit"] == "v1-3-gabc"
    assert result["results"] == [1.5]
    assert {"card", "versions", "time", "schema"} <= set(result)


@pytest.mark.parametrize("value", [{}, [], {"a": []}, {"a": [[0, "ab", 1.25, 1.5]] * 40, "b": {"c": "d" * 200}}])
def test_results_are_json_with_a_line_for_each_pair(value: Any) -> None:
    text = report.encode({"value": value})
    assert json.loads(text) == {"value": value}
    if "b" in value:
        assert text.count('  [0, "ab", 1.25, 1.5]') == 40


def test_a_number_that_json_has_not_is_refused() -> None:
    with pytest.raises(ValueError, match="JSON"):
        report.encode({"a": float("nan")})


def test_sizes_are_read_and_written() -> None:
    assert sizes.parse("200x512x320") == Size(200, 512, 320)
    assert str(Size(200, 512, 320)) == "200x512x320"
    assert Size(200, 512, 320).blocks == 4
    for text in ("8x7x8", "0x8x8", "8x8", "axbxc"):
        with pytest.raises((ValueError, TypeError)):
            sizes.parse(text)


def test_the_sizes_that_are_checked() -> None:
    assert len(sizes.CORRECT) >= 6
    assert any(size.m % 128 for size in sizes.CORRECT)
    assert Size(16384, 51200, 5120) in sizes.CORRECT


CLEAN = "progress: once\n========= COMPUTE-SANITIZER\nall right\n========= ERROR SUMMARY: 0 errors\n"
RACES = """========= COMPUTE-SANITIZER
========= Error: Race reported between a and b
=========
========= RACECHECK SUMMARY: 10 hazards displayed (64 errors, 1 warning)
"""


@pytest.mark.parametrize(
    ("code", "text", "status", "count"),
    [
        (0, CLEAN, "clean", 0),
        (0, "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n", "clean", 0),
        (86, RACES, "errors", 65),
        (0, RACES, "errors", 65),
        (86, CLEAN, "errors", 0),
        (1, CLEAN, "broken", 0),
        (0, "all right\n", "broken", 0),
        (1, "========= Device not supported. Please refer to the documentation\n", "not run", 0),
    ],
)
def test_a_sanitizer_counts_only_with_its_summary(code: int, text: str, status: str, count: int) -> None:
    found = sanitize.read(code, text)
    assert (found.status, found.count) == (status, count)


def test_what_a_sanitizer_found_is_kept() -> None:
    assert sanitize.read(86, RACES).text.startswith("Error: Race reported between a and b; RACECHECK SUMMARY")


def test_a_planted_fault_that_is_not_found_is_a_failure() -> None:
    def result(status: str, planted: bool) -> dict[str, Any]:
        return {"tool": "racecheck", "image": "one", "status": status, "planted": planted}

    assert sanitize.failures([result("clean", False), result("errors", True), result("not run", True)]) == []
    assert len(sanitize.failures([result("errors", False), result("clean", True), result("broken", True)])) == 3


def test_what_is_wrong_is_told() -> None:
    assert correct.failures(JUDGED) == []
    wrong = json.loads(json.dumps(JUDGED))
    wrong["sizes"][0]["results"][0]["faults"] = ["norm"]
    wrong["plants"]["results"][0]["missed"] = True
    wrong["plants"]["results"][1]["missed"] = True
    wrong["replays"][0]["wrong"] = [{"replay": 2}]
    assert correct.failures(wrong) == [
        "one linked 8x8x8: norm",
        "one linked: right kernel rejected",
        "one constant: planted fault not found",
        "one: 1 of 3 replays wrong",
    ]


def test_short_lines_of_results() -> None:
    assert "1.00012 [0.90000, 1.10000]" in every.line(PAIRED)[0]
    assert every.line(JUDGED) == ["3 right, 2 judged as planted, failures: none"]


def test_tables_fill_the_page_between_markers(tmp_path: Path) -> None:
    results = tmp_path / "results" / "page"
    results.mkdir(parents=True)
    (results / "compare-one.json").write_text(json.dumps(PAIRED))
    (results / "correct.json").write_text(json.dumps(JUDGED))
    page = tmp_path / "page.md"
    page.write_text(
        "Before.\n\n<!-- table compare -->\nold\n<!-- end -->\n\nBetween.\n\n<!-- table correct -->\n<!-- end -->\n"
    )
    assert tables.main([str(page), "--check"]) == 1
    assert tables.main([str(page)]) == 0
    assert tables.main([str(page), "--check"]) == 0
    text = page.read_text()
    assert "old" not in text
    assert text.startswith("Before.\n\n<!-- table compare -->\n")
    assert "| 8x8x8 | null | 4 | 1.00012 | 0.90000 to 1.10000 | 3.3000 | 640 |" in text
    assert "| 8x8x8 | one | linked, lto | 1.70e-03 | 3.90e-03 | 6.00e-03 | none |" in text
    assert "| 8x8x8 | one | plain | 1.80e-03 | 3.90e-03 | 6.00e-03 | none |" in text
    assert "| one | constant | not finite | finite; norm |" in text
    assert "compare-one.json: Card, driver 1.2; python 3.12; commit abc; `python3 -m bench.compare`" in text
    assert "\n<!-- end -->\n\nBetween.\n" in text


@pytest.mark.parametrize(
    ("name", "main"), [("gemm_swiglu", tables.main), ("facts", tables.main), ("attention", attention_tables.main)]
)
def test_the_pages_of_the_project_are_as_their_results_make_them(name: str, main: Callable[[list[str]], int]) -> None:
    page = Path(tables.__file__).parents[1] / "docs" / f"{name}.md"
    assert "<!-- table " in page.read_text()
    assert main([str(page), "--check"]) == 0


def test_a_table_without_results_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="compare"):
        tables.section("compare", tmp_path)
    with pytest.raises(KeyError):
        tables.section("unknown", tmp_path)
