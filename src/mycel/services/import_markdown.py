"""Importing shared markdown notes: the file is kept as a source, and each entry is a value with its place in it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from mycel.access.scope import engine_scope, read_scope
from mycel.contracts.clock import Clock
from mycel.contracts.store import Store, Stores, Transaction
from mycel.domain import fields
from mycel.domain.fields import MAX_SHARED_TEXT_BYTES
from mycel.domain.ids import MemoryId
from mycel.domain.knowledge import ImportedEntry, ImportReport, LeftOut, Outcome, is_over, is_rival
from mycel.domain.memory import Category, EvidenceRef, MadeBy, Memory, SourceKind, SourceRef, Status
from mycel.domain.query import Filters, Order
from mycel.domain.source import Source, Transcript, Trigger, Turn
from mycel.domain.team import Caller
from mycel.errors import InvalidInput
from mycel.services.capture import new_event, new_source
from mycel.services.keyed_values import store_value
from mycel.services.knowledge import type_of
from mycel.services.policies import Policies
from mycel.services.prepared import PreparedMemory
from mycel.services.reversals import Reversals
from mycel.services.screening import screen_at_once, screen_transcript, without_secrets
from mycel.services.write import Writing

MAX_ENTRIES = 1000
FALLBACK = Category.FACT.value
# Keeps the file apart from the same file where it is indexed as a document.
URI = "shared-context:"


@dataclass(frozen=True, slots=True)
class _Read:
    """An entry that could be written, and the category that its own headings name."""

    one: PreparedMemory
    heading_category: str | None

    @property
    def place(self) -> tuple[str, str]:
        return self.one.values["category"], self.one.values["key"]

    @property
    def said(self) -> tuple[str | None, str, str]:
        return self.heading_category, self.one.values["key"], self.one.values["content"]


@dataclass(frozen=True, slots=True)
class _File:
    """The file as it will be kept, and what its author has that waits, or stands from an earlier import of it."""

    source: Source
    entries: Sequence[_Read]
    left_out: tuple[LeftOut, ...]
    waiting: Sequence[Memory]
    standing: Sequence[Memory]


class _Rehearsed(Exception):
    """Ends a dry run: nothing of the transaction stays."""


class Importing:
    def __init__(self, stores: Stores, clock: Clock, policies: Policies, writing: Writing) -> None:
        self._stores = stores
        self._clock = clock
        self._policies = policies
        self._writing = writing

    def import_markdown(
        self,
        caller: Caller,
        text: object,
        *,
        name: object,
        project: object = None,
        category: object = None,
        confidence: object = 0.8,
        dry_run: object = False,
    ) -> ImportReport:
        """All of the file in one transaction. What people did to an entry since stays, unless the file says anew."""
        # Part of where each entry says it came from.
        called = screen_at_once({"name": fields.label(name, field="name")}, self._policies.of(caller.team))["name"]
        said = fields.filled_text(text, field="text", max_bytes=MAX_SHARED_TEXT_BYTES)
        common: dict[str, object] = {
            "project": None if project is None else fields.place(project, field="project"),
            "category": FALLBACK if category is None else fields.label(category, field="category"),
            "confidence": fields.fraction(confidence, field="confidence"),
        }
        rehearsed = fields.flag(dry_run, field="dry_run")
        source = self._source(caller, said, called, common)
        entries, left_out = self._entries(caller, source, common)
        is_new = caller.team not in self._stores.teams_with_store()
        with self._stores.lease(caller.team) as store:
            waiting, standing = _own(store, caller, source, uris={source.uri, URI + called})
            file = _File(source, entries, left_out, waiting, standing)
            if rehearsed and is_new:
                # A store is made by its first transaction, and a dry run makes nothing.
                report = ImportReport(name=called, source_id=None, entries=tuple(map(_new, entries)))
            else:
                report = _transacted(
                    store,
                    lambda transaction: _put(transaction, caller, file, self._writing.reversals),
                    rehearsed=rehearsed,
                )
        return replace(report, name=called, dry_run=rehearsed, left_out=left_out)

    def _source(self, caller: Caller, text: str, name: str, common: Mapping[str, object]) -> Source:
        policy = self._policies.of(caller.team)
        screened = screen_transcript(Transcript(text, (Turn("", 0, len(text)),)), policy, field="text")
        # Under another category for what has none, the same file says other things.
        uri = URI + name + ("" if common["category"] == FALLBACK else f"#{common['category']}")
        surroundings = without_secrets({"uri": uri, "title": name, "project_id": common["project"]}, policy)
        now = self._clock.now()
        return new_source(caller, screened, kind=SourceKind.DOCUMENT, surroundings=surroundings, now=now)

    def _entries(
        self, caller: Caller, source: Source, common: Mapping[str, object]
    ) -> tuple[list[_Read], tuple[LeftOut, ...]]:
        from mycel.engine.shared_context import lines_of, read_shared_context

        found, empty = read_shared_context(source.text, name=source.title or "")
        lines = lines_of(source.text, (one.start for one in empty))
        left_out = [LeftOut(line, one.what, one.reason) for line, one in zip(lines, empty, strict=True)]
        if len(found) > MAX_ENTRIES:
            raise InvalidInput(f"holds {len(found)} entries; at most {MAX_ENTRIES} are imported at once", field="text")
        entries: list[_Read] = []
        for entry in found:
            value = source.text[entry.start : entry.end]
            size, most = len(value.encode()), self._writing.max_content
            if size > most:
                reason = f"is {size:,} bytes long; at most {most:,} are kept"
                left_out.append(LeftOut(lines_of(source.text, [entry.start])[0], entry.title, reason))
                continue
            category = entry.category or common["category"]
            said = {**common, "category": category, "key": entry.key, "title": entry.title, "type": type_of(category)}
            one = self._writing.read_new(caller, value, said)
            entries.append(_Read(_from_file(one, source, entry.start, entry.end), entry.category))
        return entries, tuple(sorted(left_out, key=lambda one: one.line))


def _from_file(one: PreparedMemory, source: Source, start: int, end: int) -> PreparedMemory:
    values = {
        **one.values,
        "source_kind": SourceKind.DOCUMENT,
        "made_by": MadeBy.IMPORT,
        "source_ref": SourceRef(source.id, uri=source.uri),
        "evidence_ref": EvidenceRef(source.id, start, end),
    }
    # Knowledge lasts until somebody decides otherwise.
    return replace(one, values=values, ttl=None)


def _own(
    store: Store, caller: Caller, source: Source, *, uris: Collection[str | None]
) -> tuple[list[Memory], list[Memory]]:
    """What of this project waits by this member, and what stands by this member from this file."""
    waiting: list[Memory] = []
    standing: list[Memory] = []
    filters = Filters(knowledge=True, agent_id=caller.member_id, statuses=(Status.INBOX, Status.ACTIVE))
    filters = replace(filters, project_id=source.project_id)
    cursor: str | None = None
    while True:
        page = store.memories.page(read_scope(caller), filters, order=Order(), limit=fields.MAX_PAGE, cursor=cursor)
        for one in page:
            if one.project_id == source.project_id and one.status is Status.INBOX:
                waiting.append(one)
            elif one.project_id == source.project_id and one.source_ref and one.source_ref.uri in uris:
                standing.append(one)
        cursor = page.next_cursor
        if cursor is None:
            return waiting, standing


def _transacted(store: Store, work: Callable[[Transaction], ImportReport], *, rehearsed: bool) -> ImportReport:
    if not rehearsed:
        return store.transact(work)
    reports: list[ImportReport] = []

    def rehearse(transaction: Transaction) -> ImportReport:
        reports.append(work(transaction))
        raise _Rehearsed

    try:
        return store.transact(rehearse)
    except _Rehearsed:
        return _without_new(store, reports[-1])


def _without_new(store: Store, report: ImportReport) -> ImportReport:
    """Ids that a dry run gave out belong to nothing."""
    scope = engine_scope(store.team)
    kept = [
        entry.memory_id is not None and store.memories.find(scope, entry.memory_id) is not None
        for entry in report.entries
    ]
    entries = [
        entry if is_kept else replace(entry, memory_id=None)
        for entry, is_kept in zip(report.entries, kept, strict=True)
    ]
    return replace(report, entries=tuple(entries), source_id=None)


def _put(transaction: Transaction, caller: Caller, file: _File, reversals: Reversals) -> ImportReport:
    latest = transaction.sources.find_document(file.source, shared=False)
    source = file.source
    before: Collection[tuple[str | None, str, str]] = ()
    if latest is not None:
        before = _said_in(latest)
        source = latest if latest.sha256 == source.sha256 else source
    if source is file.source:
        transaction.sources.add(source)
    entries = [
        _known(transaction, caller, read.one, file.waiting, was_there=read.said in before)
        or _write(transaction, caller, _kept_in(read.one, source), reversals)
        for read in file.entries
    ]
    if source is file.source:
        written = sum(entry.outcome is not Outcome.UNCHANGED for entry in entries)
        event = new_event(transaction, source, Trigger.MANUAL_WRITE, ())
        transaction.queue.add(replace(event, outcome=f"{written} of {len(entries)} values imported"))
    missing = _missing(file.standing, {read.place for read in file.entries})
    return ImportReport(name="", source_id=source.id, entries=tuple(entries), missing=missing)


def _said_in(source: Source) -> set[tuple[str | None, str, str]]:
    """What the file said when it was imported last."""
    from mycel.engine.shared_context import read_shared_context

    entries, _ = read_shared_context(source.text, name=source.title or "")
    return {(entry.category, entry.key, source.text[entry.start : entry.end]) for entry in entries}


def _known(
    transaction: Transaction, caller: Caller, one: PreparedMemory, waiting: Sequence[Memory], *, was_there: bool
) -> ImportedEntry | None:
    """What needs no writing: it stands, it waits, or the file has said it before and somebody decided since."""
    memory = one.at(transaction)
    scope = read_scope(caller)
    standing = transaction.memories.find_by_key(scope, memory)
    agrees = standing is not None and standing.content == memory.content and not is_over(standing, transaction.now)
    if standing is not None and agrees and memory.confidence <= standing.confidence:
        return _entry(memory, Outcome.UNCHANGED, standing.id)
    for candidate in waiting:
        if is_rival(candidate, memory) and candidate.content == memory.content:
            known = transaction.memories.find(scope, candidate.id)
            if known is not None and known.status is Status.INBOX and known.confidence >= memory.confidence:
                return _entry(memory, Outcome.WAITING, known.id)
    return _entry(memory, Outcome.UNCHANGED, standing and standing.id) if was_there and not agrees else None


def _write(transaction: Transaction, caller: Caller, one: PreparedMemory, reversals: Reversals) -> ImportedEntry:
    stored = store_value(transaction, caller, one, reversals=reversals)
    if stored.status is Status.INBOX:
        return _entry(stored, Outcome.WAITING, stored.id)
    return _entry(stored, Outcome.CREATED if stored.id == one.id else Outcome.UPDATED, stored.id)


def _kept_in(one: PreparedMemory, source: Source) -> PreparedMemory:
    """The same text may be kept already; then its evidence is there."""
    evidence = replace(one.values["evidence_ref"], source_id=source.id)
    reference = replace(one.values["source_ref"], source_id=source.id)
    return replace(one, values={**one.values, "evidence_ref": evidence, "source_ref": reference})


def _missing(standing: Sequence[Memory], places: Collection[tuple[str, str]]) -> tuple[ImportedEntry, ...]:
    gone = [one for one in standing if (one.category or "", one.key or "") not in places]
    return tuple(sorted((_entry(one, Outcome.MISSING, one.id) for one in gone), key=lambda entry: entry.key))


def _new(read: _Read) -> ImportedEntry:
    category, key = read.place
    waits = read.one.values["status"] is Status.INBOX
    return ImportedEntry(key, category, Outcome.WAITING if waits else Outcome.CREATED)


def _entry(memory: Memory, outcome: Outcome, id: MemoryId | None) -> ImportedEntry:
    return ImportedEntry(memory.key or "", memory.category or "", outcome, id)
