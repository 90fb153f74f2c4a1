"""Runs pl-opt on every chunk of a file that `// -----` splits, past those that it refuses, errors among the output.

Each chunk is padded with empty lines, so that places are those of the file; `=====` follows what it gave.
"""

import sys
from contextlib import redirect_stderr, suppress
from io import BytesIO, TextIOWrapper
from pathlib import Path

from pipelink.tools.pl_opt import main

SPLIT = "\n// -----\n"


def run(path: str, *options: str) -> None:
    before = ""
    for chunk in Path(path).read_text().split(SPLIT):
        sys.stdin = TextIOWrapper(BytesIO(("\n" * before.count("\n") + chunk).encode()))
        before += chunk + SPLIT
        with redirect_stderr(sys.stdout), suppress(SystemExit):
            main(["-", *options])
        print("=====")


run(*sys.argv[1:])
