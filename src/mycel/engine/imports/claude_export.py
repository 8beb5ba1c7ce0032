"""The export of Claude: conversations, projects with their documents, and what it remembers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mycel.engine.imports.json_stream import Cut, Element, elements
from mycel.engine.imports.material import Entry
from mycel.engine.imports.records import Found, Left, Remembered, Talk
from mycel.engine.imports.values import cut_in, filled, in_parts, label, listed, mapping, moment, place, text

_ROLES = {"human": "user", "assistant": "assistant"}


def recognises(value: object) -> bool:
    return isinstance(mapping(value).get("chat_messages"), list)


def is_project(value: object) -> bool:
    one = mapping(value)
    return "uuid" in one and ("prompt_template" in one or isinstance(one.get("docs"), list))


def is_memories(value: object) -> bool:
    one = mapping(value)
    return "conversations_memory" in one or "project_memories" in one


def read(entry: Entry) -> Iterator[Found]:
    """Whatever of an export a file holds. A project may be a file of its own, and so is no list."""
    members: dict[str, Any] = {}
    with entry.open() as file:
        try:
            for element in elements(file):
                if element.name:
                    value = element.value
                    members.setdefault(element.name, []).append(value)
                else:
                    yield from _read(element, entry.name)
        except Cut:
            yield cut_in(entry.name)
    if members:
        whole = {name: _member(name, values) for name, values in members.items()}
        yield from _read(Element("", 1, whole), entry.name)


def _member(name: str, values: list[Any]) -> Any:
    return (
        values if name in {"docs", "chat_messages", "project_memories"} and isinstance(values[0], dict) else values[0]
    )


def _read(element: Element, name: str) -> Iterator[Found]:
    where = f"{name}, record {element.number}"
    if element.problem is not None:
        yield Left("record", where, element.problem, refused=True)
    elif recognises(element.value):
        yield _conversation(mapping(element.value), where)
    elif is_memories(element.value):
        yield from _memories(mapping(element.value))
    elif is_project(element.value):
        yield from _project(mapping(element.value))
    elif "email_address" in mapping(element.value):
        yield Left("account", where, "says who the account is, which is no memory")
    else:
        yield Left("record", where, "is neither a conversation nor a project", refused=True)


def _conversation(one: Mapping[str, Any], where: str) -> Found:
    id = label(one.get("uuid"))
    if id is None:
        return Left("conversation", where, "has no uuid", refused=True)
    messages = [said for message in listed(one["chat_messages"]) if (said := _message(mapping(message)))]
    if not messages:
        return Left("conversation", where, "holds no text")
    return Talk(
        "conversation", id, messages, filled(title=label(one.get("name")), observed_at=moment(one.get("created_at")))
    )


def _message(message: Mapping[str, Any]) -> dict[str, Any] | None:
    parts = [text(mapping(part).get("text")) for part in listed(message.get("content")) if _is_text(part)]
    said = "\n\n".join(filter(None, parts)) or text(message.get("text"))
    attached = [text(mapping(one).get("extracted_content")) for one in listed(message.get("attachments"))]
    whole = "\n\n".join(filter(None, [said, *attached]))
    role = _ROLES.get(text(message.get("sender")), "user")
    return filled(role=role, content=whole, timestamp=moment(message.get("created_at"))) if whole else None


def _is_text(part: object) -> bool:
    return mapping(part).get("type", "text") == "text"


def _project(one: Mapping[str, Any]) -> Iterator[Found]:
    id, name = label(one.get("uuid")) or "", place(one.get("name"))
    about = "\n\n".join(filter(None, (text(one.get("description")), text(one.get("prompt_template")))))
    fields = filled(project=name, observed_at=moment(one.get("created_at")))
    if about:
        yield from in_parts(Remembered("project", id, about, {**fields, **filled(type="context", title=name)}))
    else:
        yield Left("project", name or id, "says nothing about itself")
    for number, found in enumerate(listed(one.get("docs"))):
        doc = mapping(found)
        doc_id = label(doc.get("uuid")) or f"{id}/doc-{number + 1}"
        if not text(doc.get("content")):
            yield Left("document", doc_id, "is empty")
            continue
        said = {**fields, **filled(type="document", title=label(doc.get("filename")))}
        yield from in_parts(Remembered("document", doc_id, text(doc["content"]), said))


def _memories(one: Mapping[str, Any]) -> Iterator[Found]:
    said = text(one.get("conversations_memory"))
    if said:
        fields = {"type": "context", "title": "What Claude remembers of conversations"}
        yield from in_parts(Remembered("memory", "conversations_memory", said, fields))
    projects = one.get("project_memories")
    pairs = mapping(projects).items() if mapping(projects) else _named(projects)
    for id, memory in pairs:
        if text(memory):
            fields = {"type": "context", "title": "What Claude remembers of a project"}
            yield from in_parts(Remembered("memory", f"project_memories/{id}", text(memory), fields))


def _named(projects: object) -> list[tuple[str, object]]:
    found = [mapping(one) for one in listed(projects)]
    return [
        (str(one.get("project_uuid") or one.get("uuid") or at), one.get("memory") or one.get("content"))
        for at, one in enumerate(found)
    ]
