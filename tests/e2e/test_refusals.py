"""Bad input through the command: errors with places, exit status 1, and no file left behind."""

import re
from collections.abc import Callable
from pathlib import Path
from shutil import copyfile

import pytest
from linking import TINY, pl_link
from msgspec.structs import replace
from samples import Result

from pipelink.frontends import package
from pipelink.frontends.contract import Contract


def rewrite(path: Path, change: Callable[[Contract], Contract]) -> None:
    """Change a package's contract as another packer would have written it."""
    old = package.read(path)
    package.write(path, change(old.contract), dict(old.members))


@pytest.fixture
def folder(tiny: Path, tmp_path: Path) -> Path:
    """A copy that a test may damage."""
    for file in tiny.glob("*.*"):
        copyfile(file, tmp_path / file.name)
    return tmp_path


def refused(folder: Path, *options: object) -> Result:
    before = {p.name: p.read_bytes() for p in folder.iterdir()}
    result = pl_link(folder / "tiny.toml", *options)
    assert (result.status, result.out) == (1, "")
    assert {p.name: p.read_bytes() for p in folder.iterdir()} == before
    for line in result.err.splitlines():
        assert re.match(r"[^ :]+(:\d+){0,2}: (error\[L-[A-Z]+(-[A-Z]+)*\]|note|help): .", line), line
    return result


def places(result: Result, folder: Path) -> list[str]:
    """`file:line:column clause` of each error."""
    found = re.findall(r"^(.*): error\[(.*?)\]: ", result.err, re.MULTILINE)
    return [f"{place.removeprefix(f'{folder}/')} {clause}" for place, clause in found]


def line_of(component: str, text: str) -> int:
    lines = (Path(__file__).parent / "components" / component).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.startswith(text))


def test_a_package_that_is_not_there(folder: Path) -> None:
    (folder / "callee.plpkg").unlink()
    assert places(refused(folder), folder) == ["tiny.toml:7:1 L-FILE"]


@pytest.mark.parametrize("keep", [0, 3, 100, -1])
def test_a_truncated_package(keep: int, folder: Path) -> None:
    path = folder / "callee.plpkg"
    path.write_bytes(path.read_bytes()[:keep])
    assert places(refused(folder), folder) == ["callee.plpkg L-PACKAGE"]


@pytest.mark.parametrize("part", range(0, 100, 7))
def test_a_flipped_bit(part: int, folder: Path) -> None:
    path = folder / "callee.plpkg"
    data = bytearray(path.read_bytes())
    data[len(data) * part // 100] ^= 1 << part % 8
    path.write_bytes(data)
    assert places(refused(folder), folder) == ["callee.plpkg L-PACKAGE"]


def test_a_package_for_another_target(folder: Path) -> None:
    rewrite(folder / "callee.plpkg", lambda c: replace(c, target="sm_100a"))
    result = refused(folder)
    assert places(result, folder) == [f"callee.cu:{line_of('callee.cu', 'PL_STAGE')}:1 L-TARGET"]
    assert "help: pack it with --target sm_90a" in result.err


def test_a_package_of_a_newer_toolkit(folder: Path) -> None:
    rewrite(folder / "callee.plpkg", lambda c: replace(c, toolkit="13.999.0"))
    assert [p.split()[1] for p in places(refused(folder), folder)] == ["L-TOOLKIT"]


def test_a_package_of_another_mode(folder: Path) -> None:
    rewrite(folder / "callee.plpkg", lambda c: replace(c, fp=replace(c.fp, ftz=not c.fp.ftz)))
    assert [p.split()[1] for p in places(refused(folder), folder)] == ["L-FPMODE"]


def test_an_export_twice(folder: Path) -> None:
    (folder / "tiny.toml").write_text(TINY + 'another = "another.plpkg"\n')
    result = refused(folder)
    assert places(result, folder) == ["tiny.toml:6:1 L-DUPLICATE"]
    assert 'help: choose one under [connect]: "caller.value" = "callee.value"' in result.err


def test_a_symbol_twice(folder: Path) -> None:
    rewrite(folder / "callee.plpkg", lambda c: replace(c, defined=(*c.defined, "caller_role")))
    assert [p.split()[1] for p in places(refused(folder), folder)] == ["L-DUPLICATE"]


@pytest.mark.parametrize(("form", "said"), [(2, "int (float)"), (3, "int (int, int)")])
def test_a_signature_that_does_not_fit(form: int, said: str, folder: Path) -> None:
    copyfile(folder / f"callee{form}.plpkg", folder / "callee.plpkg")
    result = refused(folder)
    assert places(result, folder) == [f"caller.cu:{line_of('caller.cu', 'PL_CALL(')}:1 L-SIGNATURE"]
    where = f"callee.cu:{line_of('callee.cu', 'PL_CALLABLE')}:1"
    assert f"{where}: note: 'callee.value' is {said}" in result.err


def test_a_claim_that_cannot_fit(folder: Path) -> None:
    rewrite(folder / "caller.plpkg", lambda c: replace(c, claims=(replace(c.claims[0], size=232449),)))
    result = refused(folder)
    assert places(result, folder) == [f"caller.cu:{line_of('caller.cu', 'PL_CLAIM')}:1 L-OVERLAP"]
    assert "needs 232,449 bytes live at once, has 232,448, over by 1" in result.err


def test_a_lifetime_of_no_event(folder: Path) -> None:
    def change(contract: Contract) -> Contract:
        claim = contract.claims[0]
        lifetime = replace(claim.lifetime, kind="between", start="begin", end="tile.done")
        return replace(contract, claims=(replace(claim, lifetime=lifetime),))

    rewrite(folder / "caller.plpkg", change)
    assert [p.split()[1] for p in places(refused(folder), folder)] == ["L-LIFETIME"]


def test_a_typo_in_the_manifest(folder: Path) -> None:
    (folder / "tiny.toml").write_text(TINY.replace("target", "taget"))
    result = refused(folder)
    assert places(result, folder) == ["tiny.toml:3:1 L-MANIFEST"]
    assert "help: did you mean 'target'?" in result.err


def test_two_mistakes_are_two_errors(folder: Path) -> None:
    rewrite(folder / "callee.plpkg", lambda c: replace(c, target="sm_100a", toolkit="12.0.0"))
    assert [p.split()[1] for p in places(refused(folder), folder)] == ["L-TARGET", "L-TOOLKIT"]


def test_objects_that_nvjitlink_refuses(folder: Path) -> None:
    """A contract that fits an object that does not: nothing before the link reads objects."""
    old = package.read(folder / "callee.plpkg")
    package.write(folder / "callee.plpkg", old.contract, {**old.members, "object.fatbin": b"no fatbin"})
    result = refused(folder)
    assert [p.split()[1] for p in places(result, folder)] == ["L-LINK"]


def test_an_output_that_cannot_be_written(folder: Path) -> None:
    (folder / "file").write_text("")
    assert [p.split()[1] for p in places(refused(folder, "-o", folder / "file" / "x.plimg"), folder)] == ["L-FILE"]


def test_an_old_image_survives_a_failed_link(folder: Path) -> None:
    (folder / "tiny.plimg").write_bytes(b"old")
    rewrite(folder / "callee.plpkg", lambda c: replace(c, target="sm_100a"))
    refused(folder)


def test_a_package_that_changed_since_its_module_was_made(folder: Path) -> None:
    from samples import pl_opt

    (folder / "tiny.mlir").write_text(pl_opt(folder / "tiny.toml").out)
    rewrite(folder / "callee.plpkg", lambda c: replace(c, version="9.9.9"))
    result = pl_link(folder / "tiny.mlir", "-o", folder / "x.plimg")
    assert result.status == 1
    assert "error[L-PACKAGE]: package 'callee.plpkg' has digest" in result.err
    assert not (folder / "x.plimg").exists()
