"""Plug-ins: passes, frontends and targets of other packages, found by the entry point group `pipelink.plugins`.

Each entry point names one class. Its kind is that of its base class, its name that of its `name`. A class that takes
the name of a built-in one says `replaces = True`; without it, two of one name are an error.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import TypeVar

from xdsl.passes import ModulePass
from xdsl.utils.frontend import Frontend
from xdsl.utils.target import Target

from pipelink.ir.diagnostics import fail

GROUP = "pipelink.plugins"
T = TypeVar("T")
Thunks = Mapping[str, Callable[[], type[T]]]


_REMOVE = "remove one of the distributions, or mend it"


@dataclass(frozen=True)
class Plugins:
    """What is installed, by name; `origin` says which distribution a plug-in of a name is from."""

    passes: dict[str, type[ModulePass]] = field(default_factory=dict[str, type[ModulePass]])
    frontends: dict[str, type[Frontend]] = field(default_factory=dict[str, type[Frontend]])
    targets: dict[str, type[Target]] = field(default_factory=dict[str, type[Target]])
    origin: dict[str, str] = field(default_factory=dict[str, str])

    def add(self, entry: EntryPoint) -> None:
        """Load one. Raises PipelinkError, L-PLUGIN."""
        who = f"plug-in '{entry.name}' of {_origin(entry)}"
        try:
            made: object = entry.load()
        except Exception as error:
            raise fail("L-PLUGIN", f"{who} does not load: {type(error).__name__}: {error}", hint=_REMOVE) from None
        if not isinstance(made, type) or not issubclass(made, ModulePass | Frontend | Target):
            raise fail("L-PLUGIN", f"{who} is no pass, frontend or target", hint="name a class that is one")
        if made.name in self.origin:
            message = f"{who} is named '{made.name}', as is one of {self.origin[made.name]}"
            raise fail("L-PLUGIN", message, hint=_REMOVE)
        self.origin[made.name] = _origin(entry)
        if issubclass(made, ModulePass):
            self.passes[made.name] = made
        elif issubclass(made, Frontend):
            self.frontends[made.name] = made
        else:
            self.targets[made.name] = made


def _origin(entry: EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else entry.value


@cache
def plugins() -> Plugins:
    """What is installed. Raises PipelinkError, L-PLUGIN."""
    found = Plugins()
    for entry in sorted(entry_points(group=GROUP), key=lambda e: (e.name, e.value)):
        found.add(entry)
    return found


def joined(ours: Thunks[T], theirs: Mapping[str, type[T]]) -> dict[str, Callable[[], type[T]]]:
    """The built-in thunks with plug-ins among them. Raises PipelinkError where one takes a name without saying so."""
    for name, made in theirs.items():
        if name in ours and getattr(made, "replaces", None) is not True:
            message = f"a plug-in of {plugins().origin[name]} is named as the built-in '{name}'"
            hint = "choose another name, or say `replaces = True` in the class"
            raise fail("L-PLUGIN", message, hint=hint)
    return {**ours, **{name: lambda made=made: made for name, made in theirs.items()}}
