"""Whatever a model is shown of what was stored stands inside the envelope, in every part of every answer.

Some clients show a model the content of a tool's result, some only what is structured.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from mycel.domain.envelope import ENVELOPE
from mycel.embedded.working_memory import WorkingMemory
from mycel.surfaces.mcp import prompts, resources
from mycel.surfaces.mcp.tool import Tool
from mycel.surfaces.mcp.tool_call import call_tool
from tests.conformance.every_text import World, every_call, make, opened
from tests.surfaces.mcp.reader import OFFER, Reader

pytestmark = pytest.mark.each_database(slow=True)

MARKER = "quokka"
OPENED, CLOSED = f"<{ENVELOPE}>", f"</{ENVELOPE}>"


@pytest.fixture(scope="module")
def world(kept_for_the_module: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Where the marker stands in every field that can carry a text."""
    found = opened(tmp_path_factory.mktemp("enveloped") / "data")
    for given in every_call(lambda: f"{MARKER} {found.number()}", writing=True):
        make(found, given, by="admin-1")
    found.settle()
    yield found
    found.workspace.close()


@pytest.fixture
def reader(world: World) -> Reader:
    working = WorkingMemory("admin-1", data=world.folder)
    working.current_plan = f"Ask the {MARKER}."
    working.add_constraint(f"No {MARKER}.")
    working.set_context(MARKER, [MARKER])
    working.note(f"The {MARKER} waits.")
    return Reader(world.member("admin-1"), working=working)


def test_no_tool_shows_stored_text_outside_the_envelope(world: World, reader: Reader) -> None:
    showed: set[str] = set()
    for tool in OFFER.tools:
        for given in _calls(tool, world):
            result = asyncio.run(call_tool(tool, reader, given)).model_dump(mode="json", by_alias=True)
            texts = list(_texts(result))
            _require_enveloped(texts, of=f"{tool.name}{given}")
            assert texts.count(result["content"][0]["text"]) == 2, tool.name
            if any(MARKER in text for text in texts):
                showed.add(tool.name)
    assert showed >= SHOW_STORED_TEXT, SHOW_STORED_TEXT - showed


# Those that show what was stored; the others answer with ids and figures.
SHOW_STORED_TEXT = {
    *("search_memory", "memory-search", "memory-get", "get_context", "recent_memories", "list_memories", "explain"),
    *("brief_task", "get_knowledge", "log_episode", "list_episodes", "success_rates", "register_artifact"),
    *("list_artifacts", "list_inbox", "get_working_memory", "update_working_memory"),
}


def test_no_resource_and_no_prompt_shows_stored_text_outside_the_envelope(world: World, reader: Reader) -> None:
    ids = [one.id for one in world.member("admin-1").list(limit=500)]
    for uri in (*OFFER.rendered, *(f"{resources.SCHEME}{id}" for id in ids)):
        found = asyncio.run(resources.read(reader, uri, OFFER.rendered)).model_dump(mode="json", by_alias=True)
        _require_enveloped(list(_texts(found)), of=uri)
    for prompt in OFFER.prompts:
        answer = asyncio.run(prompts.get(reader, prompt.name, {}, OFFER.prompts))
        _require_enveloped(list(_texts(answer.model_dump(mode="json", by_alias=True))), of=prompt.name)


def test_what_a_search_found_can_be_asked_for_and_rated_by_what_a_model_reads(reader: Reader) -> None:
    by_name = {tool.name: tool for tool in OFFER.tools}
    result = asyncio.run(call_tool(by_name["search_memory"], reader, {"query": MARKER}))
    shown: dict[str, Any] = result.structured_content or {}
    text = shown["text"]
    assert text == result.content[0].text  # pyright: ignore[reportAttributeAccessIssue]
    id, recall = shown["results"][0]["id"], shown["recall_id"]
    assert f"[m:{id}]" in text
    assert text.endswith(f"(recall {recall})")
    for name, given in (("memory-get", {"id": id}), ("rate_memory", {"id": id, "useful": True, "recall_id": recall})):
        assert not asyncio.run(call_tool(by_name[name], reader, given)).is_error


# What a tool is given that needs it. An error may say again what the caller gave: only what is stored has the marker.
_NEEDED: dict[str, Any] = {
    **{"query": MARKER, "task": MARKER, "approach": MARKER, "path": f"{MARKER}.md", "content": f"The {MARKER} sleeps."},
    **{"action": "failed", "to_id": "project:plain", "relation": "related_to", "useful": True},
}
_WANTED: dict[str, Any] = {"limit": 50, "note": MARKER, "dry_run": True, "task": MARKER}


def _calls(tool: Tool, world: World) -> Iterator[Mapping[str, Any]]:
    """What it shows of all there is; of those that are asked by an id, of one of each type and status."""
    given = {name: _NEEDED.get(name, "plain") for name in tool.needs}
    given |= {name: value for name, value in _WANTED.items() if name in tool.takes}
    named = next((name for name in ("id", "memory_id", "from_id") if name in tool.takes), None)
    if named is None:
        yield given
        return
    for id in _one_of_each(world):
        yield {**given, named: id}


def _one_of_each(world: World) -> list[str]:
    memory = world.member("admin-1")
    listed = [*memory.list(limit=500), *memory.list(limit=500, status="inbox")]
    return list({(one.type, one.status): one.id for one in listed if MARKER in json.dumps(one.content)}.values())


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def _require_enveloped(texts: list[str], *, of: str) -> None:
    for text in texts:
        before, opened, rest = text.partition(OPENED)
        inside, closed, after = rest.partition(CLOSED)
        assert bool(opened) == bool(closed), (of, text)
        assert MARKER not in before + after, (of, before, after)
        assert OPENED not in inside + after, (of, text)
