"""A frontend of its own: makes a package of generated code and of what its compiler knows about it."""

import sys
from pathlib import Path

from pipelink.backend.toolchain import toolkit
from pipelink.frontends import package
from pipelink.frontends.contract import Claim, Contract, FpMode, Location, Role, Signature
from pipelink.frontends.cuda import capture
from pipelink.frontends.cuda.compile import Build, lto_object
from pipelink.frontends.cuda.sources import Sources
from pipelink.ir.diagnostics import Place

TARGET = "sm_90a"


def declared(at: Location) -> Contract:
    """What the compiler states: one warp that fills 64 bytes of shared memory."""
    role = Role("work", "filler_role", Signature("void", ()), warps=1, at=at)
    claim = Claim("kept", "smem", 64, at, align=16)
    header = ("filler", "1.0.0", TARGET, toolkit().version, (0, 0), FpMode(), (), (), at)
    return Contract(*header, roles=(role,), claims=(claim,))


def write(source: Path, output: Path) -> None:
    """Compile to LTO IR, read from the object what it shows of itself, write the package."""
    data = lto_object(Sources(source.parent, source.name, {}, ()), Build(TARGET, (), ()))
    facts = capture.read(data, TARGET, Place(source.name))
    contract = capture.complete(declared(Location(source.name, 4, 1)), facts, TARGET)
    package.write(output, contract, {package.OBJECT: data})


if __name__ == "__main__":
    write(Path(sys.argv[1]), Path(sys.argv[2]))
