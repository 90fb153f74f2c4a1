"""The pipeline manifest: TOML that lists the packages of one composition. Made into `pl` IR, names paired.

[pipeline]
name = "gemm_swiglu_h200"
target = "sm_90a"
search = ["../../build/gemm_swiglu"]      # folders for packages, after the manifest's own

[packages]
load = "load.plpkg"                       # the key is the package's own name

[connect]                                 # where names differ: user = provider, or a list of them
"swiglu.tile_coord" = "load.tile_coord"

[facts]                                   # facts that the pipeline sets itself
group = 16

[placement]
roles = ["swiglu.epilogue", "load.tma"]   # these take the lowest warps, in order
"""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
from xdsl.dialects.builtin import ModuleOp

from pipelink.frontends import contract as c
from pipelink.frontends.package import Package, read
from pipelink.ir.builder import PipelineBuilder
from pipelink.ir.diagnostics import Diagnostics, PipelinkError, Place, fail
from pipelink.ir.suggest import nearest
from pipelink.ir.targets import TARGETS


class PipelineTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    target: str
    search: tuple[str, ...] = ()


class PlacementTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    roles: tuple[str, ...] = ()


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The tables of a manifest and the types of their keys."""

    pipeline: PipelineTable
    packages: dict[str, str]
    connect: dict[str, str | tuple[str, ...]] = {}
    facts: dict[str, int | float] = {}
    placement: PlacementTable = PlacementTable()


class Source:
    """The text of a manifest, for the places of its keys (`tomllib` keeps none)."""

    HEADER = re.compile(r"\s*\[\s*([^\[\]]+?)\s*\]")
    KEY = re.compile(r"""(\s*)(?:"([^"]*)"|'([^']*)'|([\w-]+))((?:\s*\.\s*[\w-]+)*)\s*=""")

    def __init__(self, text: str, name: str):
        self.name = name
        self.places: dict[tuple[str, ...], Place] = {}
        table: tuple[str, ...] = ()
        for number, line in enumerate(text.splitlines(), 1):
            if header := self.HEADER.match(line):
                table = tuple(part.strip().strip("\"'") for part in header[1].split("."))
                self.places.setdefault(table, Place(name, number, len(line) - len(line.lstrip()) + 1))
            elif key := self.KEY.match(line):
                path = (*table, key[2] or key[3] or key[4], *re.findall(r"[\w-]+", key[5]))
                self.places.setdefault(path, Place(name, number, len(key[1]) + 1))

    def at(self, *path: str) -> Place:
        """The place of a key, or of the nearest table that encloses it."""
        while path and path not in self.places:
            path = path[:-1]
        return self.places.get(path, Place(self.name, 1, 1))


def _schema_error(error: msgspec.ValidationError, source: Source) -> PipelinkError:
    """msgspec says `Object contains unknown field `x` - at `$.pipeline``."""
    text, _, where = str(error).partition(" - at ")
    path = tuple(re.findall(r"[\w-]+", where))
    known: tuple[str, ...] = ()
    if unknown := re.search(r"unknown field `(.*)`", text):
        path = (*path, unknown[1])
        struct = {(): Manifest, ("pipeline",): PipelineTable, ("placement",): PlacementTable}.get(path[:-1])
        known = struct.__struct_fields__ if struct else ()
        text = f"unknown key '{unknown[1]}'"
    elif missing := re.search(r"missing required field `(.*)`", text):
        text = f"missing key '{missing[1]}' in [{'.'.join(path) or 'the manifest'}]"
    name = ".".join(path)
    text = f"{name}: {text}" if text.startswith("Expected") else text
    return fail("L-MANIFEST", text.replace("`", "'"), source.at(*path), hint=nearest(path[-1] if path else "", known))


def parse(text: str, name: str) -> tuple[Manifest, Source]:
    """Validate a manifest. Raises PipelinkError with the line of what is wrong."""
    try:
        data = tomllib.loads(text)
    except RecursionError:
        raise fail("L-SYNTAX", "nested too deeply", Place(name)) from None
    except tomllib.TOMLDecodeError as error:
        message, _, where = str(error).partition(" (at ")
        line, column = ([int(n) for n in re.findall(r"\d+", where)] + [0, 0])[:2]
        raise fail(
            "L-SYNTAX",
            message.lower(),
            Place(name, line or text.count("\n") + 1, column or len(text) - text.rfind("\n")),
        ) from None
    source = Source(text, name)
    try:
        manifest = msgspec.convert(data, Manifest)
    except msgspec.ValidationError as error:
        raise _schema_error(error, source) from None
    return manifest, source


def find_package(path: str, folders: Iterable[Path]) -> Path | None:
    """The first of `folders` that holds `path`."""
    return next((found for folder in folders if (found := folder / path).is_file()), None)


def _read_packages(manifest: Manifest, source: Source, folders: Sequence[Path], errors: Diagnostics) -> list[Package]:
    packages: list[Package] = []
    for name, path in manifest.packages.items():
        place = source.at("packages", name)
        if (file := find_package(path, folders)) is None:
            looked = ", ".join(str(f) for f in folders)
            errors.error(
                "L-FILE", f"package '{path}' not found", place, hint=f"pack it, or add a folder; looked in {looked}"
            )
            continue
        try:
            package = read(file)
        except PipelinkError as error:
            errors.errors += error.diagnostics
            continue
        if package.contract.name != name:
            hint = f'write {package.contract.name} = "{path}"'
            errors.error(
                "L-NAME", f"package '{path}' is named '{package.contract.name}', not '{name}'", place, hint=hint
            )
            continue
        packages.append(package)
    return packages


LINKS = ("call", "tensor", "ring", "counter", "fact")


@dataclass(frozen=True)
class _User:
    """What a package uses of another: `providers` at most, 0 for any number."""

    link: str
    package: str
    name: str
    providers: int


class _Pairing:
    """Who provides what: pairs each user with the provider of its name, or with the one that [connect] says."""

    def __init__(self, contracts: Sequence[c.Contract], manifest: Manifest, source: Source, errors: Diagnostics):
        self.manifest, self.source, self.errors = manifest, source, errors
        self.chosen = dict(manifest.connect)
        self.users: list[_User] = []
        self.providers: dict[str, dict[str, list[str]]] = {link: {} for link in LINKS}
        for name in manifest.facts:
            self.providers["fact"].setdefault(name, []).append(name)
        for k in contracts:
            self._collect(k)

    def _collect(self, k: c.Contract) -> None:
        provided = {
            "call": [f.name for f in k.callables],
            "tensor": [e.name for e in k.exports],
            "ring": [r.name for r in k.rings if r.side == "producer"],
            "counter": [x.name for x in k.counters if x.side == "producer"],
            "fact": [f.name for f in k.facts],
        }
        for link, names in provided.items():
            for name in names:
                self.providers[link].setdefault(name, []).append(f"{k.name}.{name}")
        one: dict[str, list[str]] = {
            "call": [f.name for f in k.calls],
            "tensor": [i.name for i in k.imports],
            "fact": [u.name for u in k.fact_uses],
        }
        self.users += [_User(link, k.name, name, 1) for link, names in one.items() for name in names]
        self.users += [_User("ring", k.name, r.name, r.producers) for r in k.rings if r.side == "consumer"]
        self.users += [_User("counter", k.name, x.name, 0) for x in k.counters if x.side == "consumer"]

    def _explicit(self, link: str, user: str) -> list[str]:
        """What [connect] says of `user`, checked."""
        chosen = self.chosen.pop(user)
        offered = sorted(p for ps in self.providers[link].values() for p in ps)
        names = [chosen] if isinstance(chosen, str) else list(chosen)
        for provider in (n for n in names if n not in offered):
            place = self.source.at("connect", user)
            hint = nearest(provider, offered)
            self.errors.error("L-UNRESOLVED", f"'{provider}' provides no {link} for '{user}'", place, hint=hint)
        return [n for n in names if n in offered]

    def pairs(self) -> list[tuple[str, str, str, Place]]:
        """(link, provider, user, place) of every pair, in order of the users."""
        made: list[tuple[str, str, str, Place]] = []
        for user in self.users:
            name = f"{user.package}.{user.name}"
            explicit = name in self.chosen
            place = self.source.at("connect", name) if explicit else self.source.at("packages", user.package)
            providers = self._explicit(user.link, name) if explicit else self.providers[user.link].get(user.name, [])
            if user.providers and len(providers) > user.providers:
                number = "one" if user.providers == 1 else str(user.providers)
                hint = f'choose {number} under [connect]: "{name}" = "{providers[0]}"'
                message = f"{user.link} '{user.name}' is provided by {', '.join(providers)}"
                self.errors.error("L-DUPLICATE", message, place, hint=hint)
                continue
            made += [(user.link, provider, name, place) for provider in providers]
        for user in self.chosen:
            hint = nearest(user, [f"{u.package}.{u.name}" for u in self.users])
            self.errors.error(
                "L-MANIFEST", f"nothing named '{user}' to connect", self.source.at("connect", user), hint=hint
            )
        return made


def _check_header(manifest: Manifest, source: Source, errors: Diagnostics) -> None:
    if not c.IDENTIFIER.fullmatch(manifest.pipeline.name):
        errors.error("L-NAME", f"'{manifest.pipeline.name}' is no identifier", source.at("pipeline", "name"))
    target = manifest.pipeline.target
    if target not in TARGETS:
        hint = nearest(target.replace("lto_", "sm_").replace("compute_", "sm_"), TARGETS)
        errors.error("L-TARGET", f"unknown target '{target}'", source.at("pipeline", "target"), hint=hint)
    if not manifest.packages:
        errors.error("L-MANIFEST", "no packages", source.at("packages"), hint="list them under [packages]")


def to_module(
    text: str,
    name: str,
    folder: Path,
    search: Sequence[Path] = (),
    toolkit: str = "",
    instead: Mapping[str, str] | None = None,
) -> ModuleOp:
    """The IR of a manifest. Packages are looked for in `folder` (the manifest's own), its `search`, then `search`.

    `toolkit` is the linker's, by default the newest of the packages'; files of `instead` take the place of packages of
    these names. Raises PipelinkError with all errors: of syntax, of the schema, of packages, of pairing.
    """
    manifest, source = parse(text, name)
    manifest = msgspec.structs.replace(manifest, packages={**manifest.packages, **(instead or {})})
    errors = Diagnostics()
    _check_header(manifest, source, errors)
    folders = [folder, *(folder / s for s in manifest.pipeline.search), *search]
    packages = _read_packages(manifest, source, folders, errors)
    errors.check()
    roles = [f"{p.contract.name}.{r.name}" for p in packages for r in p.contract.roles]
    for role in manifest.placement.roles:
        if role not in roles:
            hint = nearest(role, roles)
            errors.error("L-MANIFEST", f"no role '{role}'", source.at("placement", "roles"), hint=hint)
    builder = PipelineBuilder(
        manifest.pipeline.name,
        manifest.pipeline.target,
        toolkit or max((p.contract.toolkit for p in packages), key=lambda v: [int(n) for n in v.split(".")]),
        source.at("pipeline"),
        manifest.placement.roles,
    )
    for package in packages:
        builder.package(package.contract, package.digest, manifest.packages[package.contract.name])
    pairs = _Pairing([p.contract for p in packages], manifest, source, errors).pairs()
    uses = {f"{p.contract.name}.{u.name}": u for p in packages for u in p.contract.fact_uses}
    for fact, value in manifest.facts.items():
        users = [uses[user] for link, provider, user, _ in pairs if (link, provider) == ("fact", fact)]
        _set_fact(builder, fact, value, users, source, errors)
    for pair in pairs:
        builder.connect(*pair)
    errors.check()
    return builder.module()


def _set_fact(
    builder: PipelineBuilder,
    name: str,
    value: int | float,
    users: Sequence[c.FactUse],
    source: Source,
    errors: Diagnostics,
) -> None:
    """A fact that the manifest sets is of the type that its users give it."""
    at = source.at("facts", name)
    if not c.IDENTIFIER.fullmatch(name):
        errors.error("L-NAME", f"'{name}' is no identifier", at)
    elif not users:
        errors.error(
            "L-MANIFEST", f"no package uses the fact '{name}'", at, hint="remove it, or connect its user to it"
        )
    else:
        builder.fact(name, users[0].type, float(value) if users[0].type == "f32" else value, at)
