"""`pl-verify-contracts`: checks the contracts of all packages against each other; changes nothing.

Rules run from the most fundamental: where names do not resolve, nothing that would follow them is checked.
"""

from dataclasses import dataclass

from pipelink.ir.diagnostics import Diagnostics
from pipelink.ir.pl import PipelineOp
from pipelink.ir.symbols import Symbols
from pipelink.passes.base import LinkPass
from pipelink.passes.reach import Reach
from pipelink.passes.rules import (
    Checked,
    calls,
    counters,
    domains,
    facts,
    lifetimes,
    names,
    packages,
    rings,
    tensors,
    topology,
)

STAGES = (
    (names.check_references, names.check_role_order, names.check_connections),
    (names.check_ring_claims, names.check_counter_claims),
    (
        packages.check_targets,
        packages.check_toolkits,
        packages.check_fp_modes,
        packages.check_definitions,
        names.check_providers,
        names.check_two_ends,
    ),
    (
        rings.check_rings,
        counters.check_counters,
        counters.check_restarts,
        calls.check_signatures,
        calls.check_tensor_signatures,
        calls.check_callers,
        calls.check_sites,
        calls.check_cycles,
        tensors.check_tensors,
        facts.check_facts,
        lifetimes.check_streams,
        lifetimes.check_lifetimes,
        topology.check_topology,
        domains.check_domains,
    ),
)


@dataclass(frozen=True)
class VerifyContracts(LinkPass):
    """Check the contracts of all packages against each other."""

    name = "pl-verify-contracts"

    def run(self, pipeline: PipelineOp, errors: Diagnostics) -> None:
        symbols = Symbols(pipeline)
        checked = Checked(pipeline, symbols, Reach(symbols), errors)
        for stage in STAGES:
            for rule in stage:
                rule(checked)
            errors.check()
