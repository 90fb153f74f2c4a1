"""A placement as a drawing: addresses upwards, lifetimes to the right, one panel a domain."""

from collections.abc import Iterator
from html import escape

from pipelink.passes.placement.claims import Claims
from pipelink.passes.placement.model import Claim, Domain, Placement

WIDTH, HEIGHT, MARGIN, TITLE = 900, 480, 70, 30  # of one panel, in pixels
COLOURS = ("#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#76b7b2", "#edc948", "#b07aa1", "#9c755f")
LABEL = 12  # pixels that a name needs in height


def draw(claims: Claims, placement: Placement) -> str:
    """The SVG text. A claim that is always live spans the whole time."""
    used = [d for d in claims.problem.domains if any(c.domain == d.name for c in claims.problem.claims)]
    panels = [line for k, domain in enumerate(used) for line in _panel(claims, placement, domain, k * (HEIGHT + TITLE))]
    size = f'width="{WIDTH}" height="{len(used) * (HEIGHT + TITLE)}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="11">'
    return "\n".join([head, *panels, "</svg>", ""])


def _panel(claims: Claims, placement: Placement, domain: Domain, top: int) -> Iterator[str]:
    moments = sorted({t for spans in claims.live.values() for span in spans for t in span}) or [0, 1]
    across = (WIDTH - 2 * MARGIN) / (moments[-1] - moments[0])
    up = (HEIGHT - TITLE) / max(domain.capacity, 1)
    floor = top + HEIGHT

    yield f'<text x="{MARGIN}" y="{top + 16}">{escape(domain.name)}: {_used(placement, domain)}</text>'
    yield (
        f'<rect x="{MARGIN}" y="{floor - domain.capacity * up:.1f}" width="{WIDTH - 2 * MARGIN}" '
        f'height="{domain.capacity * up:.1f}" fill="none" stroke="#999"/>'
    )
    yield f'<text x="{MARGIN - 4}" y="{floor}" text-anchor="end">0</text>'
    ceiling = floor - domain.capacity * up + 8
    yield f'<text x="{MARGIN - 4}" y="{ceiling:.1f}" text-anchor="end">{domain.capacity}</text>'
    own = sorted((c for c in claims.problem.resolved().claims if c.domain == domain.name), key=lambda c: c.name)
    for number, claim in enumerate(own):
        size = claim.size * (placement.depths[claim.ring] if claim.ring else 1)
        for start, end in claims.live[claim.name] or ((moments[0], moments[-1]),):
            x, width = MARGIN + (start - moments[0]) * across, (end - start) * across
            y, height = floor - (placement.bases[claim.name] + size) * up, size * up
            yield _block(claim, placement, size, COLOURS[number % len(COLOURS)], (x, y, width, height))


def _used(placement: Placement, domain: Domain) -> str:
    return escape(f"{placement.footprint[domain.name]} of {domain.capacity} {domain.unit}".strip())


def _block(claim: Claim, placement: Placement, size: int, colour: str, frame: tuple[float, float, float, float]) -> str:
    x, y, width, height = frame
    base = placement.bases[claim.name]
    title = f"<title>{escape(claim.name)}: [{base}, {base + size})</title>"
    box = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
    rect = f'<rect {box} fill="{colour}" fill-opacity="0.75" stroke="#333" stroke-width="0.5">{title}</rect>'
    if height < LABEL or width < 6 * len(claim.name):
        return rect
    return f'{rect}<text x="{x + 3:.1f}" y="{y + height / 2 + 4:.1f}">{escape(claim.name)}</text>'
