"""What a good component's package holds, and that its bytes depend on its source only."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from pack_samples import COMPONENTS, Good

from pipelink.backend import toolchain
from pipelink.frontends import package
from pipelink.frontends.contract import Count, FpMode, Kernel, Lifetime, Location, Signature
from pipelink.frontends.cuda.pack import Request, headers, pack
from pipelink.ir.maps import parse

LINES = (COMPONENTS / "good.cu").read_text().splitlines()


def line(text: str) -> int:
    return next(number for number, line in enumerate(LINES, 1) if text in line)


def test_package(good: Good) -> None:
    contract = good.package.contract
    assert (contract.name, contract.version, contract.target, contract.main) == ("good", "1.2.3", "sm_90a", "good.cu")
    assert contract.at == Location("good.cu", line("PL_STAGE"), 1)
    assert list(good.package.members) == ["object.fatbin", "provider.so", "source/good.cu", "source/good.h"]
    assert good.package.members["source/good.h"] == (COMPONENTS / "good.h").read_bytes()
    assert contract.fp == FpMode()
    assert contract.provider is not None
    assert (contract.provider.symbol, contract.provider.abi) == ("good_provide", 1)
    assert good.package.members["provider.so"].startswith(b"\x7fELF")


def test_parameters_are_measured(good: Good) -> None:
    parameters = good.package.contract.parameters
    assert parameters is not None
    assert (parameters.type, parameters.size, parameters.align) == ("good_args", 168, 8)
    fields = [(field.name, field.offset, field.size) for field in parameters.fields]
    assert fields[:4] == [("map", 0, 128), ("k_tiles", 128, 4), ("scale", 132, 4), ("x", 136, 8)]
    assert fields[4:] == [("tile_m", 144, 4), ("rows", 152, 8), ("peers", 160, 8)]


def test_roles_and_code(good: Good) -> None:
    contract = good.package.contract
    load, epilogue = contract.roles
    assert load.signature == Signature("void", (), args=True)
    assert epilogue.signature == Signature("void", (), args=True, context=True)
    assert (load.warps, load.align, load.registers, load.need) == (1, 1, (24, 56), 24)
    assert (epilogue.warps, epilogue.align, epilogue.registers, epilogue.need) == (4, 4, (24, 240), 0)
    assert load.at == Location("good.cu", line("PL_ROLE(load"), 1)
    (coord,) = contract.callables
    assert coord.signature == Signature("int", ("int *", "unsigned int"), args=True)
    (call,) = contract.calls
    assert call.signature == Signature("float", ("int", "const float *"), args=True, context=True)
    (site,) = contract.sites
    assert (site.role, site.threads, site.guarantees) == ("epilogue", 128, ("converged", "full warps"))


def test_uses_are_captured_through_local_functions(good: Good) -> None:
    contract = good.package.contract
    load, epilogue = contract.roles
    assert load.uses == ("a", "ab_depth", "gate", "tick")  # a and tick by a static helper, gate by the callable
    assert load.calls == ()
    assert epilogue.uses == ("first_warp", "scratch")
    assert epilogue.calls == ("accumulator", "foreign")
    assert contract.callables[0].uses == ("gate",)
    assert contract.rings[0].init_uses == ("ab_full", "ab_full_count")


def test_symbols_and_kernels(good: Good) -> None:
    contract = good.package.contract
    assert contract.defined == ("good_coord", "good_epilogue", "good_init", "good_load", "good_tile")
    handles = ["a", "ab_depth", "ab_full", "ab_full_count", "first_warp", "gate", "scratch", "tick"]
    foreign = ["good_foreign", "good_import", "good_produce"]
    assert list(contract.undefined) == foreign + [f"plh_good__{handle}" for handle in handles]
    assert contract.kernels == (Kernel("good_kernel", 256, (2, 1, 1)),)
    assert contract.static_shared == 0


def test_ring_and_claims(good: Good) -> None:
    contract = good.package.contract
    (ring,) = contract.rings
    assert (ring.side, ring.on, ring.depth, ring.bytes, ring.drains) == ("producer", "load", (2, 8), 24576, True)
    assert (ring.full, ring.empty) == (Count("once"), Count("warp", 2))
    assert (ring.init, ring.init_signature) == ("good_init", Signature("void", ()))
    claims = {claim.name: claim for claim in contract.claims}
    assert {name: claim.kind for name, claim in claims.items()} == {
        "a": "smem",
        "b": "smem",
        "scratch": "smem",
        "gate": "mbarrier",
        "exchange": "barrier",
        "acc": "tmem",
        "tick": "counter",
    }
    b = claims["b"]
    assert (b.ring, b.size, b.align, b.dtype, b.tile, b.swizzle) == ("ab", 16384, 1024, "bf16", (128, 64), 128)
    assert b.at == Location("good.cu", line("PL_RING_BUFFER(ab, b"), 1)
    assert claims["exchange"].at.column == LINES[line("PL_CLAIM_BARRIER") - 1].index("PL_CLAIM_BARRIER") + 1
    assert claims["scratch"].lifetime == Lifetime("between", start="accumulator.ready", end="accumulator.done")
    assert claims["acc"].lifetime == Lifetime("phase", phase="attention")
    assert (claims["tick"].scope, claims["tick"].restart) == ("gpu", "launch")


def test_maps_are_closed_forms(good: Good) -> None:
    (export,) = good.package.contract.exports
    placement = parse(export.placement)
    assert (placement.domain, placement.outputs) == ((("t", 128), ("r", 64)), (("m", 64), ("n", 128)))
    for t, r in ((0, 0), (5, 3), (77, 41), (127, 63)):
        point = (t // 32 * 16 + t % 32 // 4 + r // 2 % 2 * 8, r // 4 * 8 + t % 4 * 2 + r % 2)
        assert placement.evaluate((t, r)) == point
    assert (export.registers, export.threads, export.align, export.requires) == (64, 128, 128, ("converged",))
    (tensor,) = good.package.contract.imports
    demand = parse(tensor.demand)
    assert demand.domain == (("t", 128), ("p", 8), ("c", 8))
    assert demand.evaluate((70, 3, 2)) == (6, 43)
    assert (tensor.chunk, tensor.frame, tensor.scratch, tensor.barrier) == ("c", 64, "scratch", "exchange")
    assert (tensor.produce, tensor.produce_signature) == (
        "good_produce",
        Signature("void", ("float *",), context=True),
    )


def test_facts_have_the_types_of_their_values_and_fields(good: Good) -> None:
    contract = good.package.contract
    facts = {fact.name: (fact.type, fact.value) for fact in contract.facts}
    assert facts == {"scale": ("f32", 0.10000000149011612), "wide": ("i64", 1 << 40), "many": ("u32", 3000000000)}
    uses = {use.name: (use.type, use.field, use.required) for use in contract.fact_uses}
    assert uses == {"tile_m": ("i32", "tile_m", 128), "rows": ("i64", "rows", None)}
    (buffer,) = contract.buffers
    assert (buffer.dtype, buffer.rank, buffer.access, buffer.align) == ("bf16", 2, "read", 16)
    assert [(a.name, a.type) for a in contract.arguments] == [("rows", "i64")]
    assert [(d.name, d.ranks) for d in contract.domains] == [("cp", 4)]
    assert [(v.name, v.domain, v.kind, v.field) for v in contract.views] == [("kv", "cp", "peer", "peers")]


def test_dependencies(good: Good) -> None:
    names = {path.name for path in good.dependencies}
    assert {"good.cu", "good.h", "good_host.c", "contract.cuh"} <= names
    assert headers() / "pipelink" / "contract.cuh" in good.dependencies


def test_bytes_do_not_depend_on_the_folder_or_on_time(good: Good, tmp_path: Path) -> None:
    """Two folders of different depth at once, each with its own hash seed."""
    running: list[tuple[Path, subprocess.Popen[bytes]]] = []
    for number, folder in enumerate((tmp_path / "one", tmp_path / "two" / "deeper")):
        shutil.copytree(COMPONENTS, folder)
        command = [sys.executable, "-m", "pipelink.tools.pl_pack", "good.cu", "-o", "out.plpkg"]
        root = Path(package.__file__).parents[2]
        environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(root), "PYTHONHASHSEED": str(number)}
        running.append((folder, subprocess.Popen(command, cwd=folder, env=environment)))
    for folder, process in running:
        assert process.wait() == 0
        assert (folder / "out.plpkg").read_bytes() == good.path.read_bytes()


def test_a_prebuilt_object_and_flags(good: Good, tmp_path: Path) -> None:
    prebuilt = tmp_path / "object.fatbin"
    prebuilt.write_bytes(good.package.members["object.fatbin"])
    request = Request(
        COMPONENTS / "good.cu", flags=("-DUNUSED=1", "-use_fast_math"), prebuilt=prebuilt, ship_source=False
    )
    packed = pack(request)
    assert packed.contract.flags == ("-DUNUSED=1", "-use_fast_math")
    assert packed.contract.main == ""
    assert packed.members["object.fatbin"] == prebuilt.read_bytes()
    assert not any(name.startswith("source/") for name in packed.members)
    assert packed.contract.fp == FpMode()  # the object's mode, not the flags'
    assert packed.contract.roles == good.package.contract.roles
    assert prebuilt in packed.dependencies


def test_annotations_are_nothing_in_the_object() -> None:
    """Without PL_PACK only the declarations of handles are left of them."""
    command = ["-E", "-std=c++17", f"-I{headers()}", "good.cu"]
    plain = toolchain.run_nvcc(command, COMPONENTS).text
    packed = toolchain.run_nvcc([*command, "-DPL_PACK"], COMPONENTS).text
    traces = re.compile(r"\bpl(_notes?_\w+|::\w+)")
    assert not traces.search(plain)
    assert traces.search(packed)
    declared = re.findall(r"unsigned (plh_good__\w+)\(\);", plain)
    claims = ["scratch", "gate", "exchange", "acc", "tick", "first_warp"]
    ring = ["ab_full", "ab_empty", "ab_depth", "ab_full_count", "ab_empty_count", "a", "b"]
    assert declared == [f"plh_good__{handle}" for handle in ring + claims]
