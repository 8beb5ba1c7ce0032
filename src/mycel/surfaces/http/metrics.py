"""The route of the service's figures."""

from __future__ import annotations

from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from starlette.requests import Request
from starlette.responses import Response

from mycel.access.rules import require_operator
from mycel.surfaces.http.described import About, DescribedRoute
from mycel.surfaces.http.service import service_of


async def metrics(request: Request) -> Response:
    """For the operator: how many agents ask for what is nobody else's concern."""
    service = service_of(request)
    visit = await service.admitted(request)
    require_operator(await service.work(visit.caller))
    service.metrics.tell_damages(await service.damages.now())
    return Response(service.metrics.text(), media_type=CONTENT_TYPE_PLAIN_0_0_4)


ABOUT = About(
    tag="health",
    summary="Figures of the service, for Prometheus",
    description="For the operator alone.",
    shape={"type": "string"},
    media_type="text/plain",
)
ROUTES = [DescribedRoute("/metrics", metrics, {"GET": ABOUT})]
