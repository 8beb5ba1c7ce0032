"""Archives over HTTP: made and checked as files beside, so that neither way holds one in memory."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from mycel.domain.archive import ExportReport, MoveReport
from mycel.embedded.workspace import Visit
from mycel.surfaces.http.arguments import query_arguments
from mycel.surfaces.http.bodies import check_announced, chunk_of, too_large
from mycel.surfaces.http.described import About, DescribedRoute
from mycel.surfaces.http.service import Service, service_of
from mycel.wire.archives import EXPORT, IMPORT, REPORT, name_of
from mycel.wire.shapes import to_json
from mycel.wire.words import FLAG, Schema

PACKED, LINES = "application/gzip", "application/x-ndjson"
MAX_ARCHIVE_BYTES = 16 * 1024**3
_EXPORT_TYPES = {"whole": bool, "packed": bool}
_IMPORT_TYPES = {"whole": bool, "packed": bool, "dry_run": bool}


async def export(request: Request) -> Response:
    """What the caller sees of its team; `whole` for the operator is all of it, private memories included."""
    service = service_of(request)
    visit = await service.admitted(request)
    given = {"whole": False, "packed": True, **query_arguments(request, _EXPORT_TYPES)}
    folder = tempfile.TemporaryDirectory(prefix="mycel-export-")
    file = Path(folder.name) / name_of(packed=given["packed"])
    try:
        report = await service.work(lambda: _export(visit, file, whole=given["whole"]), writes=True)
    except BaseException:
        folder.cleanup()
        raise
    return FileResponse(
        file,
        media_type=PACKED if given["packed"] else LINES,
        headers={REPORT: to_json(report).decode(), "cache-control": "no-store"},
        background=BackgroundTask(folder.cleanup),
    )


async def import_(request: Request) -> Response:
    service = service_of(request)
    visit = await service.admitted(request)
    given = {"whole": False, "packed": True, "dry_run": False, **query_arguments(request, _IMPORT_TYPES)}
    with tempfile.TemporaryDirectory(prefix="mycel-import-") as folder:
        file = Path(folder) / name_of(packed=given["packed"])
        await _receive(service, request, file)
        report = await service.work(lambda: _import(visit, file, given), writes=True)
    return Response(to_json(report), media_type="application/json")


def _export(visit: Visit, file: Path, *, whole: bool) -> ExportReport:
    return visit.workspace.export(file, team=visit.caller().team) if whole else visit.memory.export(file)


def _import(visit: Visit, file: Path, given: dict[str, Any]) -> MoveReport:
    if given["whole"]:
        return visit.workspace.import_(file, team=visit.caller().team, dry_run=given["dry_run"])
    return visit.memory.import_(file, dry_run=given["dry_run"])


async def _receive(service: Service, request: Request, file: Path) -> None:
    check_announced(request.scope, limit=MAX_ARCHIVE_BYTES)
    with file.open("xb") as opened:
        async for part in _counted(request):
            await service.work(lambda part=part: opened.write(part), writes=True)


async def _counted(request: Request) -> AsyncGenerator[bytes]:
    size, more = 0, True
    while more:
        part, more = chunk_of(await request.receive())
        size += len(part)
        if size > MAX_ARCHIVE_BYTES:
            raise too_large(MAX_ARCHIVE_BYTES)
        if part:
            yield part


_QUERY: dict[str, Schema] = {
    "whole": {**FLAG, "description": "All of the team, private memories included; for the operator."},
    "packed": {**FLAG, "description": "As gzip, which is the default, or as plain lines of JSON."},
    "dry_run": {**FLAG, "description": "Say what would be taken, and take nothing."},
}
EXPORTED = About(
    tag="moving",
    summary="An archive of what the caller sees of its team",
    shape={},
    media_type=PACKED,
    others=(LINES,),
    headers=("Mycel-Report",),
    query={name: _QUERY[name] for name in _EXPORT_TYPES},
)
IMPORTED = About(
    tag="moving",
    summary="Take in an archive: all of it or, when anything in it is wrong, nothing",
    description=f"At most {MAX_ARCHIVE_BYTES:,} bytes.",
    answers=MoveReport,
    query={name: _QUERY[name] for name in _IMPORT_TYPES},
    body={"type": "string", "format": "binary", "minLength": 1},
    body_types=("application/octet-stream",),
    refuses=frozenset({507}),
)
ROUTES = [
    DescribedRoute(EXPORT, export, {"GET": EXPORTED}),
    DescribedRoute(IMPORT, import_, {"POST": IMPORTED}),
]
