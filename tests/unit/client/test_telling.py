"""How a client is told of changes, without a service: what it asks for, when it comes back, and when it gives up."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from mycel.client import changes as module
from mycel.client.changes import PATIENCE_SECONDS, Open, Read, telling
from mycel.client.exchanges import TRIES, Failed, Pause, Received, Sent
from mycel.domain.change import Change, Operation
from mycel.domain.ids import MemberId, MemoryId
from mycel.errors import AccessDenied, InvalidInput, LimitExceeded, NotFound, Unauthenticated, Unavailable
from mycel.wire.events import HEARTBEAT, Event, change_event, cursor_event, end_event
from mycel.wire.shapes import to_json

OPENED = Received(200, {"content-type": "text/event-stream"}, b"")
BROKEN = Failed("the service cannot be reached")


def change(sequence: int) -> Change:
    moment = datetime(2026, 11, 15, 12, tzinfo=UTC)
    return Change(sequence, Operation.CREATE, MemoryId(f"memory-{sequence}"), "/notes", 1, MemberId("swe-1"), moment)


def part(*events: Event) -> Received:
    return Received(200, {}, b"".join(event.to_stream() for event in events))


def problem(status: int, **fields: Any) -> Received:
    return Received(status, {}, json.dumps({"status": status, "detail": "no", **fields}).encode())


class Talk:
    """Answers what is wanted with what was prepared, and keeps both."""

    def __init__(self, *answers: Received | Failed, **given: Any) -> None:
        given = {"after": 0, "path": "/", "project": None, "type": None, "follow": True, "team": None, **given}
        self._wanted = telling({"authorization": "Bearer x"}, **given)
        self._answers = list(answers)
        self.asked: list[Sent] = []
        self.pauses: list[float] = []

    def lists(self) -> list[list[int]]:
        """The sequences of each list that was given, until there are no answers left."""
        found: list[list[int]] = []
        answer: Received | Failed | None = None
        while True:
            try:
                step = self._wanted.send(answer)
            except StopIteration:
                return found
            answer = None
            if isinstance(step, list):
                found.append([one.sequence for one in step])
            elif isinstance(step, Pause):
                self.pauses.append(step.seconds)
            else:
                if not isinstance(step, Read):
                    self.asked.append(step.request if isinstance(step, Open) else step)
                if not self._answers:
                    return found
                answer = self._answers.pop(0)


def test_it_is_sure_as_soon_as_the_service_says_where_it_begins() -> None:
    talk = Talk(OPENED, part(cursor_event(7)), part(change_event(change(8)), change_event(change(9))), after=None)
    assert talk.lists() == [[], [8, 9]]
    (asked,) = talk.asked
    assert ("after", "now") in asked.query
    assert asked.headers["accept"] == "text/event-stream"
    assert "last-event-id" not in asked.headers


@pytest.mark.parametrize("size", [1, 2, 7, 100])
def test_however_it_is_cut_the_same_is_told(size: int) -> None:
    whole = b"retry: 1\r\n\r\n" + b"".join(
        [
            cursor_event(0).to_stream(),
            change_event(change(1)).to_stream(),
            HEARTBEAT,
            change_event(change(3)).to_stream(),
        ]
    )
    parts = [Received(200, {}, whole[at : at + size]) for at in range(0, len(whole), size)]
    assert [one for found in Talk(OPENED, *parts).lists() for one in found] == [1, 3]


def test_it_comes_back_after_the_last_event_it_has_seen_and_nothing_is_told_twice() -> None:
    half = change_event(change(3)).to_stream()[:40]
    talk = Talk(
        OPENED,
        part(cursor_event(0), change_event(change(1))),
        Received(200, {}, change_event(change(2)).to_stream() + half),
        BROKEN,
        BROKEN,
        problem(503),
        problem(429),
        OPENED,
        part(cursor_event(2), change_event(change(2)), change_event(change(3))),
        part(cursor_event(40)),
        BROKEN,
        OPENED,
        part(cursor_event(40)),
    )
    assert [one for found in talk.lists() for one in found] == [1, 2, 3]
    seen = [asked.headers.get("last-event-id") for asked in talk.asked]
    assert seen == [None, "2", "2", "2", "2", "40"]
    assert len(talk.pauses) == 5


def test_a_service_that_stops_is_waited_for_and_a_refusal_is_raised() -> None:
    def ended(status: int) -> Event:
        return end_event(json.dumps({"status": status, "detail": "over", "code": "x"}).encode())

    for status, error in ((401, Unauthenticated), (403, AccessDenied), (404, NotFound)):
        talk = Talk(
            OPENED, part(cursor_event(0)), part(change_event(change(1)), ended(503)), OPENED, part(ended(status))
        )
        with pytest.raises(error, match="over"):
            talk.lists()
        assert len(talk.asked) == 2


@pytest.mark.parametrize(
    ("answer", "error"),
    [(problem(401), Unauthenticated), (problem(422, field="path"), InvalidInput), (problem(429), LimitExceeded)],
)
def test_what_is_refused_at_the_beginning_is_raised_at_once(answer: Received, error: type[Exception]) -> None:
    talk = Talk(answer)
    with pytest.raises(error):
        talk.lists()
    assert len(talk.asked) == 1


def test_it_gives_up_soon_when_it_never_was_there_and_late_when_it_was() -> None:
    never = Talk(*[BROKEN] * 100)
    with pytest.raises(Unavailable, match="cannot be reached"):
        never.lists()
    assert len(never.asked) == TRIES
    lost = Talk(OPENED, part(cursor_event(0)), *[BROKEN] * 10_000)
    with pytest.raises(Unavailable):
        lost.lists()
    assert PATIENCE_SECONDS - module.LONGEST_WAIT <= sum(lost.pauses) <= PATIENCE_SECONDS + module.LONGEST_WAIT
    assert max(lost.pauses) <= module.LONGEST_WAIT


def test_whoever_does_not_follow_is_told_page_by_page() -> None:
    pages = [[change(1), change(2)], [change(5)]]
    answers = [
        Received(200, {"link": "…"}, to_json(pages[0])),
        problem(503),
        Received(200, {}, to_json(pages[1])),
    ]
    talk = Talk(*answers, follow=False, type=["fact", "note"])
    assert talk.lists() == [[1, 2], [5]]
    assert [dict(asked.query)["after"] for asked in talk.asked] == ["0", "2", "2"]
    assert [value for name, value in talk.asked[-1].query if name == "type"] == ["fact", "note"]
