"""One annotation's chain read entry by entry: every mistake in it is collected at the annotation's place."""

from collections.abc import Sequence
from typing import Any, cast

from pipelink.frontends.contract import IDENTIFIER, SYMBOL, Count, Lifetime, Location, Signature
from pipelink.frontends.cuda.notes import Note
from pipelink.frontends.cuda.signature import SignatureError, parse
from pipelink.ir.diagnostics import Diagnostics
from pipelink.ir.diagnostics import Note as Remark

# The entries of each kind's chain: required, optional.
_KEYS = {
    "stage": ("version", ""),
    "params": ("layout field", ""),
    "role": ("warps entry", "align registers need"),
    "callable": ("symbol", ""),
    "site": ("role threads", "first guarantees"),
    "call": ("symbol", "site"),
    "ring": ("side on depth full empty", "bytes drains scope proxy priority producers"),
    "ring_init": ("symbol", ""),
    "ring_buffer": ("ring bytes", "tile dtype swizzle align phase between"),
    "smem": ("bytes", "tile dtype swizzle align phase between proxy"),
    "mbarrier": ("slots", ""),
    "barrier": ("ids", "phase between"),
    "tmem": ("columns", "align phase between"),
    "counter": ("words restart", "scope"),
    "counter_end": ("side on words", "scope restart arrivals"),
    "stream": ("roles phases", "exclusive fenced"),
    "topology": ("", "cluster occupancy"),
    "warp": ("of", ""),
    "export": ("dtype extent symbol", "frame threads align requires completion"),
    "import": ("dtype extent symbol produce chunk site frame", "scratch barrier completion"),
    "fact": ("value", ""),
    "use_fact": ("field", "required"),
    "buffer": ("dtype rank access", "align"),
    "argument": ("type", ""),
    "domain": ("", "ranks rank_field ranks_field"),
    "view": ("domain kind field", "allocation"),
    "provider": ("file", ""),
}
_REPEATED = {("params", "field"), ("stream", "exclusive"), ("topology", "cluster")}
# Where the chain's method has another name than its entry.
_METHODS = {
    "dtype": "of",
    "required": "requires_",
    "requires": "requires_",
    "access": "read, .write or .update",
}

BITS = {
    **{f"{sign}{bits}": bits for sign in "iu" for bits in (8, 16, 32, 64)},
    **{"f64": 64, "f32": 32, "tf32": 32, "f16": 16, "bf16": 16, "e4m3": 8, "e5m2": 8, "e8m0": 8, "e2m1": 4},
}
GUARANTEES = ("entered once", "converged", "full warps", "no early return")


class Reader:
    """One note's entries by key; what is missing, stated twice or out of range goes to `errors`."""

    def __init__(self, note: Note, errors: Diagnostics, params: str = ""):
        self.note = note
        self.errors = errors
        self.params = params
        self.values: dict[str, tuple[str, ...]] = {}
        required, optional = (set(keys.split()) for keys in _KEYS[note.kind])
        for key, values in note.entries:
            if key in self.values and (note.kind, key) not in _REPEATED:
                self.error(f".{_METHODS.get(key, key)} is stated twice")
            if key not in required | optional:
                self.error(f".{_METHODS.get(key, key)} has no meaning here")
            self.values.setdefault(key, values)
        self.missing = sorted(required - set(self.values))
        for key in self.missing:
            self.error(f".{_METHODS.get(key, key)} is missing")
        if note.kind not in ("params", "provider") and not IDENTIFIER.fullmatch(note.name):
            self.error(
                f"`{note.name}` is no identifier of a contract",
                "L-NAME",
                hint="letters and digits in words joined by single underscores",
            )

    @property
    def at(self) -> Location:
        place = self.note.place
        return Location(place.file, place.line, place.column)

    def error(self, message: str, clause: str = "L-ANNOTATION", hint: str = "", *remarks: Remark) -> None:
        self.errors.error(clause, f"{self.note.title}: {message}", self.note.place, *remarks, hint=hint)

    def has(self, key: str) -> bool:
        return key in self.values

    def every(self, key: str) -> list[tuple[str, ...]]:
        """The values of each statement of an entry that may be stated several times."""
        return [values for name, values in self.note.entries if name == key]

    def text(self, key: str, default: str = "", among: Sequence[str] = ()) -> str:
        value = self.values.get(key, (default,))[0]
        if among and value not in among:
            self.error(f"`{value}` is none of {', '.join(among)}")
        return value

    def numbers(self, key: str, default: tuple[int, ...] = ()) -> tuple[int, ...]:
        try:
            return tuple(int(value) for value in self.values[key]) if key in self.values else default
        except ValueError:
            self.error(f".{key} takes integers")
            return default

    def number(self, key: str, default: int, least: int, most: int) -> int:
        value = self.numbers(key, (default,))[0]
        if not least <= value <= most:
            self.error(f".{key}({value}) is outside {least}..{most}")
        return value

    def power(self, key: str, default: int = 1) -> int:
        """A power of two."""
        value = self.number(key, default, 1, 1 << 20)
        if value & (value - 1):
            self.error(f".{key}({value}) is no power of two")
        return value

    def dtype(self) -> str:
        value = self.text("dtype")
        if value not in BITS:
            self.error(f"no element type `{value}`", hint=f"one of {', '.join(sorted(BITS))}")
        return value

    def among(self, key: str, known: Sequence[str]) -> tuple[str, ...]:
        values = self.values.get(key, ())
        for value in sorted(set(values) - set(known)):
            self.error(f"no guarantee `{value}`", hint=f"one of {', '.join(known)}")
        return values

    def count(self, key: str) -> Count:
        per, times = self.values[key]
        if int(times) < 1:
            self.error(f".{key} counts {times} arrivals")
        return Count(cast(Any, per), int(times))

    def function(self, key: str) -> tuple[str, Signature]:
        """Symbol and signature of the annotated function."""
        symbol, pretty = self.values[key]
        if not SYMBOL.fullmatch(symbol):
            self.error(f'`{symbol}` is no name of an extern "C" function', "L-NAME")
        try:
            return symbol, parse(pretty, self.params)
        except SignatureError as error:
            self.error(f"{symbol}: {error}", "L-SIGNATURE", hint=self._type_hint(pretty))
            return symbol, Signature("void", ())

    def _type_hint(self, pretty: str) -> str:
        if self.params or "_args" not in pretty:
            return "pass builtin scalars, or pointers to them; PL_PARAMS names the package's own struct"
        return "declare the struct of the package's parameters with PL_PARAMS"

    def lifetime(self) -> Lifetime:
        if self.has("phase") and self.has("between"):
            self.error(".phase and .between contradict each other")
        if self.has("phase"):
            return Lifetime("phase", phase=self.text("phase"))
        if not self.has("between"):
            return Lifetime()
        start, end = self.values["between"]
        self._check_events(start, end)
        return Lifetime("between", start=start, end=end)

    def _check_events(self, start: str, end: str) -> None:
        for event in (start, end):
            tensor, dot, name = event.partition(".")
            known = IDENTIFIER.fullmatch(tensor) and name in ("ready", "done") if dot else event in ("begin", "end")
            if not known:
                self.error(f"no event `{event}`", hint="begin, end, TENSOR.ready or TENSOR.done")
        if start == "end" or end == "begin" or start == end:
            self.error(f"nothing lies between {start} and {end}")
