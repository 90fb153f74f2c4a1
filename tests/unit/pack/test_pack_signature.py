"""Types as the compiler spells them."""

import pytest

from pipelink.frontends.contract import Signature
from pipelink.frontends.cuda.signature import SignatureError, number_type, parse

CONTEXT = "const pl_context *"


def pretty(text: str) -> str:
    return f"constexpr const char *pl::contract::type_name() [with Type = {text}]"


@pytest.mark.parametrize(
    ("text", "signature"),
    [
        ("void ()", Signature("void", ())),
        ("void (void)", Signature("void", ())),
        ("void (const my_args *)", Signature("void", (), args=True)),
        (f"void ({CONTEXT})", Signature("void", (), context=True)),
        (f"int (const my_args *, {CONTEXT}, int)", Signature("int", ("int",), args=True, context=True)),
        ("const float *(unsigned)", Signature("const float *", ("unsigned int",))),
        ("void (float *__restrict__, const void *)", Signature("void", ("float *", "const void *"))),
        ("bool (unsigned long long, signed char) noexcept", Signature("bool", ("unsigned long long", "signed char"))),
    ],
)
def test_signatures(text: str, signature: Signature) -> None:
    assert parse(pretty(text), "my_args") == signature


@pytest.mark.parametrize(
    "text",
    [
        "void (const other *)",
        "void (my_args *)",
        "void (int, const my_args *)",
        f"void ({CONTEXT}, const my_args *)",
        f"void (int, {CONTEXT})",
        "void (float **)",
        "void (volatile float *)",
        "void (int &)",
        "void (void (*)(int))",
        "float2 (int)",
        "int",
    ],
)
def test_other_types(text: str) -> None:
    with pytest.raises(SignatureError):
        parse(pretty(text), "my_args")


def test_no_parameters_struct() -> None:
    with pytest.raises(SignatureError, match="neither a builtin scalar"):
        parse(pretty("void (const my_args *)"), "")


def test_number_types() -> None:
    types = {"int": "i32", "unsigned int": "u32", "long": "i64", "long long": "i64", "float": "f32"}
    assert {name: number_type(name) for name in types} == types
    assert [number_type(name) for name in ("double", "short", "const void *", "unsigned char [128]")] == [None] * 4
