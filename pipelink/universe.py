"""What stock xDSL tools see of pipelink: its dialect, passes, targets and frontends, each behind a thunk."""

from collections.abc import Callable

from xdsl.ir import Dialect
from xdsl.universe import Universe
from xdsl.utils.frontend import Frontend
from xdsl.utils.target import Target

from pipelink.passes import get_all_passes


def _pl() -> Dialect:
    from pipelink.ir.pl import PL

    return PL


def _cuda() -> type[Target]:
    from pipelink.backend.cuda import CudaTarget

    return CudaTarget


def _toml() -> type[Frontend]:
    from pipelink.frontends.xdsl import ManifestFrontend

    return ManifestFrontend


def get_all_dialects() -> dict[str, Callable[[], Dialect]]:
    return {"pl": _pl}


def get_all_targets() -> dict[str, Callable[[], type[Target]]]:
    return {"cuda": _cuda}


def get_all_frontends() -> dict[str, Callable[[], type[Frontend]]]:
    return {"toml": _toml}


UNIVERSE = Universe(
    all_dialects=get_all_dialects(),
    all_passes={**get_all_passes()},
    all_targets=get_all_targets(),
    all_frontends=get_all_frontends(),
)
