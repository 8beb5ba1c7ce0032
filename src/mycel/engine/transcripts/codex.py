"""Transcripts of Codex: response items, wrapped in `payload` since late 2025 and bare before.

Events repeat what the response items say, so only the items are read.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import cast

from mycel.engine.transcripts.messages import MOST_OF_RESULT, Item, kind_of, read_item, time_or_none
from mycel.engine.transcripts.turns import SYSTEM, USER, Said, clip
from mycel.errors import InvalidInput

_ENVELOPES = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
_BARE = frozenset({"function_call", "function_call_output", "local_shell_call", "reasoning"})
_ABOUT = ("instructions", "git", "cwd", "originator")
_METADATA = "internal_chat_message_metadata_passthrough"
_TYPED = "user.text"
# Context that the program sends in the name of the user, in files that do not say so: whole texts inside one tag.
_INJECTED = re.compile(r"\s*(?:# AGENTS\.md instructions|<([a-zA-Z][a-zA-Z_]*)(?:\s[^<>]*)?>)")


def recognises(entry: Item) -> bool:
    kind = kind_of(entry)
    if isinstance(entry.get("payload"), dict):
        return kind in _ENVELOPES
    if kind == "message":
        return isinstance(entry.get("role"), str) and isinstance(entry.get("content"), list)
    if entry.get("type") is None:
        is_first = isinstance(entry.get("id"), str) and any(name in entry for name in _ABOUT)
        return is_first or entry.get("record_type") == "state"
    return kind in _BARE


def read(entries: Iterable[Item]) -> Iterator[Said]:
    for entry in entries:
        item = _item(entry)
        if item is None:
            continue
        said_at = time_or_none(entry.get("timestamp"))
        # A line of an unexpected shape, or nested too deep, is a broken line.
        with contextlib.suppress(InvalidInput, RecursionError):
            for said in read_item(item, field="payload", said_at=said_at):
                yield replace(said, content=clip(said.content, most=MOST_OF_RESULT)) if said.role == SYSTEM else said


def _item(entry: Item) -> Item | None:
    payload = entry.get("payload")
    if isinstance(payload, dict):
        found = cast("Item", payload) if entry.get("type") == "response_item" else None
    else:
        found = entry if isinstance(entry.get("type"), str) else None
    return _typed(found) if found is not None and found.get("type") == "message" else found


def _typed(message: Item) -> Item | None:
    """The message without what the program put into it, or None where nothing else is there."""
    content = message.get("content")
    if not isinstance(content, list):
        return message
    parts = cast("list[object]", content)
    kinds = _kinds(message)
    if len(kinds) == len(parts):
        kept = [part for part, kind in zip(parts, kinds, strict=True) if kind == _TYPED]
    elif message.get("role") == USER:
        kept = [part for part in parts if not _is_injected(part)]
    else:
        return message
    return {**message, "content": kept} if kept else None


def _kinds(message: Item) -> list[object]:
    """What each part of the message is, in files that say so; assistants' messages have no such list."""
    about = message.get(_METADATA)
    kinds = cast("Item", about).get("content_item_kinds") if isinstance(about, dict) else None
    return cast("list[object]", kinds) if isinstance(kinds, list) and message.get("role") != "assistant" else []


def _is_injected(part: object) -> bool:
    text = cast("Item", part).get("text") if isinstance(part, dict) else None
    begins = _INJECTED.match(text) if isinstance(text, str) else None
    if not isinstance(text, str) or begins is None:
        return False
    return begins[1] is None or text.rstrip().endswith(f"</{begins[1]}>")
