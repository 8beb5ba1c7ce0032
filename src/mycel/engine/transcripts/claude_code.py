"""Transcripts of Claude Code: lines of `type`, `message`, `sessionId`, beside many lines of bookkeeping."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import cast

from mycel.engine.transcripts.messages import MOST_OF_RESULT, Item, kind_of, read_content, time_or_none
from mycel.engine.transcripts.turns import ASSISTANT, SYSTEM, TOOL, USER, Said, clip
from mycel.errors import InvalidInput

_SPOKEN = {"user": USER, "assistant": ASSISTANT}
_ROLES = {**_SPOKEN, "attachment": USER, "system": SYSTEM}
# Text that the program writes in the name of the user: commands, their output, notices.
_WRAPPED = re.compile(r"\s*(?:<(?:local-command|command|bash|task)-[a-z-]+>|\[Request interrupted by user)")
_COMMAND = re.compile(r"<command-name>([^<]*)</command-name>")


def recognises(entry: Item) -> bool:
    if not isinstance(entry.get("type"), str) or "payload" in entry:
        return False
    if isinstance(entry.get("sessionId"), str):
        return True
    if entry["type"] == "summary":
        return isinstance(entry.get("leafUuid"), str)
    if entry["type"] == "file-history-snapshot":
        return isinstance(entry.get("snapshot"), dict)
    named = isinstance(entry.get("uuid"), str) or isinstance(entry.get("timestamp"), str)
    return named and entry["type"] in _SPOKEN and isinstance(entry.get("message"), dict)


def read(entries: Iterable[Item]) -> Iterator[Said]:
    """Each message once: compacting a session writes copies of earlier lines, with the ids they had.

    Subagents once wrote into the file of their session, and now have files of their own: whoever speaks first is
    whose file it is. The titles in `summary` lines may be those of other sessions, so they are left out.
    """
    seen: set[object] = set()
    sidechain: bool | None = None
    for entry in entries:
        id = entry.get("uuid")
        if isinstance(id, str):
            if id in seen:
                continue
            seen.add(id)
        said = list(_read_entry(entry))
        if not said:
            continue
        if sidechain is None:
            sidechain = entry.get("isSidechain") is True
        if sidechain == (entry.get("isSidechain") is True):
            yield from said


def _read_entry(entry: Item) -> Iterator[Said]:
    is_compaction = entry.get("isCompactSummary") is True
    if entry.get("isMeta") is True or entry.get("isApiErrorMessage") is True:
        return
    if entry.get("isVisibleInTranscriptOnly") is True and not is_compaction:
        return
    message = _message(entry)
    if message is None:
        return
    said_at = time_or_none(entry.get("timestamp"))
    role = SYSTEM if is_compaction else _ROLES[str(entry["type"])]
    # A line of an unexpected shape, or nested too deep, is a broken line.
    with contextlib.suppress(InvalidInput, RecursionError):
        for part_role, text in read_content(message, role=role, field="message"):
            yield _said(part_role, text, said_at=said_at)


def _message(entry: Item) -> Item | None:
    """What a line says: its message, or a prompt typed while the agent was at work, which becomes no message."""
    kind = kind_of(entry)
    if kind in _SPOKEN:
        found = entry.get("message")
        return cast("Item", found) if isinstance(found, dict) else None
    if kind == "system":
        return entry if isinstance(entry.get("content"), str) else None
    if kind == "attachment" and isinstance(found := entry.get("attachment"), dict):
        queued = cast("Item", found)
        return {"content": queued.get("prompt")} if queued.get("type") == "queued_command" else None
    return None


def _said(role: str, text: str, *, said_at: datetime | None) -> Said:
    if role == SYSTEM:
        return Said(SYSTEM, clip(text, most=MOST_OF_RESULT), said_at=said_at)
    if role != USER or not _WRAPPED.match(text):
        return Said(role, text, said_at=said_at)
    if arguments := _arguments(text):
        command = _COMMAND.search(text)
        return Said(USER, f"{command[1] if command else ''} {arguments}".strip(), said_at=said_at)
    return Said(TOOL, clip(text, most=MOST_OF_RESULT), said_at=said_at)


def _arguments(text: str) -> str:
    """What was said with a command."""
    _, _, after = text.partition("<command-args>")
    inner, closing, _ = after.partition("</command-args>")
    return inner.strip() if closing else ""
