"""The runtime of pipelink: device headers under `include/`, found by `headers()`."""

from pathlib import Path


def headers() -> Path:
    """The include folder of the device headers."""
    return Path(__file__).parent / "include"
