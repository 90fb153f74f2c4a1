"""Components packed once a session; every other test reads what these compilations gave."""

from collections.abc import Callable
from functools import cache

import pytest
from pack_samples import COMPONENTS, Good

from pipelink.frontends import package
from pipelink.frontends.cuda.pack import Request, pack
from pipelink.ir.diagnostics import Diagnostic, PipelinkError


@pytest.fixture(scope="session")
def good(tmp_path_factory: pytest.TempPathFactory) -> Good:
    path = tmp_path_factory.mktemp("good") / "good.plpkg"
    packed = pack(Request(COMPONENTS / "good.cu"))
    package.write(path, packed.contract, packed.members)
    return Good(path, package.read(path), packed.dependencies)


@pytest.fixture(scope="session")
def rejected() -> Callable[..., tuple[Diagnostic, ...]]:
    """The errors of packing one of the bad components."""

    @cache
    def errors(name: str, target: str = "sm_90a", flags: tuple[str, ...] = ()) -> tuple[Diagnostic, ...]:
        with pytest.raises(PipelinkError) as raised:
            pack(Request(COMPONENTS / name, target, flags=flags))
        return raised.value.diagnostics

    return errors
