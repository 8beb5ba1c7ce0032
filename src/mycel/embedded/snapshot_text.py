"""A working memory as the bytes of its snapshot: a line about the file, with a checksum, and a line of content."""

from __future__ import annotations

import hashlib
import json
from typing import Any, cast

from mycel.domain import fields
from mycel.domain.ids import MemberId
from mycel.domain.working_memory import WorkingState, read_key, read_value
from mycel.errors import InvalidInput

FORMAT = "mycel-working-memory"
VERSION = 1


class Refused(Exception):
    """Why a snapshot is not loaded; never quotes it."""


def encode(state: WorkingState, *, agent_id: MemberId, session_id: str) -> bytes:
    content = {
        "agent_id": agent_id,
        "session_id": session_id,
        "updated_at": state.updated_at.isoformat(),
        "current_plan": state.current_plan,
        "active_constraints": state.active_constraints,
        "task_context": {key: state.value(key) for key in state.values},
        "scratchpad": state.scratchpad,
    }
    line = json.dumps(content, ensure_ascii=False).encode()
    about = {"format": FORMAT, "version": VERSION, "sha256": hashlib.sha256(line).hexdigest()}
    return b"%s\n%s\n" % (json.dumps(about).encode(), line)


def decode(content: bytes, *, agent_id: MemberId, session_id: str) -> WorkingState:
    """Checked as if it were written anew, so that no file can bring in what a write could not."""
    first, _, second = content.partition(b"\n")
    about = _object(first)
    version = about.get("version")
    if about.get("format") != FORMAT or not isinstance(version, int) or version < 1:
        raise Refused("it is not a snapshot of a working memory")
    if version > VERSION:
        raise Refused("a newer version of Mycel has written it")
    if about.get("sha256") != hashlib.sha256(second.removesuffix(b"\n")).hexdigest():
        raise Refused("it is damaged")
    found = _object(second)
    if (found.get("agent_id"), found.get("session_id")) != (agent_id, session_id):
        raise Refused("it is that of another agent or session")
    try:
        return _state(found)
    except InvalidInput as error:
        raise Refused(f"it holds what no working memory does: {error}") from None


def _state(found: dict[str, Any]) -> WorkingState:
    state = WorkingState(updated_at=fields.moment(found.get("updated_at"), field="updated_at"))
    state = state.with_plan(found.get("current_plan"))
    for constraint in _list(found, "active_constraints"):
        state = state.with_constraint(constraint)
    context = found.get("task_context")
    if not isinstance(context, dict):
        raise InvalidInput("must be an object", field="task_context")
    for key, value in cast(dict[str, object], context).items():
        state = state.with_value(read_key(key), read_value(value))
    for note in _list(found, "scratchpad"):
        state = state.with_note(note)
    return state


def _list(found: dict[str, Any], name: str) -> list[object]:
    value = found.get(name)
    if not isinstance(value, list):
        raise InvalidInput("must be a list", field=name)
    return cast(list[object], value)


def _object(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    # Also what is nested too deeply to be read.
    except (ValueError, RecursionError):
        raise Refused("it is damaged") from None
    if not isinstance(found, dict):
        raise Refused("it is damaged")
    return cast(dict[str, Any], found)
