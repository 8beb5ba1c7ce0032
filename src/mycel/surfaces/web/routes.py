"""From the table of pages to routes: admit the caller, do the work beside, show or lead on; errors are pages too."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any, cast
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute

from mycel.contracts.long_work import LongWork
from mycel.embedded.workspace import Visit
from mycel.errors import AmbiguousId, Candidate, MycelError, NotFound, Unauthenticated
from mycel.surfaces.http.calls import query_arguments
from mycel.surfaces.http.credentials import credentials_of
from mycel.surfaces.http.described_route import PageRoute
from mycel.surfaces.http.problems import of_bug, of_http, problem_of
from mycel.surfaces.http.service import Service, service_of
from mycel.surfaces.http.streams import TYPES, EventStream, opened
from mycel.surfaces.web import preferences
from mycel.surfaces.web.compression import may_pack_page, page_bytes, page_response, static_response
from mycel.surfaces.web.forms import TOKEN_FIELD, form_token, is_token, own_address, read_form, sealed, unsealed
from mycel.surfaces.web.notices import NOTICES
from mycel.surfaces.web.page import Form, Page, PageRequest, SeeOther, Shown, address_of
from mycel.surfaces.web.preferences import Visits
from mycel.surfaces.web.rendering import PAGE_HEADERS, STATIC, STATIC_TYPES, render
from mycel.surfaces.web.site import FORMS, NAVIGATION, PAGES
from mycel.wire.naming import Naming
from mycel.wire.problems import headers_of, status_of
from mycel.wire.shapes import to_json

SIGN_IN = "/sign-in"
LIVE = "/live/changes"
CHOSEN: Mapping[str, Any] = {name: TYPES[name] for name in ("after", "path", "project", "type")}
OTHER_SESSION = "the form is from another session: load the page again, and send it once more"
ASK_AN_ADMIN = "An admin of the team, or the operator, can change what you may do."
# What an error says to a person, where its own words are for programs or for the operator.
_TOLD: Mapping[int, str] = {
    HTTPStatus.UNAUTHORIZED: "this browser is no longer signed in, and nothing was changed",
    HTTPStatus.INTERNAL_SERVER_ERROR: "the service needs its operator; its log says more",
}
ERROR_TITLES: Mapping[int, str] = {
    HTTPStatus.NOT_FOUND: "Nothing here",
    HTTPStatus.METHOD_NOT_ALLOWED: "Nothing here",
    HTTPStatus.UNAUTHORIZED: "Signed out",
    HTTPStatus.FORBIDDEN: "Not allowed",
    HTTPStatus.CONFLICT: "Somebody was faster",
    HTTPStatus.UNPROCESSABLE_ENTITY: "That cannot be",
    HTTPStatus.TOO_MANY_REQUESTS: "Not now",
    HTTPStatus.SERVICE_UNAVAILABLE: "Not now",
    HTTPStatus.INTERNAL_SERVER_ERROR: "Something went wrong",
}
Handler = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Admitted:
    """Whoever asks, and how its pages look."""

    visit: Visit
    asked: PageRequest
    secret: str
    visits: Visits


def routes() -> list[BaseRoute]:
    # The address with `.json` first: the other one would take the ending for a part of an id.
    found: list[BaseRoute] = [PageRoute(page.json_address, _json(page), methods=["GET"]) for page in PAGES]
    found += [PageRoute(page.address, _shown(page), methods=["GET"]) for page in PAGES]
    found += [PageRoute(form.address, _done(form), methods=["POST"]) for form in FORMS]
    return [
        *found,
        PageRoute(f"{STATIC}/{{name}}", _static, methods=["GET"]),
        PageRoute(LIVE, _follow, methods=["GET"]),
    ]


async def _follow(request: Request) -> Any:
    """The stream of changes for the pages of this browser, in the team that its reader has chosen."""
    visit = await service_of(request).admitted(request, chosen_team=request.cookies.get(preferences.TEAM))
    given = query_arguments(request, CHOSEN)
    return EventStream(request, await opened(request, visit, given, Naming.SNAKE))


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in STATIC_TYPES:
        raise NotFound(f"no file {name[:40]}")
    return static_response(request, name)


def _shown(page: Page) -> Handler:
    async def show(request: Request) -> Response:
        admitted = None
        try:
            admitted = await admit(request)
            found = await _work(request, admitted, page.show)
        except MycelError as error:
            return await _refusal(request, error, admitted)
        return await _page(request, admitted, page.template, page, found)

    return show


def _json(page: Page) -> Handler:
    async def answer(request: Request) -> Response:
        try:
            admitted = await admit(request)
            found = await _work(request, admitted, page.show)
        except MycelError as error:
            return problem_of(error)
        headers = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
        return Response(to_json(dict(found.facts)), found.status, headers=headers, media_type="application/json")

    return answer


def _done(form: Form) -> Handler:
    async def do(request: Request) -> Response:
        admitted = None
        try:
            admitted = await admit(request)
            filled = await read_form(request)
            if not is_token(filled.get(TOKEN_FIELD, ""), secret=admitted.secret):
                return await _error_page(request, admitted, OTHER_SESSION, HTTPStatus.FORBIDDEN, {})
            admitted = replace(admitted, asked=replace(admitted.asked, form=filled))
            found = await _work(
                request, admitted, form.act, writes=True, long=form.address if form.takes_long else None
            )
        except MycelError as error:
            return await _refusal(request, error, admitted)
        if isinstance(found, SeeOther):
            return _lead(request, found, admitted)
        return await _page(request, admitted, form.template, form, found)

    return do


async def admit(request: Request) -> Admitted:
    """Whoever is signed in in this browser; raises where nobody is."""
    service, now = service_of(request), datetime.now(UTC)
    visit = await service.admitted(request, chosen_team=request.cookies.get(preferences.TEAM))
    caller = await service.work(visit.caller)
    visits = Visits.read(request.cookies.get(preferences.VISIT), now=now)
    query: dict[str, tuple[str, ...]] = {}
    for name, value in request.query_params.multi_items():
        query[name] = (*query.get(name, ()), value)
    asked = PageRequest(
        caller=caller,
        memory=visit.memory,
        workspace=visit.workspace,
        memory_of=visit.workspace.as_operator,
        address=request.url.path,
        now=now,
        last_visit=visits.before,
        in_path=request.path_params,
        query=query,
        part=request.headers.get("x-part"),
        shown_once=unsealed(request.cookies.get(preferences.SHOWN_ONCE), secret=credentials_of(request.scope).secret),
        condition=await service.condition(),
    )
    return Admitted(visit, asked, credentials_of(request.scope).secret, visits)


async def _work(
    request: Request,
    admitted: Admitted,
    work: Callable[[PageRequest], Any],
    *,
    writes: bool = False,
    long: str | None = None,
) -> Any:
    team, service = admitted.asked.caller.team, service_of(request)
    if long is None:
        return await service.work(lambda: work(admitted.asked), writes=writes, team=team)
    described = LongWork(long, team=team, member=admitted.visit.token.member_id)
    return await service.work(lambda: work(admitted.asked), long=described)


async def _page(request: Request, admitted: Admitted, template: str, page: Page | Form, found: Shown) -> Response:
    service = service_of(request)
    did = NOTICES.get(admitted.asked.one("did") or "")
    shared = await service.work(lambda: _shared(admitted, request))
    values: dict[str, Any] = {
        **shared,
        "page": page,
        "title": found.title or getattr(page, "title", "Mycel"),
        "notice": did,
        **found.facts,
        **found.beside,
    }
    # Made beside: a long text takes a while to become HTML, and to be packed.
    packed = may_pack_page(request)
    body = await service.work(lambda: page_bytes(render(template, prefix=service.prefix, **values), packed=packed))
    answer = page_response(body, found.status)
    preferences.keep(
        answer, preferences.VISIT, admitted.visits.written(), path=service.cookie_path, secure=service.is_https(request)
    )
    return answer


def _shared(admitted: Admitted, request: Request) -> Mapping[str, Any]:
    """What stands on every page."""
    asked = admitted.asked
    teams = [team.name for team in asked.workspace.teams()] if asked.caller.is_operator else [asked.caller.team]
    return {
        "asked": asked,
        "me": asked.caller,
        "now": asked.now,
        "teams": teams,
        "navigation": NAVIGATION,
        "theme": preferences.theme_of(request.cookies.get(preferences.THEME)),
        "themes": preferences.THEMES,
        "form_token": form_token(admitted.secret),
        "token_field": TOKEN_FIELD,
        "here": address_of(asked.address, {n: list(v) for n, v in asked.query.items() if n != "did"}),
    }


def _lead(request: Request, found: SeeOther, admitted: Admitted) -> Response:
    service = service_of(request)
    separator = "&" if "?" in found.to else "?"
    to = f"{found.to}{separator}did={found.did}" if found.did else found.to
    answer = RedirectResponse(service.prefix + to, HTTPStatus.SEE_OTHER, headers={"cache-control": "no-store"})
    for name, value in found.cookies.items():
        preferences.keep(answer, name, value, path=service.cookie_path, secure=service.is_https(request))
    if found.shown_once is not None:
        value = found.shown_once and sealed(found.shown_once, secret=admitted.secret)
        preferences.keep_shown_once(answer, value, path=service.cookie_path, secure=service.is_https(request))
    return answer


async def _refusal(request: Request, error: MycelError, admitted: Admitted | None = None) -> Response:
    """An error as a page that helps: whoever is not signed in is asked to, and then led to where it wanted to go."""
    service = service_of(request)
    if isinstance(error, Unauthenticated) and request.method in {"GET", "HEAD"}:
        return _signed_out(request, service)
    status = status_of(error)
    told = _TOLD.get(status, str(error))
    hint = ASK_AN_ADMIN if status == HTTPStatus.FORBIDDEN else None
    candidates = error.candidates if isinstance(error, AmbiguousId) else ()
    return await _error_page(request, admitted, told, status, headers_of(error), hint=hint, candidates=candidates)


async def lost(request: Request, error: Exception) -> Response:
    """A browser at an address that is none, or that only takes a form, is shown a page; programs get their problem."""
    raised = cast(HTTPException, error)
    is_reader = request.method == "GET" and "text/html" in request.headers.get("accept", "")
    if not is_reader or request.url.path.startswith("/api/"):
        return await of_http(request, error)
    try:
        admitted = await admit(request)
    except MycelError:
        admitted = None
    told, headers = "there is no page at this address", raised.headers or {}
    return await _error_page(request, admitted, told, raised.status_code, headers)


async def broken(request: Request, error: Exception) -> Response:
    """Show a browser that something went wrong by a page that asks for nothing; programs get their problem."""
    wants_page = "text/html" in request.headers.get("accept", "") and not request.url.path.startswith("/api/")
    if not wants_page:
        return await of_bug(request, error)
    status = HTTPStatus.INTERNAL_SERVER_ERROR
    words: dict[str, Any] = {
        "back": None,
        "error": "something went wrong here; the log of the service says more",
        "hint": None,
    }
    words["candidates"] = ()
    prefix = service_of(request).prefix
    text = render(
        "error.html", prefix=prefix, theme=_theme(request), status=int(status), title=ERROR_TITLES[status], **words
    )
    return HTMLResponse(text, status, headers=dict(PAGE_HEADERS))


async def _error_page(
    request: Request,
    admitted: Admitted | None,
    told: str,
    status: int,
    headers: Mapping[str, str],
    *,
    hint: str | None = None,
    candidates: Sequence[Candidate] = (),
) -> Response:
    around, prefix = await framed(request, admitted), service_of(request).prefix
    title = "Which one?" if candidates else ERROR_TITLES.get(status, "Something went wrong")
    told = "this part of an id names several memories" if candidates else told
    shown: dict[str, Any] = {
        "error": told,
        "status": int(status),
        "title": title,
        "hint": hint,
        "back": _page_before(request),
    }
    shown["candidates"] = candidates
    text = render("error.html", prefix=prefix, **around, **shown)
    return HTMLResponse(text, status, headers={**PAGE_HEADERS, **headers})


def _page_before(request: Request) -> str | None:
    """Return the address of ours that a form was sent from, so that its reader is led back to it."""
    given = urlsplit(request.headers.get("referer", ""))
    if given.netloc != request.headers.get("host"):
        return None
    path = given.path.removeprefix(service_of(request).prefix) or "/"
    return own_address(f"{path}?{given.query}" if given.query else path)


async def framed(request: Request, admitted: Admitted | None) -> Mapping[str, Any]:
    """What a page without a row in the table needs around itself; its colours alone where nobody is signed in."""
    if admitted is None:
        return {"theme": _theme(request)}
    shared = await service_of(request).work(lambda: _shared(admitted, request))
    return {**shared, "page": None, "notice": None}


def _signed_out(request: Request, service: Service) -> Response:
    """Lead to signing in and back. The cookie stays as it is: any page can have a browser ask for any address."""
    query = f"?{request.url.query}" if request.url.query else ""
    wanted = f"{request.url.path}{query}"
    # A cookie does not count, or does not come along, when a page elsewhere asks: the browser asks once more from here.
    if request.headers.get("sec-fetch-site") in {"cross-site", "same-site"}:
        text = render("arriving.html", prefix=service.prefix, wanted=wanted, theme=_theme(request))
        return HTMLResponse(text, headers=dict(PAGE_HEADERS))
    to = address_of(SIGN_IN, {"next": None if wanted == "/" else wanted})
    return RedirectResponse(service.prefix + to, HTTPStatus.SEE_OTHER, headers={"cache-control": "no-store"})


def _theme(request: Request) -> str:
    return preferences.theme_of(request.cookies.get(preferences.THEME))
