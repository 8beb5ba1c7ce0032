"""Erasure: what a purge takes out of a store besides the memory itself, and what keeps it from coming back."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from mycel.access.scope import engine_scope
from mycel.contracts.engine_store import Quote
from mycel.contracts.store import Transaction
from mycel.domain.change import audience_of
from mycel.domain.ids import MemberId, SourceId
from mycel.domain.memory import MadeBy, Memory, MemoryType, Visibility
from mycel.domain.receipt import Receipt
from mycel.domain.source import Source
from mycel.domain.team import ENGINE
from mycel.engine.purged_passages import (
    KEY_BYTES,
    blank_evidence,
    quoted_passages,
    recognisable,
    redacted_memory,
    title_beside,
)
from mycel.services.proposals import texts_about

_SUMMARIES = {MadeBy.SESSION_SUMMARY, MadeBy.THREAD_SUMMARY}


def purge(transaction: Transaction, memory: Memory, *, by: MemberId) -> Receipt:
    """Out of every answer at once: also out of its sources, and of summaries that tell what it says."""
    # The summary of its month may quote it; the next night tells the month anew. Retention leaves it what it has.
    if by != ENGINE and memory.type is MemoryType.EPISODE:
        for summary in transaction.episodes.tell_again(memory):
            purge(transaction, summary, by=by)
    for proposal in texts_about(transaction, memory):
        transaction.memories.erase(proposal, by=by)
    for source_id, said in _blank_sources(transaction, memory).items():
        for summary in transaction.memories.made_from(engine_scope(memory.team), source_id, deleted=True):
            if summary.made_by in _SUMMARIES and summary.id != memory.id:
                _redact(transaction, summary, said, by=by)
    return transaction.memories.erase(memory, by=by)


def _blank_sources(transaction: Transaction, memory: Memory) -> dict[SourceId, list[str]]:
    """What was said, by source. A source stays hidden from whomever the memory was hidden from."""
    said: dict[SourceId, list[str]] = {}
    for quote in transaction.sources.quoted_by(memory.id):
        source = transaction.sources.find(engine_scope(memory.team), quote.source_id)
        # A reference to somebody else's material does not make it one's own.
        if source is None or source.agent_id != memory.agent_id:
            continue
        passages = quoted_passages(source.text, quote.evidence, quote.content)
        said.setdefault(source.id, []).extend(passages)
        _blank(transaction, source, memory, quote, passages)
        key = transaction.sources.passage_key(source.id) or os.urandom(KEY_BYTES)
        transaction.sources.add_passages(source.id, recognisable(passages, key=key))
        if memory.visibility is not Visibility.TEAM:
            transaction.sources.restrict(source.id, audience_of(memory))
    return said


def _blank(transaction: Transaction, source: Source, memory: Memory, quote: Quote, passages: Sequence[str]) -> None:
    text = blank_evidence(
        source.text,
        passages,
        evidence=quote.evidence,
        others=transaction.sources.other_evidence(source.id, memory.id),
        # The report of a task is what its episode says, but for what other memories were drawn from.
        is_whole=memory.made_by is MadeBy.TASK_COMPLETION,
    )
    if text != source.text:
        transaction.sources.blank(source.id, text, title=title_beside(source.title, text, passages))


def _redact(transaction: Transaction, summary: Memory, said: Sequence[str], *, by: MemberId) -> None:
    clean = redacted_memory(summary, said)
    if clean != summary:
        # The engine goes on with its own summaries only.
        owner = ENGINE if transaction.memories.changed_last_by(summary.id) == ENGINE else by
        after = replace(clean, version=summary.version + 1, updated_at=transaction.committed_at)
        transaction.memories.replace(summary, after, by=owner, reason="something it said was purged")
    versions = transaction.memories.versions(engine_scope(summary.team), summary.id, deleted=True)
    past = [version.memory for version in versions if version.believed_until is not None]
    changed = [clean for memory in past if (clean := redacted_memory(memory, said)) != memory]
    if changed:
        transaction.memories.redact_versions(changed)
        transaction.recalls.forget_of(summary.id)
