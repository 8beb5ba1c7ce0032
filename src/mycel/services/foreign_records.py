"""Records of other systems on their way in: each is weighed by itself, and known again by its id there."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, cast

from mycel.access.scope import read_scope
from mycel.contracts.clock import Clock
from mycel.contracts.store import Store, Stores, Transaction
from mycel.domain import fields
from mycel.domain.fields import MAX_ITEMS
from mycel.domain.foreign_import import MARK, ImportedRecord, ImportOutcome, derived_id, digest_of
from mycel.domain.ids import MemoryId, SourceId, TeamName, parse_id
from mycel.domain.link import Link, Relation
from mycel.domain.marks import PREFIX, REVIEW, marks_of, with_marks
from mycel.domain.memory import NO_METADATA, MadeBy, Memory, SourceKind, SourceRef, Status
from mycel.domain.packed_terms import PackedTerms
from mycel.domain.source import CaptureMode, Source, Step, Transcript, Trigger, read_surroundings
from mycel.domain.team import Caller, Trust
from mycel.engine.transcripts.turns import PARAGRAPH
from mycel.errors import InvalidInput, LimitExceeded
from mycel.services.capture import hash_of, new_event, new_source, without_purged_passages
from mycel.services.policies import Policies
from mycel.services.prepared import PreparedMemory
from mycel.services.proposals import must_wait, propose
from mycel.services.screening import masked, screen_at_once, screen_transcript, suspicion, without_secrets
from mycel.services.write import Writing

MAX_ID_BYTES = 4096
_SHOWN_ID = 200
_MARKED = PREFIX + MARK
# Ids that programs make say nothing to anybody; all others are looked at as any text.
_MADE_ID = re.compile(r"(?:observation:|summary:|block-)?[0-9a-fA-F-]{1,40}")
# What another record of the same thing may change.
_RENEWED = (
    *("content", "title", "summary", "tags", "category", "type", "observed_at", "expires_at"),
    *("valid_from", "valid_until", "project_id", "session_id"),
)
_LINK = frozenset({"from_id", "to_id", "relation"})
# A key would let a record take the place of a value here, and where it comes from is known.
_OF_OURS = frozenset({"key", "source", "idempotency_key"})


@dataclass(frozen=True, slots=True)
class _Memory:
    """What it said there, as a digest, tells a record that has changed from one that has not."""

    prepared: PreparedMemory
    said: str
    # The memory here that it was written from.
    origin: MemoryId | None = None


@dataclass(frozen=True, slots=True)
class _Talk:
    source: Source


_Prepared = _Memory | _Talk | Link | ImportedRecord


class ForeignRecords:
    def __init__(
        self, stores: Stores, clock: Clock, policies: Policies, writing: Writing, *, wake: Callable[[TeamName], None]
    ) -> None:
        self._stores = stores
        self._clock = clock
        self._policies = policies
        self._writing = writing
        self._wake = wake

    def take(
        self,
        caller: Caller,
        items: object,
        *,
        system: object,
        trust: object = Trust.LOW,
        capture_mode: object = CaptureMode.STORE,
        dry_run: object = False,
    ) -> list[ImportedRecord]:
        listed = fields.several(items, field="items", most=MAX_ITEMS)
        named = {"system": fields.label(system, field="system")}
        name = screen_at_once(named, self._policies.of(caller.team))["system"]
        asked = fields.choice(trust, Trust, field="trust")
        writer = replace(caller, trust=min(asked, caller.trust, key=list(Trust).index))
        mode = fields.choice(capture_mode, CaptureMode, field="capture_mode")
        rehearsed = fields.flag(dry_run, field="dry_run")
        preparing = _Preparing(writer, name, self._writing, self._policies, self._clock.now())
        if rehearsed and caller.team not in self._stores.teams_with_store():
            # A store is made by its first transaction, and a dry run makes nothing.
            return [_unknown(preparing.prepare(item)) for item in listed]
        with self._stores.lease(caller.team) as store:
            prepared = [_without_purged(store, preparing.prepare(item)) for item in listed]
            steps = (Step.EXTRACT,) if mode is CaptureMode.EXTRACT else ()
            weighing = _Weighing(writer, steps, rehearsed=rehearsed)
            outcomes = store.transact(lambda transaction: weighing.take(transaction, prepared))
        if steps and not rehearsed and any(isinstance(one, _Talk) for one in prepared):
            self._wake(caller.team)
        return outcomes


@dataclass(frozen=True, slots=True)
class _Preparing:
    """Outside the transaction: checks, screens and analyses a record, or says why it is refused."""

    caller: Caller
    system: str
    writing: Writing
    policies: Policies
    now: datetime

    def prepare(self, item: object) -> _Prepared:
        try:
            if not isinstance(item, Mapping):
                raise InvalidInput("must be an object", field="item")
            given = dict(cast(Mapping[str, Any], item))
            if given.keys() >= _LINK:
                return self._link(given)
            id = fields.filled_text(given.pop("id", None), field="id", max_bytes=MAX_ID_BYTES)
            return self._talk(id, given) if "messages" in given else self._memory(id, given)
        except (InvalidInput, LimitExceeded) as error:
            return ImportedRecord(ImportOutcome.REFUSED, reason=str(error))

    def id_of(self, id: str) -> str:
        """The same for the same member: what others took in is none of its business."""
        return derived_id(self.caller.team, self.caller.member_id, self.system, id)

    def _memory(self, id: str, given: dict[str, Any]) -> _Prepared:
        for name in _OF_OURS & given.keys():
            raise InvalidInput("is not for records of other systems", field=name)
        content = given.pop("content", None)
        origin = given.pop("memory", None)
        ends_at = given.get("expires_at")
        if ends_at is not None and fields.moment(ends_at, field="expires_at") <= self.now:
            return ImportedRecord(ImportOutcome.PAST)
        new = self.writing.read_new(self.caller, content, given, id=MemoryId(self.id_of(id)))
        said = digest_of(str(content), *(f"{name}={given[name]}" for name in sorted(given)))
        kept = {"system": self.system, "id": self._shown(id), "said": said, "kept": digest_of(new.values["content"])}
        marks: dict[str, object] = {MARK: kept}
        if _is_waiting_for_trust(new, self.caller):
            marks["review"] = f"it was imported from {self.system} with {self.caller.trust} trust"
        values = {
            **new.values,
            "source_kind": SourceKind.IMPORT,
            "made_by": MadeBy.IMPORT,
            "source_ref": SourceRef(uri=f"import:{self.system}"),
            "metadata": with_marks(new.values.get("metadata", NO_METADATA), **marks),
        }
        was = None if origin is None else parse_id(origin, field="memory")
        return _Memory(replace(new, values=values), said, was)

    def _shown(self, id: str) -> str:
        """The id as it is there; what could steer a reader, or is a secret, is only its digest."""
        if _MADE_ID.fullmatch(id):
            return id
        line = fields.one_line(id)[:_SHOWN_ID]
        clean = masked(line, self.policies.of(self.caller.team), field="id")
        return line if clean == line and suspicion({"foreign_id": line}) is None else f"sha256:{digest_of(id)}"

    def _talk(self, id: str, given: dict[str, Any]) -> _Talk:
        from mycel.engine.transcripts.reading import read_transcript

        policy = self.policies.of(self.caller.team)
        transcript = read_transcript(given.pop("messages"), field="messages")
        began = given.pop("observed_at", None)
        transcript = screen_transcript(transcript, policy, field="messages")
        if not transcript.text.strip():
            raise InvalidInput("hold nothing to keep", field="messages")
        thread = digest_of(self.system, id) if len(id) > fields.MAX_LABEL or not fields.is_one_line(id) else id
        given = {"thread_id": thread, "uri": f"import:{self.system}", **given}
        surroundings = without_secrets(read_surroundings(given), policy)
        now = self.now if began is None else min(fields.moment(began, field="observed_at"), self.now)
        source = new_source(self.caller, transcript, kind=SourceKind.CONVERSATION, surroundings=surroundings, now=now)
        return _Talk(replace(source, id=SourceId(self.id_of(id))))

    def _link(self, given: Mapping[str, Any]) -> Link:
        ends = [
            MemoryId(self.id_of(fields.filled_text(given[name], field=name, max_bytes=MAX_ID_BYTES)))
            for name in ("from_id", "to_id")
        ]
        relation = fields.choice(given["relation"], Relation, field="relation")
        if ends[0] == ends[1]:
            raise InvalidInput("leads from a record to itself", field="to_id")
        return Link(ends[0], ends[1], relation, self.caller.member_id, self.now)


def _is_waiting_for_trust(new: PreparedMemory, caller: Caller) -> bool:
    """Whether nothing else holds it back, which would be the better reason to tell."""
    return (
        new.values.get("metadata", NO_METADATA)
        .get(REVIEW, "")
        .startswith(f"{caller.member_id} has {caller.trust} trust")
    )


def _rest(known: Source, source: Source) -> Transcript:
    """What follows the turns that both begin with: of a talk that took another turn, only that is added."""
    same = 0
    if not source.text.startswith(known.text):
        for ours, theirs in zip(known.turns, source.turns, strict=False):
            if known.text[: ours.end] != source.text[: theirs.end]:
                break
            same = theirs.end + len(PARAGRAPH)
    turns = [replace(turn, start=turn.start - same, end=turn.end - same) for turn in source.turns if turn.start >= same]
    return Transcript(source.text[same:], tuple(turns))


def _unknown(prepared: _Prepared) -> ImportedRecord:
    """Where nothing is yet, all is new."""
    return prepared if isinstance(prepared, ImportedRecord) else ImportedRecord(ImportOutcome.NEW)


def _without_purged(store: Store, prepared: _Prepared) -> _Prepared:
    return _Talk(without_purged_passages(store, prepared.source)) if isinstance(prepared, _Talk) else prepared


@dataclass(frozen=True, slots=True)
class _Weighing:
    """Inside the transaction: what stands decides."""

    caller: Caller
    steps: tuple[Step, ...]
    rehearsed: bool

    def take(self, transaction: Transaction, prepared: Sequence[_Prepared]) -> list[ImportedRecord]:
        new: list[tuple[Memory, PackedTerms]] = []
        taken: set[str] = set()
        outcomes: list[ImportedRecord] = []
        for one in prepared:
            if isinstance(one, _Memory) and one.prepared.id not in taken:
                outcomes.append(self._memory(transaction, one, new))
                taken.add(one.prepared.id)
                continue
            if new:
                # Before what may refer to them, and before another state of the same record.
                self._insert(transaction, new)
            outcomes.append(self._other(transaction, one))
        if new:
            self._insert(transaction, new)
        return outcomes

    def _other(self, transaction: Transaction, one: _Prepared) -> ImportedRecord:
        if isinstance(one, _Memory):
            new: list[tuple[Memory, PackedTerms]] = []
            outcome = self._memory(transaction, one, new)
            self._insert(transaction, new)
            return outcome
        if isinstance(one, _Talk):
            return self._talk(transaction, one.source)
        return self._link(transaction, one) if isinstance(one, Link) else one

    def _insert(self, transaction: Transaction, new: list[tuple[Memory, PackedTerms]]) -> None:
        if new and not self.rehearsed:
            transaction.memories.insert(new, by=self.caller.member_id)
        new.clear()

    def _memory(self, transaction: Transaction, one: _Memory, new: list[tuple[Memory, PackedTerms]]) -> ImportedRecord:
        id = one.prepared.id
        scope = read_scope(self.caller)
        before = transaction.memories.find(scope, id, deleted=True)
        if before is None:
            was_purged = one.origin is not None and transaction.memories.was_purged(scope, one.origin)
            if was_purged or transaction.memories.find_receipt(id) is not None:
                return ImportedRecord(ImportOutcome.PURGED)
            if (standing := self._standing(transaction, one)) is not None:
                return standing
            new.append((one.prepared.at(transaction), one.prepared.words))
            return ImportedRecord(ImportOutcome.NEW, None if self.rehearsed else id)
        if before.deleted_at is not None:
            return ImportedRecord(ImportOutcome.DELETED)
        mark = before.metadata.get(_MARKED, {})
        if mark.get("said") == one.said:
            return ImportedRecord(ImportOutcome.UNCHANGED, id)
        if mark.get("kept") != digest_of(before.content):
            return ImportedRecord(ImportOutcome.EDITED, id)
        if not self.rehearsed:
            after = self._renewed(before, one.prepared.at(transaction), transaction.committed_at)
            if must_wait(before, after, ()):
                propose(transaction, before, after, by=self.caller.member_id)
                return ImportedRecord(ImportOutcome.UPDATED, id)
            transaction.memories.replace(
                before, after, by=self.caller.member_id, reason="it was changed where it came from"
            )
        return ImportedRecord(ImportOutcome.UPDATED, id)

    def _standing(self, transaction: Transaction, one: _Memory) -> ImportedRecord | None:
        """What became of the memory that a record was written from, if the caller may see it."""
        if one.origin is None:
            return None
        found = transaction.memories.find(read_scope(self.caller), one.origin, deleted=True)
        if found is None:
            return None
        if found.deleted_at is not None:
            return ImportedRecord(ImportOutcome.DELETED)
        is_same = found.content.strip() == str(one.prepared.values["content"]).strip()
        return ImportedRecord(ImportOutcome.UNCHANGED if is_same else ImportOutcome.EDITED, found.id)

    def _renewed(self, before: Memory, found: Memory, at: datetime) -> Memory:
        """What people added here stays; what waits for a person waits again."""
        values = {name: getattr(found, name) for name in _RENEWED}
        own = {**found.metadata}
        metadata = {**{name: one for name, one in marks_of(before.metadata).items() if name not in own}, **own}
        waits = found.status is Status.INBOX
        return replace(
            before,
            **values,
            metadata=with_marks(metadata, **({} if waits else {"review": None})),
            status=Status.INBOX if waits else before.status,
            trust=min(before.trust, found.trust, key=list(Trust).index),
            version=before.version + 1,
            updated_at=at,
        )

    def _talk(self, transaction: Transaction, source: Source) -> ImportedRecord:
        known = transaction.sources.find(read_scope(self.caller), source.id)
        if known is None:
            if not self.rehearsed:
                transaction.sources.add(source)
                transaction.queue.add(new_event(transaction, source, Trigger.CONVERSATION_CAPTURE, self.steps))
            return ImportedRecord(ImportOutcome.NEW, None if self.rehearsed else source.id)
        from mycel.engine.transcripts.session_growth import grown_source

        grown = grown_source(known, _rest(known, source))
        if grown is known:
            self._ask(transaction, known)
            return ImportedRecord(ImportOutcome.UNCHANGED, known.id)
        renewed = replace(grown, sha256=hash_of(grown.text))
        if not self.rehearsed:
            transaction.sources.grow(known, renewed)
            transaction.queue.add(new_event(transaction, known, Trigger.CONVERSATION_CAPTURE, self.steps))
        return ImportedRecord(ImportOutcome.UPDATED, known.id)

    def _ask(self, transaction: Transaction, known: Source) -> None:
        """What was only stored the first time may be drawn from now."""
        latest = transaction.queue.find_latest(known.id)
        asked = latest is not None and set(self.steps) <= set(latest.steps)
        if self.steps and not asked and not self.rehearsed:
            transaction.queue.add(new_event(transaction, known, Trigger.CONVERSATION_CAPTURE, self.steps))

    def _link(self, transaction: Transaction, link: Link) -> ImportedRecord:
        scope = read_scope(self.caller)
        origin = transaction.memories.find(scope, link.from_id)
        if origin is None or transaction.memories.find(scope, MemoryId(link.to_id)) is None:
            # In a dry run its ends may be those that would be new.
            return ImportedRecord(ImportOutcome.NEW if self.rehearsed else ImportOutcome.NO_END)
        if transaction.links.find_same(link) is not None:
            return ImportedRecord(ImportOutcome.UNCHANGED)
        if not self.rehearsed:
            transaction.links.add(replace(link, created_at=transaction.committed_at), origin=origin)
        return ImportedRecord(ImportOutcome.NEW)
