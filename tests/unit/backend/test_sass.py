import re
from dataclasses import replace

import pytest
from backend_samples import PARTS, ltoir, two_groups

from pipelink.backend import compare, cubin, nvjitlink, sass
from pipelink.backend.nvjitlink import LinkResult
from pipelink.backend.sass import Code
from pipelink.backend.toolchain import ToolError


@pytest.fixture(scope="module")
def two(linked: LinkResult) -> Code:
    return sass.disassemble(linked.cubin, registers=True)["two"]


def test_barriers(two: Code) -> None:
    found = [(b.opcode.split(".")[1], b.id, b.count) for b in sass.barriers(two)]
    assert sorted(found, key=str) == [("ARV", None, 64), ("SYNC", 0, 0), ("SYNC", 3, 128), ("SYNC", 4, 128)]


def test_register_groups(two: Code) -> None:
    entry, *groups = sass.regions(two)
    assert (entry.kind, entry.budget) == ("entry", None)
    by_budget = {group.budget: group for group in groups}
    assert {(g.kind, g.budget) for g in groups} == {("inc", 240), ("dec", 24)}
    assert by_budget[24].registers < 24
    assert 48 < by_budget[240].registers <= 240
    # Without wide instructions the largest register that is written down is the need.
    named = [int(n) for i in two.instructions for o in i.operands for n in re.findall(r"\bR(\d+)", o)]
    assert by_budget[240].registers == max(named) + 1


def test_register_tuples_count_whole() -> None:
    source = 'extern "C" __global__ void k(float4 *x) { x[threadIdx.x] = x[threadIdx.x + 64]; }'
    code = sass.disassemble(nvjitlink.link([ltoir("k", source)]).cubin, registers=True)["k"]
    loads = [i for i in code.instructions if i.opcode.startswith("LDG.E.128")]
    assert len(loads) == 1
    first = int(re.findall(r"\d+", loads[0].operands[0])[0])
    assert loads[0].registers >= first + 4


def test_regions_need_registers(two: Code) -> None:
    plain = replace(two, instructions=tuple(replace(i, registers=0) for i in two.instructions))
    with pytest.raises(ValueError, match="registers=True"):
        sass.regions(plain)


def test_an_indirect_branch_is_followed() -> None:
    cases = "".join(f"case {n}: x[{n}] = {f}f(x[{n + 1}]); break;" for n, f in enumerate(["sin", "log", "exp"] * 4))
    source = f'extern "C" __global__ void k(float *x, int i) {{ switch (i) {{ {cases} }} }}'
    code = sass.disassemble(nvjitlink.link([ltoir("k", source)]).cubin, registers=True)["k"]
    jumps = [i for i in code.instructions if i.opcode == "BRX"]
    assert jumps
    assert all(jump.targets for jump in jumps)
    (entry,) = sass.regions(code)
    assert entry.registers == max(i.registers for i in code.instructions)


def test_calls_fences_and_local_memory(two: Code) -> None:
    assert all(name.startswith("$__internal_") for name in sass.calls(two))
    assert len(sass.calls(two)) == 1  # the IEEE division
    assert sass.count(two, "MEMBAR.SC.GPU", "MEMBAR.ALL.GPU") == 1
    assert sass.count(two, "LDL", "STL", "HGMMA") == 0
    assert sass.count(two, "BAR") == 4


def test_local_memory_and_kept_calls_are_seen(local_memory: LinkResult) -> None:
    code = sass.disassemble(local_memory.cubin)["k"]
    assert sass.count(code, "STL") > 0
    assert sass.count(code, "LDL") == 1
    assert sass.calls(code) == ("$k$kept",)


def test_junk_is_a_tool_error() -> None:
    with pytest.raises(ToolError, match="nvdisasm cannot read the cubin"):
        sass.disassemble(b"junk")


def test_listings_compare(two: Code, linked: LinkResult) -> None:
    listing = sass.normalised(linked.cubin, "two")
    ranged = [str(i) for i in two.instructions]  # this listing leaves out the padding at the end
    assert listing[: len(ranged)] == ranged
    assert set(listing[len(ranged) :]) <= {"NOP"}
    assert sass.diff_instructions(listing, listing) == (0, "")
    changed = [*listing]
    changed[3] = "NOP"
    assert sass.diff_instructions(listing, changed) == (1, f"instruction 3: {listing[3]} | NOP")
    assert sass.diff_instructions(listing, listing[1:])[0] == 1


def test_the_same_link_is_the_identical_file(linked: LinkResult) -> None:
    assert compare.compare(linked.cubin, bytes(linked.cubin)).kind == "identical file"


def test_only_the_tool_note_may_differ(linked: LinkResult) -> None:
    other = linked.cubin.replace(b"-v  -arch sm_90a", b"-w  -arch sm_90a")
    assert other != linked.cubin
    result = compare.compare(linked.cubin, other)
    assert result.identical
    assert (result.kind, result.differing_sections) == ("identical sections", (".note.nv.tkinfo",))


def test_a_changed_constant_is_one_instruction(linked: LinkResult) -> None:
    dispatch, _ = two_groups(48)
    moved = ltoir("parts", PARTS.replace("LIVE", "48").replace("return 4096", "return 8192"))
    result = compare.compare(linked.cubin, nvjitlink.link([dispatch, moved]).cubin)
    assert result.kind == "different"
    assert result.differing_sections == (".text.two",)
    assert result.instructions == 1
    assert "0x1000" in result.first
    assert "0x2000" in result.first


def test_a_flipped_bit_of_code_is_seen(linked: LinkResult) -> None:
    text = next(s.data for s in cubin.read(linked.cubin).sections if s.name == ".text.two")
    damaged = bytearray(linked.cubin)
    damaged[linked.cubin.index(text) + 4] ^= 1
    result = compare.compare(linked.cubin, bytes(damaged))
    assert result.differing_sections == (".text.two",)
    assert not result.identical
