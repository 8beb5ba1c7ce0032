"""Writes the tables of routes in the reference of the HTTP API. `python -m scripts.http_reference`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple, cast

from starlette.routing import Route, WebSocketRoute

from mycel.embedded.workspace import Workspace
from mycel.surfaces.http.app import create_app
from mycel.surfaces.http.described_route import DescribedRoute, PageRoute
from mycel.wire.operations import OPERATIONS, Operation
from mycel.wire.summaries import summary_of, tag_of

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "http.md"
BEGIN, END = "<!-- routes: made by `python -m scripts.http_reference` -->", "<!-- end of routes -->"
TITLES = {"mcp": "MCP"}
WEBSOCKET = "WEBSOCKET"
# What brings no description along: pages for people, and what is no request.
UNDESCRIBED: Mapping[tuple[str, str], tuple[str, str]] = {
    ("GET", "/sign-in"): ("pages", "Asks for a token, or shows the button of a link"),
    ("POST", "/sign-in"): ("pages", "The form of that page; 303 to `/` with a cookie"),
    ("POST", "/sign-out"): ("pages", "Ends the token of this browser"),
    ("POST", "/mcp"): ("mcp", "One message of MCP: see [its reference](mcp.md)"),
    ("GET", "/mcp"): ("mcp", "What the server tells by itself, for a session of the older protocol"),
    ("DELETE", "/mcp"): ("mcp", "Ends such a session"),
    (WEBSOCKET, "/api/memory/changes"): ("memory", "The same as they happen, one text frame each"),
}


class Listed(NamedTuple):
    tag: str
    method: str
    path: str
    status: str
    name: str
    summary: str


def main() -> None:
    PAGE.write_text(page(PAGE.read_text("utf-8")), encoding="utf-8")


def page(text: str) -> str:
    """The same page with the tables that the routes make."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{tables()}\n{END}{after}"


def tables() -> str:
    found = [*_operations(), *_others()]
    return "\n".join(_table(tag, [one for one in found if one.tag == tag]) for tag in {one.tag: None for one in found})


def _operations() -> Iterable[Listed]:
    for one in OPERATIONS:
        yield Listed(tag_of(one), one.method, one.path, _statuses(one), f"`{one.name}`", summary_of(one))


def _statuses(one: Operation) -> str:
    return str(one.status) if one.waiting is None else f"{one.status} or {one.waiting}"


def _others() -> Iterable[Listed]:
    # Nothing is asked of it, so that it needs no workspace.
    for route in create_app(cast(Workspace, None)).routes:
        if isinstance(route, PageRoute):
            continue
        if isinstance(route, DescribedRoute):
            for method, about in route.about.items():
                yield Listed(about.tag, method, route.path, str(about.status), "", about.summary)
        elif isinstance(route, Route | WebSocketRoute):
            methods = {WEBSOCKET} if isinstance(route, WebSocketRoute) else (route.methods or set()) - {"HEAD"}
            for method in sorted(methods, reverse=True):
                tag, summary = UNDESCRIBED[method, route.path]
                yield Listed(tag, method, route.path, "", "", summary)


def _table(tag: str, listed: Iterable[Listed]) -> str:
    rows = [f"| `{one.method} {one.path}` | {one.status} | {one.name} | {one.summary} |" for one in listed]
    heading = [
        f"### {TITLES.get(tag) or tag.capitalize()}",
        "",
        "| route | status | in Python | |",
        "|---|---|---|---|",
    ]
    return "\n".join([*heading, *rows, ""])


if __name__ == "__main__":
    main()
