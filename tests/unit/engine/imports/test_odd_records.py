"""A record of another system with an odd value in it costs at most itself, and what was read can be sent on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mycel.engine.imports.records import Related, Remembered, Talk
from mycel.engine.imports.registry import form_of, recognise
from mycel.surfaces.importing.places import Place
from tests.odd_json import with_odd_values
from tests.unit.engine.test_odd_values import CLAUDE_CODE, CODEX


def node(id: str, parent: str | None, *children: str) -> dict[str, Any]:
    message = {
        **{"author": {"role": "user"}, "create_time": 1714557600.5, "metadata": {}},
        "content": {"content_type": "text", "parts": ["said"]},
    }
    return {"id": id, "parent": parent, "children": list(children), "message": message}


CHATGPT = {
    **{"id": "c-1", "conversation_id": "c", "title": "Ports", "create_time": 1714557600, "current_node": None},
    "mapping": {"q": node("q", None, "a", "b"), "a": node("a", "q"), "b": node("b", "q")},
}
CLAUDE = [
    {
        **{"uuid": "u-1", "name": "Ports", "created_at": "2025-01-01T00:00:00Z"},
        "chat_messages": [
            {"sender": "human", "text": "Read", "created_at": "2025", "attachments": [{"extracted_content": "it"}]},
            {"sender": "assistant", "text": "", "content": [{"type": "text", "text": "Done"}]},
        ],
    },
    {
        "uuid": "p",
        "name": "Shop",
        "prompt_template": "Be brief",
        "docs": [{"uuid": "d", "filename": "f", "content": "x"}],
    },
    {"conversations_memory": "Prefers tea", "project_memories": {"p": "Uses Go"}},
]
FACT = {
    **{"uuid": "f", "name": "WORKS_AT", "fact": "Ada works at Shop", "valid_at": "2020-01-01T00:00:00Z"},
    **{"invalid_at": "2023-06-01T00:00:00Z", "created_at": "2020-01-01", "episodes": ["e"], "group_id": "g"},
}
EPISODE = {"uuid": "e", "name": "talk", "content": "Ada said", "source_description": "chat", "valid_at": "2020-01-01"}
BLOCK = {
    **{"id": "b-1", "label": "human", "value": "Likes tea", "limit": 5, "read_only": False},
    **{"description": "d", "metadata": {"a": 1}, "created_at": "2025-01-01"},
}
MEM0 = {
    **{"id": "m-1", "memory": "Likes tea", "created_at": "2024-05-01T10:00:00-07:00", "user_id": "ada"},
    **{"categories": ["drinks"], "metadata": {"topic": "drinks"}, "expiration_date": "2030-01-01"},
}
ROW = {
    **{"prefix": "a.b", "namespace": ["a", "b"], "key": "k", "created_at": "2025-01-01 10:00:00"},
    "value": {"text": "hello", "title": "t", "content": {"content": "c"}},
}
ENTITY = {"type": "entity", "name": "billing", "entityType": "service", "observations": ["uses Postgres"]}
RELATION = {"type": "relation", "from": "a", "to": "b", "relationType": "replaces"}
# A form more than once is one with several shapes; a list becomes lines where the file is one of lines.
SAMPLES: list[tuple[str, str, Any]] = [
    ("chatgpt", "json", [CHATGPT]),
    ("claude", "json", CLAUDE),
    ("claude", "json", CLAUDE[1]),
    ("letta", "json", {"agents": [{"name": "h", "core_memory": [BLOCK]}], "blocks": [BLOCK], "tools": [{"n": 1}]}),
    ("graphiti", "json", {"episodes": [EPISODE], "edges": [FACT], "nodes": [{"uuid": "n"}]}),
    ("mem0", "json", {"results": [MEM0], "count": 1, "next": None}),
    ("langgraph", "jsonl", [ROW, ROW]),
    ("mcp-memory", "jsonl", [ENTITY, RELATION]),
    ("claude-code", "jsonl", CLAUDE_CODE),
    ("claude-code", "jsonl", CODEX),
]


@pytest.mark.parametrize(("form", "kind", "sample"), SAMPLES, ids=[f"{one[0]} {at}" for at, one in enumerate(SAMPLES)])
def test_a_record_with_an_odd_value_costs_at_most_itself(form: str, kind: str, sample: Any, tmp_path: Path) -> None:
    file = tmp_path / f"a.{kind}"
    for what, odd in with_odd_values(sample):
        is_lines = kind == "jsonl" and isinstance(odd, list)
        file.write_text("\n".join(map(json.dumps, odd)) if is_lines else json.dumps(odd))
        try:
            _read(form, file)
        except Exception as error:
            raise AssertionError(what) from error


FRONT = """---
{front}
---
text with a [[link]] and a #tag
"""
ODD_FRONT = [
    "title: 0x" + "f" * 5_000,
    "a: 0x" + "f" * 5_000,
    "? 0x" + "f" * 5_000 + "\n: a",
    "created: " + "9" * 400,
    "created: .inf",
    "a: .nan",
    "tags: {a: [b]}",
    "tags: [[a], {b: c}, 2020-01-01, ~, 1.5, 0b11, true]",
    "aliases: 5",
    "? [a, b]\n: c",
    "? {a: b}\n: c",
    "a: 2020-13-45",
    "a: !!binary ///",
    "a: !!set {b}",
    "a: !!omap [b: c]",
    "a: !!timestamp 0000-00-00",
    "a: !!python/object/apply:os.system [ls]",
    "a: 1:" + "59:" * 3_000 + "1",
    "permalink: [a]",
    "metadata: [a]\ntype: [b]\nname: {c: d}",
    'a: "\\ud800"',
    'title: "\\0"',
    "[" * 3_000,
    "a: " + "- " * 3_000,
]


@pytest.mark.parametrize("form", ["markdown", "basic-memory", "claude-code"])
@pytest.mark.parametrize("front", ODD_FRONT, ids=[one[:40] for one in ODD_FRONT])
def test_a_note_with_odd_front_matter_costs_at_most_itself(form: str, front: str, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(FRONT.format(front=front))
    (tmp_path / "b.md").write_text(FRONT.format(front="permalink: b"))
    found = _read(form, tmp_path)
    assert "b.md" in [one.id for one in found if isinstance(one, Remembered)]


def _read(form: str, path: Path) -> list[Any]:
    with Place(path) as place:
        recognise(place)
        chosen = form_of(form)
        assert chosen is not None
        found = list(chosen.read(place))
    for one in found:
        # As it is sent to a service, which takes no NaN.
        if isinstance(one, Remembered):
            json.dumps([one.id, one.content, one.fields])
        elif isinstance(one, Talk):
            json.dumps([one.id, one.material, one.fields])
        elif isinstance(one, Related):
            json.dumps([one.kind, one.from_id, one.to_id, one.relation])
    return found
