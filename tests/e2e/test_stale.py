"""`--no-contracts`: unchanged packages keep the constants of an older link, and the record says so."""

from pathlib import Path

import pytest
from linking import COUNTED, Image, pl_link
from packing import pack_into

COMPONENTS = Path(__file__).parent / "components"


@pytest.fixture(scope="module")
def folder(shared: Path) -> Path:
    made = shared / "stale"
    forms = [(COMPONENTS / "raises.cu", f"raises{n}.plpkg", (f"-DARRIVALS={n}",)) for n in (2, 3)]
    pack_into(made, [*forms, (COMPONENTS / "waits.cu", "waits.plpkg", ())])
    for n in (2, 3):
        (made / f"{n}.toml").write_text(COUNTED.format(f"raises{n}"))
    return made


def waited(folder: Path, *arguments: object) -> tuple[str, str]:
    """The line of the generated code that says what `waits` waits for, and stderr."""
    result = pl_link(*arguments, "--emit-cuda")
    assert result.status == 0
    return next(line for line in result.out.splitlines() if "plh_waits__done_arrivals()" in line), result.err


def test_contracts_carry_a_changed_constant(folder: Path) -> None:
    assert "return 2u" in waited(folder, folder / "2.toml")[0]
    assert "return 3u" in waited(folder, folder / "3.toml")[0]


def test_symbols_alone_do_not(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "stale.plimg"
    result = pl_link(folder / "3.toml", "--no-contracts", folder / "2.toml", "-o", path)
    kept = "waits.done_arrivals stays 2, the contracts say 3"
    assert result.status == 0
    assert result.err.splitlines() == [
        "pl-link: warning: linked by symbols alone, unchecked: the kernel may hang or leave output unwritten",
        f"pl-link: warning: {kept}",
    ]
    record = Image.read(path).record
    assert (record["contracts"], record["stale"]) == (False, [kept])


def test_a_package_that_changed_has_its_own(folder: Path, tmp_path: Path) -> None:
    """Nothing is stale where the older pipeline is the same."""
    result = pl_link(folder / "3.toml", "--no-contracts", folder / "3.toml", "-o", tmp_path / "same.plimg")
    assert len(result.err.splitlines()) == 1
    assert Image.read(tmp_path / "same.plimg").record["stale"] == []
