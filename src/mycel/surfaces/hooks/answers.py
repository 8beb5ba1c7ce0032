"""What a hook prints, in the form of the agent that waits for it."""

from __future__ import annotations

import json
from typing import Any

from mycel.surfaces.hooks import hook_event as told
from mycel.surfaces.hooks.events import name_of


def answer_of(agent: str, kind: str | None, context: str) -> str:
    """With nothing to say, as little as the agent understands."""
    if agent == told.CURSOR:
        goes_on = {"continue": True} if kind == told.PROMPTED else {}
        return _json({**goes_on, **({"additional_context": context} if context else {})})
    if agent == told.OPENCODE:
        return _json({"context": context}) if context else ""
    if agent not in told.AGENTS or not context or kind is None:
        return "{}\n" if agent == told.GEMINI else ""
    return _json({"hookSpecificOutput": {"hookEventName": name_of(agent, kind), "additionalContext": context}})


def _json(value: dict[str, Any]) -> str:
    # In ASCII: whatever the encoding of the pipe, it arrives.
    return json.dumps(value) + "\n"
