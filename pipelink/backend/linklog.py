"""Read nvJitLink's verbose information log: what ptxas says of each function, and its coded warnings."""

import re
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class FunctionUse:
    """Resources of one function by ptxas: bytes of stack and of spill traffic; registers, barriers and shared bytes are
    stated for kernels only."""

    name: str
    stack: int
    spill_stores: int
    spill_loads: int
    registers: int | None = None
    barriers: int | None = None
    shared: int | None = None


@dataclass(frozen=True)
class Message:
    """A coded remark of ptxas, such as C7508 (setmaxnreg ignored) or C7510 (wgmma serialised)."""

    code: str
    text: str


@dataclass(frozen=True)
class LinkLog:
    functions: tuple[FunctionUse, ...]
    messages: tuple[Message, ...]

    def function(self, name: str) -> FunctionUse:
        """Raises KeyError where the log does not speak of the function."""
        for use in self.functions:
            if use.name == name:
                return use
        raise KeyError(name)


_MESSAGE = re.compile(r"\((C\d{4})\) *(.*?)\s*$")
_FUNCTION = re.compile(r"Function properties for '?([^\s':]+)")
_STACK = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_USED = re.compile(r"Used (\d+) registers(?:, used (\d+) barriers)?")
_SHARED = re.compile(r"(\d+) bytes smem")


def parse(log: str) -> LinkLog:
    """Read the log of a link that ran with -verbose."""
    functions: list[FunctionUse] = []
    messages: list[Message] = []
    name = ""
    for line in log.splitlines():
        if match := _MESSAGE.search(line):
            messages.append(Message(match[1], match[2]))
        elif match := _FUNCTION.search(line):
            name = match[1]
        elif match := _STACK.search(line):
            functions.append(FunctionUse(name, *(int(n) for n in match.groups())))
        elif (match := _USED.search(line)) and functions:
            shared = _SHARED.search(line)
            functions[-1] = replace(
                functions[-1],
                registers=int(match[1]),
                barriers=int(match[2] or 0),
                shared=int(shared[1]) if shared else 0,
            )
    return LinkLog(tuple(functions), tuple(dict.fromkeys(messages)))
