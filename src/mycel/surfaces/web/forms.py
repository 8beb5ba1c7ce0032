"""Forms: each carries a token of its page, and leads to an address of ours."""

from __future__ import annotations

import hmac
from http import HTTPStatus
from urllib.parse import parse_qsl

from starlette.requests import Request

from mycel.errors import InvalidInput
from mycel.surfaces.http.bodies import read_body
from mycel.surfaces.http.problems import Problem, Refused

FORM_TYPE = "application/x-www-form-urlencoded"
TOKEN_FIELD = "form_token"  # noqa: S105 - the name of a field
MAX_FORM_BYTES = 512 * 1024
MAX_FIELDS = 400


def form_token(secret: str) -> str:
    """Made from the browser's own secret, which no other page can read: every node of a service knows it."""
    return hmac.new(secret.encode(), b"mycel form", "sha256").hexdigest()[:32]


def is_token(given: str, *, secret: str) -> bool:
    return hmac.compare_digest(given.encode(), form_token(secret).encode())


def sealed(text: str, *, secret: str) -> str:
    """Sign a text for a cookie, so that nobody else can put one there; `unsealed` reads it back."""
    return f"{text}.{hmac.new(secret.encode(), b'shown once ' + text.encode(), 'sha256').hexdigest()}"


def unsealed(given: str | None, *, secret: str) -> str | None:
    """Return the text that this browser's session has sealed; None for any other."""
    text = (given or "").rpartition(".")[0]
    return text if text and hmac.compare_digest((given or "").encode(), sealed(text, secret=secret).encode()) else None


async def read_form(request: Request) -> dict[str, str]:
    """The last value of each field; several values of one field are joined by line breaks."""
    found: dict[str, str] = {}
    for name, value in await read_pairs(request, limit=MAX_FORM_BYTES, most=MAX_FIELDS):
        found[name] = f"{found[name]}\n{value}" if name in found else value
    # Browsers end lines by two characters, and nobody wrote them.
    return {name: value.replace("\r\n", "\n") for name, value in found.items()}


async def read_pairs(request: Request, *, limit: int, most: int) -> list[tuple[str, str]]:
    """The fields of a form with their values, as they were sent."""
    raw = await read_body(request.scope, request.receive, limit=limit)
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != FORM_TYPE:
        status = HTTPStatus.UNSUPPORTED_MEDIA_TYPE
        raise Refused(Problem(status, f"send it as {FORM_TYPE}", code="unsupported_media_type", field="Content-Type"))
    try:
        return parse_qsl(raw.decode("latin-1"), keep_blank_values=True, max_num_fields=most)
    except ValueError:
        raise InvalidInput(f"has more than {most} fields", field="body") from None


def own_address(given: str | None) -> str:
    """Where to go back to: an address of ours, or home. Browsers take `//host` and `/\\host` for other hosts."""
    if not given or not given.startswith("/") or given[1:2] in {"/", "\\"}:
        return "/"
    return given if given.isascii() and given.isprintable() and "\\" not in given else "/"
