"""Archives over HTTP: made and checked as files beside, so that neither way holds one in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.types import Receive, Scope, Send

from mycel.access.rules import require_operator
from mycel.contracts.long_work import LongWork
from mycel.domain.archive import ExportReport, MoveReport
from mycel.embedded.workspace import Visit
from mycel.surfaces.http.api import team_of, while_present
from mycel.surfaces.http.bodies import check_announced, chunk_of
from mycel.surfaces.http.calls import naming_of, query_arguments
from mycel.surfaces.http.described_route import About, DescribedRoute
from mycel.surfaces.http.service import Service, service_of
from mycel.surfaces.http.staging import Stage
from mycel.wire.naming import encoded
from mycel.wire.operations import EXPORT, IMPORT, REPORT, name_of
from mycel.wire.schemas import FLAG, Schema

PACKED, LINES = "application/gzip", "application/x-ndjson"
_EXPORT_TYPES = {"whole": bool, "packed": bool}
_IMPORT_TYPES = {"whole": bool, "packed": bool, "dry_run": bool}


async def export(request: Request) -> Response:
    """What the caller sees of its team; `whole` for the operator is all of it, private memories included."""
    service = service_of(request)
    visit = await service.admitted(request)
    given = {"whole": False, "packed": True, **query_arguments(request, _EXPORT_TYPES)}
    naming = naming_of(request)
    name, member = name_of(packed=given["packed"]), visit.token.member_id
    stage = await service.work(lambda: service.staging.open(member, name))
    try:
        long = LongWork("export", team=team_of(visit), member=member)
        export = service.work(lambda: _export(visit, stage.file, whole=given["whole"]), long=long)
        report = await while_present(request.receive, export)
    except BaseException:
        stage.close()
        raise
    return StagedFile(
        stage,
        media_type=PACKED if given["packed"] else LINES,
        headers={REPORT: encoded(report, naming).decode(), "cache-control": "no-store"},
    )


async def import_(request: Request) -> Response:
    service = service_of(request)
    visit = await service.admitted(request)
    given = {"whole": False, "packed": True, "dry_run": False, **query_arguments(request, _IMPORT_TYPES)}
    naming = naming_of(request)
    limits, name, member = service.staging.limits, name_of(packed=given["packed"]), visit.token.member_id
    limit = limits.own_bytes
    if given["whole"]:
        # Before anything is taken in for it.
        require_operator(await service.work(visit.caller))
        limit = limits.whole_bytes
    check_announced(request.scope, limit=limit)
    stage = await service.work(lambda: service.staging.open(member, name, limit=limit))
    try:
        await _receive(service, request, stage)
        long = LongWork("import", team=team_of(visit), member=member)
        take = service.work(lambda: _import(visit, stage.file, given), long=long)
        report = await while_present(request.receive, take)
    finally:
        stage.close()
    return Response(encoded(report, naming), media_type="application/json")


class StagedFile(FileResponse):
    """Gone when it was sent, or when nobody wants it any more."""

    def __init__(self, stage: Stage, *, media_type: str, headers: dict[str, str]) -> None:
        super().__init__(stage.file, media_type=media_type, headers=headers)
        self._stage = stage

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._stage.close()


def _export(visit: Visit, file: Path, *, whole: bool) -> ExportReport:
    return visit.workspace.export(file, team=visit.caller().team) if whole else visit.memory.export(file)


def _import(visit: Visit, file: Path, given: dict[str, Any]) -> MoveReport:
    if given["whole"]:
        return visit.workspace.import_(file, team=visit.caller().team, dry_run=given["dry_run"])
    return visit.memory.import_(file, dry_run=given["dry_run"])


async def _receive(service: Service, request: Request, stage: Stage) -> None:
    more = True
    while more:
        part, more = chunk_of(await request.receive())
        if part:
            await service.work(lambda part=part: stage.write(part), writes=True)
    await service.work(stage.finish, writes=True)


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
    description="At most as many bytes as the settings of the service allow; see `max_import_bytes`.",
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
