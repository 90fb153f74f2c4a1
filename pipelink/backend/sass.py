"""Disassemble linked cubins and read facts off the machine code: barriers, register groups, calls, memory traffic."""

import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Literal

from pipelink.backend.toolchain import ToolError, toolkit


@dataclass(frozen=True)
class Instruction:
    """One machine instruction. `targets` are the addresses that it may branch to or call; in `operands` a target is
    written as a displacement, so that code reads the same wherever it lies. `registers` is one more than the largest
    general register that it reads or writes (0: none), where that was asked for."""

    address: int
    predicate: str
    opcode: str
    operands: tuple[str, ...]
    targets: tuple[int, ...] = ()
    registers: int = 0

    def __str__(self) -> str:
        return " ".join(part for part in (self.predicate, self.opcode, ", ".join(self.operands)) if part)


@dataclass(frozen=True)
class Code:
    """The instructions of one kernel, its outlined functions included; `labels` names addresses."""

    kernel: str
    instructions: tuple[Instruction, ...]
    labels: Mapping[str, int]


@dataclass(frozen=True)
class BarrierUse:
    """A named-barrier instruction; an id or count that the machine code takes from a register is None, a count that is
    absent (all threads of the block) is 0."""

    address: int
    opcode: str
    id: int | None
    count: int | None


@dataclass(frozen=True)
class Region:
    """Code that runs under one register budget: from a setmaxnreg (or, with no budget, the kernel's entry) up to the
    next. `registers` is the number that it really needs."""

    address: int
    kind: Literal["entry", "dec", "inc"]
    budget: int | None
    registers: int


# ---- disassembling --------------------------------------------------------------------------------------------------

_SECTION = re.compile(r"^//-+ \.text\.(\S+)\s")
_LABEL = re.compile(r"^([.$\w][\w.$@]*):$")
_LINE = re.compile(r"^\s*/\*([0-9a-f]+)\*/\s+(?:(@!?U?P\w+) )?\s*([A-Z][\w.]*)\s*(.*?)\s*;")
_TARGETS = re.compile(r'\(\*"BRANCH_TARGETS ([^"]*)"\*\)')
_REFERENCE = re.compile(r"`\(([^)]+)\)")
_RULER = re.compile(r"^\s*# (?=0)")


def disassemble(cubin: bytes, *, registers: bool = False) -> Mapping[str, Code]:
    """The code of every kernel of a cubin. With `registers`, nvdisasm's live ranges say exactly which registers each
    instruction touches, tuples included. Raises ToolError."""
    text = _nvdisasm(cubin, ["-plr", "-lrm", "narrow"] if registers else [])
    found: dict[str, Code] = {}
    for kernel, lines in _by_section(text).items():
        found[kernel] = _code(kernel, lines)
    return found


def _nvdisasm(cubin: bytes, flags: Sequence[str]) -> str:
    with tempfile.TemporaryDirectory(prefix="pipelink-") as folder:
        path = Path(folder) / "image.cubin"
        path.write_bytes(cubin)
        command = [str(toolkit().nvdisasm), "-c", *flags, str(path)]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        words = done.stderr.replace(str(path), "the cubin").strip()
        raise ToolError(f"nvdisasm cannot read the cubin: {words.splitlines()[0] if words else ''}", text=words)
    return done.stdout


def _by_section(text: str) -> dict[str, list[str]]:
    sections: dict[str, list[str]] = {}
    current: list[str] = []
    for line in text.splitlines():
        if line.startswith("//---"):
            match = _SECTION.match(line)
            current = sections.setdefault(match[1], []) if match else []
        current.append(line)
    return sections


def _code(kernel: str, lines: Sequence[str]) -> Code:
    labels: dict[str, int] = {}
    pending: list[str] = []
    raw: list[tuple[int, str, str, str, int]] = []
    first = 0  # the column of register 0, by the ruler above the code
    for line in lines:
        body, _, columns = line.partition("//")
        columns = columns.removeprefix(" |")
        if match := _LINE.match(body):
            address = int(match[1], 16)
            labels.update(dict.fromkeys(pending, address))
            pending = []
            # Around a call nvdisasm marks what the ABI lets any callee change; the callee's own code says what it does.
            touched = 0 if match[3].startswith("CALL") else _touched(columns, first)
            raw.append((address, match[2] or "", match[3], match[4], touched))
        elif match := _RULER.match(columns):
            first = match.end()
        elif match := _LABEL.match(body.strip()):
            pending.append(match[1])
    return Code(kernel, tuple(_instruction(labels, *entry) for entry in raw), labels)


def _touched(columns: str, first: int) -> int:
    """The live-range columns of the general registers come first, one character a register: ^ written, v read, x both,
    : merely alive."""
    general = columns.split("|", 1)[0][first:]
    return max((index + 1 for index, mark in enumerate(general) if mark in "^vx"), default=0)


def _instruction(
    labels: Mapping[str, int], address: int, predicate: str, opcode: str, rest: str, touched: int
) -> Instruction:
    table = _TARGETS.search(rest)
    rest = _TARGETS.sub("", rest).strip()
    if table and (unknown := set(table[1].split(",")) - labels.keys()):
        raise ToolError(f"nvdisasm shows no label {min(unknown)}", text=rest)
    named = table[1].split(",") if table else _REFERENCE.findall(rest)
    targets = tuple(labels[name] for name in named if name in labels)

    def relative(match: re.Match[str]) -> str:
        name = match[1]
        # Compiler labels are numbered through the file; a function's name is worth reading.
        return f"{labels[name] - address:+#x}" if name.startswith(".L") and name in labels else name

    text = _REFERENCE.sub(relative, rest)
    return Instruction(
        address, predicate, opcode, tuple(part.strip() for part in text.split(",")) if text else (), targets, touched
    )


# ---- facts ----------------------------------------------------------------------------------------------------------


def count(code: Code, *opcodes: str) -> int:
    """How many instructions have one of these opcodes, or one of them with suffixes: `count(code, "LDL", "STL")`."""
    return sum(any(i.opcode == o or i.opcode.startswith(f"{o}.") for o in opcodes) for i in code.instructions)


def calls(code: Code) -> tuple[str, ...]:
    """What the kernel still calls, in order; an indirect call shows its register."""
    return tuple(", ".join(i.operands) for i in code.instructions if i.opcode.startswith("CALL"))


def barriers(code: Code) -> tuple[BarrierUse, ...]:
    """All named-barrier instructions, in order. (PTX ISA: barrier.cta sync, arrive and red become BAR.)"""
    found: list[BarrierUse] = []
    for i in code.instructions:
        if not i.opcode.startswith("BAR."):
            continue
        numbers = [operand for operand in i.operands if not re.match(r"!?U?P[\dT]", operand)]
        found.append(BarrierUse(i.address, i.opcode, _immediate(numbers[:1]), _immediate(numbers[1:2] or ["0x0"])))
    return tuple(found)


def _immediate(operand: Sequence[str]) -> int | None:
    return int(operand[0], 16) if operand and operand[0].startswith("0x") else None


def regions(code: Code) -> tuple[Region, ...]:
    """The entry, then each setmaxnreg in address order, with the registers that its code needs.

    The code must have been disassembled with `registers`. Regions follow the control flow; code that two groups share
    counts for both. Raises ValueError where a branch has unknown targets, since nothing could be promised then.
    """
    if not any(i.registers for i in code.instructions):
        raise ValueError("disassemble with registers=True to measure register groups")
    index_of = {i.address: n for n, i in enumerate(code.instructions)}
    successors = [_successors(code, index_of, n) for n in range(len(code.instructions))]
    found = [Region(0, "entry", None, _need(code, successors, 0))]
    for number, instruction in enumerate(code.instructions):
        if instruction.opcode.startswith("USETMAXREG"):
            kind = "dec" if ".DEALLOC" in instruction.opcode else "inc"
            budget = _immediate(instruction.operands[-1:])
            found.append(Region(instruction.address, kind, budget, _need(code, successors, number)))
    return tuple(found)


_LEAVE = ("EXIT", "RET", "BRA", "JMP", "BRX", "JMX", "BRXU")
_NEED_TARGETS = ("BRA", "JMP", "BRX", "JMX", "BRXU", "CALL", "BSSY")


def _successors(code: Code, index_of: Mapping[int, int], number: int) -> list[int]:
    instruction = code.instructions[number]
    base = instruction.opcode.split(".", 1)[0]
    targets = [index_of[target] for target in instruction.targets if target in index_of]
    if base == "RET":  # returns behind its CALL, which has that edge; its operand only names the kernel
        targets = []
    if base in _NEED_TARGETS and not targets:
        raise ValueError(f"unknown target of {instruction} at {instruction.address:#x} in {code.kernel}")
    leaves = base in _LEAVE and not _is_conditional(instruction)
    follows = [] if leaves or number + 1 == len(code.instructions) else [number + 1]
    return [*follows, *targets]


def _is_conditional(instruction: Instruction) -> bool:
    """Guarded by a predicate, or by a condition that is its first operand (`BRA.DIV UR4, ...`, `BRA.U UP0, ...`)."""
    return bool(instruction.predicate) or (instruction.opcode.startswith("BRA") and len(instruction.operands) > 1)


def _need(code: Code, successors: Sequence[Sequence[int]], start: int) -> int:
    need = 0
    seen: set[int] = set()
    todo = [start]
    while todo:
        number = todo.pop()
        if number in seen:
            continue
        seen.add(number)
        need = max(need, code.instructions[number].registers)
        if number == start or not code.instructions[number].opcode.startswith("USETMAXREG"):
            todo.extend(successors[number])
    return need


# ---- comparing ------------------------------------------------------------------------------------------------------


def normalised(cubin: bytes, kernel: str) -> list[str]:
    """The instructions of one kernel as text, free of addresses and label numbers. Raises ToolError, or KeyError where
    there is no such kernel."""
    return [str(instruction) for instruction in disassemble(cubin)[kernel].instructions]


def diff_instructions(a: Sequence[str], b: Sequence[str]) -> tuple[int, str]:
    """How many instructions differ between two normalised listings (a replaced one counts once), and the first
    difference as text; (0, "") where there is none."""
    total = 0
    first = ""
    for tag, a0, a1, b0, b1 in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        total += max(a1 - a0, b1 - b0)
        if not first:
            left = a[a0] if a0 < a1 else "nothing"
            right = b[b0] if b0 < b1 else "nothing"
            first = f"instruction {a0}: {left} | {right}"
    return total, first
