"""Signing in with a browser: by a link that works once, or by a token; what it gets is a cookie with one of its own."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from mycel.domain import fields
from mycel.domain.team import Caller, IssuedToken, Token
from mycel.errors import AccessDenied, InvalidInput, LimitExceeded, MycelError, NotFound, Unauthenticated, Unavailable
from mycel.surfaces.http.bodies import read_body, read_object, require_json
from mycel.surfaces.http.calls import naming_of
from mycel.surfaces.http.credentials import COOKIE, address_of, cookies_of, require_own_page
from mycel.surfaces.http.described_route import About, DescribedRoute, NotedRoute
from mycel.surfaces.http.service import Service, service_of
from mycel.surfaces.web.forms import own_address, read_pairs
from mycel.surfaces.web.preferences import THEME, keep_shown_once, theme_of
from mycel.surfaces.web.rendering import PAGE_HEADERS, render
from mycel.wire.arguments import respelled
from mycel.wire.naming import encoded
from mycel.wire.problems import headers_of, status_of
from mycel.wire.schemas import MEMBER, Schema, closed, filled, nullable

LINKS = "/api/sign-in-links"
SIGN_IN_JSON = "/api/sign-in"
SIGN_IN = "/sign-in"
SIGN_OUT = "/sign-out"
# What a browser's token is called in lists, and how long it lasts at most.
LABEL = "browser"
LIFETIME = timedelta(days=30)
LINK_LIFETIME = timedelta(minutes=10)
MAX_BYTES = 8 * 1024
MAX_FIELDS = 10
WRONG = "the code or token is unknown, used, expired or revoked"
_UNSTORED = {"cache-control": "no-store"}


async def offer(request: Request) -> Response:
    """A link for the caller itself; the operator may name a member."""
    service = service_of(request)
    visit = await service.admitted(request)
    given, naming = await _json(request, {"member_id"}), naming_of(request)
    member = await service.work(lambda: visit.workspace.token_owner(given.get("member_id")))
    # Neither the link nor what a browser gets for it outlives the token that asks for it.
    code, ends_at = await service.work(partial(visit.offer_link, member, lifetime=LINK_LIFETIME), writes=True)
    url = service.own_url(request, f"{SIGN_IN}?{urlencode({'code': code})}")
    answer = encoded({"url": url, "expires_at": ends_at}, naming, named=True)
    return Response(answer, HTTPStatus.CREATED, headers=_UNSTORED, media_type="application/json")


async def show(request: Request) -> Response:
    """Uses nothing up: whatever previews links asks for them too."""
    return _page(request, request.query_params.get("code"), to=request.query_params.get("next"))


async def sign_in(request: Request) -> Response:
    service = service_of(request)
    given = await _form(request)
    to = own_address(given.pop("next", None))
    try:
        issued = await _issued(service, request, given)
    except (Unauthenticated, LimitExceeded, Unavailable) as error:
        return _page(request, None, to=to, error=error)
    answer = RedirectResponse(service.prefix + to, HTTPStatus.SEE_OTHER, headers=_UNSTORED)
    _set_cookie(answer, request, issued)
    return answer


async def sign_in_json(request: Request) -> Response:
    service = service_of(request)
    given, naming = await _json(request, {"code", "token"}), naming_of(request)
    issued = await _issued(service, request, given)
    visit = await service.visitors.meet(issued.secret, address=address_of(request.scope))
    caller = await service.work(visit.caller)
    answer = Response(encoded(caller, naming), headers=_UNSTORED, media_type="application/json")
    _set_cookie(answer, request, issued)
    return answer


async def sign_out(request: Request) -> Response:
    """Ends the token of this browser; signing out twice is signing out once."""
    service = service_of(request)
    secrets = cookies_of(request.scope)
    if secrets:
        require_own_page(request.scope)
    # Of two nobody knows which is ours: whoever signs out wants neither to work.
    for secret in secrets:
        await _revoke(service, request, secret)
    html_wanted = "text/html" in request.headers.get("accept", "")
    to = RedirectResponse(service.prefix + SIGN_IN, HTTPStatus.SEE_OTHER)
    answer = to if html_wanted else Response(status_code=204)
    answer.delete_cookie(
        COOKIE, path=service.cookie_path, httponly=True, samesite="strict", secure=service.is_https(request)
    )
    keep_shown_once(answer, "", path=service.cookie_path, secure=service.is_https(request))
    return answer


async def _issued(service: Service, request: Request, given: dict[str, Any]) -> IssuedToken:
    """A token for this browser; whatever is wrong with the code or the token, it is said alike."""
    if len(given) != 1:
        raise InvalidInput("give either a code or a token", field="code")
    [(name, value)] = given.items()
    secret = fields.text(value, field=name, max_bytes=MAX_BYTES)
    try:
        if name == "token":
            visit = await service.visitors.meet(secret, address=address_of(request.scope))
            member = (await service.work(visit.caller)).member_id
            issue = partial(visit.new_browser_token, member, label=LABEL, at_most=LIFETIME)
        else:
            issue = partial(service.workspace.redeem_link, secret, label=LABEL, at_most=LIFETIME)
        return await service.work(issue, writes=True)
    except (AccessDenied, NotFound):
        # The right ones are answered however many wrong ones come.
        if name == "code" and (wait := service.wrong_codes.take()):
            raise LimitExceeded("too many wrong codes were tried; wait", retry_after=wait) from None
        raise Unauthenticated(WRONG) from None


async def _revoke(service: Service, request: Request, secret: str) -> None:
    try:
        visit = await service.visitors.meet(secret, address=address_of(request.scope))
        await service.work(lambda: visit.workspace.revoke_token(secret), writes=True)
    except (AccessDenied, NotFound):
        # It has ended already.
        pass
    finally:
        service.visitors.forget(secret)


async def _json(request: Request, names: set[str]) -> dict[str, Any]:
    raw = await read_body(request.scope, request.receive, limit=MAX_BYTES)
    if raw:
        require_json(request.scope)
    return _known(respelled(read_object(raw)), names)


async def _form(request: Request) -> dict[str, Any]:
    """Only from our own page: no other may sign somebody in as somebody else."""
    require_own_page(request.scope)
    pairs = await read_pairs(request, limit=MAX_BYTES, most=MAX_FIELDS)
    return _known(dict(pairs), {"code", "token", "next"})


def _known(given: dict[str, Any], names: set[str]) -> dict[str, Any]:
    if any(name not in names for name in given):
        raise InvalidInput(f"takes {' or '.join(sorted(names))}", field="body")
    return given


def _page(request: Request, code: str | None, *, to: str | None = None, error: MycelError | None = None) -> Response:
    service = service_of(request)
    status = HTTPStatus.OK if error is None else status_of(error)
    told = {} if error is None or isinstance(error, Unauthenticated) else headers_of(error)
    wanted = own_address(to)
    text = render(
        "sign_in.html",
        prefix=service.prefix,
        code=None if code is None else code[:200],
        to=None if wanted == "/" else wanted,
        error=None if error is None else str(error),
        theme=theme_of(request.cookies.get(THEME)),
    )
    return HTMLResponse(text, status, headers={**PAGE_HEADERS, **told})


def _set_cookie(answer: Response, request: Request, issued: IssuedToken) -> None:
    answer.set_cookie(
        COOKIE,
        issued.secret,
        max_age=_seconds_of(issued.token),
        path=service_of(request).cookie_path,
        secure=service_of(request).is_https(request),
        httponly=True,
        samesite="strict",
    )


def _seconds_of(token: Token) -> int:
    return int(((token.expires_at or token.created_at + LIFETIME) - token.created_at).total_seconds())


_SECRET: Schema = filled(MAX_BYTES // 8)
OFFERED = About(
    tag="signing in",
    summary="A link that signs a browser in, once",
    description="For the caller; the operator may name another member.",
    shape={
        "type": "object",
        "properties": {"url": {"type": "string"}, "expires_at": {"type": "string", "format": "date-time"}},
        "required": ["url", "expires_at"],
    },
    status=HTTPStatus.CREATED,
    body=closed({"member_id": nullable(MEMBER)}),
)
SIGNED_IN = About(
    tag="signing in",
    summary="A cookie for a browser, by the code of a link or by a token",
    answers=Caller,
    headers=("Set-Cookie",),
    body={"anyOf": [closed({name: _SECRET}, required=[name]) for name in ("code", "token")]},
    public=True,
    refuses=frozenset({401, 422, 429, 507}),
)
# The others are pages for people, and no part of the API.
ROUTES = [
    DescribedRoute(LINKS, offer, {"POST": OFFERED}),
    DescribedRoute(SIGN_IN_JSON, sign_in_json, {"POST": SIGNED_IN}),
    NotedRoute(SIGN_IN, show, methods=["GET"]),
    NotedRoute(SIGN_IN, sign_in, methods=["POST"]),
    NotedRoute(SIGN_OUT, sign_out, methods=["POST"]),
]
