"""`pl-place`: solve a placement on its own. Reads claims (JSON, or MiniMalloc's CSV), prints bases and their proof."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from pipelink.ir.diagnostics import Diagnostic, Note, PipelinkError, Place, fail
from pipelink.passes.placement.claims import Claims, read
from pipelink.passes.placement.model import Explanation, Infeasible, Placement
from pipelink.passes.placement.solve import WORK_LIMIT, solve
from pipelink.tools.common import add_diagnostic_options, add_version, run

CLAUSES = {"warps": "L-WARPS", "registers": "L-REGS", "occupancy": "L-TOPOLOGY"}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("pl-place", description=__doc__)
    parser.add_argument("file", type=Path, help="claims: .json (docs/placement.md has the schema) or .csv")
    parser.add_argument("--capacity", type=int, metavar="N", help="capacity of the file's one domain")
    parser.add_argument("--svg", type=Path, metavar="OUT", help="draw address against lifetime")
    parser.add_argument("--any", action="store_true", help="any placement within capacity; do not seek the smallest")
    parser.add_argument("--work", type=int, default=WORK_LIMIT, metavar="N", help="work limit, in search nodes")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    add_diagnostic_options(parser)
    add_version(parser)
    return parser


def place(arguments: argparse.Namespace) -> int:
    """The command. Raises PipelinkError where the claims do not fit, with the explanation."""
    if arguments.work < 0:
        raise fail("L-USAGE", f"--work counts search nodes: {arguments.work} is negative")
    claims = read(arguments.file, arguments.capacity)
    try:
        placement = solve(claims.problem, arguments.work, smallest=not arguments.any)
    except Infeasible as failure:
        raise PipelinkError(*(_diagnose(e, claims, arguments.file) for e in failure.explanations)) from failure
    if arguments.svg:
        from pipelink.passes.placement.svg import draw

        arguments.svg.write_text(draw(claims, placement))
    print("\n".join(_report(claims, placement)))
    return 0


def _diagnose(explanation: Explanation, claims: Claims, file: Path) -> Diagnostic:
    live = {name: _spelled(spans) for name, spans in claims.live.items() if spans}
    notes = tuple(Note(text, claims.places.get(name, Place(str(file)))) for name, text in explanation.table(live))
    hint = "; or ".join(explanation.suggestions)
    return Diagnostic(CLAUSES.get(explanation.domain, "L-OVERLAP"), explanation.text, Place(str(file)), notes, hint)


def _spelled(spans: Sequence[tuple[int, int]]) -> str:
    return "in " + " and ".join(f"[{lower}, {upper})" for lower, upper in spans)


def _report(claims: Claims, placement: Placement) -> Iterator[str]:
    problem = claims.problem.resolved()
    for domain in problem.domains:
        yield f"{domain.name}: {placement.footprint[domain.name]} of {domain.capacity} {domain.unit}".rstrip()
        own = [c for c in problem.claims if c.domain == domain.name]
        for claim in sorted(own, key=lambda c: (placement.bases[c.name], c.name)):
            size = claim.size * (placement.depths[claim.ring] if claim.ring else 1)
            base = placement.bases[claim.name]
            yield f"  {base:>10} .. {base + size:<10} {claim.name}"
    for role in sorted(problem.roles, key=lambda r: placement.warps[r.name]):
        budget = placement.registers.get(role.name)
        first = placement.warps[role.name]
        registers = f", {budget} registers" if budget is not None else ""
        yield f"role {role.name}: warps {first} .. {first + role.warps}{registers}"
    for proof in placement.certificate.proofs:
        state = "proven" if proof.proven else f"not proven, bound {proof.bound}"
        yield f"{proof.objective}: {proof.value}, {state}: {proof.how}"
    certificate = placement.certificate
    yield f"work: {certificate.nodes} of {certificate.node_limit} nodes, {certificate.rlimit} of rlimit"


def main(args: Sequence[str] | None = None) -> None:
    arguments = _parser().parse_args(args)
    sys.exit(run("pl-place", lambda: place(arguments), arguments.debug, arguments.format))


if __name__ == "__main__":
    main()
