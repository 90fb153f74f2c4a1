"""The parameter block: facts, arguments, providers under guard, and the grid."""

import ctypes
import shutil
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pipelink_runtime as plrt
import pytest
from pipelink_runtime import archive, providers
from pipelink_runtime.buffers import Lent
from pipelink_runtime.parameters import Block, Inputs, agreed, build, check_arguments, given_grid
from pipelink_runtime.record import Record
from runtime_samples import HEADERS, ROOT, Build, Json, argument, buffer, provided, record, region, tile_fact

GEMM = ROOT / "components" / "gemm_swiglu"


def lent(name: str, address: int = 0x1000, shape: tuple[int, ...] = (6, 8), stride: tuple[int, ...] = (8, 1)) -> Lent:
    return Lent(name, address, "f32", shape, stride, 0, False, None)


INPUTS = Inputs({"x": lent("x"), "out": lent("out", 0x2000)}, {"n": -5, "alpha": 0.25}, 132)
NO_SERVICES = providers.services(0)
Parse = Callable[[Json], Record]


@pytest.fixture
def parse(build: Build) -> Parse:
    return lambda stated: archive.read(build(stated))[0]


@pytest.fixture
def run(parse: Parse, provider_code: bytes) -> Callable[..., tuple[Block, providers.Grid]]:
    """Build the block of a record."""

    def built(stated: Json, inputs: Inputs = INPUTS, grid: Any = None) -> tuple[Block, providers.Grid]:
        parsed = parse(stated)
        functions = {p.package: providers.load(provider_code, p.symbol) for p in parsed.providers}
        return build(parsed, inputs, functions, NO_SERVICES, grid)

    return built


def test_a_package_without_a_provider(run: Any) -> None:
    block, grid = run(record(), grid=(4, 1, 1))
    assert grid == (4, 1, 1)
    assert bytes(block) == struct.pack("<QQqfi", 0x1000, 0x2000, -5, 0.25, 48) + bytes(96)
    assert block.address % 128 == 0


@pytest.mark.parametrize(
    ("type_name", "value", "wanted"), [("i32", "-3", -3), ("u32", "4294967295", 2**32 - 1), ("f32", "0.5", 0.5)]
)
def test_facts_by_type(run: Any, type_name: str, value: str, wanted: float) -> None:
    stated = record()
    stated["parameters"]["regions"][0]["facts"][0].update(type=type_name, value=value)
    block, _ = run(stated, grid=(1, 1, 1))
    assert struct.unpack_from({"i32": "<i", "u32": "<I", "f32": "<f"}[type_name], bytes(block), 28) == (wanted,)


def test_a_provider_gets_everything(run: Any) -> None:
    block, grid = run(provided())
    filled = struct.unpack_from("<iiqQQqqqqdIi", bytes(block), 64)
    assert filled == (48, 2, -5, 0x1000, 0x2000, 6, 8, 8, 1, 0.25, 132, 7)
    assert grid == (48, 2, 1)
    assert bytes(block)[:64] == bytes(64)
    assert bytes(block)[144:] == bytes(112)


def test_a_provider_gets_only_what_its_package_declares(run: Any) -> None:
    stated = provided()
    stated["buffers"].append(buffer("w", "other"))
    stated["arguments"].insert(0, argument("m", "other", "i32"))
    inputs = Inputs({**INPUTS.buffers, "w": lent("w")}, {**INPUTS.arguments, "m": 1}, 132)
    assert bytes(run(stated, inputs)[0]) == bytes(run(provided())[0])


@pytest.mark.parametrize(
    ("symbol", "message"),
    [
        ("refuses", "the host provider of scale refuses: x: too large"),
        ("refuses_silently", "the host provider of scale refuses: it gave no reason"),
        ("writes_before", "the host provider of scale wrote outside of its 80 bytes"),
        ("writes_after", "the host provider of scale wrote outside of its 80 bytes"),
        ("changes_a_fact", "the host provider of scale changed 'tile', which comes from a fact"),
        ("not_there", "not_there: the native code exports no such function"),
    ],
)
def test_providers_that_break_a_rule(run: Any, symbol: str, message: str) -> None:
    with pytest.raises(plrt.ProviderError, match=message):
        run(provided(symbol))


def test_native_code_that_cannot_be_loaded() -> None:
    with pytest.raises(plrt.ProviderError, match="scale_provide: its native code cannot be loaded"):
        providers.load(b"no shared object", "scale_provide")


def test_layouts_are_those_of_the_header(tmp_path: Path) -> None:
    """The structs in ctypes against what a C compiler makes of `provider.h`."""
    structs = {"pl_buffer": providers.PlBuffer, "pl_argument": providers.PlArgument}
    structs |= {"pl_services": providers.PlServices, "pl_request": providers.PlRequest}
    checks: list[str] = []
    for name, made in structs.items():
        checks.append(f'_Static_assert(sizeof({name}) == {ctypes.sizeof(made)}, "{name}");')
        for field, *_ in made._fields_:
            offset, size = getattr(made, field).offset, getattr(made, field).size
            checks.append(f'_Static_assert(offsetof({name}, {field}) == {offset}, "{name}.{field}");')
            checks.append(f'_Static_assert(sizeof((({name} *)0)->{field}) == {size}, "{name}.{field}");')
    checks += [f'_Static_assert(PL_{n.upper()} == {v}, "{n}");' for n, v in providers.DTYPES.items() if n in DIRECT]
    checks += ['_Static_assert(PL_PROVIDER_ABI == 1 && PL_MAX_RANK == 5, "version");']
    source = tmp_path / "layouts.c"
    source.write_text("#include <pipelink/provider.h>\n" + "\n".join(checks) + "\n")
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    done = subprocess.run(
        [compiler, "-std=c11", "-fsyntax-only", "-I", HEADERS, source], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


DIRECT = ("u8", "u16", "u32", "i32", "u64", "i64", "f16", "f32", "f64", "bf16")


# ---- arguments and the grid ----


def typed(parse: Parse, type_name: str) -> Record:
    """A record that takes one argument `n`, by a provider."""
    return parse(provided(arguments=[argument("n", "scale", type_name), argument("alpha", "scale", "f32")]))


@pytest.mark.parametrize(
    ("type_name", "value", "wanted"),
    [
        ("i32", -(2**31), -(2**31)),
        ("u32", 2**32 - 1, 2**32 - 1),
        ("u64", 2**64 - 1, 2**64 - 1),
        ("f32", 3, 3.0),
        ("f32", 0.1, 0.1),
    ],
)
def test_arguments(parse: Parse, type_name: str, value: Any, wanted: Any) -> None:
    assert check_arguments(typed(parse, type_name), {"n": value, "alpha": 1})["n"] == wanted


@pytest.mark.parametrize(
    ("type_name", "value", "message"),
    [
        ("i32", 2**31, "argument 'n': 2147483648 is outside of i32, which scale needs: -2147483648 to 2147483647"),
        ("u64", -1, "argument 'n': -1 is outside of u64"),
        ("i64", 1.0, "argument 'n': 1.0 is no integer, scale needs i64"),
        ("f32", "much", "argument 'n': 'much' is no number, scale needs f32"),
    ],
)
def test_arguments_that_will_not_do(parse: Parse, type_name: str, value: Any, message: str) -> None:
    with pytest.raises(plrt.ArgumentError, match=message):
        check_arguments(typed(parse, type_name), {"n": value, "alpha": 1})


def test_names_of_arguments(parse: Parse) -> None:
    with pytest.raises(plrt.ArgumentError) as raised:
        check_arguments(typed(parse, "i32"), {"alfa": 1})
    assert str(raised.value).splitlines() == [
        "argument 'alfa' is unknown (did you mean 'alpha'?)",
        "argument 'alpha' is missing: scale needs f32",
        "argument 'n' is missing: scale needs i32",
    ]


def test_a_u64_reaches_the_provider_whole(run: Any) -> None:
    inputs = Inputs(INPUTS.buffers, {"n": 2**64 - 2, "alpha": 0.0}, 1)
    stated = provided(arguments=[argument("n", "scale", "u64"), argument("alpha", "scale", "f32")])
    assert struct.unpack_from("<Q", bytes(run(stated, inputs)[0]), 64 + 8) == (2**64 - 2,)


def test_nobody_sets_the_grid(run: Any) -> None:
    with pytest.raises(plrt.ArgumentError, match=r"no provider of the image sets the grid: give grid=\(x, y, z\)"):
        run(provided("sets_no_grid"))
    assert run(provided("sets_no_grid"), grid=(5, 1, 1))[1] == (5, 1, 1)


def test_the_caller_and_a_provider_disagree(run: Any) -> None:
    assert run(provided(), grid=(48, 2, 1))[1] == (48, 2, 1)
    with pytest.raises(plrt.ArgumentError, match=r"\(48, 2, 1\) by scale, \(9, 1, 1\) by the caller: one of them must"):
        run(provided(), grid=(9, 1, 1))


def test_two_providers_disagree(parse: Parse) -> None:
    parsed = parse(record())
    assert agreed(parsed, {"a": (2, 1, 1), "b": (2, 1, 1)}) == (2, 1, 1)
    with pytest.raises(plrt.ProviderError, match=r"\(2, 1, 1\) by a, \(3, 1, 1\) by b"):
        agreed(parsed, {"a": (2, 1, 1), "b": (3, 1, 1)})


@pytest.mark.parametrize("grid", [(2**31, 1, 1), (1, 65536, 1), (1, 1, 65536), (1, 0, 1), (-1, 1, 1)])
def test_grids_out_of_range(parse: Parse, grid: providers.Grid) -> None:
    with pytest.raises(plrt.ArgumentError, match="must be within 1 and"):
        agreed(parse(record()), {"a": grid})


def test_given_grids() -> None:
    assert given_grid(None) is None
    assert given_grid((7,)) == (7, 1, 1)
    assert given_grid([7, 8]) == (7, 8, 1)
    for wrong in (7, (), (1, 2, 3, 4), (1.5,), "11"):
        with pytest.raises(plrt.ArgumentError, match=r"needs .*one to three integers"):
            given_grid(wrong)


# ---- the providers of a real pipeline ----


@pytest.fixture(scope="module")
def gemm(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Any]:
    """A provider of components/gemm_swiglu, compiled."""
    folder = tmp_path_factory.mktemp("gemm")
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")

    def provider(name: str) -> Any:
        output = folder / f"{name}.so"
        flags = ["-std=c11", "-O2", "-ffreestanding", "-nostdlib", "-shared", "-fPIC", "-I", HEADERS, "-I", GEMM]
        subprocess.run([compiler, *flags, GEMM / f"{name}_host.c", "-o", output], check=True)
        return providers.load(output.read_bytes(), f"{name}_provide")

    return provider


ENCODE = ctypes.CFUNCTYPE(
    ctypes.c_int32,
    *(ctypes.c_void_p, ctypes.c_int32, ctypes.c_uint32, ctypes.c_uint64),
    *(ctypes.POINTER(ctypes.c_uint64), ctypes.POINTER(ctypes.c_uint64)),
    *(ctypes.POINTER(ctypes.c_uint32), ctypes.POINTER(ctypes.c_uint32)),
    *(ctypes.c_int32, ctypes.c_int32, ctypes.c_int32, ctypes.c_int32),
)


class Encoder:
    """A service that keeps what it is asked, and fills the map with its number."""

    def __init__(self, status: int = 0):
        self.asked: list[tuple[Any, ...]] = []
        self.status = status
        self._callback = ENCODE(self._encode)
        self.services = providers.services(ctypes.cast(self._callback, ctypes.c_void_p).value or 0)

    def _encode(self, target: int, dtype: int, rank: int, address: int, *rest: Any) -> int:
        extents, strides, box, steps, *modes = rest
        lists = extents[:rank], strides[: rank - 1], box[:rank], steps[:rank]
        self.asked.append((target % 64, dtype, address, *lists, tuple(modes)))
        ctypes.memset(target, len(self.asked), 128)
        return self.status


def load_record() -> Json:
    spans = {"a": [0, 128], "b": [128, 128], "k_tiles": [256, 4], "tiles_m": [260, 4], "tiles_n": [264, 4]}
    spans |= {"group": [268, 4], "tile_m": [272, 4], "tile_n": [276, 4], "tile_k": [280, 4]}
    tiles = {"tile_m": 128, "tile_n": 256, "tile_k": 64}
    facts = [{**tile_fact(str(v)), "field": n, "fact": n, "offset": spans[n][0]} for n, v in tiles.items()]
    return record(
        parameters={"size": 384, "regions": [region("load", 64, 320, spans, facts, 64)]},
        buffers=[buffer(n, "load", dtype="bf16") for n in ("x", "w")],
        arguments=[],
        providers=[{"package": "load", "symbol": "load_provide", "abi": 1}],
    )


def matrices(m: int, n: int, k: int, pitch: int) -> Inputs:
    return Inputs({"x": lent("x", 0x4000, (m, k), (pitch, 1)), "w": lent("w", 0x8000, (n, k), (pitch, 1))}, {}, 132)


def test_the_loader_of_a_gemm(parse: Parse, gemm: Any) -> None:
    encoder = Encoder()
    block, grid = build(
        parse(load_record()), matrices(300, 1024, 500, 512), {"load": gemm("load")}, encoder.services, None
    )
    content = bytes(block)
    assert grid == (3 * 4, 1, 1)
    assert content[64 : 64 + 256] == bytes([1]) * 128 + bytes([2]) * 128
    assert struct.unpack_from("<7i", content, 64 + 256) == (8, 3, 4, 3, 128, 256, 64)
    assert encoder.asked == [
        (0, 9, 0x4000, [500, 300], [1024], [64, 128], [1, 1], (0, 3, 2, 0)),
        (0, 9, 0x8000, [500, 1024], [1024], [64, 256], [1, 1], (0, 3, 2, 0)),
    ]


def test_the_loader_refuses(parse: Parse, gemm: Any) -> None:
    parsed, functions = parse(load_record()), {"load": gemm("load")}
    with pytest.raises(plrt.ProviderError, match="of load refuses: x: its rows must be a multiple of 16 bytes apart"):
        build(parsed, matrices(300, 1024, 500, 500), functions, Encoder().services, None)
    with pytest.raises(plrt.ProviderError, match="of load refuses: x: the driver refused to encode its tensor map"):
        build(parsed, matrices(300, 1024, 512, 512), functions, Encoder(1).services, None)
