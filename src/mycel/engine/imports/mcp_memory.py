"""The official MCP memory server: lines of entities, each with its observations, and of relations between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mycel.engine.imports.json_stream import Element, json_lines
from mycel.engine.imports.material import Entry
from mycel.engine.imports.records import Found, Left, Related, Remembered, relation_of
from mycel.engine.imports.values import cut_in, filled, in_parts, label, listed, mapping, text


def recognises(value: object) -> bool:
    one = mapping(value)
    if one.get("type") == "entity":
        return "entityType" in one and isinstance(one.get("observations"), list)
    return one.get("type") == "relation" and "relationType" in one


def read(entry: Entry) -> Iterator[Found]:
    with entry.open() as file:
        for element in json_lines(file):
            yield from _read(element)
            if element.is_cut:
                yield cut_in(entry.name)


def _read(element: Element) -> Iterator[Found]:
    where = f"line {element.number}"
    if element.problem is not None:
        yield Left("line", where, element.problem, refused=True)
        return
    one = mapping(element.value)
    name = text(one.get("name"))
    if one.get("type") == "entity" and name:
        yield from _entity(one, name)
    elif one.get("type") == "relation" and text(one.get("from")) and text(one.get("to")):
        relation = text(one.get("relationType"))
        yield Related("relation", text(one["from"]), text(one["to"]), relation_of(relation))
    else:
        yield Left("line", where, "is neither an entity nor a relation", refused=True)


def _entity(one: Mapping[str, Any], name: str) -> Iterator[Found]:
    """Each observation is a statement of its own, with its subject named; the entity is what they apply to."""
    sort = text(one.get("entityType"))
    about = filled(entity=name, entity_type=sort)
    said = f"{name} ({sort})" if sort else name
    fields = filled(type="context", title=label(name), category=label(sort), metadata=about)
    yield Remembered("entity", name, said, fields)
    for number, observation in enumerate(listed(one.get("observations"))):
        where = f"{name}, observation {number + 1}"
        if not text(observation):
            yield Left("observation", where, "is empty", refused=not isinstance(observation, str))
            continue
        # The text is the key, as in the server itself: the order changes when one is taken out.
        id = f"{name}\n{text(observation)}"
        content = f"{name}: {text(observation)}"
        yield from in_parts(Remembered("observation", id, content, filled(category=label(sort), metadata=about)))
        yield Related("subject", id, name, "applies_to")
