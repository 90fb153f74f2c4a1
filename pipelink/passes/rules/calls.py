"""Calls fit what they call: one signature, and a site with the participants and guarantees that are required."""

from pipelink.frontends.contract import Signature
from pipelink.ir.diagnostics import Note
from pipelink.ir.locations import place_of
from pipelink.ir.pl import CallableOp, CallOp, ExportOp, ImportOp, WarpOp
from pipelink.ir.symbols import qualified
from pipelink.passes.rules import Checked
from pipelink.passes.rules.tensors import C_TYPES


def spelled(signature: Signature) -> str:
    return f"{signature.result} ({', '.join(signature.parameters)})"


def check_signatures(checked: Checked) -> None:
    for _, provider, user in checked.reach.connected(CallableOp, CallOp):
        want, have = user.signature.data, provider.signature.data
        notes = (
            Note(f"'{qualified(user)}' calls {spelled(want)}", place_of(user)),
            Note(f"'{qualified(provider)}' is {spelled(have)}", place_of(provider)),
        )
        if (want.result, want.parameters) != (have.result, have.parameters):
            message = f"'{qualified(user)}' calls {spelled(want)}, '{qualified(provider)}' is {spelled(have)}"
            hint = f"declare it as {spelled(have)}"
            checked.errors.error("L-SIGNATURE", message, place_of(user), *notes, hint=hint)
        elif (have.args or have.context) and not want.context:
            message = f"'{qualified(provider)}' needs kernel parameters, and the call '{qualified(user)}' passes none"
            hint = "let the call's first parameter be a const pl_context *"
            checked.errors.error("L-SIGNATURE", message, place_of(user), *notes, hint=hint)


def check_tensor_signatures(checked: Checked) -> None:
    """A producer is `void (T *frame)`, its caller the same, an import `void (const T *frame, int chunk, T *dst)`."""
    for _, export, import_ in checked.reach.connected(ExportOp, ImportOp):
        element = C_TYPES.get(export.dtype.data)
        if element is None:
            continue
        produce, move = (f"{element} *",), (f"const {element} *", "int", f"{element} *")
        for op, signature, wanted in (
            (export, export.signature.data, produce),
            (import_, import_.produce_signature.data, produce),
            (import_, import_.signature.data, move),
        ):
            if (signature.result, signature.parameters) != ("void", wanted):
                expected = spelled(Signature("void", wanted))
                message = (
                    f"'{qualified(op)}' is {spelled(signature)} where a tensor of {export.dtype.data} needs {expected}"
                )
                checked.errors.error("L-SIGNATURE", message, place_of(op), hint=f"declare it as {expected}")
        needs = export.signature.data
        if (needs.args or needs.context) and not import_.produce_signature.data.context:
            message = f"'{qualified(export)}' needs kernel parameters, and '{import_.produce.data}' passes none"
            hint = "let its first parameter be a const pl_context *"
            checked.errors.error("L-SIGNATURE", message, place_of(import_), hint=hint)


def check_callers(checked: Checked) -> None:
    """Handles are per object: code that reads its role's first warp has one calling role."""
    for warp in checked.symbols.ops(WarpOp):
        code = checked.symbols.find(warp.of, warp)
        if code is None or warp not in checked.reach.live:
            continue
        roles = checked.reach.roles_running(code)
        if len(roles) == 1:
            continue
        who = "no role" if not roles else "roles " + " and ".join(f"'{qualified(r)}'" for r in roles)
        checked.errors.error(
            "L-SITE",
            f"'{qualified(code)}' reads its role's first warp and is run by {who}",
            place_of(warp),
            *(Note(f"'{qualified(r)}' runs it", place_of(r)) for r in roles),
            hint="a handle has one value in a kernel: pass the thread index as an argument instead",
        )
