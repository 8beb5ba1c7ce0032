"""Capturing material: one short transaction stores it with the work to be done, and the caller goes on."""

from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from mycel.access.scope import read_scope
from mycel.contracts.clock import Clock
from mycel.contracts.store import Store, Stores, Transaction
from mycel.domain import fields
from mycel.domain.draft import default_scope
from mycel.domain.ids import EventId, SourceId, TeamName, is_id, new_id, parse_id
from mycel.domain.memory import Scope, SourceKind
from mycel.domain.source import (
    CaptureMode,
    EventState,
    IngestionEvent,
    Source,
    Step,
    Transcript,
    Trigger,
    read_surroundings,
)
from mycel.domain.team import Caller
from mycel.errors import InvalidInput, InvalidState, NotFound, Unavailable
from mycel.services.idempotency import Retry
from mycel.services.policies import Policies
from mycel.services.screening import screen_transcript, without_secrets

# A session that has not reported for so long is taken for finished.
QUIET = timedelta(minutes=5)
# How often another report of the same session may be faster.
TRIES = 50
PAUSE_SECONDS = 0.01
SESSION_STEPS = (Step.SUMMARIZE, Step.EXTRACT)


class Capture:
    """`wake` tells the engine of a team that has new work."""

    def __init__(
        self,
        stores: Stores,
        clock: Clock,
        policies: Policies,
        *,
        wake: Callable[[TeamName], None],
        quiet: timedelta = QUIET,
    ) -> None:
        self._stores = stores
        self._clock = clock
        self._policies = policies
        self._wake = wake
        self._quiet = quiet

    def session(
        self,
        caller: Caller,
        material: object,
        given: Mapping[str, object],
        *,
        scope: object = None,
        source_id: object = None,
        closed: object = True,
        idempotency_key: object = None,
    ) -> IngestionEvent:
        """A session that reports again grows its source; extraction waits until it is closed or quiet.

        A key tells a report that comes twice from one that says the same again: only the text can do that without it.
        """
        is_closed = fields.flag(closed, field="closed")
        requested, given = _read_scope(scope, given)
        if (stored := _stored_source(material, source_id)) is not None:
            if not is_closed:
                raise InvalidInput("is for new reports: a stored source is looked at now", field="closed")
            return self._again(caller, stored, given, SESSION_STEPS, Trigger.SESSION_CLOSE, requested)
        # By its session alone: a hash of the text would outlive what is purged from it.
        retry = Retry.read(caller, "capture_session", idempotency_key, given.get("session_id"))
        source = self._read(caller, material, given, kind=SourceKind.RUN, may_be_empty=is_closed)
        if not source.text.strip():
            return self._close(caller, source, requested)

        def work(transaction: Transaction, source: Source, growth: _Growth | None) -> IngestionEvent:
            if (known := _told_before(transaction, retry)) is not None:
                return known
            due_at = transaction.now if is_closed else transaction.now + self._quiet
            if growth is not None:
                event = _grow(transaction, growth, due_at=due_at, scope=requested)
            else:
                _require_first(transaction, source)
                event = new_event(transaction, source, Trigger.SESSION_CLOSE, SESSION_STEPS, scope=requested)
                event = store_once(transaction, source, replace(event, due_at=due_at))
            _require_scope(event, requested)
            retry.remember_source(transaction, source.id if growth is None else growth.known.id)
            return event

        return self._growing(caller, source, given, work, appends=retry.key is not None)

    def _close(self, caller: Caller, report: Source, requested: Scope | None) -> IngestionEvent:
        """A last report that adds nothing says that the session is over."""
        with self._stores.lease(caller.team) as store:
            known = None if report.session_id is None else store.sources.find_growing(report)
        if known is None:
            raise _nothing_to_keep()
        growth = _Growth(known, known)

        def work(transaction: Transaction) -> IngestionEvent:
            event = _grow(transaction, growth, due_at=transaction.now, scope=requested)
            _require_scope(event, requested)
            return event

        return self._captured(caller, work)

    def conversation(
        self,
        caller: Caller,
        material: object,
        given: Mapping[str, object],
        *,
        scope: object = None,
        source_id: object = None,
        capture_mode: object = CaptureMode.EXTRACT,
    ) -> IngestionEvent:
        """New material, or a source stored earlier. Only stored, it stays raw until it is captured for extraction."""
        mode = fields.choice(capture_mode, CaptureMode, field="capture_mode")
        steps = (Step.EXTRACT,) if mode is CaptureMode.EXTRACT else ()
        requested, given = _read_scope(scope, given)
        return self._talk(caller, material, given, source_id=source_id, steps=steps, requested=requested)

    def thread(
        self, caller: Caller, material: object, given: Mapping[str, object], *, source_id: object = None
    ) -> IngestionEvent:
        """A merged or archived thread: its summary, and what can be drawn from it; one that went on grows."""
        return self._talk(caller, material, given, source_id=source_id, steps=SESSION_STEPS)

    def retry(self, caller: Caller, id: object) -> IngestionEvent:
        """Has an event that failed or was given up done again, now. Whoever sees it may ask."""
        event_id = EventId(parse_id(id))

        def work(transaction: Transaction) -> IngestionEvent:
            event = transaction.queue.find(read_scope(caller), event_id)
            if event is None:
                raise NotFound(f"no event {event_id}")
            if event.state not in (EventState.FAILED, EventState.DEAD):
                return event
            again = replace(
                event,
                state=EventState.PENDING,
                tries=0,
                takeovers=0,
                due_at=transaction.now,
                updated_at=transaction.now,
            )
            transaction.queue.replace(again)
            return again

        return self._captured(caller, work)

    def _talk(
        self,
        caller: Caller,
        material: object,
        given: Mapping[str, object],
        *,
        source_id: object,
        steps: tuple[Step, ...],
        requested: Scope | None = None,
    ) -> IngestionEvent:
        if (stored := _stored_source(material, source_id)) is not None:
            return self._again(caller, stored, given, steps, Trigger.CONVERSATION_CAPTURE, requested)
        source = self._read(caller, material, given, kind=SourceKind.CONVERSATION)

        def work(transaction: Transaction, source: Source, growth: _Growth | None = None) -> IngestionEvent:
            if growth is not None:
                return _grow(transaction, growth, due_at=transaction.now)
            if Step.SUMMARIZE in steps:
                _require_first(transaction, source)
            event = new_event(transaction, source, Trigger.CONVERSATION_CAPTURE, steps, scope=requested)
            event = store_once(transaction, source, event)
            _require_scope(event, requested)
            return event

        if Step.SUMMARIZE in steps:
            return self._growing(caller, source, given, work)
        with self._stores.lease(caller.team) as store:
            clean = without_purged_passages(store, source)
        return self._captured(caller, lambda transaction: work(transaction, clean))

    def _again(
        self,
        caller: Caller,
        id: SourceId,
        given: Mapping[str, object],
        steps: tuple[Step, ...],
        trigger: Trigger,
        requested: Scope | None,
    ) -> IngestionEvent:
        """Look at a stored source; what is said of it again must be what it is."""
        said = read_surroundings(given, checks_audience=False)

        def work(transaction: Transaction) -> IngestionEvent:
            source = transaction.sources.find(read_scope(caller), id)
            if source is None:
                raise NotFound(f"no source {id}")
            for name, value in said.items():
                if getattr(source, name) != value:
                    raise InvalidState("of a stored source cannot be changed", field=name.removesuffix("_id"))
            event = ask_for(transaction, source, new_event(transaction, source, trigger, steps, scope=requested))
            _require_scope(event, requested)
            return event

        return self._captured(caller, work)

    def _read(
        self,
        caller: Caller,
        material: object,
        given: Mapping[str, object],
        *,
        kind: SourceKind,
        may_be_empty: bool = False,
    ) -> Source:
        from mycel.engine.transcripts.reading import read_transcript

        policy = self._policies.of(caller.team)
        transcript = screen_transcript(read_transcript(material, field="messages"), policy, field="messages")
        if not (may_be_empty or transcript.text.strip()):
            raise _nothing_to_keep()
        surroundings = without_secrets(read_surroundings(given), policy)
        return new_source(caller, transcript, kind=kind, surroundings=surroundings, now=self._clock.now())

    def _growing(
        self,
        caller: Caller,
        report: Source,
        given: Mapping[str, object],
        work: Callable[[Transaction, Source, _Growth | None], IngestionEvent],
        *,
        appends: bool = False,
    ) -> IngestionEvent:
        """What a report adds is worked out before the transaction: a long transcript must not hold up other writers."""
        with self._stores.lease(caller.team) as store:
            for _ in range(TRIES):
                # In this order: what is purged after it was found makes it outdated.
                known, clean = store.sources.find_growing(report), without_purged_passages(store, report)
                growth = None if known is None else _growth(known, clean, given, appends=appends)
                try:
                    return self._captured(
                        caller, lambda transaction, clean=clean, growth=growth: work(transaction, clean, growth)
                    )
                except _Outdated:
                    time.sleep(random.uniform(0.0, PAUSE_SECONDS))  # noqa: S311 - spreads waiters, guards nothing
        raise Unavailable("this session keeps changing: try again")

    def _captured(self, caller: Caller, work: Callable[[Transaction], IngestionEvent]) -> IngestionEvent:
        return captured(self._stores, caller, work, wake=self._wake)


def captured(
    stores: Stores, caller: Caller, work: Callable[[Transaction], IngestionEvent], *, wake: Callable[[TeamName], None]
) -> IngestionEvent:
    """Stores it, and tells the engine where there is something left to do."""
    with stores.lease(caller.team) as store:
        event = store.transact(work)
    if event.state is EventState.PENDING:
        wake(caller.team)
    return event


def _nothing_to_keep() -> InvalidState:
    return InvalidState("hold nothing to keep", field="messages")


def new_source(
    caller: Caller, transcript: Transcript, *, kind: SourceKind, surroundings: Mapping[str, Any], now: datetime
) -> Source:
    return Source(
        id=SourceId(new_id()),
        kind=kind,
        agent_id=caller.member_id,
        text=transcript.text,
        turns=transcript.turns,
        sha256=hash_of(transcript.text),
        trust=caller.trust,
        created_at=now,
        **surroundings,
    )


def hash_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def without_purged_passages(store: Store, report: Source) -> Source:
    """What was purged from a session is not stored again with a later part of it."""
    purged = store.sources.purged_passages(report)
    if not purged:
        return report
    from mycel.engine.transcripts.session_growth import without_purged

    clean = without_purged(report, purged)
    return report if clean is report else replace(clean, sha256=hash_of(clean.text))


def _read_scope(scope: object, given: Mapping[str, object]) -> tuple[Scope | None, Mapping[str, object]]:
    """Read the scope that a capture asks for, and with `project:NAME` or `repo:NAME` also where it belongs."""
    if scope is None:
        return None, given
    kind, colon, name = fields.label(scope, field="scope").partition(":")
    if not colon:
        return fields.choice(kind, Scope, field="scope"), given
    if kind not in (Scope.PROJECT, Scope.REPO):
        raise InvalidInput(f"must be one of {', '.join(Scope)}, or project:NAME or repo:NAME", field="scope")
    place = fields.place(name, field="scope")
    if given.get(kind) not in (None, place):
        raise InvalidInput(f"names another {kind} than {kind}", field="scope")
    return Scope(kind), {**given, kind: place}


def _stored_source(material: object, source_id: object) -> SourceId | None:
    """Return the source that is meant; a text that is an id and nothing else is no talk, but names one."""
    if (material is None) == (source_id is None):
        raise InvalidInput("give either the material or the id of a stored source", field="messages")
    if source_id is None:
        return SourceId(material) if isinstance(material, str) and is_id(material) else None
    return SourceId(parse_id(source_id, field="source_id"))


def _require_scope(event: IngestionEvent, requested: Scope | None) -> None:
    if requested is not None and event.scope is not requested:
        raise InvalidState(f"of this material is {event.scope}: it was captured so before", field="scope")


def new_event(
    transaction: Transaction,
    source: Source,
    trigger: Trigger,
    steps: tuple[Step, ...],
    *,
    scope: Scope | None = None,
) -> IngestionEvent:
    """Due now. Without anything to do it is done: the log says that the material came in."""
    return IngestionEvent(
        id=EventId(new_id()),
        trigger=trigger,
        source_id=source.id,
        scope=scope or default_scope(source.project_id, source.repo_id),
        agent_id=source.agent_id,
        steps=steps,
        state=EventState.PENDING if steps else EventState.DONE,
        outcome=None if steps else "stored",
        created_at=transaction.now,
        updated_at=transaction.now,
        due_at=transaction.now if steps else None,
    )


def store_once(transaction: Transaction, source: Source, event: IngestionEvent) -> IngestionEvent:
    """The same material twice is one source; what was asked for the first time is not done again."""
    twin = transaction.sources.find_twin(source)
    if twin is not None:
        return ask_for(transaction, twin, replace(event, source_id=twin.id))
    transaction.sources.add(source)
    transaction.queue.add(event)
    return event


def ask_for(transaction: Transaction, source: Source, event: IngestionEvent) -> IngestionEvent:
    """Of a source that is there: only what nobody has asked for yet."""
    latest = transaction.queue.find_latest(source.id)
    if latest is not None and set(event.steps) <= set(latest.steps):
        return latest
    transaction.queue.add(event)
    return event


class _Outdated(Exception):
    """The source has changed since it was looked at."""


@dataclass(frozen=True, slots=True)
class _Growth:
    """A source as it was found, and with a report added; the same object twice when that holds nothing new."""

    known: Source
    renewed: Source


def _told_before(transaction: Transaction, retry: Retry) -> IngestionEvent | None:
    id = retry.earlier_source(transaction)
    return None if id is None else transaction.queue.find_latest(id)


def _growth(known: Source, report: Source, given: Mapping[str, object], *, appends: bool) -> _Growth:
    from mycel.engine.transcripts.session_growth import grown_source

    _require_same_readers(known, report, given)
    grown = grown_source(known, Transcript(report.text, report.turns), appends=appends)
    return _Growth(known, known if grown is known else replace(grown, sha256=hash_of(grown.text)))


def _grow(transaction: Transaction, growth: _Growth, *, due_at: datetime, scope: Scope | None = None) -> IngestionEvent:
    known = growth.known
    waiting = transaction.queue.find_waiting(known.id, Step.EXTRACT)
    if growth.renewed is not known:
        if not transaction.sources.grow(known, growth.renewed):
            raise _Outdated
    elif waiting is None:
        return ask_for(transaction, known, new_event(transaction, known, _trigger(known), SESSION_STEPS, scope=scope))
    if waiting is None or waiting.state is EventState.RUNNING:
        # Whoever is at work has read the shorter text; the rest is for another event.
        before = transaction.queue.find_latest(known.id)
        asked = scope or (None if before is None else before.scope)
        event = new_event(transaction, known, _trigger(known), SESSION_STEPS, scope=asked)
        event = replace(event, due_at=due_at)
        transaction.queue.add(event)
        return event
    asked = scope or waiting.scope
    later = replace(waiting, steps=SESSION_STEPS, scope=asked, due_at=due_at, updated_at=transaction.now)
    transaction.queue.replace(later)
    return later


def _require_first(transaction: Transaction, report: Source) -> None:
    """Two first reports of a session at once: one of them grows what the other has stored."""
    if transaction.sources.is_growing(report):
        raise _Outdated


def _trigger(source: Source) -> Trigger:
    return Trigger.SESSION_CLOSE if source.kind is SourceKind.RUN else Trigger.CONVERSATION_CAPTURE


def _require_same_readers(known: Source, report: Source, given: Mapping[str, object]) -> None:
    if given.get("visibility") is not None and report.visibility is not known.visibility:
        raise InvalidState("of a session is what its first report said", field="visibility")
    if given.get("allowed_roles") is not None and set(report.allowed_roles) != set(known.allowed_roles):
        raise InvalidState("of a session are those of its first report", field="allowed_roles")
