"""Records of an archive on their way in: screened, then stored as they are or as a member's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from typing import Any

from mycel.access.scope import ReadScope, read_scope
from mycel.contracts.store import Transaction
from mycel.domain.archive import Header, MemoryRecord, Record, SourcePassage, Taken, Tombstone, weigh_memory, weigh_same
from mycel.domain.draft import first_sentence
from mycel.domain.ids import MemberId, MemoryId
from mycel.domain.link import PLACE_RELATIONS, Link
from mycel.domain.marks import ORIGIN, marks_of, with_marks, without_marks
from mycel.domain.memory import FIELDS, MadeBy, Memory, SourceKind, SourceRef, Status, Version
from mycel.domain.packed_terms import PackedTerms
from mycel.domain.place import Project, Repo
from mycel.domain.policy import Policy
from mycel.domain.receipt import PurgedPassage
from mycel.domain.screened_fields import is_screened, named_values
from mycel.domain.source import IngestionEvent, Source
from mycel.domain.team import Caller, Trust
from mycel.errors import InvalidInput
from mycel.retrieval.terms import packed_terms
from mycel.services.prepared import PreparedMemory
from mycel.services.screening import is_clean, masked, screen_at_once, suspicion, without_secrets
from mycel.services.write import Writing

_SCREENED = tuple(row.name for row in FIELDS.values() if is_screened(row.name) and row.name != "metadata")


def screened(record: Record, policy: Policy) -> Record:
    """The record itself where nothing is to be done; `InvalidInput` where nothing of it can be kept.

    What stands in an archive as approved waits again: nobody here has approved it. The text of a source stays as it is,
    since memories point into it; agents are shown none of it.
    """
    if isinstance(record, MemoryRecord):
        found = _screened_memory(record, policy)
        return replace(found, present=replace(found.present, memory=_reviewed(found.present.memory, policy)))
    if isinstance(record, Project | Repo):
        return replace(record, **screen_at_once(dict(named_values(record)), policy))
    if isinstance(record, Source):
        about = {name: value for name, value in named_values(record) if name not in {"text", "turns"}}
        return replace(record, **without_secrets(about, policy))
    return record


def _screened_memory(record: MemoryRecord, policy: Policy) -> MemoryRecord:
    if not record.past and record.present.reason is None and is_clean(_said_by(record.present.memory)):
        return record
    places = _places(record)
    present, moved = _without_secrets(record.present, policy, places)
    past = tuple(_without_secrets(version, policy, ())[0] for version in record.past)
    found = replace(record, present=replace(present, memory=_waiting(present.memory)), past=past)
    if record.episode is not None:
        approach_end, outcome_start = moved
        episode = replace(record.episode, approach_end=approach_end or 0, outcome_start=outcome_start)
        return replace(found, episode=episode)
    if record.artifact is not None:
        description_end, text_start = moved
        artifact = replace(record.artifact, description_end=description_end, text_start=text_start)
        return replace(found, artifact=artifact)
    return found


def _waiting(memory: Memory) -> Memory:
    if memory.status is not Status.ACTIVE or memory.deleted_at is not None:
        return memory
    reason = suspicion(_screened_values(memory))
    if reason is None:
        return memory
    return replace(memory, status=Status.INBOX, metadata=with_marks(memory.metadata, review=reason))


def _reviewed(memory: Memory, policy: Policy) -> Memory:
    """What the team has reviewed was reviewed elsewhere at best."""
    stands = memory.status is Status.ACTIVE and memory.deleted_at is None and ORIGIN not in memory.metadata
    reason = policy.review_reason(memory.type, memory.rationale) if stands else None
    if reason is None:
        return memory
    return replace(memory, status=Status.INBOX, metadata=with_marks(memory.metadata, review=reason))


def _said_by(memory: Memory) -> dict[str, Any]:
    """All that a memory says; of a title that was drawn from its text the text says it."""
    values = {name: value for name in _SCREENED if (value := getattr(memory, name))}
    values["metadata"] = without_marks(memory.metadata)
    title = memory.title.removesuffix("\u2026")
    if memory.content.startswith(title) and memory.title == first_sentence(memory.content):
        del values["title"]
    return values


def _screened_values(memory: Memory) -> dict[str, Any]:
    return {**dict(named_values(memory)), "metadata": without_marks(memory.metadata)}


def _without_secrets(
    version: Version, policy: Policy, places: Sequence[int | None]
) -> tuple[Version, tuple[int | None, ...]]:
    """With where those places of the content are afterwards."""
    memory = version.memory
    content, moved = _masked_parts(memory.content, policy, places)
    clean = without_secrets({**_screened_values(memory), "content": content}, policy)
    clean["metadata"] = with_marks({**clean["metadata"], **marks_of(memory.metadata)})
    reason = None if version.reason is None else masked(version.reason, policy, field="reason")
    return replace(version, memory=replace(memory, **clean), reason=reason), moved


def _masked_parts(text: str, policy: Policy, places: Sequence[int | None]) -> tuple[str, tuple[int | None, ...]]:
    """Part by part, so that each still begins where the details say."""
    kept = ""
    done = 0
    moved: list[int | None] = []
    for place in places:
        if place is not None:
            kept += masked(text[done:place], policy, field="content")
            done = place
        moved.append(None if place is None else len(kept))
    return kept + masked(text[done:], policy, field="content"), tuple(moved)


def _places(record: MemoryRecord) -> tuple[int | None, ...]:
    if record.episode is not None:
        return record.episode.approach_end, record.episode.outcome_start
    if record.artifact is not None:
        return record.artifact.description_end, record.artifact.text_start
    return ()


_STANDING = {Status.ACTIVE, Status.INBOX}


@dataclass(frozen=True, slots=True)
class Own:
    """A record as a new memory of the caller, with the id that it had."""

    was: MemoryId
    prepared: PreparedMemory


@dataclass(frozen=True, slots=True)
class Adopting:
    """Reads records as new memories of the caller. Their ids follow from what they were: a second time finds them."""

    caller: Caller
    origin: Header
    writing: Writing
    now: datetime

    def prepare(self, record: Record) -> Own | Link | Taken:
        """Outside the transaction: checks and analyses the text, or says why it is left out."""
        if isinstance(record, Link):
            return self._link(record)
        if not isinstance(record, MemoryRecord) or record.episode is not None or record.artifact is not None:
            return Taken.OPERATORS
        memory = record.present.memory
        if memory.status not in _STANDING or memory.deleted_at is not None or self._is_over(memory):
            return Taken.PAST
        try:
            return Own(memory.id, self._own(memory))
        except InvalidInput:
            return Taken.REFUSED

    def store(self, transaction: Transaction, own: Own | Link, *, dry_run: bool) -> Taken:
        if isinstance(own, Link):
            return self._store_link(transaction, own, dry_run=dry_run)
        prepared, scope = own.prepared, read_scope(self.caller)
        # What was purged comes back under no other id either.
        if transaction.memories.find_receipt(prepared.id) or transaction.memories.was_purged(scope, own.was):
            return Taken.PURGED
        if transaction.memories.find(scope, prepared.id, deleted=True) is not None:
            return Taken.UNCHANGED
        known = transaction.memories.find(scope, own.was, deleted=True)
        if known is not None and not self.writing.reversals.may_stand(transaction, self.caller, known):
            return Taken.TAKEN_AWAY
        memory = prepared.at(transaction)
        if memory.key is not None and transaction.memories.find_by_key(scope, memory) is not None:
            return Taken.KEY
        if not dry_run:
            transaction.memories.insert([(memory, prepared.words)], by=self.caller.member_id)
        return Taken.NEW

    def _own(self, memory: Memory) -> PreparedMemory:
        own = memory.agent_id == self.caller.member_id
        writer = self.caller if own else replace(self.caller, trust=Trust.LOW)
        new = self.writing.read_new(writer, memory.content, _said(memory), id=self._id(memory.id))
        came_from = SourceRef(uri=f"mycel:{self.origin.team}/{memory.id}")
        made = {"source_kind": SourceKind.IMPORT, "made_by": MadeBy.IMPORT, "source_ref": came_from}
        return replace(new, values={**new.values, **made})

    def _link(self, link: Link) -> Link | Taken:
        if link.to_place and link.relation not in PLACE_RELATIONS:
            return Taken.REFUSED
        to_id = link.to_id if link.to_place else self._id(link.to_id)
        return replace(link, from_id=self._id(link.from_id), to_id=to_id, created_by=self.caller.member_id)

    def _store_link(self, transaction: Transaction, link: Link, *, dry_run: bool) -> Taken:
        scope = read_scope(self.caller)
        origin = transaction.memories.find(scope, link.from_id)
        other = link.to_place or transaction.memories.find(scope, MemoryId(link.to_id)) is not None
        if origin is None or not other:
            return Taken.NEW if dry_run else Taken.END
        if any(known.to_id == link.to_id for known in transaction.links.of(scope, origin.id) if _same(known, link)):
            return Taken.UNCHANGED
        if not dry_run:
            transaction.links.add(replace(link, created_at=transaction.committed_at), origin=origin)
        return Taken.NEW

    def _id(self, id: str) -> MemoryId:
        """A UUID of version 8: the same for the same member, team and memory."""
        digits = sha256(f"{self.caller.team}\n{self.caller.member_id}\n{id}".encode()).hexdigest()
        return MemoryId(f"{digits[:8]}-{digits[8:12]}-8{digits[13:16]}-8{digits[17:20]}-{digits[20:32]}")

    def _is_over(self, memory: Memory) -> bool:
        return memory.expires_at is not None and memory.expires_at <= self.now


def _same(known: Link, link: Link) -> bool:
    return known.from_id == link.from_id and known.relation == link.relation


def _said(memory: Memory) -> Mapping[str, Any]:
    """As if the caller had said it; what Mycel itself has marked is its own."""
    said = {
        row.request: getattr(memory, row.name)
        for row in FIELDS.values()
        if row.written and row.at_first and not row.as_argument
    }
    said = {name: None if value == () else value for name, value in said.items()}
    return {
        **said,
        "observed_at": memory.observed_at or memory.created_at,
        "metadata": without_marks(memory.metadata) or None,
    }


def weighed(
    transaction: Transaction, scope: ReadScope, record: Record, *, by: MemberId, words: PackedTerms | None = None
) -> tuple[Taken, Callable[[], object]]:
    """What is to become of a record, and how it is stored, with its id and times; the same twice is `unchanged`."""
    match record:
        case MemoryRecord(present=present):
            standing = transaction.archive.standing(scope, record)
            before = standing.present and standing.present.memory
            return weigh_memory(record, standing), lambda: transaction.archive.put_memory(
                record, words or packed_terms(present.memory), by=by, before=before
            )
        case Link():
            is_known = transaction.links.find_same(record) is not None
            return Taken.UNCHANGED if is_known else Taken.NEW, lambda: transaction.links.add(
                record, origin=transaction.memories.get(scope, record.from_id, deleted=True)
            )
        case Tombstone():
            return _weigh_stone(transaction, scope, record), lambda: transaction.archive.put_tombstone(record)
        case SourcePassage():
            key, digest = bytes.fromhex(record.key), bytes.fromhex(record.digest)
            known = transaction.sources.has_passage(record.source_id, digest)
            passage = PurgedPassage(record.words, record.letters, key, digest)
            return Taken.UNCHANGED if known else Taken.NEW, lambda: transaction.sources.add_passages(
                record.source_id, [passage]
            )
        case _:
            standing, store = _plain(transaction, scope, record)
            return weigh_same(record, standing), store


def _weigh_stone(transaction: Transaction, scope: ReadScope, stone: Tombstone) -> Taken:
    if transaction.archive.is_known(stone):
        return Taken.UNCHANGED
    standing = transaction.memories.find(scope, stone.memory_id, deleted=True)
    return Taken.NEW if standing is None else Taken.STANDS


def _plain(
    transaction: Transaction, scope: ReadScope, record: Project | Repo | Source | IngestionEvent
) -> tuple[object, Callable[[], object]]:
    """What stands under the record's name, and how it is stored where nothing does."""
    match record:
        case Project():
            return transaction.places.find_project(record.name), lambda: transaction.places.register_project(record)
        case Repo():
            return transaction.places.find_repo(record.name), lambda: transaction.places.register_repo(record)
        case Source():
            return transaction.sources.find(scope, record.id), lambda: transaction.sources.add(record)
        case IngestionEvent():
            return transaction.queue.find(scope, record.id), lambda: transaction.queue.add(record)
