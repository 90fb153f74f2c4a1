"""lit: each file's RUN lines, with pl-opt of the Python that runs lit."""

import os
import sys
from pathlib import Path
from typing import Any

import lit.formats

config: Any = globals()["config"]  # which lit binds
here = Path(__file__).parent

config.name = "pipelink"
config.suffixes = [".mlir", ".toml", ".test"]
config.excludes = ["inputs"]
config.test_format = lit.formats.ShTest()
config.test_source_root = str(here)
config.test_exec_root = str(Path(os.environ.get("PIPELINK_LIT_OUTPUT", here / "Output")))
config.environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
config.substitutions.append(("%each", f"{sys.executable} {here / 'each.py'}"))
