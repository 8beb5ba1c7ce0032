"""Live changes over a WebSocket."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from starlette.websockets import WebSocket, WebSocketDisconnect

from mycel.errors import MycelError
from mycel.surfaces.http.calls import query_arguments
from mycel.surfaces.http.feeds import Left, deliver
from mycel.surfaces.http.problems import problem_of
from mycel.surfaces.http.routes import NotedSocket
from mycel.surfaces.http.service import service_of
from mycel.surfaces.http.streams import TYPES, opened
from mycel.wire.events import CHANGES, Event, end_event

STOPPING, FAILED = 1001, 1011
# By the status that the problem has in HTTP: the token, the right, the team.
_CLOSE_CODES: Mapping[int, int] = {503: STOPPING, 401: 4401, 403: 4403, 404: 4404}


async def changes(websocket: WebSocket) -> None:
    """The events of the stream as text frames `{"id": …, "event": …, "data": …}`, with the same arguments.

    What the client sends is not looked at. Refused before it is accepted with the status and problem that the stream
    would have. Closed with 1001 when the service stops, 4401 when the token no longer works, 4403 or 4404 when the
    caller may no longer read the team; whoever reads too slowly is cut off.
    """
    try:
        visit = await service_of(websocket).admitted(websocket)
        given = query_arguments(websocket, TYPES)
        given.pop("follow", None)
        feed = await opened(websocket, visit, given)
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


ROUTES = [NotedSocket(CHANGES, changes)]
