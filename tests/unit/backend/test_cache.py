"""Which links are the same link, and what becomes of a cache that is damaged or full."""

import os
from pathlib import Path

import pytest
from samples import MANIFEST, contracts, write_packages

from pipelink.backend import cache


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "cache"))
    made = tmp_path / "pipeline"
    made.mkdir()
    write_packages(made, contracts())
    (made / "sample.toml").write_text(MANIFEST)
    return made


def key(folder: Path, *options: str) -> str:
    found = cache.entry(folder / "sample.toml", (), options)
    assert found is not None
    return found.path.stem


def test_times_and_folders_do_not_count(folder: Path, tmp_path: Path) -> None:
    before = key(folder)
    os.utime(folder / "load.plpkg", (0, 0))
    assert key(folder) == before
    assert key(folder.rename(tmp_path / "elsewhere")) == before


def test_p16_bytes_count_whatever_their_time(folder: Path) -> None:
    """P16: a change that keeps the time of the file is another link, as is one of the manifest or an option."""
    keys = [key(folder), key(folder, "control")]
    path = folder / "mma.plpkg"
    at = path.stat().st_mtime_ns
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    os.utime(path, ns=(at, at))
    keys.append(key(folder))
    (folder / "sample.toml").write_text(MANIFEST.replace('name = "sample"', 'name = "other"'))
    keys.append(key(folder))
    path.unlink()
    keys.append(key(folder))
    assert len(set(keys)) == 5


def test_the_linkers_own_code_counts(folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = key(folder)
    (tmp_path / "pipelink" / "backend").mkdir(parents=True)
    (tmp_path / "pipelink" / "changed.py").write_text("")
    monkeypatch.setattr(cache, "__file__", str(tmp_path / "pipelink" / "backend" / "cache.py"))
    assert key(folder) != before


@pytest.mark.parametrize("text", ["", "[packages]", "[pipeline]\nname = 3\n[packages]\nx = 4\n", "packages = ["])
def test_what_cannot_be_read_is_not_kept(folder: Path, text: str) -> None:
    (folder / "sample.toml").write_text(text)
    assert cache.entry(folder / "sample.toml", (), ()) is None
    assert cache.entry(folder / "none.toml", (), ()) is None
    assert cache.entry(folder / "load.plpkg", (), ()) is None


def test_it_can_be_turned_off(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIPELINK_CUDA_HOME", "/elsewhere")
    assert cache.entry(folder / "sample.toml", (), ()) is None
    monkeypatch.delenv("PIPELINK_CUDA_HOME")
    monkeypatch.setenv(cache.VARIABLE, "")
    assert cache.entry(folder / "sample.toml", (), ()) is None


def test_a_damaged_image_is_none(tmp_path: Path) -> None:
    entry = cache.Entry(tmp_path / "a" / "x.plimg")
    assert entry.read() is None
    entry.write(b"no image")
    assert entry.path.read_bytes() == b"no image"
    assert entry.read() is None


def test_the_oldest_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "LIMIT", 2)
    for index, name in enumerate("abc"):
        cache.Entry(tmp_path / f"{name}.plimg").write(b"")
        os.utime(tmp_path / f"{name}.plimg", (index, index))
    cache.Entry(tmp_path / "d.plimg").write(b"")
    assert sorted(path.stem for path in tmp_path.iterdir()) == ["c", "d"]


def test_a_cache_that_cannot_be_written_is_none(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache.Entry(tmp_path / "file" / "x.plimg").write(b"")
