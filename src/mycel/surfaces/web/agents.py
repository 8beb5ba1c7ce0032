"""Agents: who was last seen when, and what each was given and has handed in, session by session."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from mycel.domain.activity import Injection, MemberActivity
from mycel.domain.source import SourceEntry
from mycel.errors import NotFound
from mycel.surfaces.web.filters import Chip
from mycel.surfaces.web.page import Page, PageRequest, Shown

# Whoever was seen since counts as connected: a hook or a tool call comes with every turn of an agent.
CONNECTED = timedelta(minutes=10)
INJECTIONS = 20
SOURCES = 20


@dataclass(slots=True)
class Session:
    """What is shown of one session, the latest first. Without an id: what belongs to none."""

    id: str | None
    last_at: datetime
    injections: list[Injection] = field(default_factory=list[Injection])
    sources: list[SourceEntry] = field(default_factory=list[SourceEntry])


def show(asked: PageRequest) -> Shown:
    seen = datetime.min.replace(tzinfo=UTC)
    members = sorted(asked.memory.activity.members(), key=lambda one: one.last_seen_at or seen, reverse=True)
    return Shown({"members": members}, {"connected": connected(members, asked.now)})


def connected(members: Iterable[MemberActivity], now: datetime) -> set[str]:
    return {one.member_id for one in members if one.last_seen_at and now - one.last_seen_at < CONNECTED}


def show_one(asked: PageRequest) -> Shown:
    id, session = asked.in_path["id"], asked.one("session_id")
    member = next((one for one in asked.memory.activity.members() if one.member_id == id), None)
    if member is None:
        raise NotFound("no member of this name in the team")
    # Two lists beside each other, each with its own later pages.
    handed, cursor = asked.one("handed_in"), asked.one("cursor")
    injections = asked.memory.activity.injections(agent=id, session_id=session, limit=INJECTIONS, cursor=cursor)
    sources = asked.memory.sources.list(agent=id, session_id=session, limit=SOURCES, cursor=handed)
    facts: dict[str, Any] = {
        "member": member,
        "injections": [] if handed else list(injections),
        "sources": [] if cursor else list(sources),
        "next_cursor": None if handed else injections.next_cursor,
        "next_handed_in": None if cursor else sources.next_cursor,
    }
    chips = [Chip("session", session, asked.with_query(session_id=None))] if session else []
    beside = {
        "sessions": sessions_of(facts["injections"], facts["sources"]),
        "is_connected": bool(connected([member], asked.now)),
        "chips": chips,
    }
    return Shown(facts, beside, title=f"Agent {id}")


def sessions_of(injections: Iterable[Injection], sources: Iterable[SourceEntry]) -> list[Session]:
    found: dict[str | None, Session] = {}
    for one in injections:
        session = found.setdefault(one.session_id, Session(one.session_id, one.given_at))
        session.injections.append(one)
    for source in sources:
        session = found.setdefault(source.session_id, Session(source.session_id, source.created_at))
        session.sources.append(source)
        session.last_at = max(session.last_at, source.created_at)
    return sorted(found.values(), key=lambda one: one.last_at, reverse=True)


def show_source(asked: PageRequest) -> Shown:
    """What was handed in, as it is kept: with secrets masked, and without what was marked private."""
    source = asked.memory.sources.get(asked.in_path["id"])
    facts = {"source": source}
    most = 60_000
    return Shown(facts, {"text": source.text[:most], "is_cut": len(source.text) > most}, title=source.title or "Source")


PAGES = (
    Page(address="/agents", template="agents.html", show=show, title="Agents", label="Agents", key="e"),
    Page(address="/agents/{id}", template="agent.html", show=show_one, title="Agent"),
    Page(address="/source/{id}", template="source.html", show=show_source, title="Source"),
)
