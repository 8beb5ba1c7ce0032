"""For how long nobody has used the service."""

from __future__ import annotations

import anyio
import pytest
from starlette.types import Receive, Scope, Send

from mycel.surfaces.http.serving import Activity


class Watch:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_whoever_waits_or_reads_a_stream_uses_it(kind: str) -> None:
    watch = Watch()
    seen: list[float] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        watch.now += 50
        seen.append(activity.idle_seconds)
        raise RuntimeError

    async def nothing(*_: object) -> None:
        raise AssertionError

    activity = Activity(app, clock=watch)
    watch.now += 7
    assert activity.idle_seconds == 7
    with pytest.raises(RuntimeError):
        anyio.run(activity, {"type": kind}, nothing, nothing)
    assert (seen, activity.idle_seconds) == ([0.0], 0.0)
    watch.now += 3
    assert activity.idle_seconds == 3


def test_the_life_of_the_app_itself_is_no_use() -> None:
    watch = Watch()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        watch.now += 50
        assert activity.idle_seconds == 50

    async def nothing(*_: object) -> None:
        raise AssertionError

    activity = Activity(app, clock=watch)
    anyio.run(activity, {"type": "lifespan"}, nothing, nothing)
    assert activity.idle_seconds == 50
