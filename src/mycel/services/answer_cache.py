"""Answers of searches, kept for as long as asking again would bring the same."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable, Mapping
from datetime import datetime
from typing import NamedTuple

from mycel.domain.ids import TeamName
from mycel.domain.query import Order
from mycel.domain.recall import Hit
from mycel.domain.search_request import Ranking, SearchRequest
from mycel.domain.team import Caller

MOST_ANSWERS = 2048
MOST_BYTES = 32 * 1024 * 1024
# One of more than this would push out what many others ask.
LARGEST_BYTES = 1024 * 1024
# Of a hit without its texts, roughly; and of a character at most.
HIT_BYTES = 4096
CHARACTER_BYTES = 4

Revisions = Mapping[TeamName, Hashable]


class Question(NamedTuple):
    """Who asks what: with the caller's team, role and trust, so that whoever gets another asks another question."""

    caller: Caller
    text: str
    filters: Hashable
    # By the present, or by the moment asked about; a revision tells when the next one expires.
    leaves_out_expired: bool
    wants_expired: bool
    limit: int
    least: float | None
    ranking: Ranking
    as_of: datetime | None
    every: bool
    order: Order | None


def question_of(caller: Caller, search: SearchRequest) -> Question:
    return Question(
        caller=caller,
        text=search.text,
        filters=search.filters.lasting,
        leaves_out_expired=search.filters.alive_at is not None,
        wants_expired=search.filters.expired_at is not None,
        limit=search.limit,
        least=search.least,
        ranking=search.ranking,
        as_of=search.as_of,
        every=search.every,
        order=search.order,
    )


class _Answer(NamedTuple):
    hits: tuple[Hit, ...]
    teams: tuple[TeamName, ...]
    size: int


class AnswerCache:
    """All answers in here are of one minute, and of the revisions of their teams that were seen last.

    So nothing in it is older than a minute to any search, and a team's answers are gone as soon as it has changed.
    """

    def __init__(self, *, most: int = MOST_ANSWERS, most_bytes: int = MOST_BYTES) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._answers: OrderedDict[Question, _Answer] = OrderedDict()
        self._of_team: dict[TeamName, set[Question]] = {}
        self._seen: dict[TeamName, Hashable] = {}
        self._minute: datetime | None = None
        self._size = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._answers)

    def find(self, question: Question, revisions: Revisions, *, minute: datetime) -> tuple[Hit, ...] | None:
        """`revisions` are those of the teams that the question goes to, as they are now."""
        with self._lock:
            if minute != self._minute:
                self._clear()
                self._minute = minute
            for team, revision in revisions.items():
                if self._seen.get(team) != revision:
                    self._forget(team)
                    self._seen[team] = revision
            found = self._answers.get(question)
            if found is None:
                return None
            self._answers.move_to_end(question)
            return found.hits

    def keep(self, question: Question, revisions: Revisions, hits: tuple[Hit, ...], *, minute: datetime) -> None:
        """Unless a team has changed since its revision was read, or the minute is over."""
        size = CHARACTER_BYTES * len(question.text) + sum(map(_size, hits))
        if size > LARGEST_BYTES:
            return
        with self._lock:
            if minute != self._minute or any(self._seen.get(team) != one for team, one in revisions.items()):
                return
            self._remove(question)
            self._answers[question] = _Answer(hits, tuple(revisions), size)
            self._size += size
            for team in revisions:
                self._of_team.setdefault(team, set()).add(question)
            while len(self._answers) > self._most or self._size > self._most_bytes:
                self._remove(next(iter(self._answers)))

    def forget(self, team: TeamName) -> None:
        """At once, with what searches under way are about to bring: something was written, perhaps a purge."""
        # Most teams that are written to have nothing here.
        if team in self._seen:
            with self._lock:
                self._forget(team)

    def _forget(self, team: TeamName) -> None:
        self._seen.pop(team, None)
        for question in tuple(self._of_team.get(team, ())):
            self._remove(question)

    def _remove(self, question: Question) -> None:
        removed = self._answers.pop(question, None)
        if removed is None:
            return
        self._size -= removed.size
        for team in removed.teams:
            left = self._of_team[team]
            left.discard(question)
            if not left:
                del self._of_team[team]

    def _clear(self) -> None:
        self._answers.clear()
        self._of_team.clear()
        self._seen.clear()
        self._size = 0


def _size(hit: Hit) -> int:
    memory = hit.memory
    # Of the texts only these can be long.
    size = len(memory.content) + len(memory.title or "") + len(memory.summary or "") + len(memory.key or "")
    for others in (memory.metadata, memory.alternatives, memory.tags):
        if others:
            size += len(repr(others))
    return HIT_BYTES + CHARACTER_BYTES * (size + len(hit.snippet) + len(hit.why))
