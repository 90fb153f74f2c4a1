"""What the linker decided about an image, as data and as a table of plain text."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pipelink_runtime.record import PROSE, Node, Record

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
        record, root = self.record, Node(self.record.raw, "record")
        code = root["code"]
        source = "record" if self.blocks is None else "device"
        return {
            "pipeline": record.pipeline,
            "kernel": record.kernel,
            "target": record.target,
            "toolkit": record.toolkit,
            "threads": record.threads,
            "cluster": list(record.cluster),
            "shared_bytes": record.dynamic_shared,
            "parameter_bytes": record.block,
            "registers": code["registers"].number(),
            "stack_bytes": code["stack"].number(),
            "spill_bytes": code["spill_stores"].number() + code["spill_loads"].number(),
            "occupancy": {"blocks": derived_blocks(record) if self.blocks is None else self.blocks, "source": source},
            "roles": list(root["roles"].each(lambda role: _role(role, root))),
            "routes": [route for route in root["connections"].each(_route) if route],
            "facts": list(root["facts"].each(lambda fact: _texts(fact, "name", "type", "value"))),
            "packages": list(root["packages"].each(lambda package: _package(package, record))),
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
    root = Node(record.raw, "record")
    registers = root["code"]["registers"].number(1)
    allocated = -(-registers // _REGISTER_UNIT) * _REGISTER_UNIT * record.threads
    shared = root["capacities"]["smem"].number() + _RESERVED_SHARED
    by_registers = root["capacities"]["registers"].number() // allocated
    return min(by_registers, shared // (record.dynamic_shared + _RESERVED_SHARED))


def _texts(node: Node, *keys: str) -> dict[str, Any]:
    return {key: node[key].text() for key in keys}


def _role(role: Node, root: Node) -> dict[str, Any]:
    name, first, count = role["name"].text(), role["first_warp"].number(), role["warps"].number(1)
    budgets = root["groups"].each(lambda group: _budget(group, name))
    return {
        "name": name,
        "warps": [first, first + count],
        "threads": 32 * count,
        "registers": max(budgets, default=0) or root["code"]["registers"].number(),
    }


def _budget(group: Node, role: str) -> int:
    """The register budget that `group` gives `role`, or 0."""
    if role not in group["roles"].each(lambda node: node.text()) or group["budget"].value is None:
        return 0
    return group["budget"].number(1)


def _route(connection: Node) -> dict[str, Any]:
    """Of a tensor, else nothing."""
    if connection["link"].text() != "tensor":
        return {}
    reasons = list(connection["reasons"].each(lambda node: node.text(PROSE)))
    return {**_texts(connection, "provider", "user", "route"), "reasons": reasons}


def _package(package: Node, record: Record) -> dict[str, Any]:
    about = _texts(package, "name", "version", "digest")
    return {**about, "native": any(p.package == about["name"] for p in record.providers)}


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
