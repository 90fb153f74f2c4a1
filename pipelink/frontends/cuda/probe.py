"""Whether each exported function can be inlined: a link of the object with a small kernel around each of them.

Neither PTX nor machine code of a lone object shows `__noinline__`, and the LTO IR is opaque, so the vendor's inliner is
asked itself: a kernel whose whole body is one call of the export. With one call site a function of any size is inlined;
where a call remains, the linker keeps the function under `$KERNEL$EXPORT`.
"""

from collections.abc import Sequence

from pipelink.backend import cubin, nvjitlink, nvrtc
from pipelink.backend.toolchain import ToolError
from pipelink.frontends.contract import Contract, Signature, handle_symbol
from pipelink.frontends.cuda.capture import COUNTERS, RUNTIME, Facts, exported, handles, has_counters, missing
from pipelink.ir.diagnostics import Diagnostics

_FUNCTION = 2


def check_inlining(
    contract: Contract, data: bytes, target: str, errors: Diagnostics, facts: Facts | None = None
) -> str:
    """Collect in `errors` (L-INLINE) each export that stays a call.

    Returns why the probe does not link, "" where it does. With `facts` it links in spite of what the object lacks.
    """
    found = [
        (i, *export) for i, export in enumerate(exported(contract)) if not facts or export[1] in facts.cubin.defined
    ]
    source = _source(contract, [(number, symbol) for number, _, symbol, _ in found], facts)
    try:
        generated = nvjitlink.Input("probe", "ltoir", nvrtc.compile_ltoir(source, target, "probe.cu"))
        linked = cubin.read(nvjitlink.link([nvjitlink.Input("object", "fatbin", data), generated], target).cubin)
    except (nvjitlink.LinkError, ToolError) as error:
        return str(error)
    functions = {symbol.name for symbol in linked.symbols if symbol.type == _FUNCTION}
    for number, title, symbol, at in found:
        if {symbol, f"${_kernel(number)}${symbol}"} & functions:
            errors.error(
                "L-INLINE",
                f"{title}: `{symbol}` stays a call",
                at,
                hint="an export is neither __noinline__ nor recursive, and its address is not taken",
            )
    return ""


def _signatures(contract: Contract) -> dict[str, Signature]:
    found = {role.entry: role.signature for role in contract.roles}
    found |= {entry.symbol: entry.signature for entry in (*contract.callables, *contract.exports)}
    return found | {ring.init: ring.init_signature for ring in contract.rings if ring.init_signature}


def _foreign(contract: Contract) -> dict[str, Signature]:
    found = {handle_symbol(contract.name, name): Signature("unsigned int", ()) for name in handles(contract)}
    if has_counters(contract):
        found[COUNTERS] = Signature("unsigned int *", (), context=True)
    found |= {call.symbol: call.signature for call in contract.calls}
    for tensor in contract.imports:
        found |= {tensor.symbol: tensor.signature, tensor.produce: tensor.produce_signature}
    return found


def _kernel(number: int) -> str:
    return f"pl_probe_{number}"


def _source(contract: Contract, symbols: Sequence[tuple[int, str]], facts: Facts | None) -> str:
    """A kernel for each export, and opaque definitions of all that the package leaves to the linker."""
    signatures = _signatures(contract)
    stubs = _foreign(contract)
    lines: list[str] = []
    if facts:
        lacking = {symbol for symbol in missing(contract, facts) if symbol not in RUNTIME}
        stubs |= {symbol: Signature("void", ()) for symbol in lacking & facts.cubin.undefined}
        stubs = {symbol: signature for symbol, signature in stubs.items() if symbol not in facts.cubin.defined}
        sizes = {symbol.name: symbol.size for symbol in facts.cubin.symbols}
        variables = sorted(lacking & facts.cubin.undefined_data)
        lines += [f'extern "C" {{ __device__ char {name}[{sizes[name] or 1}]; }}' for name in variables]
    lines += [_stub(*item) for item in sorted(stubs.items())]
    for number, symbol in symbols:
        signature = signatures[symbol]
        types, names = _parameters(signature)
        typed = ", ".join(f"{kind} {name}" for kind, name in zip(types, names, strict=True))
        lines.append(f'extern "C" __device__ {signature.result} {symbol}({", ".join(types)});')
        call = f"{symbol}({', '.join(names)});"
        if signature.result != "void":
            typed = ", ".join(filter(None, [typed, f"{signature.result} *out"]))
            call = f"*out = {call}"
        lines.append(f'extern "C" __global__ void {_kernel(number)}({typed}) {{ {call} }}')
    return "\n".join([*lines, ""])


def _stub(symbol: str, signature: Signature) -> str:
    """A function whose effects and result the optimiser cannot see."""
    types, names = _parameters(signature)
    typed = ", ".join(f"{kind} {name}" for kind, name in zip(types, names, strict=True))
    pointers = [f'"l"({name})' for kind, name in zip(types, names, strict=True) if kind.endswith("*")]
    body = f'asm volatile("" :: {", ".join(pointers)} : "memory");'
    if signature.result != "void":
        body += f' {signature.result} *result; asm volatile("" : "=l"(result)); return *result;'
    return f'extern "C" __device__ {signature.result} {symbol}({typed}) {{ {body} }}'


def _parameters(signature: Signature) -> tuple[list[str], list[str]]:
    supplied = ["const void *"] * (signature.args + signature.context)
    types = [*supplied, *signature.parameters]
    return types, [f"a{index}" for index in range(len(types))]
