"""The export of ChatGPT: conversations that are trees of messages, of which the branch in use is followed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mycel.engine.imports.json_stream import Cut, elements
from mycel.engine.imports.material import Entry
from mycel.engine.imports.records import Found, Left, Talk
from mycel.engine.imports.values import cut_in, filled, label, listed, mapping, moment, text

_ROLES = {"user", "assistant", "system", "tool"}


def recognises(value: object) -> bool:
    one = mapping(value)
    return isinstance(one.get("mapping"), Mapping) and ("current_node" in one or "create_time" in one)


def read(entry: Entry) -> Iterator[Found]:
    with entry.open() as file:
        try:
            for element in elements(file):
                where = f"{entry.name}, conversation {element.number}"
                if element.problem is not None or not recognises(element.value):
                    reason = element.problem or "has no tree of messages"
                    yield Left("conversation", where, reason, refused=True)
                else:
                    yield _conversation(mapping(element.value), where)
        except Cut:
            yield cut_in(entry.name)


def _conversation(one: Mapping[str, Any], where: str) -> Found:
    id = label(one.get("conversation_id") or one.get("id"))
    if id is None:
        return Left("conversation", where, "has no id", refused=True)
    messages = [said for node in _branch(one) if (said := _message(node)) is not None]
    if not messages:
        return Left("conversation", where, "holds no text")
    fields = filled(title=label(one.get("title")), observed_at=moment(one.get("create_time")))
    return Talk("conversation", id, messages, fields)


def _branch(one: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """From the current node back to the root; without one, the last leaf that has a message."""
    nodes = mapping(one.get("mapping"))
    at: object = one.get("current_node")
    if not isinstance(at, str) or at not in nodes:
        leaves = [id for id, node in nodes.items() if not listed(mapping(node).get("children"))]
        at = max(leaves, key=lambda id: _time(nodes[id]), default=None)
    found: list[Mapping[str, Any]] = []
    seen: set[str] = set()
    # A parent may dangle, or lead back.
    while isinstance(at, str) and at in nodes and at not in seen:
        seen.add(at)
        node = mapping(nodes[at])
        found.append(mapping(node.get("message")))
        at = node.get("parent")
    return found[::-1]


def _time(node: object) -> float:
    at = mapping(mapping(node).get("message")).get("create_time")
    # Not as a float: JSON has whole numbers that are too large for one.
    return at if isinstance(at, int | float) else 0.0


def _message(message: Mapping[str, Any]) -> dict[str, Any] | None:
    role = text(mapping(message.get("author")).get("role"))
    hidden = mapping(message.get("metadata")).get("is_visually_hidden_from_conversation") is True
    said = _said(mapping(message.get("content")))
    if role not in _ROLES or hidden or not said:
        return None
    return filled(role=role, content=said, timestamp=moment(message.get("create_time")))


def _said(content: Mapping[str, Any]) -> str:
    """The texts of a message; thoughts, images and what else is not said are left out."""
    if text(content.get("content_type")) in {"thoughts", "reasoning_recap", "model_editable_context"}:
        return ""
    parts = [text(part) or text(mapping(part).get("text")) for part in listed(content.get("parts"))]
    return "\n\n".join(filter(None, parts)) or text(content.get("text")) or text(content.get("result"))
