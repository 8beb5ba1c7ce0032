"""What a hook does about what happened: answer with what the team knows, and hand in what the agent did."""

from __future__ import annotations

import json
import time
from contextlib import suppress

from mycel.surfaces.hooks import hook_event as told
from mycel.surfaces.hooks.capture import failure_write, file_writes, session_writes, without_private_messages
from mycel.surfaces.hooks.clock import Deadline, TimeUp, Unreachable
from mycel.surfaces.hooks.delivery import LEAST_SECONDS, Delivery, Write
from mycel.surfaces.hooks.environment import EVERY, NEVER, NEW, HookSettings
from mycel.surfaces.hooks.files import FOLDER, Log
from mycel.surfaces.hooks.hook_event import Happening
from mycel.surfaces.hooks.inject import (
    NOTHING,
    SHARE_BESIDE_MEMORIES,
    SHARE_BESIDE_NEWEST,
    Injection,
    context_of,
    is_command,
    lacks_project,
    memories_for,
    newest_memories,
    question_in,
)
from mycel.surfaces.hooks.payloads import Answer
from mycel.surfaces.hooks.place import Place
from mycel.surfaces.hooks.reflection import REFLECTION, has_worked
from mycel.surfaces.hooks.service import Service, caller_of
from mycel.surfaces.hooks.session import Session, Sessions

SESSIONS = "sessions"
INJECTIONS = "/api/injections"
# Their prompts and answers come one by one; those of the others stand in a file or come together.
_PIECEMEAL = frozenset({told.CURSOR})
# The service writes a session anew with each report: from here on that takes longer than an agent should wait.
LONG_SESSION_BYTES = 1024 * 1024
# After these the agent no longer has what it was given before.
_FORGETTING = frozenset({"compact", "clear"})

NOT_LOOKED_AT = (
    "Mycel could not look into the team's memory in time: its service is busy or not running. Nothing from it is given "
    "here; search it with the tools of Mycel before you conclude that nothing is known."
)
# Before a service that broke off, or was not there, is asked once more.
_PAUSE_SECONDS = 0.05


def act(
    happened: Happening,
    *,
    place: Place,
    settings: HookSettings,
    member: str | None,
    deadline: Deadline,
    log: Log,
    answer: Answer,
    reflects: bool = False,
) -> None:
    delivery = Delivery(settings, caller_of(settings, member), deadline, log)
    hook = Hook(happened, place, settings, Sessions(settings.data / FOLDER / SESSIONS, deadline), delivery, deadline)
    if happened.kind in {told.SESSION_STARTED, told.PROMPTED}:
        if settings.captures:
            hook.note_prompt()
        if settings.injects:
            found = hook.inject(answer)
            answer.give(found.text)
            hook.report(found)
    elif settings.captures:
        writes = hook.writes()
        if happened.kind == told.TOOL_USED and not writes:
            return
        answer.give(hook.reflection() if reflects else "")
    if hook.is_long or (not delivery.drain() and deadline.left <= LEAST_SECONDS):
        delivery.hand_over()


class Hook:
    def __init__(
        self,
        happened: Happening,
        place: Place,
        settings: HookSettings,
        sessions: Sessions,
        delivery: Delivery,
        deadline: Deadline,
    ) -> None:
        self._happened = happened
        self._place = place
        self._settings = settings
        self._sessions = sessions
        self._delivery = delivery
        self._deadline = deadline
        self.is_long = False

    def inject(self, answer: Answer) -> Injection:
        """Return what the agent is given; where memory cannot be looked at, the agent is told so once."""
        happened = self._happened
        starts = happened.kind == told.SESSION_STARTED
        if starts:
            self._sessions.forget_old()
        elif is_command(happened.prompt):
            return NOTHING
        session = self._sessions.look_at(happened.agent, happened.session_id) if happened.session_id else None
        # A session that began before the service did, or before there were hooks, is told with its next prompt.
        wants_context = starts or (session is not None and not session.has_context)
        question = None if starts else question_in(happened.prompt)
        if not (wants_context or question is not None or self._wants_newest):
            return NOTHING
        has_heard = session is not None and session.has_heard_of_outage
        answer.otherwise = "" if has_heard else NOT_LOOKED_AT
        try:
            found = self._look_up(session, question, wants_context=wants_context)
        except (TimeUp, Unreachable):
            answer.give()
            if not has_heard:
                self._mark_outage(heard=True)
            raise
        if has_heard:
            self._mark_outage(heard=False)
        return found

    def _look_up(self, session: Session | None, question: str | None, *, wants_context: bool) -> Injection:
        """Ask the service, and once more if it is not there or breaks off."""
        try:
            return self._look_up_once(session, question, wants_context=wants_context)
        except Unreachable:
            if self._deadline.left < 2 * _PAUSE_SECONDS:
                raise
        time.sleep(_PAUSE_SECONDS)
        self._delivery.forget_service()
        return self._look_up_once(session, question, wants_context=wants_context)

    def _look_up_once(self, session: Session | None, question: str | None, *, wants_context: bool) -> Injection:
        happened = self._happened
        service = self._delivery.awaited_service() if wants_context else self._delivery.service()
        if service is None:
            raise Unreachable("no service runs")
        starts = happened.kind == told.SESSION_STARTED
        found = NOTHING
        if wants_context:
            beside = SHARE_BESIDE_NEWEST if self._wants_newest else SHARE_BESIDE_MEMORIES
            found = context_of(service, self._place, share=1.0 if starts else beside)
            self._remember(found, afresh=happened.source in _FORGETTING, is_context=True)
        # What the list of the newest shows may still be cited as what matters to the prompt.
        shown = (*(session.shown if session else ()), *found.ids)
        try:
            if self._wants_newest or (starts and self._settings.hook_recent != NEVER and lacks_project(found)):
                found = found.with_more(self._newest(service, session))
            if question is not None:
                least = self._settings.hook_relevance
                more = memories_for(service, question, self._place, least_relevance=least, shown=shown)
                self._remember(more, afresh=False)
                found = found.with_more(more)
        except (TimeUp, Unreachable):
            if not found.text:
                raise
        return found

    @property
    def _wants_newest(self) -> bool:
        """Tell whether the newest memories come with a prompt; nobody knows what is new without a session."""
        happened, wanted = self._happened, self._settings.hook_recent
        return happened.kind == told.PROMPTED and (
            wanted == EVERY or (wanted == NEW and happened.session_id is not None)
        )

    def _newest(self, service: Service, session: Session | None) -> Injection:
        """Look up the newest memories of the team: all with the first prompt of a session, then what has come since."""
        newest = newest_memories(service)
        if newest is None:
            return NOTHING
        if session is None or self._settings.hook_recent == EVERY:
            return newest.shown()
        is_first = session.newest is None or self._happened.source in _FORGETTING
        fresh = newest if is_first or session.newest is None else newest.after(session.newest, session.newest_since)
        if fresh.entries or is_first:
            with self._sessions.opened(self._happened.agent, self._happened.session_id or "") as noted:
                noted.note_newest(newest.ids, since=newest.since)
                noted.save()
        return fresh.shown()

    def report(self, found: Injection) -> None:
        """Tells the service what the agent was given, for people to see. Worth no waiting: it is not sent again."""
        happened, service = self._happened, self._delivery.service() if found.text else None
        if service is None:
            return
        starts = happened.kind == told.SESSION_STARTED
        body = {"text": found.text, "occasion": "session" if starts else "prompt", "memory_ids": found.ids}
        body |= {"session_id": happened.session_id} if happened.session_id else {}
        with suppress(TimeUp, Unreachable):
            service.post(INJECTIONS, json.dumps(body).encode())

    def reflection(self) -> str:
        """What the agent is asked at the end of the first turn in which it has worked, once in a session."""
        happened = self._happened
        if happened.kind != told.TURN_ENDED or happened.goes_on or happened.session_id is None:
            return ""
        if happened.transcript is None or not has_worked(happened.transcript):
            return ""
        with self._sessions.opened(happened.agent, happened.session_id) as session:
            if session.has_reflected:
                return ""
            # Noted first: whatever becomes of the answer, it is asked once.
            session.mark_reflected()
            session.save(durable=True)
        return REFLECTION

    def note_prompt(self) -> None:
        """What a later hook of the session needs to know of this prompt."""
        happened = self._happened
        if happened.session_id is None or not happened.prompt:
            return
        said = without_private_messages([{"role": told.USER, "content": happened.prompt}])
        with self._sessions.opened(happened.agent, happened.session_id) as session:
            session.entitle(said[0]["content"] if said else "")
            if happened.agent in _PIECEMEAL:
                session.keep(said)
            session.save()

    def writes(self) -> list[Write]:
        """Queued when it returns."""
        happened = self._happened
        if happened.kind == told.TOOL_USED:
            writes = file_writes(happened, self._place, self._settings)
            self._delivery.stage(writes)
            return writes
        if happened.session_id is None:
            return []
        with self._sessions.opened(happened.agent, happened.session_id) as session:
            if happened.kind == told.ANSWERED:
                session.keep(without_private_messages(happened.told))
                writes: list[Write] = []
            else:
                writes = session_writes(happened, self._place, session)
            if happened.failure is not None:
                writes.append(failure_write(happened, self._place, session))
            if session.unfinished:
                # Whoever finds that this was begun and not finished does it again.
                session.save(durable=True)
            self._delivery.stage(writes)
            session.finish()
            session.save()
            self.is_long = bool(writes) and session.offset > LONG_SESSION_BYTES
        return writes

    def _mark_outage(self, *, heard: bool) -> None:
        """Note that the agent knows of it, so that it does not hear the same with every prompt."""
        happened = self._happened
        if happened.session_id is not None:
            with suppress(TimeUp), self._sessions.opened(happened.agent, happened.session_id) as session:
                session.mark_outage(heard=heard)
                session.save()

    def _remember(self, found: Injection, *, afresh: bool, is_context: bool = False) -> None:
        happened = self._happened
        if happened.session_id is None or not (found.ids or afresh or is_context):
            return
        with self._sessions.opened(happened.agent, happened.session_id) as session:
            if afresh:
                session.forget_shown()
            if is_context:
                session.mark_context(given=True)
            session.show(found.ids)
            session.save()
