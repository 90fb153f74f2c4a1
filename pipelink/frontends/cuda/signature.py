"""Types as the compiler spells them in `__PRETTY_FUNCTION__`: function signatures and field types of a contract."""

import re

from pipelink.frontends.contract import Signature

_SCALARS = {
    "bool": "bool",
    "char": "char",
    "signed char": "signed char",
    "unsigned char": "unsigned char",
    "short": "short",
    "unsigned short": "unsigned short",
    "int": "int",
    "unsigned int": "unsigned int",
    "unsigned": "unsigned int",
    "long": "long",
    "unsigned long": "unsigned long",
    "long long": "long long",
    "unsigned long long": "unsigned long long",
    "float": "float",
    "double": "double",
}
_NUMBERS = {
    "int": "i32",
    "unsigned int": "u32",
    "long": "i64",
    "long long": "i64",
    "float": "f32",
}
CONTEXT = "const pl_context *"


class SignatureError(ValueError):
    """A type that a contract cannot hold."""


def spelled(pretty: str) -> str:
    """`... [with Type = const float *]` -> `const float *`."""
    return pretty.partition("Type = ")[2].removesuffix("]")


def number_type(field: str) -> str | None:
    """The contract's name of a field's C++ type, where facts can have it."""
    return _NUMBERS.get(_SCALARS.get(field, field))


def parse(pretty: str, params: str) -> Signature:
    """The signature of a function whose package's parameters have the type `params` ("" where it has none).

    A leading `const PARAMS *` and then `const pl_context *` are what the linker supplies. Raises SignatureError for
    anything but builtin scalars and pointers to them or to void.
    """
    text = spelled(pretty)
    match = re.fullmatch(r"(?P<result>[^()]*?)\s*\((?P<parameters>[^()]*)\)(?: noexcept)?", text)
    if match is None:
        raise SignatureError(f"`{text}` is no function of builtin types")
    types = [part.strip() for part in match["parameters"].split(",") if part.strip() not in ("", "void")]
    args = bool(types) and params != "" and types[0] == f"const {params} *"
    context = types[args : args + 1] == [CONTEXT]
    rest = tuple(_normal(part, params) for part in types[args + context :])
    result = match["result"].strip()
    return Signature(result if result == "void" else _normal(result, params), rest, args, context)


def _normal(text: str, params: str) -> str:
    base, star, tail = text.replace("__restrict__", "").partition("*")
    const, plain = "", base.strip()
    if star and plain.startswith("const "):
        const, plain = "const ", plain.removeprefix("const ")
    known = _SCALARS.get(plain) or ("void" if star and plain == "void" else None)
    if known is None or tail.strip() not in ("", "const"):
        raise SignatureError(
            f"`{text.strip()}` is neither a builtin scalar nor a pointer to one" + _advice(plain, params)
        )
    return f"{const}{known} *" if star else known


def _advice(plain: str, params: str) -> str:
    if plain == "pl_context":
        return ": `const pl_context *` comes first, or right after the package's parameters"
    if plain == params:
        return f": `const {params} *` comes first"
    return ""
