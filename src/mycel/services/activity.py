"""What agents were given and do, and who changed what is no memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import cast

from mycel.access.rules import may_curate, may_review
from mycel.access.scope import read_scope, readable_scopes
from mycel.contracts.clock import Clock
from mycel.contracts.directory import Directory
from mycel.contracts.store import Store, Stores
from mycel.domain import fields
from mycel.domain.activity import (
    INJECTIONS_KEPT,
    MAX_INJECTION_BYTES,
    MAX_INJECTION_CHARACTERS,
    MAX_NAMED,
    AuditEntry,
    Given,
    Injection,
    MemberActivity,
    Occasion,
    Use,
)
from mycel.domain.briefing import Briefing
from mycel.domain.ids import MemberId, MemoryId, is_short_for, new_id, parse_id, parse_short
from mycel.domain.query import Page
from mycel.domain.request_filters import read_limit
from mycel.domain.team import Caller, Kind
from mycel.errors import InvalidInput, LimitExceeded, Unavailable
from mycel.services.read import absence
from mycel.services.short_ids import ambiguous, find_id, find_memories

_NEVER = datetime.min.replace(tzinfo=UTC)
# How a note of a context begins, with as much of its id as it is cited by.
_CITED = re.compile(r"- \[m:([0-9a-f-]{8,36})\]")
# Lines that hold nobody's words: what the envelope and its headings are made of.
_OURS = re.compile(r"#{1,3} [A-Za-z ,:'-]{1,80}|</?[a-z-]{1,40}>|")


class Activity:
    def __init__(self, stores: Stores, directory: Directory, clock: Clock) -> None:
        self._stores = stores
        self._directory = directory
        self._clock = clock

    def members(self, caller: Caller) -> list[MemberActivity]:
        members = self._directory.list_members(caller.team)
        # When others work is for those who look after them: it moves with what an agent may not see.
        known = [one.id for one in members if may_review(caller) or one.id == caller.member_id]
        with self._stores.lease(caller.team) as store:
            seen = store.activity.last_seen(read_scope(caller), known)
        found = [
            MemberActivity(member_id=one.id, role=one.role, kind=one.kind, last_seen_at=seen.get(one.id))
            for one in members
        ]
        return sorted(found, key=lambda one: one.last_seen_at or _NEVER, reverse=True)

    def report(
        self,
        caller: Caller,
        *,
        text: object,
        occasion: object,
        memory_ids: object = (),
        session_id: object = None,
        task_id: object = None,
    ) -> Injection:
        from mycel.engine.secrets.masking import mask_secrets

        told = fields.filled_text(text, field="text", max_bytes=MAX_INJECTION_BYTES)[:MAX_INJECTION_CHARACTERS]
        on = fields.choice(occasion, Occasion, field="occasion")
        if on is Occasion.SEARCH:
            raise InvalidInput("searches are kept by themselves: give session, prompt or briefing", field="occasion")
        injection = Injection(
            id=new_id(),
            member_id=caller.member_id,
            occasion=on,
            given_at=self._clock.now(),
            text=mask_secrets(told).text,
            memory_ids=self._whole_ids(caller, memory_ids),
            session_id=None if session_id is None else mask_secrets(fields.label(session_id, field="session_id")).text,
            task_id=None if task_id is None else mask_secrets(fields.label(task_id, field="task_id")).text,
        )
        with self._stores.lease(caller.team) as store:
            store.transact(lambda transaction: transaction.activity.note_injection(injection, kept=INJECTIONS_KEPT))
        return injection

    def brief(self, caller: Caller, briefing: Briefing) -> None:
        """Keeps what an agent was told before a task; people look at briefings without being given them."""
        text = briefing.to_markdown() if caller.kind is Kind.AGENT else ""
        if text:
            named = [one.id for one in briefing.knowledge]
            # What was asked for is answered, whatever becomes of this.
            with suppress(Unavailable, LimitExceeded):
                self.report(caller, text=text, occasion=Occasion.BRIEFING, memory_ids=named, task_id=briefing.task_id)

    def injections(
        self, caller: Caller, *, agent: object = None, session_id: object = None, limit: object, cursor: object
    ) -> Page[Injection]:
        most, before = read_limit(limit), None if cursor is None else parse_id(cursor, field="cursor")
        session = None if session_id is None else fields.label(session_id, field="session_id")
        member = None if agent is None else MemberId(fields.label(agent, field="agent"))
        if not may_review(caller):
            if member not in {None, caller.member_id}:
                return Page(())
            member = caller.member_id
        with self._stores.lease(caller.team) as store:
            found = store.activity.injections(member_id=member, session_id=session, before=before, limit=most + 1)
            shown = [self._as_seen_by(caller, store, one) for one in found[:most]]
        return Page(shown, found[most - 1].id if len(found) > most else None)

    def given(self, caller: Caller, id: object, *, limit: object = None) -> list[Given]:
        memory_id, most = find_id(self._stores, caller, id), read_limit(limit)
        for scope in readable_scopes(caller):
            with self._stores.lease(scope.team) as store:
                if store.memories.find(scope, memory_id) is not None:
                    return store.activity.given(scope, memory_id, limit=most)
        raise absence(self._stores, caller, memory_id)

    def use(self, caller: Caller, by: object, *, limit: object = None) -> list[Use]:
        if by not in ("type", "agent"):
            raise InvalidInput("must be type or agent", field="by")
        most = read_limit(limit)
        with self._stores.lease(caller.team) as store:
            return store.activity.use(read_scope(caller), by_author=by == "agent", limit=most)

    def actions(self, caller: Caller, *, agent: object = None, limit: object, cursor: object) -> Page[AuditEntry]:
        most, before = read_limit(limit), None if cursor is None else parse_id(cursor, field="cursor")
        by = None if agent is None else MemberId(fields.label(agent, field="agent"))
        if not may_curate(caller):
            if by not in {None, caller.member_id}:
                return Page(())
            by = caller.member_id
        team = None if caller.is_operator else caller.team
        found = list(self._directory.list_actions(team, by=by, before=before, limit=most + 1))
        with self._stores.lease(caller.team) as store:
            found += store.activity.actions(read_scope(caller), by=by, before=before, limit=most + 1)
        found.sort(key=lambda one: one.id, reverse=True)
        return Page(found[:most], found[most - 1].id if len(found) > most else None)

    def _whole_ids(self, caller: Caller, given: object) -> tuple[MemoryId, ...]:
        """What is cited and gone by now is left out."""
        if not isinstance(given, Sequence) or isinstance(given, str | bytes):
            raise InvalidInput("must be a list of ids", field="memory_ids")
        if len(cast("Sequence[object]", given)) > MAX_NAMED:
            raise InvalidInput(f"names more than {MAX_NAMED}", field="memory_ids")
        parts = [parse_short(one, field="memory_ids") for one in cast("Sequence[object]", given)]
        if not parts:
            return ()
        seen = find_memories(self._stores, readable_scopes(caller), list(dict.fromkeys(parts)))
        found: list[MemoryId] = []
        for part in parts:
            meant = [one for one in seen if is_short_for(part, one.id)]
            if len(meant) > 1:
                raise ambiguous(meant, field="memory_ids")
            found += [one.id for one in meant]
        return tuple(dict.fromkeys(found))

    def _as_seen_by(self, caller: Caller, store: Store, injection: Injection) -> Injection:
        if injection.member_id == caller.member_id:
            return injection
        scope = read_scope(caller)
        seen = tuple(id for id in injection.memory_ids if store.memories.find(scope, id) is not None)
        return replace(injection, text=notes_of(injection.text, lambda id: _is_cited(seen, id)), memory_ids=seen)


def notes_of(text: str, is_seen: Callable[[str], bool]) -> str:
    """The lines of an injection that cite what may be read, between those that hold nobody's words."""
    return "\n".join(
        line
        for line in text.splitlines()
        if _OURS.fullmatch(line) or ((cited := _CITED.match(line)) and is_seen(cited.group(1)))
    )


def _is_cited(ids: Collection[MemoryId], part: str) -> bool:
    return any(is_short_for(part, id) for id in ids)
