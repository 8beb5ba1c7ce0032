"""The changes of a team from its service without the sending: page by page, or live and for ever.

Written once as a generator that asks for what it needs and gives changes as they come, and driven by a sync and an
async sender.
"""

from __future__ import annotations

import random
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from mycel.client.exchanges import (
    FIRST_WAIT,
    LONGEST_WAIT,
    TRIES,
    Failed,
    Pause,
    Received,
    Sent,
    attempts,
    error_in,
    written,
)
from mycel.domain import fields
from mycel.domain.change import Change
from mycel.errors import LimitExceeded, MycelError, Unavailable
from mycel.wire.events import (
    CHANGE,
    CHANGES,
    CURSOR,
    END,
    LAST_EVENT_ID,
    MEDIA_TYPE,
    NOW,
    Event,
    EventReader,
    problem_in,
)
from mycel.wire.problems import error_of
from mycel.wire.reading import read_text

# How long a service that does not answer any more is looked for.
PATIENCE_SECONDS = 300.0
_TYPES: Mapping[str, Any] = {
    "after": int,
    "path": str,
    "project": str,
    "type": Sequence[str] | str,
    "team": str,
}


class Open(NamedTuple):
    """Send this and leave the answer open; of an error read all of it."""

    request: Sent


@dataclass(frozen=True, slots=True)
class Read:
    """The next part of what was opened."""


Telling = Generator[Sent | Open | Read | Pause | list[Change], Received | Failed | None, None]


def telling(
    headers: Mapping[str, str],
    *,
    after: int | None,
    path: str,
    project: str | None,
    type: str | Sequence[str] | None,
    follow: bool,
    team: str | None,
) -> Telling:
    """Gives a list, be it empty, as soon as it is sure that nothing that happens from then on is missed."""
    given = {"after": after, "path": path, "project": project, "type": type, "team": team}
    query = written(_TYPES, given)
    if after is None:
        query.append(("after", NOW))
    request = Sent("GET", CHANGES, query, None, dict(headers))
    return _Live(request, after).tell() if fields.flag(follow, field="follow") else _pages(request)


def _pages(request: Sent) -> Telling:
    more = True
    while more:
        came: Received = yield from attempts(request, repeatable=True)
        page: list[Change] = read_text(list[Change], came.body)
        more = "link" in came.headers and bool(page)
        yield page
        if more:
            rest = [(name, value) for name, value in request.query if name != "after"]
            request = request._replace(query=[*rest, ("after", str(page[-1].sequence))])


class _Live:
    """Comes back with the last event it has seen, so that nothing is missed and nothing told twice."""

    def __init__(self, request: Sent, after: int | None) -> None:
        self._request = request._replace(headers={**request.headers, "accept": MEDIA_TYPE})
        self._reached = after
        self._is_established = False
        self._tries = 0
        self._waited = 0.0

    def tell(self) -> Telling:
        while True:
            came = yield Open(self._next_request())
            lost = error_in(came) or (yield from self._listen())
            yield Pause(self._wait_after(lost))

    def _listen(self) -> Generator[Read | list[Change], Received | Failed | None, MycelError]:
        """Gives changes until the connection is lost, and returns why."""
        reader = EventReader()
        while True:
            part = yield Read()
            if not isinstance(part, Received):
                return error_in(part) or Unavailable("the stream has ended")
            found: list[Change] = []
            was_established = self._is_established
            for event in reader.read(part.body):
                if event.name == END:
                    yield found
                    problem = problem_in(event)
                    return error_of(int(problem.get("status", 503)), problem, {})
                found += self._heard(event)
            if found or self._is_established != was_established:
                yield found

    def _heard(self, event: Event) -> list[Change]:
        if event.name not in {CHANGE, CURSOR} or event.id is None:
            return []
        is_new = self._reached is None or event.id > self._reached
        self._reached = event.id if self._reached is None else max(event.id, self._reached)
        self._is_established, self._tries, self._waited = True, 0, 0.0
        return [read_text(Change, event.data)] if is_new and event.name == CHANGE else []

    def _next_request(self) -> Sent:
        if not self._is_established:
            return self._request
        return self._request._replace(headers={**self._request.headers, LAST_EVENT_ID: str(self._reached)})

    def _wait_after(self, lost: MycelError) -> float:
        """Raises what no waiting helps against."""
        self._tries += 1
        # Once it has been there, the service may take its time to come back or to notice that we were gone.
        may_return = isinstance(lost, Unavailable | LimitExceeded if self._is_established else Unavailable)
        is_over = self._waited >= PATIENCE_SECONDS if self._is_established else self._tries >= TRIES
        if not may_return or is_over:
            raise lost
        seconds = random.uniform(0, min(LONGEST_WAIT, FIRST_WAIT * 2**self._tries))  # noqa: S311
        self._waited += max(seconds, FIRST_WAIT)
        return seconds
