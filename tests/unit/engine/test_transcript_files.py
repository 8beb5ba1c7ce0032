"""The transcript files of Claude Code and Codex, told from other text."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mycel.domain.source import Transcript
from mycel.engine.transcripts.reading import read_transcript
from mycel.engine.transcripts.turns import MAX_TRANSCRIPT_BYTES

AT = "2026-11-15T09:00:00.000Z"


def said(transcript: Transcript) -> list[tuple[str, str]]:
    return [(turn.role, transcript.text[turn.start : turn.end]) for turn in transcript.turns]


def lines(*entries: object) -> str:
    return "".join(f"{one if isinstance(one, str) else json.dumps(one, ensure_ascii=False)}\n" for one in entries)


def claude(kind: str, content: Any, **more: Any) -> dict[str, Any]:
    entry = {"type": kind, "sessionId": "s-1", "timestamp": AT, "isSidechain": False}
    return {**entry, "message": {"role": kind, "content": content}, **more}


def codex(payload: dict[str, Any], kind: str = "response_item") -> dict[str, Any]:
    return {"timestamp": AT, "type": kind, "payload": payload}


def message(role: str, *parts: str, **more: Any) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text} for text in parts], **more}


CLAUDE = [
    {"type": "summary", "summary": "Another session", "leafUuid": "x"},
    {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}},
    claude("user", "The login fails.", uuid="1"),
    claude("assistant", [{"type": "thinking", "thinking": "hm", "signature": "x"}], uuid="2"),
    claude("assistant", [{"type": "text", "text": "I look."}], uuid="3"),
    claude("assistant", [{"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}}], uuid="4"),
    claude("user", [{"type": "tool_result", "tool_use_id": "t", "content": "a.py"}], uuid="5"),
    claude("assistant", [{"type": "text", "text": "Fixed."}], uuid="6"),
]
CLAUDE_SAID = [
    ("user", "The login fails."),
    ("assistant", "I look."),
    ("tool", '[tool Bash] {"command": "ls"}'),
    ("tool", "a.py"),
    ("assistant", "Fixed."),
]
CODEX = [
    codex({"id": "c", "cwd": "/repo", "cli_version": "0.155.0"}, "session_meta"),
    codex({"type": "task_started"}, "event_msg"),
    codex(message("developer", "<permissions instructions>Sandboxed.</permissions instructions>")),
    codex(
        message("user", "# AGENTS.md instructions for /repo\nBe kind.", "<environment_context>x</environment_context>")
    ),
    codex(message("user", "The login fails.")),
    codex({"type": "user_message", "message": "The login fails."}, "event_msg"),
    codex({"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": "x"}),
    codex({"type": "function_call", "name": "shell", "arguments": '{"cmd": "ls"}', "call_id": "c"}),
    codex({"type": "function_call_output", "call_id": "c", "output": "a.py"}),
    codex({"type": "custom_tool_call", "name": "apply_patch", "input": "*** Begin", "call_id": "d"}),
    codex({"type": "custom_tool_call_output", "call_id": "d", "output": [{"type": "input_text", "text": "Done"}]}),
    codex(message("assistant", "Fixed.")),
    codex({"type": "agent_message", "message": "Fixed."}, "event_msg"),
    codex({"model": "m"}, "turn_context"),
    codex({"message": "", "replacement_history": [message("user", "The login fails.")]}, "compacted"),
]
CODEX_SAID = [
    ("system", "<permissions instructions>Sandboxed.</permissions instructions>"),
    ("user", "The login fails."),
    ("tool", '[tool shell] {"cmd": "ls"}'),
    ("tool", "a.py"),
    ("tool", "[tool apply_patch] *** Begin"),
    ("tool", "Done"),
    ("assistant", "Fixed."),
]


class TestClaudeCode:
    def test_says_what_people_agents_and_tools_said(self) -> None:
        found = read_transcript(lines(*CLAUDE))
        assert said(found) == CLAUDE_SAID
        assert found.text.startswith("user: The login fails.\n\nassistant: I look.\n\ntool: [tool Bash]")
        assert {turn.said_at for turn in found.turns} == {datetime(2026, 11, 15, 9, tzinfo=UTC)}

    @pytest.mark.parametrize(
        "entry",
        [
            claude("user", "Caveat: generated.", isMeta=True),
            claude("user", "From a subagent.", isSidechain=True),
            claude("assistant", "API Error: 529", isApiErrorMessage=True),
            claude("user", "Shown only.", isVisibleInTranscriptOnly=True),
            {"type": "queue-operation", "operation": "enqueue", "content": "x", "sessionId": "s-1"},
            {"type": "something-new", "sessionId": "s-1", "message": {"role": "user", "content": "x"}},
            {"type": "attachment", "sessionId": "s-1", "attachment": {"type": "file", "prompt": "x"}},
            claude("user", 5),
            claude("user", None),
            {"type": "assistant", "sessionId": "s-1", "message": "x"},
        ],
    )
    def test_leaves_out_what_nobody_said_here(self, entry: dict[str, Any]) -> None:
        assert said(read_transcript(lines(*CLAUDE, entry))) == CLAUDE_SAID

    def test_a_subagents_own_file_is_read(self) -> None:
        entries = [claude("user", "Search.", isSidechain=True), claude("assistant", "Found.", isSidechain=True)]
        assert said(read_transcript(lines(*entries))) == [("user", "Search."), ("assistant", "Found.")]

    def test_copies_that_compacting_writes_are_read_once(self) -> None:
        again = [claude("user", "More.", uuid="7")]
        assert said(read_transcript(lines(*CLAUDE, *CLAUDE, *again))) == [*CLAUDE_SAID, ("user", "More.")]

    def test_a_prompt_typed_while_the_agent_worked_is_read(self) -> None:
        queued = {"type": "queued_command", "prompt": "Use port 5433."}
        entry = {"type": "attachment", "sessionId": "s-1", "timestamp": AT, "attachment": queued}
        assert said(read_transcript(lines(*CLAUDE, entry)))[-1] == ("user", "Use port 5433.")

    @pytest.mark.parametrize(
        ("content", "expected"),
        [
            (
                "<command-name>/fix</command-name>\n<command-args>the login page</command-args>",
                ("user", "/fix the login page"),
            ),
            (
                "<command-message>x</command-message><command-name>/clear</command-name><command-args></command-args>",
                ("tool", None),
            ),
            ("<local-command-stdout>Cleared</local-command-stdout>", ("tool", None)),
            ("<bash-input>ls</bash-input>", ("tool", None)),
            ("<task-notification>done</task-notification>", ("tool", None)),
            ("[Request interrupted by user for tool use]", ("tool", None)),
        ],
    )
    def test_commands_are_not_what_a_person_said_but_their_words_are(
        self, content: str, expected: tuple[str, str | None]
    ) -> None:
        role, text = said(read_transcript(lines(*CLAUDE, claude("user", content))))[-1]
        assert (role, text) == (expected[0], expected[1] or content)

    def test_a_summary_of_what_went_before_is_a_cut_note_of_the_system(self) -> None:
        entry = claude("user", "s" * 20_000, isCompactSummary=True, isVisibleInTranscriptOnly=True)
        role, text = said(read_transcript(lines(*CLAUDE, entry)))[-1]
        assert (role, len(text)) == ("system", 500)

    def test_private_parts_and_reminders_are_gone(self) -> None:
        content = "a<private>b</private>c<system-reminder>d</system-reminder>"
        assert said(read_transcript(lines(*CLAUDE, claude("user", content))))[-1] == ("user", "ac")


class TestCodex:
    def test_says_what_people_agents_and_tools_said(self) -> None:
        found = read_transcript(lines(*CODEX))
        assert said(found) == CODEX_SAID
        assert found.turns[0].said_at == datetime(2026, 11, 15, 9, tzinfo=UTC)

    def test_older_files_have_bare_items(self) -> None:
        first = {"id": "c", "timestamp": AT, "instructions": None, "git": {"branch": "main"}}
        bare = [one["payload"] for one in CODEX if one["type"] == "response_item"]
        assert said(read_transcript(lines(first, {"record_type": "state"}, *bare))) == CODEX_SAID

    def test_parts_are_what_the_file_says_they_are(self) -> None:
        about = {"content_item_kinds": ["hooks.additional_context", "user.text"]}
        item = message("user", "Notes.", "<b>Bold</b>", internal_chat_message_metadata_passthrough=about)
        assert said(read_transcript(lines(*CODEX, codex(item))))[-1] == ("user", "<b>Bold</b>")

    def test_words_that_merely_begin_with_a_tag_are_kept(self) -> None:
        item = codex(message("user", "<div> is not closed here"))
        assert said(read_transcript(lines(*CODEX, item)))[-1] == ("user", "<div> is not closed here")

    @pytest.mark.parametrize(
        "entry",
        [codex({"type": "message", "role": "user"}), codex({"type": "ghost_snapshot"}), codex({}), {"type": 5}, {}],
    )
    def test_items_of_another_shape_are_skipped(self, entry: dict[str, Any]) -> None:
        assert said(read_transcript(lines(*CODEX, entry))) == CODEX_SAID


@pytest.mark.parametrize(("entries", "expected"), [(CLAUDE, CLAUDE_SAID), (CODEX, CODEX_SAID)])
class TestBoth:
    def test_a_line_still_being_written_is_left_out(
        self, entries: list[dict[str, Any]], expected: list[tuple[str, str]]
    ) -> None:
        assert said(read_transcript(lines(*entries) + '{"type":"user","message":{"ro')) == expected

    def test_broken_lines_are_skipped(self, entries: list[dict[str, Any]], expected: list[tuple[str, str]]) -> None:
        broken = ["not json", '{"a": ', "[1]", "", "\0\0\0", '{"n": ' + "[" * 100_000]
        assert said(read_transcript(lines(*entries[:5], *broken, *entries[5:]))) == expected

    def test_a_byte_order_mark_and_other_line_ends_do_no_harm(
        self, entries: list[dict[str, Any]], expected: list[tuple[str, str]]
    ) -> None:
        assert said(read_transcript("\ufeff" + lines(*entries).replace("\n", "\r\n\r\n"))) == expected

    def test_a_line_may_hold_other_separators_and_what_cannot_be_stored(
        self, entries: list[dict[str, Any]], expected: list[tuple[str, str]]
    ) -> None:
        text = lines(*entries).replace("Fixed.", "One\u2028two\\u0000\\ud800\\ud83d\\ude00.")
        assert said(read_transcript(text))[-1] == ("assistant", "One\u2028two\ufffd\ufffd😀.")

    def test_a_longer_file_begins_with_the_text_of_a_shorter_one(
        self, entries: list[dict[str, Any]], expected: list[tuple[str, str]]
    ) -> None:
        whole = read_transcript(lines(*entries))
        for count in range(2, len(entries)):
            part = read_transcript(lines(*entries[:count]))
            assert whole.text.startswith(part.text)
            assert whole.turns[: len(part.turns)] == part.turns

    def test_prose_around_the_lines_makes_it_a_plain_text(
        self, entries: list[dict[str, Any]], expected: list[tuple[str, str]]
    ) -> None:
        for text in (f"Look:\n{lines(*entries)}", f"{lines(*entries)}Why is that?"):
            assert read_transcript(text).text == text


@pytest.mark.parametrize(
    "text",
    [
        '{"type": "user", "message": {"role": "user", "content": "hi"}}',
        lines(claude("user", "one line may be an example")),
        '{\n  "type": "user",\n  "sessionId": "s",\n  "message": {}\n}',
        lines({"level": "info", "msg": "a"}, {"level": "info", "msg": "b"}),
        lines({"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}),
        lines(*({"level": "info"} for _ in range(10)), *CLAUDE[-2:]),
        "{",
        "{}\n{}",
        "[]",
    ],
)
def test_other_json_stays_a_plain_text(text: str) -> None:
    assert read_transcript(text).text == text


def test_a_session_that_begins_with_bookkeeping_is_recognised() -> None:
    before = [{"type": "file-history-snapshot", "messageId": "m", "snapshot": {}}] * 100
    assert said(read_transcript(lines(*before, *CLAUDE))) == CLAUDE_SAID


@settings(deadline=None)
@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner)), st.text())
def test_no_shape_of_a_message_ends_the_reading(content: object, name: str) -> None:
    strange = [
        claude("user", content),
        claude("assistant", [{"type": "tool_use", "name": content, "input": content}]),
        claude("user", [{"type": "tool_result", "content": content}, {"type": name, "text": content}]),
        {"type": "attachment", "sessionId": "s", "attachment": {"type": "queued_command", "prompt": content}},
    ]
    found = said(read_transcript("".join(json.dumps(one) + "\n" for one in (*CLAUDE, *strange))))
    assert found[: len(CLAUDE_SAID)] == CLAUDE_SAID


@pytest.mark.parametrize("depth", [50, 300, 600, 900, 950, 980, 5_000])
@pytest.mark.parametrize("word", ["x", "\\u0000"])
def test_deep_nesting_costs_one_line_at_most(depth: int, word: str) -> None:
    deep = "[" * depth + f'"{word}"' + "]" * depth
    result = f'{{"type":"user","sessionId":"s","message":{{"content":[{{"type":"tool_result","content":{deep}}}]}}}}'
    use = f'{{"type":"assistant","sessionId":"s","message":{{"content":[{{"type":"tool_use","input":{deep}}}]}}}}'
    output = f'{{"type":"response_item","payload":{{"type":"function_call_output","output":{deep}}}}}'
    assert said(read_transcript(lines(*CLAUDE, result, use)))[: len(CLAUDE_SAID)] == CLAUDE_SAID
    assert said(read_transcript(lines(*CODEX, output)))[: len(CODEX_SAID)] == CODEX_SAID


@pytest.mark.parametrize("entries", [CLAUDE, CODEX])
def test_a_file_at_the_limit_is_read_in_seconds(entries: list[dict[str, Any]]) -> None:
    output = {"type": "tool_result", "tool_use_id": "t", "content": "line <b> of output\n" * 400}
    filler = claude("user", [output]) if entries is CLAUDE else codex({**output, "type": "function_call_output"})
    head, line = lines(*entries), lines(filler)
    text = head + line * ((MAX_TRANSCRIPT_BYTES - len(head)) // len(line))
    began = time.process_time()
    assert len(read_transcript(text).turns) > 3_000
    assert time.process_time() - began < 10.0


@pytest.mark.parametrize(
    "unit", ["<private>", "< ", "{\n", "{}\n", "Anna: x\n", "A:\n", "```\n", "**", "[1] ", "\n", " "]
)
def test_hostile_texts_are_read_in_bounded_time(unit: str) -> None:
    text = unit * ((1 << 20) // len(unit))
    began = time.process_time()
    read_transcript(text)
    assert time.process_time() - began < 5.0
