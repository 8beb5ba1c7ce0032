"""Changes over HTTP as they happen: server-sent events and WebSockets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any
from urllib.parse import urlencode

from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from mycel.domain.change import Change
from mycel.embedded.workspace import Visit
from mycel.errors import InvalidInput, MycelError
from mycel.surfaces.http.calls import naming_of, query_arguments
from mycel.surfaces.http.described_route import About, DescribedRoute, NotedSocket
from mycel.surfaces.http.feeds import Feed, Left, deliver
from mycel.surfaces.http.problems import problem_of
from mycel.surfaces.http.service import service_of
from mycel.wire.events import CHANGES, HEARTBEAT, LAST_EVENT_ID, MEDIA_TYPE, NOW, Event, end_event
from mycel.wire.naming import HEADER, NAMING, Naming, encoded
from mycel.wire.vocabulary import meaning_of

# One answer; the next page begins after its last change.
MOST_CHANGES = 1000
TYPES: Mapping[str, Any] = {
    "after": int,
    "path": str,
    "project": str,
    "type": Sequence[str] | str,
    "team": str,
    "follow": bool,
}
_HEADERS = [
    (b"content-type", MEDIA_TYPE.encode()),
    (b"cache-control", b"no-store"),
    # Proxies would keep it until there is enough to be worth sending.
    (b"x-accel-buffering", b"no"),
]
# The first wait of a browser that comes back.
_OPENING = b"retry: 1000\n\n"


async def changes(request: Request) -> Any:
    """The changes that the caller may see, in order of their sequence; gaps are changes that it may not.

    As a JSON array of at most 1000, with a `Link` to the next page. With `Accept: text/event-stream`, or `follow=true`,
    as Server-Sent Events that never end: `change` has the sequence as its id, `cursor` says how far the log was looked
    at, `end` is the last one and holds a problem. `Last-Event-ID` wins over `after`; without either an array begins
    with the first change and a stream with what comes from now on, as `after=now` does. `path`, `project`, `type` and
    `team` choose what is told; what leaves them, or the caller's sight, is told as `remove`.
    """
    service = service_of(request)
    visit = await service.admitted(request)
    given, naming = query_arguments(request, TYPES), naming_of(request)
    accepted = MEDIA_TYPE in request.headers.get("accept", "")
    if given.pop("follow", accepted) and request.method == "GET":
        return EventStream(request, await opened(request, visit, given, naming))
    given["after"] = _read_after(given.get("after", 0))
    found = await service.work(lambda: list(islice(visit.memory.changes(**given), MOST_CHANGES)))
    headers: dict[str, str] = {}
    if len(found) == MOST_CHANGES:
        kept = {} if NAMING not in request.query_params else {NAMING: naming.value}
        query = urlencode({**given, **kept, "after": found[-1].sequence}, doseq=True)
        headers["link"] = f'<{CHANGES}?{query}>; rel="next"'
    return Response(encoded(found, naming), media_type="application/json", headers={**headers, "vary": HEADER})


async def opened(connection: HTTPConnection, visit: Visit, given: Mapping[str, Any], naming: Naming) -> Feed:
    """A feed that follows already: nothing that happens after this is missed."""
    service = service_of(connection)
    last_seen = connection.headers.get(LAST_EVENT_ID)
    after = _read_last_seen(last_seen) if last_seen else _read_after(given.get("after", NOW))
    feed = service.feeds.open(visit.token.member_id, naming=naming)
    try:
        await service.work(lambda: feed.follow(partial(visit.follow, **{**given, "after": after})))
    except BaseException:
        feed.close()
        raise
    return feed


def _read_after(given: object) -> object:
    return None if given == NOW else given


def _read_last_seen(given: str) -> int:
    if not (given.isascii() and given.isdecimal() and len(given) < 20):
        raise InvalidInput("must be the id of an event of this stream", field="Last-Event-ID")
    return int(given)


class EventStream:
    """The answer that goes on for as long as somebody reads it."""

    def __init__(self, request: Request, feed: Feed) -> None:
        self._request = request
        self._feed = feed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await deliver(self._feed, _StreamOutlet(send), connection=self._request, receive=receive)


class _StreamOutlet:
    def __init__(self, send: Send) -> None:
        self._send = send

    async def begin(self) -> None:
        await self._send({"type": "http.response.start", "status": 200, "headers": list(_HEADERS)})
        await self._part(_OPENING)

    async def tell(self, events: Sequence[Event]) -> None:
        await self._part(b"".join(event.to_stream() for event in events))

    async def beat(self) -> None:
        await self._part(HEARTBEAT)

    async def end(self, error: MycelError) -> None:
        await self._send({"type": "http.response.body", "body": end_event(bytes(problem_of(error).body)).to_stream()})

    async def _part(self, body: bytes) -> None:
        await self._send({"type": "http.response.body", "body": body, "more_body": True})


ABOUT = About(
    tag="memory",
    summary="What has happened in a team, in order",
    description=f"At most {MOST_CHANGES:,} at once. Gaps in the sequence are changes that the caller may not see. With "
    "`Accept: text/event-stream`, or `follow=true`, as Server-Sent Events that never end; `Last-Event-ID` then wins "
    "over `after`, and without either it begins with what comes from now on. The same over a WebSocket.",
    answers=list[Change],
    others=(MEDIA_TYPE,),
    headers=("Link",),
    # Whoever makes calls from this description expects an answer that ends.
    query={name: meaning_of(name, operation="changes") for name in TYPES if name != "follow"},
)
STOPPING, FAILED = 1001, 1011
# By the status that the problem has in HTTP: the token, the right, the team.
_CLOSE_CODES: Mapping[int, int] = {503: STOPPING, 401: 4401, 403: 4403, 404: 4404}


async def socket_changes(websocket: WebSocket) -> None:
    """The events of the stream as text frames `{"id": …, "event": …, "data": …}`, with the same arguments.

    What the client sends is not looked at. Refused before it is accepted with the status and problem that the stream
    would have. Closed with 1001 when the service stops, 4401 when the token no longer works, 4403 or 4404 when the
    caller may no longer read the team; whoever reads too slowly is cut off.
    """
    try:
        visit = await service_of(websocket).admitted(websocket)
        given, naming = query_arguments(websocket, TYPES), naming_of(websocket)
        given.pop("follow", None)
        feed = await opened(websocket, visit, given, naming)
    except MycelError as error:
        await websocket.send_denial_response(problem_of(error))
        return
    await deliver(feed, _SocketOutlet(websocket), connection=websocket, receive=websocket.receive)


class _SocketOutlet:
    def __init__(self, websocket: WebSocket) -> None:
        self._websocket = websocket

    async def begin(self) -> None:
        await self._websocket.accept()

    async def tell(self, events: Sequence[Event]) -> None:
        for event in events:
            await self._frame(event)

    async def beat(self) -> None:
        """The server pings by itself."""

    async def end(self, error: MycelError) -> None:
        problem = problem_of(error)
        await self._frame(end_event(bytes(problem.body)))
        await self._websocket.close(_CLOSE_CODES.get(problem.status_code, FAILED), str(error)[:100])

    async def _frame(self, event: Event) -> None:
        try:
            await self._websocket.send_text(event.to_frame())
        except (WebSocketDisconnect, RuntimeError):
            # Also when the server has closed it, because a ping was not answered or because it stops.
            raise Left from None


ROUTES = [DescribedRoute(CHANGES, changes, {"GET": ABOUT}), NotedSocket(CHANGES, socket_changes)]
