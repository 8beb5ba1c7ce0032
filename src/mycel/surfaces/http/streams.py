"""The changes of a team, as an array of what has happened."""

from __future__ import annotations

from itertools import islice
from typing import Any
from urllib.parse import parse_qsl, urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from mycel.errors import InvalidInput
from mycel.surfaces.http.service import service_of
from mycel.wire.queries import read_argument
from mycel.wire.shapes import to_json

PATH = "/api/memory/changes"
# One answer; the next page begins after its last change.
MOST_CHANGES = 1000
_TYPES = {"after": int, "path": str, "team": str}


async def changes(request: Request) -> Response:
    service = service_of(request)
    visit = await service.admitted(request)
    given = _arguments(request)
    found = await service.work(lambda: list(islice(visit.memory.changes(**given), MOST_CHANGES)))
    headers: dict[str, str] = {}
    if len(found) == MOST_CHANGES:
        query = urlencode({**given, "after": found[-1].sequence})
        headers["link"] = f'<{PATH}?{query}>; rel="next"'
    return Response(to_json(found), media_type="application/json", headers=headers)


def _arguments(request: Request) -> dict[str, Any]:
    texts: dict[str, list[str]] = {}
    for name, value in parse_qsl(request.scope["query_string"].decode("latin-1"), keep_blank_values=True):
        texts.setdefault(name, []).append(value)
    if unknown := next((name for name in texts if name not in _TYPES), None):
        raise InvalidInput("is not a field of this request", field=unknown[:200])
    return {name: read_argument(_TYPES[name], found, field=name) for name, found in texts.items()}


ROUTES = [Route(PATH, changes, methods=["GET"])]
