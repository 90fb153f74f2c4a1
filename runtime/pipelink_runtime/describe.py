"""What the linker decided about an image, as data and as a table of plain text."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pipelink_runtime.errors import ImageError
from pipelink_runtime.record import Record

_RESERVED_SHARED = 1024  # of each block, by the driver, from sm_90 on (CUDA C++ Programming Guide, shared memory)
_REGISTER_UNIT = 8  # registers a thread are allocated in


@dataclass(frozen=True)
class Description:
    """`blocks` is how many blocks a multiprocessor holds as the driver says, or None where no device was asked."""

    record: Record
    blocks: int | None = None

    def json(self) -> dict[str, Any]:
        """The description as data: roles, registers, shared memory, routes, facts, packages, buffers and arguments.

        Raises ImageError where the record lacks any of them.
        """
        try:
            return self._json()
        except (KeyError, TypeError, IndexError):
            raise ImageError("record.json lacks what a description shows: link the image again") from None

    def _json(self) -> dict[str, Any]:
        record, raw = self.record, self.record.raw
        blocks = derived_blocks(record) if self.blocks is None else self.blocks
        return {
            "pipeline": record.pipeline,
            "kernel": record.kernel,
            "target": record.target,
            "toolkit": record.toolkit,
            "threads": record.threads,
            "cluster": list(record.cluster),
            "shared_bytes": record.dynamic_shared,
            "parameter_bytes": record.block,
            "registers": raw["code"]["registers"],
            "stack_bytes": raw["code"]["stack"],
            "spill_bytes": raw["code"]["spill_stores"] + raw["code"]["spill_loads"],
            "occupancy": {"blocks": blocks, "source": "record" if self.blocks is None else "device"},
            "roles": [_role(role, raw) for role in raw["roles"]],
            "routes": [_route(c) for c in raw["connections"] if c["link"] == "tensor"],
            "facts": [dict(fact) for fact in raw["facts"]],
            "packages": [
                {**{key: p[key] for key in ("name", "version", "digest")}, "native": _is_native(record, p["name"])}
                for p in raw["packages"]
            ],
            "buffers": [_buffer(record, name) for name in dict.fromkeys(b.name for b in record.buffers)],
            "arguments": [{"name": n, "type": t} for n, t in {a.name: a.type for a in record.arguments}.items()],
        }

    def __str__(self) -> str:
        about = self.json()
        occupancy = about["occupancy"]
        source = "of this device" if occupancy["source"] == "device" else "at most, by registers and shared memory"
        head = [
            ("pipeline", about["pipeline"]),
            ("kernel", about["kernel"]),
            ("target", f"{about['target']}, CUDA {about['toolkit']}"),
            ("threads", f"{about['threads']} in clusters of {'x'.join(map(str, about['cluster']))}"),
            ("registers", f"{about['registers']} a thread, {about['spill_bytes']} bytes spilled"),
            ("shared memory", f"{about['shared_bytes']} bytes"),
            ("parameters", f"{about['parameter_bytes']} bytes"),
            ("occupancy", f"{occupancy['blocks']} a multiprocessor ({source})"),
        ]
        sections = [
            _table((), [(f"{key}:", value) for key, value in head]),
            _section(about["roles"], "role", "name", "warps", "threads", "registers"),
            _section(about["routes"], "route", "provider", "user", "route"),
            _section(about["facts"], "fact", "name", "type", "value"),
            _section(about["buffers"], "buffer", "name", "dtype", "rank", "access", "align"),
            _section(about["arguments"], "argument", "name", "type"),
            _section(about["packages"], "package", "name", "version", "native", "digest"),
        ]
        return "\n\n".join(section for section in sections if section)


def derived_blocks(record: Record) -> int:
    """Blocks that one multiprocessor holds as far as registers and shared memory limit them."""
    raw = record.raw
    each = -(-raw["code"]["registers"] // _REGISTER_UNIT) * _REGISTER_UNIT * record.threads
    by_registers = raw["capacities"]["registers"] // max(each, 1)
    total = raw["capacities"]["smem"] + _RESERVED_SHARED
    return min(by_registers, total // (record.dynamic_shared + _RESERVED_SHARED))


def _role(role: dict[str, Any], raw: Any) -> dict[str, Any]:
    first, count = role["first_warp"], role["warps"]
    budgets = [g["budget"] for g in raw["groups"] if role["name"] in g["roles"]]
    return {
        "name": role["name"],
        "warps": [first, first + count],
        "threads": 32 * count,
        "registers": budgets[0] if budgets and budgets[0] is not None else raw["code"]["registers"],
    }


def _route(connection: dict[str, Any]) -> dict[str, Any]:
    return {key: connection.get(key) for key in ("provider", "user", "route", "reasons")}


def _is_native(record: Record, package: str) -> bool:
    return any(p.package == package for p in record.providers)


def _buffer(record: Record, name: str) -> dict[str, Any]:
    """The strictest of what the packages need of one buffer."""
    needs = [b for b in record.buffers if b.name == name]
    kinds = {need.access for need in needs}
    access = kinds.pop() if len(kinds) == 1 else "update"
    align = max(need.align for need in needs)
    return {"name": name, "dtype": needs[0].dtype, "rank": needs[0].rank, "access": access, "align": align}


def _section(entries: Sequence[dict[str, Any]], title: str, *keys: str) -> str:
    header = (title, *keys[1:])
    return _table(header, [tuple(_text(entry[key]) for key in keys) for entry in entries]) if entries else ""


def _text(value: Any) -> str:
    if isinstance(value, list):
        return f"{value[0]}..{value[1] - 1}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _table(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [header, *rows] if header else list(rows)
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join("  ".join(f"{c:<{w}}" for c, w in zip(line, widths, strict=True)).rstrip() for line in lines)
