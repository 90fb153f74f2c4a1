"""The registry of passes: name to a thunk that imports it, so that listing them costs nothing."""

from collections.abc import Callable

from pipelink.passes.base import LinkPass

LINK = (
    "pl-verify-contracts",
    "pl-eliminate-dead-exports",
    "pl-analyze-lifetimes",
    "pl-relocate",
    "pl-select-routes",
    "pl-emit-stubs",
)
"""The passes of a link, in order."""


def _verify_contracts() -> type[LinkPass]:
    from pipelink.passes.verify_contracts import VerifyContracts

    return VerifyContracts


def _eliminate_dead_exports() -> type[LinkPass]:
    from pipelink.passes.eliminate_dead_exports import EliminateDeadExports

    return EliminateDeadExports


def _analyze_lifetimes() -> type[LinkPass]:
    from pipelink.passes.analyze_lifetimes import AnalyzeLifetimes

    return AnalyzeLifetimes


def _relocate() -> type[LinkPass]:
    from pipelink.passes.relocate import Relocate

    return Relocate


def _select_routes() -> type[LinkPass]:
    from pipelink.passes.select_routes import SelectRoutes

    return SelectRoutes


def _emit_stubs() -> type[LinkPass]:
    from pipelink.passes.emit_stubs import EmitStubs

    return EmitStubs


def get_all_passes() -> dict[str, Callable[[], type[LinkPass]]]:
    return {
        "pl-verify-contracts": _verify_contracts,
        "pl-eliminate-dead-exports": _eliminate_dead_exports,
        "pl-analyze-lifetimes": _analyze_lifetimes,
        "pl-relocate": _relocate,
        "pl-select-routes": _select_routes,
        "pl-emit-stubs": _emit_stubs,
    }
