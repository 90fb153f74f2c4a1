"""What the runtime raises: each message says what was given, what is needed and what would fix it."""

import builtins
from collections.abc import Iterable
from difflib import get_close_matches


class Error(Exception):
    """The root of every error of the runtime."""


class ImageError(Error):
    """The file is no sound image, or one of a version that this runtime does not read."""


class ConsentError(Error):
    """The image holds native code that the caller has not agreed to run."""


class DeviceError(Error):
    """No driver, no device, or one that cannot run the image."""


class BufferError(Error, builtins.BufferError):
    """Memory that the caller lent is not what the kernel needs."""


class ArgumentError(Error):
    """An argument, a grid or a stream is not what the kernel needs."""


class ProviderError(Error):
    """A host provider refused, broke a rule of its interface, or could not be loaded."""


class LaunchError(Error):
    """A launch failed, or work on its stream did."""


class ClosedError(Error):
    """The session has been closed."""


def nearest(name: str, known: Iterable[str]) -> str:
    """A suggestion in parentheses for a name that is unknown."""
    names = sorted(known)
    if close := get_close_matches(name, names, 1, 0.6):
        return f" (did you mean {close[0]!r}?)"
    return f" (known: {', '.join(names)})" if names else " (the image takes none)"
