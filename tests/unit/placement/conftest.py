"""Makes `bench`, with its generator of compositions, importable: it is no distribution but a folder of the project."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))
