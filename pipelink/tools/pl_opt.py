"""`pl-opt`: run passes over a manifest or `.mlir`, and print the IR or a target's text."""

import argparse
import sys
from collections.abc import Sequence

from xdsl.xdsl_opt_main import xDSLOptMain

from pipelink.frontends.xdsl import LocatedFrontend
from pipelink.ir.diagnostics import fail
from pipelink.passes import LINK, get_all_passes
from pipelink.passes.pipeline import LinkPipeline
from pipelink.tools.common import run
from pipelink.universe import get_all_dialects, get_all_frontends, get_all_targets


class PlOptMain(xDSLOptMain):
    """xDSL's driver with our dialect, passes, targets and frontends alone."""

    version_format = "pl-opt 0.1.0 (xdsl {xdsl_version})"

    def register_all_dialects(self) -> None:
        from xdsl.dialects.builtin import Builtin

        self.ctx.register_dialect("builtin", lambda: Builtin)
        for name, get in get_all_dialects().items():
            self.ctx.register_dialect(name, get)

    def register_all_frontends(self) -> None:
        self.available_frontends = {**get_all_frontends(), "mlir": lambda: LocatedFrontend}

    def register_all_passes(self) -> None:
        for name, get in get_all_passes().items():
            self.register_pass(name, get)

    def register_all_targets(self) -> None:
        from xdsl.targets.mlir import MLIRTarget

        self.available_targets = {**get_all_targets(), "mlir": lambda: MLIRTarget}

    def register_all_arguments(self, arg_parser: argparse.ArgumentParser) -> None:
        super().register_all_arguments(arg_parser)
        arg_parser.add_argument("--debug", action="store_true", help="show tracebacks")
        arg_parser.add_argument(
            "--link-passes", action="store_true", help=f"run the passes of a link: {','.join(LINK)}"
        )

    def setup_pipeline(self) -> None:
        """`-p` names passes; unknown ones are refused with the known names."""
        from xdsl.utils.arg_spec import parse_pipeline

        specs = list(parse_pipeline(",".join(LINK) if self.args.link_passes else self.args.passes))
        for spec in specs:
            if spec.name not in self.available_passes:
                known = ", ".join(self.available_passes)
                raise fail("L-USAGE", f"unknown pass '{spec.name}'", hint=f"passes: {known}")
        steps = tuple(self.available_passes[spec.name]().from_spec(spec) for spec in specs)
        self.pipeline = LinkPipeline(steps, verify_each=not self.args.disable_verify)

    def get_input_name(self) -> str:
        return self.args.input_file or "<stdin>"

    def prepare_input(self):
        name: str | None = self.args.input_file
        if name == "-":
            self.args.input_file = None
        extension = (name or "").rpartition(".")[2]
        if name not in (None, "-") and not self.args.frontend and extension not in self.available_frontends:
            known = ", ".join("." + f for f in self.available_frontends)
            raise fail(
                "L-USAGE", f"'{name}': no frontend reads this extension", hint=f"known: {known}, or name one with -f"
            )
        return super().prepare_input()


def main(args: Sequence[str] | None = None) -> None:
    arguments = list(sys.argv[1:] if args is None else args)

    def body() -> int:
        PlOptMain("Run pipelink passes over a manifest (.toml) or IR (.mlir).", arguments).run()
        return 0

    sys.exit(run("pl-opt", body, "--debug" in arguments))


if __name__ == "__main__":
    main()
