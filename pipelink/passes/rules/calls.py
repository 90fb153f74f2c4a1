"""Calls fit what they call: one signature, and a site with the participants and guarantees that are required."""

from xdsl.ir import Operation

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
            cause = f"callable {qualified(provider)}"
            checked.errors.error("L-SIGNATURE", message, place_of(user), *notes, hint=hint, cause=cause)
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


def check_sites(checked: Checked) -> None:
    """Code that calls or imports at a site runs on the site's role: transfers and handles count that role's threads."""
    for kind in (CallOp, ImportOp):
        for user in checked.symbols.ops(kind):
            site = checked.reach.site_of(user)
            if user not in checked.reach.live or site is None:
                continue
            role = checked.symbols.find(site.role, site)
            for code in checked.reach.users_of(user):
                runs = checked.reach.roles_running(code)
                if runs == [role] or not runs:
                    continue
                who = " and ".join(f"'{qualified(r)}'" for r in runs)
                where = f"'{qualified(role)}'" if role else "no role"
                message = f"'{qualified(code)}' uses '{qualified(user)}' on {who}, its site is in {where}"
                checked.errors.error("L-SITE", message, place_of(user), Note("the site is here", place_of(site)))


def check_cycles(checked: Checked) -> None:
    """No code calls itself through others: device code has no stack here, and nothing would end."""
    reported: set[Operation] = set()
    for code in [op for op in checked.pipeline.walk() if isinstance(op, CallableOp | ExportOp)]:
        if code not in checked.reach.live:
            continue
        stack: list[Operation] = [code]
        seen: set[Operation] = set()
        while stack:
            for used in _called(checked, stack.pop()):
                if used is code and not reported & seen:
                    reported |= seen | {code}
                    message = f"'{qualified(code)}' calls itself through other packages"
                    notes = (Note(f"by way of '{qualified(s)}'", place_of(s)) for s in sorted(seen, key=qualified))
                    checked.errors.error("L-CYCLE", message, place_of(code), *notes)
                elif used not in seen:
                    seen.add(used)
                    stack.append(used)


def _called(checked: Checked, code: Operation) -> list[Operation]:
    """The code of other packages that `code` calls or imports."""
    users = [used for _, used in checked.symbols.uses(code) if isinstance(used, CallOp | ImportOp)]
    return [provider for user in users if (provider := checked.reach.provider_of(user)) is not None]


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
