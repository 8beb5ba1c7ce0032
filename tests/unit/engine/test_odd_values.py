"""What models, coding agents and other programs hand over may hold anything at any place: it is read or refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mycel.domain.source import Transcript
from mycel.engine.by_model.extraction import extract_with_model
from mycel.engine.by_model.judging import _read as read_verdicts
from mycel.engine.by_model.summary import summarize_with_model
from mycel.engine.transcripts.reading import read_transcript
from mycel.errors import InvalidInput, MycelError
from mycel.providers.llms.prompt import read_spoken_object
from tests.odd_json import with_odd_values
from tests.unit.engine.scripted_model import ScriptedModel, talk

WORDS = "We build the web client with pnpm, since npm was too slow."
TALK = talk(("user", WORDS, "swe-1"))
SAID = [
    {
        "role": "user",
        "content": [{"type": "text", "text": "say"}],
        "name": "swe-1",
        "timestamp": "2026-01-01T00:00:00Z",
    },
    {"role": "assistant", "content": "done", "tool_calls": [{"function": {"name": "run", "arguments": "{}"}}]},
    {"role": "tool", "content": "fine", "tool_call_id": "t"},
]
CLAUDE_CODE: list[dict[str, Any]] = [
    {
        **{"type": "user", "uuid": "u1", "parentUuid": None, "sessionId": "s", "timestamp": "2026-01-01T00:00:00Z"},
        **{"cwd": "/a", "isSidechain": False, "isMeta": False, "toolUseResult": {"stdout": "x"}},
        "message": {
            "role": "user",
            "content": [{"type": "text", "text": "say"}, {"type": "tool_result", "content": "x"}],
        },
    },
    {
        **{"type": "assistant", "uuid": "u2", "sessionId": "s", "timestamp": "2026-01-01T00:00:00Z"},
        "message": {
            **{"role": "assistant", "id": "m"},
            "content": [
                {"type": "tool_use", "name": "Bash", "input": {"command": "ls"}},
                {"type": "text", "text": "a"},
            ],
        },
    },
    {"type": "summary", "summary": "a talk", "leafUuid": "u2"},
]
CODEX: list[dict[str, Any]] = [
    {"timestamp": "2026-01-01T00:00:00Z", "type": "session_meta", "payload": {"id": "s", "cwd": "/a"}},
    {
        **{"timestamp": "2026-01-01T00:00:00Z", "type": "response_item"},
        "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "say"}]},
    },
    {"type": "response_item", "payload": {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c"}},
    {"type": "response_item", "payload": {"type": "function_call_output", "call_id": "c", "output": {"content": "x"}}},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]},
]
CANDIDATE = {
    **{"type": "decision", "category": "", "title": "pnpm", "content": "The web client is built with pnpm."},
    **{"rationale": "npm was too slow", "alternatives": ["npm"], "turn": 1, "quote": WORDS, "confidence": 0.9},
}
SUMMARY = {"decisions": ["pnpm"], "open questions": [], "said": ["npm is slow"]}
VERDICTS = [{"pair": 1, "relation": "same"}, {"pair": 2, "relation": "other"}]


@pytest.mark.parametrize("lines", [CLAUDE_CODE, CODEX], ids=["claude code", "codex"])
def test_a_transcript_with_an_odd_value_is_read_or_refused(lines: list[dict[str, Any]]) -> None:
    for what, odd in with_odd_values(lines):
        text = "\n".join(map(json.dumps, odd)) if isinstance(odd, list) else json.dumps(odd)
        _is_read_or_refused(text, what)


def test_messages_with_an_odd_value_are_read_or_refused() -> None:
    for what, odd in with_odd_values(SAID):
        _is_read_or_refused(odd, what)


def _is_read_or_refused(material: Any, what: str) -> None:
    try:
        assert isinstance(read_transcript(material), Transcript)
    except InvalidInput:
        pass
    except Exception as error:
        raise AssertionError(what) from error


def test_an_odd_value_of_a_model_is_dropped_or_told() -> None:
    for what, odd in with_odd_values({"candidates": [CANDIDATE, CANDIDATE]}):
        _is_dropped_or_told(lambda odd=odd: extract_with_model(ScriptedModel(_spoken(odd)), TALK), what)
    for what, odd in with_odd_values({"summary": SUMMARY}):
        _is_dropped_or_told(lambda odd=odd: summarize_with_model(ScriptedModel(_spoken(odd)), TALK), what)
    for what, odd in with_odd_values({"verdicts": VERDICTS}):
        _is_dropped_or_told(lambda odd=odd: read_verdicts(_spoken(odd).get("verdicts"), 2), what)


def _spoken(answer: Any) -> dict[str, Any]:
    return read_spoken_object(json.dumps(answer), source="it")


def _is_dropped_or_told(read: Any, what: str) -> None:
    try:
        read()
    except MycelError:
        pass
    except Exception as error:
        raise AssertionError(what) from error
