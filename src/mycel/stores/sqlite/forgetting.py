"""What a purge takes out of sources, and what keeps it from coming back with a later report."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import replace

import apsw

from mycel.domain.ids import MemoryId
from mycel.domain.memory import MadeBy, Memory, Visibility
from mycel.domain.source import BLANK
from mycel.engine.english.sentences import Span
from mycel.engine.purged_passages import KEY_BYTES, blank_said, passages_in, recognisable, redacted
from mycel.stores.sqlite.rows import columns_of, memory_from, packed_roles

_USED = """
    SELECT source_id, evidence_ref, content FROM memories WHERE id = ?1 AND source_id IS NOT NULL
    UNION SELECT source_id, evidence_ref, content FROM memory_versions WHERE id = ?1 AND source_id IS NOT NULL"""
_SUMMARIES = (MadeBy.SESSION_SUMMARY, MadeBy.THREAD_SUMMARY)


def forget_evidence(connection: apsw.Connection, memory: Memory) -> dict[str, list[str]]:
    """A source that only this memory used loses its text; of a shared one, what this memory says is blanked.

    The report of a task is what its episode says, but for what other memories were drawn from.
    It stays hidden from whomever the memory was hidden from. Returns what was said, by source.
    """
    said: dict[str, list[str]] = {}
    for source_id, evidence, content in connection.execute(_USED, (memory.id,)).fetchall():
        # A reference to somebody else's material does not make it one's own.
        owner = connection.execute("SELECT agent_id, text FROM sources WHERE id = ?", (source_id,)).fetchone()
        if owner is None or owner[0] != memory.agent_id:
            continue
        _, start, end = json.loads(evidence) if evidence else (None, 0, 0)
        passages = passages_in((owner[1][start:end].replace(BLANK, " "), content)) if evidence else []
        said.setdefault(source_id, []).extend(passages)
        spans = _own_spans(connection, source_id, memory, span=(start, end), whole=len(owner[1]))
        _blank(connection, source_id, owner[1], spans=spans, passages=passages)
        _remember(connection, source_id, passages)
        if memory.visibility is not Visibility.TEAM:
            connection.execute(
                "UPDATE sources SET visibility = ?, agent_id = ?, allowed_roles = ? WHERE id = ?",
                (memory.visibility, memory.agent_id, packed_roles(memory.allowed_roles), source_id),
            )
    return said


def list_summaries(connection: apsw.Connection, source_id: str, *, like: Memory) -> list[Memory]:
    """Deleted ones too, which can be restored."""
    sql = f"""
        SELECT {columns_of("m")} FROM memories m
        WHERE m.source_id = ? AND m.made_by IN (?, ?) AND m.id <> ? ORDER BY m.number"""
    rows = connection.execute(sql, (source_id, *_SUMMARIES, like.id)).fetchall()
    return [memory_from(row, like.team) for row in rows]


def redacted_memory(memory: Memory, passages: Sequence[str]) -> Memory:
    """The same object when it says nothing of the kind."""
    clean = replace(
        memory,
        title=redacted(memory.title, passages),
        summary=memory.summary and redacted(memory.summary, passages),
        content=redacted(memory.content, passages),
    )
    return memory if clean == memory else clean


def redact_versions(connection: apsw.Connection, id: MemoryId, passages: Sequence[str]) -> bool:
    """Of the past, which is changed for this alone; whether anything was."""
    rows = connection.execute("SELECT version, title, summary, content FROM memory_versions WHERE id = ?", (id,))
    redactions = [
        (*clean, id, version)
        for version, *texts in rows.fetchall()
        if (clean := [text and redacted(text, passages) for text in texts]) != texts
    ]
    connection.executemany(
        "UPDATE memory_versions SET title = ?, summary = ?, content = ? WHERE id = ? AND version = ?", redactions
    )
    return bool(redactions)


def _remember(connection: apsw.Connection, source_id: str, passages: Sequence[str]) -> None:
    known = connection.execute("SELECT key FROM purged_passages WHERE source_id = ? LIMIT 1", (source_id,)).fetchone()
    marks = recognisable(passages, key=known[0] if known else os.urandom(KEY_BYTES))
    connection.executemany(
        "INSERT OR IGNORE INTO purged_passages VALUES (?, ?, ?, ?, ?)",
        [(source_id, mark.words, mark.letters, mark.key, mark.digest) for mark in marks],
    )


def _own_spans(
    connection: apsw.Connection, source_id: str, memory: Memory, *, span: Span, whole: int
) -> Sequence[Span]:
    others = connection.execute(
        "SELECT evidence_ref FROM memories WHERE source_id = ? AND id <> ?", (source_id, memory.id)
    ).fetchall()
    if others and memory.made_by is not MadeBy.TASK_COMPLETION:
        return [span]
    kept = sorted((start, end) for (evidence,) in others if evidence for _, start, end in [json.loads(evidence)])
    found: list[Span] = []
    done = 0
    for start, end in [*kept, (whole, whole)]:
        found += [(done, start)] if done < start else []
        done = max(done, end)
    return found


def _blank(
    connection: apsw.Connection, source_id: str, text: str, *, spans: Sequence[Span], passages: Sequence[str]
) -> None:
    # As long as what it covers: the evidence of other memories keeps its place. The passages first, for their signs.
    blanked = blank_said(text, passages)
    for start, end in spans:
        blanked = blanked[:start] + BLANK * (end - start) + blanked[end:]
    if blanked != text:
        # The hash of the whole would confirm a guess at the part that is gone.
        connection.execute("UPDATE sources SET text = ?, sha256 = '' WHERE id = ?", (blanked, source_id))
