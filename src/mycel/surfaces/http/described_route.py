"""Routes that are no operation of the API: known to the log by their template, and described beside their code."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import Receive, Scope, Send

from mycel.surfaces.http.bodies import JSON
from mycel.wire.schemas import Schema


class NotedRoute(Route):
    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope.setdefault("state", {})["route"] = self.path
        await super().handle(scope, receive, send)


class PageRoute(NotedRoute):
    """A page for people or a form of one: no part of the API, and listed by the table of pages."""


class NotedSocket(WebSocketRoute):
    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope.setdefault("state", {})["route"] = self.path
        await super().handle(scope, receive, send)


Endpoint = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What the description of the API says of one method of a route.

    `answers` is a type of the API, or `shape` a schema; without either nothing is answered. It comes as `media_type`,
    or as one of `others`, which no schema can say more of. `query` names the parameters and what they mean, all of
    them optional but the `required`. A `public` one asks for no token; `refuses` are the statuses it has for what it
    is sent.
    """

    tag: str
    summary: str
    description: str = ""
    answers: Any = None
    shape: Schema | None = None
    media_type: str = JSON
    others: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    status: int = 200
    query: Mapping[str, Schema] = field(default_factory=dict[str, Schema])
    required: frozenset[str] = frozenset()
    body: Schema | None = None
    body_types: tuple[str, ...] = (JSON,)
    public: bool = False
    refuses: frozenset[int] = frozenset()


class DescribedRoute(NotedRoute):
    """One path, with what there is to say of each of its methods."""

    def __init__(self, path: str, endpoint: Endpoint, about: Mapping[str, About]) -> None:
        super().__init__(path, endpoint, methods=list(about))
        self.about = about


def described(routes: Sequence[object]) -> list[DescribedRoute]:
    return [route for route in routes if isinstance(route, DescribedRoute)]
