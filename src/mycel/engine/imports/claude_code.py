"""Claude Code's own folder: transcripts of sessions, and the memory folder with its topics."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mycel.engine.imports.json_stream import json_lines
from mycel.engine.imports.material import Entry, Unreadable
from mycel.engine.imports.notes import links_of, names_in, open_note, plain
from mycel.engine.imports.records import Found, Left, Remembered, Talk
from mycel.engine.imports.values import cut_in, filled, in_parts, label, mapping, moment, text
from mycel.engine.transcripts import claude_code, codex
from mycel.engine.transcripts.turns import MAX_TRANSCRIPT_BYTES, Said, byte_size

INDEX = "MEMORY.md"
_HEAD_LINES = 64
# A talk is stored whole; what is longer goes in parts.
_PART_BYTES = MAX_TRANSCRIPT_BYTES // 4
_TYPES = {
    "project": {"type": "project"},
    "feedback": {"type": "lesson", "category": "best-practice"},
    "reference": {"type": "reference"},
    "user": {"type": "fact", "category": "preference"},
}
_LINK_LINE = re.compile(r"[ \t]*[-*+][ \t]+\[[^\]\n]{0,300}\]\(([^)\n]{1,300})\).*")


def is_transcript(values: Sequence[object]) -> bool:
    """By two lines at least: one may be an example that somebody keeps."""
    lines = [mapping(value) for value in values]
    return any(sum(map(writer.recognises, lines)) >= min(2, len(lines)) for writer in (claude_code, codex) if lines)


def read_transcript(entry: Entry) -> Iterator[Found]:
    bad, is_cut = 0, False
    lines: list[Mapping[str, Any]] = []

    def whole() -> Iterator[Mapping[str, Any]]:
        nonlocal bad, is_cut
        with entry.open() as file:
            for element in json_lines(file):
                if isinstance(element.value, Mapping):
                    line = mapping(element.value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]
                    if len(lines) < _HEAD_LINES:
                        lines.append(line)
                    yield line
                else:
                    bad += 1
                    is_cut = element.is_cut

    with entry.open() as file:
        head = [mapping(one.value) for one, _ in zip(json_lines(file), range(_HEAD_LINES), strict=False)]
    writer = max((claude_code, codex), key=lambda one: sum(map(one.recognises, head)))
    parts = 0
    for parts, messages in enumerate(_parts(writer.read(whole())), start=1):
        session = label(next((one["sessionId"] for one in lines if text(one.get("sessionId"))), None)) or entry.stem
        # Subagents have files of their own, with the id of their session.
        id = f"{session}/{entry.stem}" if entry.stem != session else session
        began = next((one["timestamp"] for one in messages if "timestamp" in one), None)
        fields = filled(session_id=session, observed_at=began, title=label(f"Session {entry.stem}"))
        yield Talk("session", id if parts == 1 else f"{id}#part-{parts}", messages, fields)
    if not parts:
        yield Left("session", entry.name, "nobody says anything in it")
    for _ in range(bad):
        yield Left("line", entry.name, "is not valid JSON", refused=True)
    if is_cut:
        yield cut_in(entry.name)


def _parts(said: Iterator[Said]) -> Iterator[list[dict[str, Any]]]:
    messages: list[dict[str, Any]] = []
    size = 0
    for one in said:
        if not one.content.strip():
            continue
        at = one.said_at.isoformat() if one.said_at else None
        messages.append(filled(role=one.role or "user", content=one.content, name=one.speaker, timestamp=at))
        size += byte_size(one.content)
        if size > _PART_BYTES:
            yield messages
            messages, size = [], 0
    if messages:
        yield messages


def read_memory(entries: Sequence[Entry]) -> Iterator[Found]:
    """Topics, each a file; of the index what is no list of them."""
    names = names_in(entries)
    topics = {entry.base for entry in entries if entry.base != INDEX}
    for entry in entries:
        try:
            note = open_note(entry)
        except Unreadable as error:
            yield Left("topic", entry.name, str(error), refused=True)
            continue
        body = _without_index(note.body, topics) if entry.base == INDEX else note.body.strip()
        if not body:
            reason = "only lists the topics" if entry.base == INDEX else "is empty"
            yield Left("index" if entry.base == INDEX else "topic", entry.name, reason)
            continue
        # Newer files keep all but the name one level down.
        front = {**note.front, **mapping(note.front.get("metadata"))}
        fields = _TYPES.get(text(front.get("type")), {"type": "note"})
        beside = filled(
            file=entry.name,
            description=text(front.get("description")),
            memory_type=text(front.get("type")),
            origin_session=text(front.get("originSessionId")),
            source_updated_at=moment(front.get("modified")),
        )
        own = {"title": label(front.get("name")) or note.title, "observed_at": moment(plain(front.get("modified")))}
        yield from in_parts(Remembered("topic", note.id, body, filled(**fields, **own, metadata=beside)))
        yield from links_of(note, note.body, names)


def _without_index(body: str, topics: set[str]) -> str:
    """Lines that only lead to a topic say nothing by themselves."""
    kept: list[str] = []
    for line in body.split("\n"):
        link = _LINK_LINE.fullmatch(line)
        if link is None or link[1].rpartition("/")[2] not in topics:
            kept.append(line)
    said = "\n".join(kept).strip()
    return said if any(line.strip() and not line.lstrip().startswith("#") for line in kept) else ""
