"""What pl-opt knows, for people: `--list-passes` and `--show-dialects`."""

from collections.abc import Iterator

from xdsl.passes import get_pass_option_infos

from pipelink.passes.pipeline import registry
from pipelink.plugins import plugins
from pipelink.tools.session import dialects


def list_passes() -> Iterator[str]:
    """Each pass: what it does, its options, the properties that it needs and makes, and where it is from."""
    for name, get in registry().items():
        step = get()
        yield name
        yield f"  {(step.__doc__ or '').strip().partition(chr(10))[0]}"
        for option in get_pass_option_infos(step):
            yield f"  option    {option.name.replace('_', '-')}: {option.expected_type} = {option.default_value}"
        for label in ("requires", "produces"):
            if listed := getattr(step, label, ()):
                yield f"  {label}  {', '.join(listed)}"
        if name in plugins().passes:
            yield f"  from      {plugins().origin[name]}"


def show_dialects() -> Iterator[str]:
    yield f"Available Dialects: {', '.join(sorted(dialects()))}"
