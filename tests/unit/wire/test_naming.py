"""Whatever the API answers has names in camelCase for whoever asks for them, and says the same."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings

from mycel.domain.memory import FIELDS, MadeBy, Memory, SourceKind, SourceRef
from mycel.domain.team import Kind
from mycel.errors import Conflict, InvalidInput
from mycel.wire.answers import Answers
from mycel.wire.naming import NAMES, camel_definitions, changes_in, is_as_read, memory_item, to_camel_json
from mycel.wire.operations import OPERATIONS
from mycel.wire.shapes import SAID_AS, to_json
from tests.unit.wire.test_round_trip import ANSWERS, values

UPDATE = next(operation for operation in OPERATIONS if operation.name == "update")


def names_of_ours(definitions: dict[str, Any]) -> set[str]:
    return {name for one in definitions.values() for name in one.get("properties", ())}


def described() -> dict[str, Any]:
    answers = Answers()
    for operation in OPERATIONS:
        answers.of(operation)
    return camel_definitions(answers.definitions)


def test_no_name_of_an_answer_has_an_underscore() -> None:
    found = described()
    assert len(found) > 40
    assert {name for name in names_of_ours(found) if "_" in name} == set()
    assert not re.search(r'"\$ref": "[^"]*/(Memory|MemoryType|Hit|Change)"', json.dumps(found))


def test_every_field_of_a_memory_has_a_name_of_its_own() -> None:
    assert NAMES.keys() == FIELDS.keys()
    assert len(set(NAMES.values())) == len(NAMES)
    assert {NAMES[row.name] for row in FIELDS.values() if row.name in SAID_AS} == {"project", "repo"}


@pytest.mark.parametrize("kind", ANSWERS, ids=str)
def test_an_answer_says_the_same_in_either_naming(kind: Any) -> None:
    @settings(max_examples=10, deadline=None)
    @given(value=values(kind))
    def holds(value: object) -> None:
        snake, camel = json.loads(to_json(value)), json.loads(to_camel_json(value))
        assert alike(snake, camel), (snake, camel)

    holds()


def alike(snake: Any, camel: Any) -> bool:
    """Tell whether two answers differ in their names alone, and in what a `MemoryItem` has of its own."""
    if isinstance(snake, list):
        return isinstance(camel, list) and len(snake) == len(camel) and all(map(alike, snake, camel))
    if not isinstance(snake, dict):
        return snake == camel or (snake, camel) == ("thread_summary", "thread-summary")
    if isinstance(camel, dict) and "teamId" in camel:
        return snake["id"] == camel["id"] and snake["metadata"] == camel["metadata"] and None not in camel.values()
    return isinstance(camel, dict) and len(snake) == len(camel)


@pytest.mark.parametrize(
    ("made_by", "source_kind", "kind", "expected"),
    [
        (MadeBy.MANUAL, SourceKind.MANUAL, Kind.AGENT, "agent"),
        (MadeBy.MANUAL, SourceKind.MANUAL, Kind.HUMAN, "human"),
        (MadeBy.MANUAL, SourceKind.MANUAL, None, "agent"),
        (MadeBy.EXTRACTION, SourceKind.CONVERSATION, Kind.HUMAN, "auto"),
        (MadeBy.THREAD_SUMMARY, SourceKind.CONVERSATION, Kind.HUMAN, "auto"),
        (MadeBy.IMPORT, SourceKind.IMPORT, Kind.HUMAN, "import"),
    ],
)
@given(memory=values(Memory))
@settings(max_examples=3, deadline=None)
def test_a_source_that_nobody_named_follows_from_how_a_memory_was_made(
    made_by: MadeBy, source_kind: SourceKind, kind: Kind | None, expected: str, memory: Memory
) -> None:
    plain = replace(memory, made_by=made_by, source_kind=source_kind, metadata={}, source_ref=SourceRef(thread_id="t"))
    source = memory_item(plain, lambda _: kind)["source"]
    assert source == {"type": expected, "authorId": memory.agent_id, "threadId": "t"}


@given(memory=values(Memory))
@settings(max_examples=40, deadline=None)
def test_a_memory_that_is_sent_back_as_it_was_read_changes_nothing_that_cannot_be_written(memory: Memory) -> None:
    for sent in (to_json(memory), to_camel_json(memory)):
        given = respelled_item(json.loads(sent))
        assert is_as_read(given, UPDATE)
        found = changes_in(given, memory, lambda _: None, operation=UPDATE)
        assert found.keys() <= UPDATE.fields.keys()
        assert not found.keys() & {"status", "source", "metadata"}
        with pytest.raises(Conflict):
            changes_in({**given, "version": memory.version + 1}, memory, lambda _: None, operation=UPDATE)
        with pytest.raises(InvalidInput) as refused:
            changes_in({**given, "agent_id": f"not {memory.agent_id}"}, memory, lambda _: None, operation=UPDATE)
        assert refused.value.field == "agent_id"


def respelled_item(item: dict[str, Any]) -> dict[str, Any]:
    from mycel.wire.arguments import respelled

    return respelled(item)
