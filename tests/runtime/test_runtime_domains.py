"""Communication domains: what the caller gives reaches the fields that contracts name; what does not fit is refused."""

import struct
from collections.abc import Callable
from typing import Any

import pipelink_runtime as plrt
import pytest
from pipelink_runtime import archive, providers
from pipelink_runtime.domains import check
from pipelink_runtime.parameters import Inputs, build
from pipelink_runtime.record import Record
from runtime_samples import Build, Json, record, region

FIELDS = {"rank": [0, 4], "ranks": [4, 4], "mine": [8, 8], "peers": [16, 32], "all": [48, 8]}
USE = {"name": "world", "package": "scale", "ranks": 0, "rank_field": "rank", "ranks_field": "ranks"}


def view(kind: str, field: str, **changes: str) -> Json:
    return {
        "name": field,
        "package": "scale",
        "domain": "world",
        "kind": kind,
        "field": field,
        "allocation": "kv",
    } | changes


VIEWS = [view("local", "mine"), view("peer", "peers"), view("multicast", "all")]
WORLD = plrt.Domain(1, 4, {"kv": (0x1000, 0x2000, 0x3000, 0x4000)}, {"kv": 0x9000})


def stated(**changes: Any) -> Json:
    regions = [region("scale", 0, 56, FIELDS, [])]
    base = record(buffers=[], arguments=[], facts=[], domains=[USE], views=VIEWS)
    return base | {"parameters": {"size": 128, "regions": regions}} | changes


@pytest.fixture
def parse(build: Build) -> Callable[[Json], Record]:
    return lambda made: archive.read(build(made))[0]


def test_every_field_is_filled(parse: Any) -> None:
    parsed = parse(stated())
    check(parsed, {"world": WORLD})
    block, _ = build(parsed, Inputs({}, {}, 1, {"world": WORLD}), {}, providers.services(0), (1, 1, 1))
    filled = struct.unpack_from("<IIQQQQQQ", bytes(block))
    assert filled == (1, 4, 0x2000, 0x1000, 0x2000, 0x3000, 0x4000, 0x9000)


def test_a_kernel_without_domains_takes_none(parse: Any) -> None:
    check(parse(record()), {})
    with pytest.raises(plrt.ArgumentError, match="domain 'world' is unknown"):
        check(parse(record()), {"world": WORLD})


PEERS = {"kv": (1, 2, 3, 4)}
MISFITS: dict[str, tuple[dict[str, plrt.Domain], str]] = {
    "missing": ({}, "domain 'world' is missing"),
    "name": ({"word": WORLD}, "domain 'word' is unknown"),
    "rank": ({"world": plrt.Domain(4, 4, PEERS, {"kv": 9})}, "domain 'world': rank 4 of 4 ranks"),
    "allocation": (
        {"world": plrt.Domain(0, 4, {"k": (1, 2, 3, 4)}, {"kv": 9})},
        "'kv' needs a device address for each",
    ),
    "short": ({"world": plrt.Domain(0, 4, {"kv": (1, 2)}, {"kv": 9})}, "for each of the 4 ranks: scale views it"),
    "null": ({"world": plrt.Domain(0, 2, {"kv": (1, 0)}, {"kv": 9})}, "for each of the 2 ranks"),
    "multicast": ({"world": plrt.Domain(0, 4, PEERS)}, "allocation 'kv' has no multicast address, which scale needs"),
    "room": ({"world": plrt.Domain(0, 5, {"kv": (1, 2, 3, 4, 5)}, {"kv": 9})}, "scale has room for 4 ranks, not 5"),
}


@pytest.mark.parametrize("case", MISFITS)
def test_what_does_not_fit_is_refused(parse: Any, case: str) -> None:
    given, message = MISFITS[case]
    with pytest.raises(plrt.ArgumentError, match=message):
        check(parse(stated()), given)


def test_ranks_that_a_package_needs(parse: Any) -> None:
    with pytest.raises(plrt.ArgumentError, match="domain 'world' has 4 ranks, scale needs 2"):
        check(parse(stated(domains=[USE | {"ranks": 2}])), {"world": WORLD})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"views": [view("local", "rank")]}, "no field 'rank' of 8 bytes"),
        ({"views": [view("local", "gone")]}, "no field 'gone' of 8 bytes"),
        ({"views": [view("local", "mine", domain="row")]}, "views domain 'row' and does not join it"),
        ({"domains": [USE | {"rank_field": "mine"}]}, "no field 'mine' of 4 bytes"),
    ],
)
def test_a_record_that_contradicts_itself(parse: Any, changes: Json, message: str) -> None:
    with pytest.raises(plrt.ImageError, match=message):
        parse(stated(**changes))
