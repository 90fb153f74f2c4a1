"""The runtime of pipelink: opens and launches the images that `pl-link` writes, and carries the headers of components.

image = Image.load("gemm.plimg", native=True)
with image.open({"x": x, "w": w, "out": out}) as session:
    session.launch()
"""

from pathlib import Path

from pipelink_runtime.describe import Description
from pipelink_runtime.domains import Domain
from pipelink_runtime.errors import (
    ArgumentError,
    BufferError,
    ClosedError,
    ConsentError,
    DeviceError,
    Error,
    ImageError,
    LaunchError,
    ProviderError,
)
from pipelink_runtime.image import Image
from pipelink_runtime.session import Session

__all__ = [
    "ArgumentError",
    "BufferError",
    "ClosedError",
    "ConsentError",
    "Description",
    "DeviceError",
    "Domain",
    "Error",
    "Image",
    "ImageError",
    "LaunchError",
    "ProviderError",
    "Session",
    "headers",
]


def headers() -> Path:
    """The include folder of the device headers."""
    return Path(__file__).parent / "include"
