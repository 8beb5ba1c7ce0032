"""The ASGI app of the service: what stands in front of every request, and who answers which."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from starlette.applications import Starlette
from starlette.datastructures import Address
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute

from mycel import __version__
from mycel.access.rules import require_operator
from mycel.embedded.workspace import Workspace
from mycel.errors import InvalidInput, Unavailable
from mycel.settings import Settings
from mycel.surfaces.http import archives, browser_login, mcp, streams
from mycel.surfaces.http.api import Api
from mycel.surfaces.http.authentication import Visitors
from mycel.surfaces.http.described_route import About, DescribedRoute
from mycel.surfaces.http.docs_pages import Descriptions
from mycel.surfaces.http.feeds import Feeds, StreamLimits
from mycel.surfaces.http.hosts import EVERY_ADDRESS, LOOPBACK_NAMES, KnownHosts, PathPrefix
from mycel.surfaces.http.mcp_sessions import SessionLimits
from mycel.surfaces.http.metrics import Measured, Metrics
from mycel.surfaces.http.problems import HANDLERS
from mycel.surfaces.http.service import KnownDamages, Readiness, Service, service_of
from mycel.surfaces.http.staging import Staging, StagingLimits
from mycel.surfaces.http.threads import Threads
from mycel.surfaces.web import routes as pages
from mycel.wire.naming import Naming
from mycel.wire.proof import CHALLENGE, LEAST_CHALLENGE, MOST_CHALLENGE, PROOF, new_secret, proof_of
from mycel.wire.schemas import Schema

_OK: Schema = {"type": "object", "properties": {"status": {"const": "ok"}}, "required": ["status"]}
_CONDITION: Schema = {
    "type": "object",
    "properties": {
        "status": {"enum": ["ok", "degraded"]},
        "damaged_stores": {"type": "integer", "description": "Where there are any: stores that are damaged or gone"},
        "damaged_rows": {"type": "integer", "description": "Where there are any: rows that cannot be read"},
        "advice": {"type": "string"},
    },
    "required": ["status"],
}
_TOLD: Schema = {
    "type": "object",
    "properties": {**_CONDITION["properties"], "version": {"type": "string"}, PROOF: {"type": "string"}},
    "required": ["status", "version"],
}
_CHALLENGE: Schema = {
    "type": "string",
    "minLength": LEAST_CHALLENGE,
    "maxLength": MOST_CHALLENGE,
    "pattern": "^[0-9a-f]*$",
    "description": "Random, from a client that knows the secret of `daemon.json`; `proof` shows that the service does.",
}
HEALTH = About(
    tag="health",
    summary="The service answers, and which one it is",
    shape=_TOLD,
    query={CHALLENGE: _CHALLENGE},
    public=True,
    refuses=frozenset({422}),
)
LIVE = About(tag="health", summary="The service answers", shape=_OK, public=True)
METRICS = About(
    tag="health",
    summary="Figures of the service, for Prometheus",
    description="For the operator alone.",
    shape={"type": "string"},
    media_type="text/plain",
)
READY = About(
    tag="health",
    summary="The service can use its workspace, and whether a store is damaged",
    description="503 while the workspace cannot be read, a newer version keeps this out, or the service is stopping.",
    shape=_CONDITION,
    public=True,
    refuses=frozenset({503}),
)


def create_app(
    workspace: Workspace,
    *,
    host: str | None = None,
    secret: str | None = None,
    settings: Settings | None = None,
    stream_limits: StreamLimits | None = None,
    staging_folder: Path | None = None,
) -> Starlette:
    """Answers under the names of this machine, under the host it is bound to, and under those the settings name."""
    chosen = settings or Settings(data=Path())
    threads, figures = Threads(), Metrics()
    is_one_of_many = chosen.database_url is not None
    visitors = Visitors(
        workspace, threads, requests_per_second=chosen.requests_per_second, is_one_of_many=is_one_of_many
    )
    stopping = asyncio.Event()
    service = Service(
        workspace=workspace,
        threads=threads,
        visitors=visitors,
        secret=secret or new_secret(),
        metrics=figures,
        feeds=Feeds(stream_limits or StreamLimits(), stopping),
        staging=_staging(chosen, staging_folder),
        stopping=stopping,
        damages=KnownDamages(workspace, threads),
        readiness=Readiness(workspace, threads),
        public_url=chosen.public_url,
        naming=Naming(chosen.naming),
    )
    public = urlsplit(chosen.public_url or "")
    named = [name for name in (host, public.hostname) if name is not None]
    allowed = (name.strip("[]").lower() for name in (*named, *chosen.allowed_hosts))
    names = LOOPBACK_NAMES.union(allowed) - EVERY_ADDRESS
    origins = {*chosen.allowed_origins, f"{public.scheme}://{public.netloc}".lower()} - {"://"}
    routes: list[BaseRoute] = [
        DescribedRoute("/health", _health, {"GET": HEALTH}),
        DescribedRoute("/health/live", _live, {"GET": LIVE}),
        DescribedRoute("/health/ready", _ready, {"GET": READY}),
        *streams.ROUTES,
        *archives.ROUTES,
        DescribedRoute("/metrics", _metrics, {"GET": METRICS}),
        *browser_login.ROUTES,
        *pages.routes(),
        mcp.route(
            SessionLimits(
                in_total=chosen.max_mcp_sessions,
                per_member=chosen.max_mcp_sessions_per_member,
                idle_seconds=chosen.mcp_idle_seconds,
            ),
            is_one_of_many=is_one_of_many,
        ),
    ]
    routes += Descriptions(routes).routes()
    taken = [route.path for route in routes if isinstance(route, Route | WebSocketRoute)]
    app = Starlette(
        routes=routes,
        middleware=[
            Middleware(Measured, metrics=figures),
            Middleware(PathPrefix, prefix=service.prefix),
            Middleware(KnownHosts, names=names, origins=frozenset(origins)),
            Middleware(Api, visitors=visitors, threads=threads, taken=taken, naming=service.naming),
        ],
        exception_handlers={**HANDLERS, HTTPException: pages.lost, Exception: pages.broken},
        lifespan=_lifespan,
    )
    app.state.service = service
    app.state.stopping = stopping
    app.state.begin_to_stop = service.begin_to_stop
    app.state.streams_ended = service.feeds.ended
    # Whoever runs the app has the connections, and says how to cut one.
    app.state.cut = _leave
    return app


def _staging(settings: Settings, folder: Path | None) -> Staging:
    limits = StagingLimits(
        own_bytes=settings.max_import_bytes,
        whole_bytes=settings.max_whole_import_bytes,
        in_total=settings.max_staged_bytes,
        min_free_bytes=settings.min_free_bytes,
    )
    return Staging(limits, folder)


def _leave(_client: Address | None) -> None:
    """It goes when its own end notices."""


@asynccontextmanager
async def _lifespan(app: Starlette) -> AsyncGenerator[None]:
    service: Service = app.state.service
    try:
        yield
    finally:
        service.close()


async def _health(request: Request) -> Response:
    """With a proof for whoever asks for one; without the secret nobody can make use of it."""
    service = service_of(request)
    told = {**await service.condition(), "version": __version__}
    challenge = request.query_params.get(CHALLENGE)
    if challenge is not None:
        if not (LEAST_CHALLENGE <= len(challenge) <= MOST_CHALLENGE and set(challenge) <= set("0123456789abcdef")):
            raise InvalidInput(
                f"must be {LEAST_CHALLENGE} to {MOST_CHALLENGE} lower-case hexadecimal digits", field=CHALLENGE
            )
        told[PROOF] = proof_of(service.secret, challenge, request.scope["server"])
    return JSONResponse(told)


async def _live(_request: Request) -> Response:
    return JSONResponse({"status": "ok"})


async def _ready(request: Request) -> Response:
    """Whether the workspace can be used here; says no more, since it asks nobody who they are."""
    service = service_of(request)
    if service.stopping.is_set():
        raise Unavailable("the service is stopping")
    await service.readiness.require()
    return JSONResponse(await service.condition())


async def _metrics(request: Request) -> Response:
    """For the operator: how many agents ask for what is nobody else's concern."""
    service = service_of(request)
    visit = await service.admitted(request)
    require_operator(await service.work(visit.caller))
    service.metrics.tell_damages(await service.damages.now())
    return Response(service.metrics.text(), media_type=CONTENT_TYPE_PLAIN_0_0_4)
