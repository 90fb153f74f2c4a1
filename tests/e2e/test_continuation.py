"""Any dump of the case study goes on to the same result: after any prefix of the passes, in either form."""

from functools import cache
from pathlib import Path

import pytest
from samples import parsed, pl_opt, printed

from pipelink.passes import LINK


@cache
def dump(manifest: Path, done: int) -> str:
    """With locations, after the first `done` passes."""
    result = pl_opt(manifest, "-p", ",".join(LINK[:done]), "--print-debuginfo")
    assert (result.status, result.err) == (0, "")
    return result.out


@pytest.mark.parametrize("name", ["h200", "h200_shifted", "h200_direct"])
@pytest.mark.parametrize("done", range(len(LINK) + 1))
def test_a_dump_goes_on_to_the_same_result(name: str, done: int, packages: Path) -> None:
    manifest = packages / f"{name}.toml"
    module = parsed(dump(manifest, done))
    for text in (printed(module, generic=True, locations=True), dump(manifest, done)):
        result = pl_opt("-", "-p", ",".join(LINK[done:]), "--print-debuginfo", stdin=text)
        assert (result.status, result.err) == (0, "")
        assert result.out == dump(manifest, len(LINK))


@pytest.mark.parametrize("name", ["h200", "h200_shifted", "h200_direct"])
def test_without_locations_too(name: str, packages: Path) -> None:
    manifest = packages / f"{name}.toml"
    whole = pl_opt(manifest, "--link-passes").out
    assert printed(parsed(dump(manifest, len(LINK)))).strip() == whole.strip()
    for done in range(len(LINK)):
        dumped = pl_opt(manifest, "-p", ",".join(LINK[:done])).out
        assert pl_opt("-", "-p", ",".join(LINK[done:]), stdin=dumped).out == whole
