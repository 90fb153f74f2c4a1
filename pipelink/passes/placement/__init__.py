"""The placement solver: one joint problem of addresses, ring depths, warps and registers. Plain Python, no xDSL."""

from pipelink.passes.placement.check import check
from pipelink.passes.placement.model import (
    Certificate,
    Claim,
    Domain,
    Explanation,
    Infeasible,
    Placement,
    Problem,
    Proof,
    Ring,
    Role,
)
from pipelink.passes.placement.smt import dump_smt
from pipelink.passes.placement.solve import InternalError, solve
from pipelink.passes.placement.why import why_here, why_not_depth, why_role

__all__ = [
    "Certificate",
    "Claim",
    "Domain",
    "Explanation",
    "Infeasible",
    "InternalError",
    "Placement",
    "Problem",
    "Proof",
    "Ring",
    "Role",
    "check",
    "dump_smt",
    "solve",
    "why_here",
    "why_not_depth",
    "why_role",
]
