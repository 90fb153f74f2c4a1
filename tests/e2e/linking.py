"""pl-link in this process and what it wrote."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from samples import Result, command

from pipelink.backend import image

TINY = """\
[pipeline]
name = "tiny"
target = "sm_90a"

[packages]
caller = "caller.plpkg"
callee = "callee.plpkg"
"""

COUNTED = """\
[pipeline]
name = "counted"
target = "sm_90a"

[packages]
raises = "{}.plpkg"
waits = "waits.plpkg"
"""


def pl_link(*arguments: object) -> Result:
    from pipelink.tools.pl_link import main

    return command(main, *arguments)


@dataclass(frozen=True)
class Image:
    """An image: its bytes and its record."""

    data: bytes
    record: dict[str, Any]

    @staticmethod
    def read(path: Path) -> "Image":
        return Image(path.read_bytes(), json.loads(image.read(path)[image.RECORD]))

    def by_name(self, table: str) -> dict[str, Any]:
        return {entry["name"]: entry for entry in self.record[table]}
