"""The routes of the app that are no operations, each with the calls that could show something hidden."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlencode

from mycel.domain.ids import new_id
from tests.asking import UNKNOWN
from tests.conformance import tenancy_tools
from tests.conformance.tenancy_calls import Pair, Request
from tests.conformance.tenancy_world import Hidden, World
from tests.serving import ADDRESS

FORM = {"content-type": "application/x-www-form-urlencoded", "origin": ADDRESS}


def _open(method: str, path: str, **rest: Any) -> Callable[[World, Hidden], Iterator[Pair]]:
    """Takes nothing that could name something."""

    def calls(world: World, hidden: Hidden) -> Iterator[Pair]:
        request = Request(path, method, path, **rest)
        yield Pair(request, request)

    return calls


def _asked(path: str, kinds: dict[str, str], **rest: Any) -> Callable[[World, Hidden], Iterator[Pair]]:
    def calls(world: World, hidden: Hidden) -> Iterator[Pair]:
        yield from _open("GET", path, **rest)(world, hidden)
        for name, kind in kinds.items():
            for both in hidden.twins.get(kind, {}).items():
                sides = [
                    Request(path, "GET", f"{path}?{urlencode({name: one})}", sent=frozenset({one}), **rest)
                    for one in both
                ]
                yield Pair(sides[0], sides[1])

    return calls


def _sent(path: str, name: str, kind: str) -> Callable[[World, Hidden], Iterator[Pair]]:
    def calls(world: World, hidden: Hidden) -> Iterator[Pair]:
        yield from _open("POST", path, writes=True)(world, hidden)
        for both in hidden.twins.get(kind, {}).items():
            sides = [Request(path, "POST", path, {name: one}, sent=frozenset({one}), writes=True) for one in both]
            yield Pair(sides[0], sides[1])

    return calls


def _signing_in(path: str) -> Callable[[World, Hidden], Iterator[Pair]]:
    """Tokens that have ended look like tokens that never were, and ids like no code."""

    def calls(world: World, hidden: Hidden) -> Iterator[Pair]:
        ended = {str(world.secrets[who]): UNKNOWN for who in ("revoked", "zephyr-gone")}
        tried = [("token", both) for both in ended.items()]
        tried += [("code", both) for both in list(hidden.all_ids.items())[:3]]
        for name, both in tried:
            sides = [_exchange(path, {name: one}, one) for one in both]
            yield Pair(sides[0], sides[1])

    return calls


def _exchange(path: str, given: dict[str, str], sent: str) -> Request:
    if path.startswith("/api"):
        return Request(path, "POST", path, given, sent=frozenset({sent}), writes=True)
    return Request(path, "POST", path, urlencode(given), FORM, frozenset({sent}), writes=True)


def _exported(world: World, hidden: Hidden) -> Iterator[Pair]:
    """Not packed, so that it can be read here; every export has a time of its own."""
    for query in ("packed=false", "packed=false&whole=true"):
        request = Request("/api/export", "GET", f"/api/export?{query}")
        yield Pair(request, request, alike=False)
    for both in hidden.twins.get("team", {}).items():
        sides = [Request("/api/export", "GET", f"/api/export?team={one}", sent=frozenset({one})) for one in both]
        yield Pair(sides[0], sides[1])


def _imported(world: World, hidden: Hidden) -> Iterator[Pair]:
    for name, kind in (("id", "memory_id"), ("agent_id", "member"), ("team", "team"), ("key", "key")):
        for both in hidden.twins.get(kind, {}).items():
            for query in ("dry_run=true&packed=false", "packed=false", "packed=false&whole=true"):
                sides = [_import(query, {name: one}, one) for one in both]
                yield Pair(sides[0], sides[1])


def _import(query: str, given: dict[str, str], sent: str) -> Request:
    """An archive of one memory, as if it had been exported elsewhere."""
    at = "2026-11-15T09:00:00+00:00"
    header = {"kind": "header", "format": "mycel-archive", "version": 2, "team": "other", "made_by": "swe-9"}
    header |= {"made_at": at, "whole": "whole" in query}
    memory = {
        **{"kind": "memory", "id": new_id(), "type": "fact", "title": "plain", "content": "plain words"},
        **{"path": "/plain", "scope": "global", "agent_id": "swe-9", "visibility": "team", "status": "active"},
        **{"confidence": 1.0, "trust": "normal", "source_kind": "manual", "made_by": "manual", "created_at": at},
        **{"updated_at": at, "version": 1, "category": "plain", "summary": None, "tags": [], "project_id": None},
        **dict.fromkeys(("key", "repo_id", "session_id", "task_id", "source_ref", "evidence_ref", "rationale")),
        **{"allowed_roles": [], "metadata": {}, "alternatives": [], "observed_at": None, "expires_at": None},
        **{"deleted_at": None, "believed_from": at, "changed_by": "swe-9", "reason": None},
    }
    header |= {name: one for name, one in given.items() if name == "team"}
    memory |= {name: one for name, one in given.items() if name != "team"}
    lines = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in (header, memory))
    footer = {"kind": "footer", "counts": {"memory": 1}, "sha256": hashlib.sha256(lines.encode()).hexdigest()}
    body = lines + json.dumps(footer, separators=(",", ":")) + "\n"
    writes = "dry_run" not in query
    return Request("/api/import", "POST", f"/api/import?{query}", body, sent=frozenset({sent}), writes=writes)


# By path and method.
ROUTES: dict[tuple[str, str], Callable[[World, Hidden], Iterator[Pair]]] = {
    ("/health", "GET"): _open("GET", "/health"),
    ("/docs", "GET"): _open("GET", "/docs"),
    ("/openapi.json", "GET"): _open("GET", "/openapi.json"),
    ("/metrics", "GET"): _open("GET", "/metrics"),
    ("/health/live", "GET"): _open("GET", "/health/live"),
    ("/health/ready", "GET"): _open("GET", "/health/ready"),
    ("/api/memory/changes", "GET"): _asked(
        "/api/memory/changes", {"team": "team", "path": "path", "after": "memory_id"}
    ),
    ("/api/memory/changes", "WEBSOCKET"): _asked(
        "/api/memory/changes", {"team": "team", "path": "path", "project": "project"}, kind="websocket"
    ),
    ("/api/export", "GET"): _exported,
    ("/api/import", "POST"): _imported,
    ("/api/sign-in-links", "POST"): _sent("/api/sign-in-links", "member_id", "member"),
    ("/api/sign-in", "POST"): _signing_in("/api/sign-in"),
    ("/sign-in", "POST"): _signing_in("/sign-in"),
    ("/sign-in", "GET"): _asked("/sign-in", {"code": "memory_id"}),
    ("/sign-out", "POST"): _open("POST", "/sign-out"),
    ("/mcp", "POST"): tenancy_tools.called,
    # Of the older protocol, whose sessions are their makers' alone.
    ("/mcp", "GET"): _open("GET", "/mcp"),
    ("/mcp", "DELETE"): _open("DELETE", "/mcp"),
}
# They ask nobody who they are, and say the same to everybody.
PUBLIC = frozenset(
    {
        *("/health", "/health/live", "/health/ready", "/api/sign-in", "/sign-in", "/sign-out"),
        *("/docs", "/openapi.json"),
    }
)


def route_pairs(world: World, hidden: Hidden) -> Iterator[Pair]:
    for calls in ROUTES.values():
        yield from calls(world, hidden)
