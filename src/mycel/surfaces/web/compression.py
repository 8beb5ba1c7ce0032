"""Pages and files as a browser can unpack them: a list of memories takes a fifth of the bytes."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from functools import cache
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import Response

from mycel.surfaces.web.rendering import PAGE_HEADERS, STATIC_TYPES, static_file, static_version

HTML = "text/html; charset=utf-8"
# Of less, packing saves no packet.
LEAST_BYTES = 1_400
LEVEL = 5
# How long a packed page is tells something of what is in it. That matters where another page chooses what is asked for,
# and so puts its own words beside what it wants to guess: such a request is answered unpacked.
_OWN_REQUESTS = frozenset({"same-origin", "none"})


def may_pack_page(request: Request) -> bool:
    """Whether the reader's own page, or the reader by hand, asked for a page with what only the reader may see."""
    return request.headers.get("sec-fetch-site") in _OWN_REQUESTS and _takes_gzip(request)


def page_bytes(text: str, *, packed: bool) -> bytes:
    """Encode a page, and pack it where that is worth it; takes milliseconds, so it is done beside the requests."""
    raw = text.encode()
    return gzip.compress(raw, LEVEL, mtime=0) if packed and len(raw) >= LEAST_BYTES else raw


def page_response(body: bytes, status: int = HTTPStatus.OK, *, headers: Mapping[str, str] | None = None) -> Response:
    """Answer with a page that `page_bytes` has made."""
    return Response(body, status, headers={**PAGE_HEADERS, **_encoding_of(body), **(headers or {})}, media_type=HTML)


def static_response(request: Request, name: str) -> Response:
    """Answer with a file of ours, or that the browser's copy is still right. It holds nothing of anybody."""
    packed = _takes_gzip(request)
    body = _packed_file(name) if packed else static_file(name)
    headers = {**_encoding_of(body), "x-content-type-options": "nosniff"}
    headers["etag"] = f'"{static_version(name)}{"-gzip" if "content-encoding" in headers else ""}"'
    is_named = request.query_params.get("v") == static_version(name)
    headers["cache-control"] = "public, max-age=31536000, immutable" if is_named else "no-cache"
    if request.headers.get("if-none-match") == headers["etag"]:
        headers.pop("content-encoding", None)
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    return Response(body, headers=headers, media_type=STATIC_TYPES[name])


def packed_response(request: Request, raw: bytes, packed: bytes, *, media_type: str) -> Response:
    """Answer with what is the same for everybody, in one of its two forms."""
    body = packed if _takes_gzip(request) else raw
    return Response(body, headers=_encoding_of(body), media_type=media_type)


@cache
def _packed_file(name: str) -> bytes:
    raw = static_file(name)
    return gzip.compress(raw, 9, mtime=0) if len(raw) >= LEAST_BYTES else raw


def _encoding_of(body: bytes) -> dict[str, str]:
    found = {"vary": "accept-encoding"}
    if body.startswith(b"\x1f\x8b"):
        found["content-encoding"] = "gzip"
    return found


def _takes_gzip(request: Request) -> bool:
    for part in request.headers.get("accept-encoding", "").lower().split(","):
        name, _, quality = part.partition(";")
        if name.strip() == "gzip":
            return quality.strip().replace(" ", "") not in {"q=0", "q=0.0", "q=0.00", "q=0.000"}
    return False
