"""`/openapi.json` and `/docs`: what there is to call, for programs and for people. No data, so without a token."""

from __future__ import annotations

import json
from functools import cached_property

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from mycel.surfaces.http.bodies import JSON
from mycel.surfaces.http.described import About, DescribedRoute, described
from mycel.surfaces.http.docs_page import SECURITY_POLICY, docs_page
from mycel.surfaces.http.openapi import Document, openapi

OPENAPI_PATH = "/openapi.json"
DOCS_PATH = "/docs"


class Descriptions:
    """Made once, when somebody first asks, and about all routes there are by then."""

    def __init__(self, routes: list[BaseRoute]) -> None:
        self._routes = routes

    def routes(self) -> list[BaseRoute]:
        about = About(tag="description", summary="This description", shape={"type": "object"}, public=True)
        page = About(
            tag="description", summary="This description as a page", shape={"type": "string"}, media_type="text/html",
            public=True,
        )  # fmt: skip
        return [
            DescribedRoute(OPENAPI_PATH, self._show_document, {"GET": about}),
            DescribedRoute(DOCS_PATH, self._show_page, {"GET": page}),
        ]

    @cached_property
    def document(self) -> Document:
        return openapi(described(self._routes))

    @cached_property
    def _text(self) -> bytes:
        # In ASCII: its patterns name characters that many programs would show as nothing at all.
        return json.dumps(self.document).encode()

    @cached_property
    def _page(self) -> str:
        return docs_page(self.document)

    async def _show_document(self, _request: Request) -> Response:
        return Response(self._text, media_type=JSON)

    async def _show_page(self, _request: Request) -> Response:
        return Response(self._page, media_type="text/html", headers={"content-security-policy": SECURITY_POLICY})
