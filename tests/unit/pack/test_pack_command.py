"""The command pl-pack: exit status, what it prints, the files it writes."""

from pathlib import Path

import pytest
from pack_samples import COMPONENTS, Good

from pipelink.frontends import package
from pipelink.frontends.cuda import pack
from pipelink.ir.diagnostics import PipelinkError
from pipelink.tools.pl_pack import main


@pytest.fixture
def packing(good: Good, monkeypatch: pytest.MonkeyPatch) -> list[pack.Request]:
    """The command with the good component's result in place of the compilations; the requests that it made."""
    requests: list[pack.Request] = []

    def answer(request: pack.Request) -> pack.Packed:
        requests.append(request)
        return pack.Packed(good.package.contract, dict(good.package.members), (request.source, Path("a b/$c.h")))

    monkeypatch.setattr(pack, "pack", answer)
    return requests


def test_quiet_success(
    packing: list[pack.Request], good: Good, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "out.plpkg"
    assert main(["x.cu", "-o", str(output)]) == 0
    assert output.read_bytes() == good.path.read_bytes()
    assert capsys.readouterr() == ("", "")
    assert packing == [pack.Request(Path("x.cu"))]


def test_options(packing: list[pack.Request], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output, rule = tmp_path / "out.plpkg", tmp_path / "out.d"
    options = [
        "x.cu",
        "--target",
        "sm_100a",
        "-I",
        "a",
        "-I",
        "b",
        "-D",
        "X",
        "-D",
        "Y=2",
        "--nvcc-flag=-lineinfo",
        "--object",
        "o",
        "--no-source",
        "-v",
    ]
    assert main([*options, "-o", str(output), "--depfile", str(rule)]) == 0
    flags = ("-DX", "-DY=2", "-lineinfo")
    assert packing == [pack.Request(Path("x.cu"), "sm_100a", (Path("a"), Path("b")), flags, Path("o"), False)]
    assert rule.read_text() == f"{output}: x.cu a\\ b/$$c.h\n"
    assert capsys.readouterr().out.startswith(f"{output}: good 1.2.3, ")


def test_errors(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    missing = tmp_path / "none.cu"
    assert main([str(missing)]) == 1
    assert capsys.readouterr() == ("", f"pl-pack: error[L-FILE]: {missing}: No such file or directory\n")
    with pytest.raises(PipelinkError):
        main([str(missing), "--debug"])
    assert main([str(COMPONENTS / "good.cu"), "--target", "lto_90a"]) == 1
    assert capsys.readouterr().err.splitlines()[1] == "pl-pack: help: --target sm_90a"


def test_a_failed_pack_writes_nothing(tmp_path: Path) -> None:
    output = tmp_path / "out.plpkg"
    assert main([str(COMPONENTS / "good.cu"), "--target", "lto_90a", "-o", str(output)]) == 1
    assert not list(tmp_path.iterdir())


def test_usage(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as raised:
        main(["x.cu", "--nothing"])
    assert raised.value.code == 2
    assert "--nothing" in capsys.readouterr().err


def test_the_written_package_is_read_back(packing: list[pack.Request], tmp_path: Path) -> None:
    output = tmp_path / "out.plpkg"
    assert main(["x.cu", "-o", str(output)]) == 0
    assert package.read(output).contract.name == "good"
