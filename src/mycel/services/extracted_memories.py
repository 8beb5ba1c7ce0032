"""Memories drawn from a source: they belong where it belongs and are for the same readers."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from mycel.domain.draft import MAX_TITLE, default_path, default_scope, first_sentence
from mycel.domain.ids import MemberId, MemoryId, TeamName
from mycel.domain.marks import AGENT, EXPLICIT, OUTSIDER, with_marks
from mycel.domain.memory import (
    NO_METADATA,
    EvidenceRef,
    MadeBy,
    MemoryType,
    Scope,
    SourceKind,
    SourceRef,
    Status,
)
from mycel.domain.policy import Policy
from mycel.domain.session_summary import Part, points_of
from mycel.domain.source import Candidate, Source, Turn
from mycel.domain.team import Kind, Member, Trust
from mycel.services.prepared import PreparedMemory, unwritten
from mycel.services.screening import suspicion

# A summary leaves things out; it is not wrong.
SUMMARY_CONFIDENCE = 0.9
# What an agent or somebody from outside said waits below what the team's people did.
LESS_SURE = 0.9
# How the title of a thread's summary begins.
THREAD = "Thread: "


# The member of the team that a talk calls by a name.
FindMember = Callable[[str], Member | None]


class Drawing:
    def __init__(
        self,
        source: Source,
        policy: Policy,
        *,
        team: TeamName,
        trust: Trust,
        scope: Scope | None = None,
        find_member: FindMember = lambda _: None,
    ) -> None:
        """`scope` is what its capture asked for; by default it follows from where the source belongs."""
        self._scope = scope or default_scope(source.project_id, source.repo_id)
        self._source = source
        self._policy = policy
        self._team = team
        self._trust = trust
        self._find_member = find_member

    def candidate(self, found: Candidate) -> PreparedMemory:
        speaker = None if found.said_by is None else self._find_member(found.said_by)
        spoke_as = self._spoke_as(found, speaker)
        values = {
            "type": found.type,
            "title": found.title,
            "content": found.content,
            "category": found.category,
            "tags": found.tags,
            "rationale": found.rationale,
            "alternatives": found.alternatives,
            "confidence": found.confidence if spoke_as is None else round(found.confidence * LESS_SURE, 2),
            "evidence_ref": EvidenceRef(self._source.id, found.start, found.end),
            "made_by": MadeBy.EXTRACTION,
            "status": Status.INBOX,
            "observed_at": self._said_at(found.start),
            "metadata": with_marks(
                NO_METADATA,
                grounds=found.grounds if _may_speak_for_the_team(found, speaker) else None,
                said_by=found.said_by,
                spoke_as=spoke_as,
                about=_person(found, speaker),
                taken_back=found.taken_back_by,
            ),
        }
        return self.memory(values, ttl=self._policy.inbox_kept)

    def _said_at(self, place: int) -> datetime | None:
        turn = self._turn(place)
        return None if turn is None else turn.said_at

    def _spoke_as(self, found: Candidate, speaker: Member | None) -> str | None:
        """Where whose word it is speaks against believing it before a person has looked."""
        if speaker is not None:
            return AGENT if speaker.kind is Kind.AGENT else None
        turn = self._turn(found.start)
        if turn is not None and turn.role == "assistant":
            return AGENT
        return None if found.said_by is None else OUTSIDER

    def _turn(self, place: int) -> Turn | None:
        return next((turn for turn in self._source.turns if turn.start <= place < turn.end), None)

    def summary(self, text: str) -> PreparedMemory:
        is_session = self._source.kind is SourceKind.RUN
        made_by = MadeBy.SESSION_SUMMARY if is_session else MadeBy.THREAD_SUMMARY
        type = MemoryType.EPISODE if is_session else MemoryType.THREAD_SUMMARY
        values = {
            "type": type,
            "title": self._title(text, is_session=is_session),
            "content": text,
            "confidence": SUMMARY_CONFIDENCE,
            "made_by": made_by,
        }
        return self.memory(values, ttl=self._policy.life_of(made_by, type))

    def _title(self, summary: str, *, is_session: bool) -> str:
        """Return what the talk is called, or what it was about; a thread is announced as one."""
        if is_session:
            return self._source.title or _subject(summary, otherwise="Session")
        named = self._source.title or _subject(summary, otherwise=self._source.thread_id or "without a name")
        title = named if named.startswith(THREAD) else f"{THREAD}{named}"
        return title if len(title) <= MAX_TITLE else f"{title[: MAX_TITLE - 1].rstrip()}…"

    def memory(self, values: dict[str, Any], *, ttl: timedelta | None, id: MemoryId | None = None) -> PreparedMemory:
        """Active unless the values say otherwise, or the text or its author calls for a look at it first."""
        source = self._source
        kept: dict[str, Any] = {
            "team": self._team,
            "agent_id": source.agent_id,
            "trust": self._trust,
            "visibility": source.visibility,
            "allowed_roles": source.allowed_roles,
            "project_id": source.project_id,
            "repo_id": source.repo_id,
            "session_id": source.session_id,
            "task_id": source.task_id,
            "scope": self._scope,
            "path": default_path(values["type"], source.project_id, source.agent_id),
            "source_kind": source.kind,
            "source_ref": SourceRef(source.id, thread_id=source.thread_id, uri=source.uri),
            "status": Status.ACTIVE,
            "metadata": NO_METADATA,
            **values,
        }
        reason = self._reason(kept)
        if reason is not None:
            kept["status"] = Status.INBOX
            kept["metadata"] = with_marks(kept["metadata"], review=reason)
        return unwritten(kept, ttl=ttl, id=id)

    def _reason(self, values: dict[str, Any]) -> str | None:
        if not self._policy.trusts(self._trust):
            return f"{self._source.agent_id} has {self._trust} trust, and the team asks for {self._policy.least_trust}"
        if (found := suspicion(values)) is not None:
            return found
        # A candidate waits anyway, and says why by itself.
        if values["status"] is not Status.ACTIVE:
            return None
        return self._policy.review_reason(values["type"], values.get("rationale"))


def _person(found: Candidate, speaker: Member | None) -> MemberId | None:
    """Whom a profile memory is about: that one confirms it. Agents have no profile."""
    if found.type is not MemoryType.PROFILE or speaker is None or speaker.kind is not Kind.HUMAN:
        return None
    return speaker.id


def _may_speak_for_the_team(found: Candidate, speaker: Member | None) -> bool:
    """What was said outright is a ground by a person of the team, or by the one unnamed who speaks with an agent.

    A customer's order or an agent's is nobody's rule before somebody has looked at it.
    """
    if found.grounds != EXPLICIT or found.said_by is None:
        return True
    return speaker is not None and speaker.kind is Kind.HUMAN


def _subject(summary: str, *, otherwise: str) -> str:
    """What was asked for; of a talk in which nobody asked, what it says first."""
    first = next((points[0] for part in Part if (points := points_of(summary, part))), None)
    return otherwise if first is None else first_sentence(first)
