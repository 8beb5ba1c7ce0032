"""Graphiti: episodes as they were told, and facts with the time in which they hold in the world."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mycel.engine.imports.json_stream import Element
from mycel.engine.imports.records import Found, Left, Remembered, Talk
from mycel.engine.imports.values import filled, in_parts, label, listed, mapping, moment, text


def recognises(value: object) -> bool:
    return _is_fact(mapping(value)) or _is_episode(mapping(value))


def _is_fact(one: Mapping[str, Any]) -> bool:
    return isinstance(one.get("fact"), str) and ("valid_at" in one or "invalid_at" in one or "episodes" in one)


def _is_episode(one: Mapping[str, Any]) -> bool:
    return isinstance(one.get("content"), str) and "source_description" in one and "uuid" in one


def read_element(element: Element, where: str) -> Iterator[Found]:
    one = mapping(element.value)
    kind = "fact" if _is_fact(one) else "episode" if _is_episode(one) else "record"
    id = label(one.get("uuid"))
    if element.problem is not None or kind == "record" or id is None:
        is_node = element.problem is None and element.name in {"nodes", "entities", "communities"}
        reason = element.problem or (
            "a node only names what facts are about" if is_node else "is neither episode nor fact"
        )
        yield Left("node" if is_node else kind, where, reason, refused=not is_node)
    elif kind == "fact":
        yield from _fact(one, id)
    else:
        yield _episode(one, id)


def _fact(one: Mapping[str, Any], id: str) -> Iterator[Found]:
    """What the world ended stays true of its time; what was only taken back is kept as expired there."""
    said = text(one.get("fact"))
    if not said:
        yield Left("fact", id, "has no text")
        return
    begins, ends = moment(one.get("valid_at")), moment(one.get("invalid_at"))
    own = filled(
        relation=text(one.get("name")),
        group_id=text(one.get("group_id")),
        source_expired_at=moment(one.get("expired_at")),
        episodes=[str(episode) for episode in listed(one.get("episodes"))][:100],
    )
    if begins and ends and ends < begins:
        own |= {"source_valid_at": begins, "source_invalid_at": ends}
        begins = ends = None
    fields = filled(
        category=label(one.get("name")),
        observed_at=moment(one.get("created_at")),
        valid_from=begins,
        valid_until=ends,
        metadata=own,
    )
    yield from in_parts(Remembered("fact", id, said, fields))


def _episode(one: Mapping[str, Any], id: str) -> Found:
    said = text(one.get("content"))
    if not said:
        return Left("episode", id, "has no text")
    fields = filled(title=label(one.get("name")), observed_at=moment(one.get("valid_at") or one.get("created_at")))
    return Talk("episode", id, said, fields)
