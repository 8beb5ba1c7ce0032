"""Letta's agent files: the blocks of an agent's memory. Tools, their secrets and the run of messages stay behind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mycel.engine.imports.json_stream import Cut, elements
from mycel.engine.imports.material import Entry
from mycel.engine.imports.records import Found, Left, Remembered
from mycel.engine.imports.values import cut_in, filled, in_parts, label, listed, mapping, moment, text

_LEFT = {
    "tools": "the code of tools is no memory",
    "mcp_servers": "servers of tools are no memory",
    "files": "the text of files is not in it",
    "sources": "sources are named without their text",
    "groups": "groups of agents are no memory",
    "messages": "messages of the agent's own run are no memory",
    "tool_exec_environment_variables": "variables of tools may hold secrets",
    "tool_rules": "rules about tools are no memory",
}


def recognises(head: bytes) -> bool:
    return (b'"agents"' in head and b'"blocks"' in head) or b'"core_memory"' in head


def read(entry: Entry) -> Iterator[Found]:
    read: set[str] = set()
    with entry.open() as file:
        try:
            for element in elements(file):
                where = f"{element.name} {element.number}"
                if element.problem is not None:
                    yield Left(element.name or "member", where, element.problem, refused=True)
                elif element.name in {"blocks", "core_memory"}:
                    yield from _block(mapping(element.value), where, read)
                elif element.name == "agents":
                    yield from _agent(mapping(element.value), where, read)
                elif element.name in _LEFT and isinstance(element.value, Mapping):
                    yield Left(element.name, where, _LEFT[element.name])
        except Cut:
            yield cut_in(entry.name)


def _agent(agent: Mapping[str, Any], where: str, read: set[str]) -> Iterator[Found]:
    name = label(agent.get("name")) or where
    system = text(agent.get("system"))
    yield Left("agent", name, "the prompt of an agent is no memory" if system else "only its blocks are memory")
    for block in listed(agent.get("core_memory")):
        yield from _block(mapping(block), where, read)


def _block(block: Mapping[str, Any], where: str, read: set[str]) -> Iterator[Found]:
    name = label(block.get("label")) or "block"
    id = label(block.get("id")) or name
    if id in read:
        yield Left("block", id, "stands in the file twice")
        return
    read.add(id)
    said = text(block.get("value"))
    if not said:
        yield Left("block", name, "is empty")
        return
    own = filled(
        label=name,
        limit=block.get("limit"),
        read_only=block.get("read_only"),
        description=text(block.get("description")),
        metadata=dict(mapping(block.get("metadata"))),
    )
    fields = filled(
        type="context", title=name, category=name, observed_at=moment(block.get("created_at")), metadata=own
    )
    yield from in_parts(Remembered("block", id, said, fields))
