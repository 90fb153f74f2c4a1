"""`python -m pipelink_runtime describe|unpack IMAGE`: look into an image, or write its members as files."""

import argparse
import json
import sys
from pathlib import Path

from pipelink_runtime.errors import Error
from pipelink_runtime.image import Image


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m pipelink_runtime", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    describe = commands.add_parser("describe", help="print what the linker decided")
    describe.add_argument("image", type=Path)
    describe.add_argument("--json", action="store_true", help="print data instead of a table")
    unpack = commands.add_parser("unpack", help="write record.json, the cubin and the providers to a folder")
    unpack.add_argument("image", type=Path)
    unpack.add_argument("folder", type=Path)
    return parser


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        image = Image.load(options.image)
        if options.command == "unpack":
            image.unpack(options.folder)
        else:
            about = image.describe()
            print(json.dumps(about.json(), indent=1) if options.json else about)
    except (Error, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
