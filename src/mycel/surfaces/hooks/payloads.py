"""What each agent sends to a hook, and what a hook prints, in the form of the agent that waits for it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

from mycel.surfaces.hooks import hook_event as told
from mycel.surfaces.hooks.hook_event import Happening, kind_of, name_of, squeezed

Payload = Mapping[str, Any]

# Tools that write files, by what the agents call them.
_WRITING = frozenset(
    {"write", "edit", "multiedit", "notebookedit", "applypatch", "writefile", "replace", "patch", "strreplace"}
)
# Of these, those that are given all of the file.
_WRITING_WHOLE = frozenset({"write", "writefile"})
# Tools that are an agent of their own: when they fail, a task has failed.
_SUBAGENTS = frozenset({"task", "agent"})
_PATCHED = ("*** Add File: ", "*** Update File: ", "*** Move to: ")
# Failures of the account or the vendor, and of a person who has stopped it, say nothing about the task.
_NOT_OF_THE_TASK = ["ratelimit", "overload", "authenti", "billing", "credit", "quota", "abort", "interrupt", "cancel"]
_MOST_OF_ID = 180


def read_payload(agent: str, event: str, payload: Payload) -> Happening | None:
    """None for what is of no interest, such as a tool that writes nothing."""
    kind = kind_of(agent, event)
    if kind is None:
        return None
    files = _written_files(payload) if kind == told.TOOL_USED else ()
    if kind == told.TOOL_USED and not files:
        return None
    found = Happening(
        agent,
        event,
        kind,
        session_id=_session(payload),
        cwd=_folder(payload),
        source=_text(payload, "source"),
        prompt=_text(payload, "prompt"),
        told=_messages(payload),
        from_start=payload.get("from_start") is True,
        transcript=_path(payload, "transcript_path") if agent in {told.CLAUDE_CODE, told.CODEX} else None,
        files=files,
        written=_written_text(payload) if len(files) == 1 else "",
        last_words=_text(payload, "last_assistant_message"),
        goes_on=payload.get("stop_hook_active") is True,
    )
    return _COMPLETED.get(kind, _as_it_is)(found, payload)


def _as_it_is(found: Happening, payload: Payload) -> Happening | None:
    return found


def _turn(found: Happening, payload: Payload) -> Happening | None:
    """Cursor tells how the turn ended."""
    if found.agent == told.CURSOR and _text(payload, "status") == "error":
        why = _text(payload, "error_message") or _text(payload, "error") or "the agent stopped with an error"
        return _failing(found, payload, why)
    return found


def _answer(found: Happening, payload: Payload) -> Happening | None:
    text = _text(payload, "text")
    return found._replace(told=({"role": told.ASSISTANT, "content": text},)) if text else None


def _subagent(found: Happening, payload: Payload) -> Happening | None:
    """It has a transcript of its own, or what it said is part of a turn of its session."""
    own = _path(payload, "agent_transcript_path")
    id = _text(payload, "agent_id") or _text(payload, "subagent_id")
    if own is None or not id or found.session_id is None:
        return found._replace(kind=told.TURN_ENDED)
    return found._replace(transcript=own, session_id=f"{found.session_id}/{id}"[:_MOST_OF_ID])


def _failure(found: Happening, payload: Payload) -> Happening | None:
    if _text(payload, "tool_name"):
        if squeezed(_text(payload, "tool_name")) not in _SUBAGENTS or payload.get("is_interrupt") is True:
            return None
        given = _mapping(payload.get("tool_input"))
        asked = _text(given, "description") or _text(given, "prompt")
        return _failing(found._replace(prompt=asked), payload, _text(payload, "error") or "the subagent failed")
    error = payload.get("error")
    named = _mapping(error)
    about = _mapping(named.get("data"))
    parts = [_text(payload, "error"), _text(named, "name"), _text(about, "message"), _text(payload, "error_details")]
    return _failing(found, payload, ": ".join(part for part in parts if part) or "the agent stopped with an error")


def _failing(found: Happening, payload: Payload, why: str) -> Happening:
    """A turn is named by its session and, where the agent tells it, its own id."""
    code = why.partition(":")[0]
    if " " not in code and any(word in squeezed(code) for word in _NOT_OF_THE_TASK):
        return found._replace(kind=told.TURN_ENDED)
    turn = next((text for name in ("prompt_id", "turn_id", "generation_id") if (text := _text(payload, name))), "")
    task = "/".join(part for part in (found.session_id or "", turn) if part)
    return found._replace(failure=why, task_id=f"{found.agent}:{task}"[:_MOST_OF_ID])


_COMPLETED: dict[str, Callable[[Happening, Payload], Happening | None]] = {
    told.TURN_ENDED: _turn,
    told.ANSWERED: _answer,
    told.SUBAGENT_ENDED: _subagent,
    told.TASK_FAILED: _failure,
}


def _session(payload: Payload) -> str | None:
    found = next((text for name in ("conversation_id", "session_id") if (text := _text(payload, name))), "")
    if not found and (transcript := _path(payload, "transcript_path")):
        found = transcript.stem
    return "".join(sign for sign in found if sign.isprintable()).strip()[:_MOST_OF_ID] or None


def _folder(payload: Payload) -> Path:
    roots = payload.get("workspace_roots")
    first = cast("list[object]", roots)[0] if isinstance(roots, list) and roots else None
    given = _text(payload, "cwd") or (first if isinstance(first, str) else "")
    return Path(given) if given and "\0" not in given else Path.cwd()


def _messages(payload: Payload) -> tuple[told.Message, ...]:
    """Messages that were handed over, or the question and its answer."""
    listed = payload.get("messages")
    found: list[told.Message] = []
    for one in cast("list[object]", listed) if isinstance(listed, list) else []:
        message = _mapping(one)
        role, content = _text(message, "role"), _text(message, "content")
        if role in {told.USER, told.ASSISTANT} and content:
            found.append({"role": role, "content": content})
    answer = _text(payload, "prompt_response")
    if answer:
        pair = ((told.USER, _text(payload, "prompt")), (told.ASSISTANT, answer))
        found += [{"role": role, "content": text} for role, text in pair if text]
    return tuple(found)


def _written_files(payload: Payload) -> tuple[Path, ...]:
    tool = _text(payload, "tool_name") or _text(payload, "tool")
    given = payload if not tool else _mapping(payload.get("tool_input") or payload.get("args"))
    if tool and squeezed(tool) not in _WRITING:
        return ()
    names = [text for name in ("file_path", "filePath", "path", "notebook_path") if (text := _text(given, name))]
    if not names:
        patch = next((text for name in ("command", "input", "patch", "patchText") if (text := _lines(given, name))), "")
        lines = patch.splitlines()
        names = [line.removeprefix(mark).strip() for line in lines for mark in _PATCHED if line.startswith(mark)]
    return tuple(_folder(payload) / name for name in names if "\0" not in name)


def _written_text(payload: Payload) -> str:
    """The whole content, of a tool that was given one."""
    tool = squeezed(_text(payload, "tool_name") or _text(payload, "tool"))
    given = _mapping(payload.get("tool_input") or payload.get("args"))
    return _text(given, "content") if tool in _WRITING_WHOLE else ""


def _lines(payload: Payload, name: str) -> str:
    """A command may come as its words."""
    found = payload.get(name)
    words = cast("list[object]", found) if isinstance(found, list) else [found]
    return "\n".join(word for word in words if isinstance(word, str))


def _path(payload: Payload, name: str) -> Path | None:
    found = _text(payload, name)
    if not found or "\0" in found:
        return None
    try:
        return Path(found).expanduser()
    except RuntimeError:
        # It begins with the home of somebody who has none.
        return Path(found)


def _mapping(value: object) -> Payload:
    return cast("Payload", value) if isinstance(value, dict) else {}


def _text(payload: Payload, name: str) -> str:
    found = payload.get(name)
    return found if isinstance(found, str) else ""


class Answer:
    """What a hook prints: one answer, as soon as it is known.

    `otherwise` is printed in its place when the time of the hook ends before an answer was given.
    """

    def __init__(self, agent: str, kind: str | None) -> None:
        self._agent = agent
        self._kind = kind
        self._is_given = False
        self.otherwise = ""

    def give(self, context: str | None = None) -> None:
        """Print the context, or what is said otherwise; whatever follows the first answer is dropped."""
        if self._is_given:
            return
        self._is_given = True
        text = answer_of(self._agent, self._kind, self.otherwise if context is None else context)
        if text:
            sys.stdout.write(text)
            sys.stdout.flush()


def answer_of(agent: str, kind: str | None, context: str) -> str:
    """With nothing to say, as little as the agent understands."""
    if agent == told.CURSOR:
        goes_on = {"continue": True} if kind == told.PROMPTED else {}
        return _json({**goes_on, **({"additional_context": context} if context else {})})
    if agent == told.OPENCODE:
        return _json({"context": context}) if context else ""
    if agent not in told.AGENTS or not context or kind is None:
        return "{}\n" if agent == told.GEMINI else ""
    if kind == told.TURN_ENDED:
        return _json({"decision": "block", "reason": context})
    return _json({"hookSpecificOutput": {"hookEventName": name_of(agent, kind), "additionalContext": context}})


def _json(value: dict[str, Any]) -> str:
    # In ASCII: whatever the encoding of the pipe, it arrives.
    return json.dumps(value) + "\n"
