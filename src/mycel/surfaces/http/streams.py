"""The changes of a team, as an array of what has happened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from mycel.surfaces.http.arguments import query_arguments
from mycel.surfaces.http.routes import NotedRoute
from mycel.surfaces.http.service import service_of
from mycel.wire.shapes import to_json

PATH = "/api/memory/changes"
# One answer; the next page begins after its last change.
MOST_CHANGES = 1000
_TYPES: Mapping[str, Any] = {"after": int, "path": str, "project": str, "type": Sequence[str] | str, "team": str}


async def changes(request: Request) -> Response:
    service = service_of(request)
    visit = await service.admitted(request)
    given = query_arguments(request, _TYPES)
    found = await service.work(lambda: list(islice(visit.memory.changes(**given), MOST_CHANGES)))
    headers: dict[str, str] = {}
    if len(found) == MOST_CHANGES:
        query = urlencode({**given, "after": found[-1].sequence}, doseq=True)
        headers["link"] = f'<{PATH}?{query}>; rel="next"'
    return Response(to_json(found), media_type="application/json", headers=headers)


ROUTES = [NotedRoute(PATH, changes, methods=["GET"])]
