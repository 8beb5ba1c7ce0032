"""The tools and resources of MCP, each with the calls that could show something hidden."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mycel.domain.ids import new_id
from mycel.domain.names import ALIASES, find_name
from mycel.surfaces.mcp.prompts import NAMES, PROMPTS
from mycel.surfaces.mcp.resources import TEMPLATE
from mycel.surfaces.mcp.tools import TOOLS
from tests.conformance.tenancy_calls import KINDS, PLAIN, Pair, Request
from tests.conformance.tenancy_world import Hidden, World

PATH = "/mcp"
VERSION = "2026-07-28"
_PREFIX = "io.modelcontextprotocol/"
_META = {
    f"{_PREFIX}protocolVersion": VERSION,
    f"{_PREFIX}clientInfo": {"name": "visitor", "version": "1"},
    f"{_PREFIX}clientCapabilities": {},
}
# Few of each: what is behind them has calls enough of its own.
MOST_OF_A_KIND = 3
_NEEDED: dict[str, Any] = {**PLAIN, "messages": "plain words", "useful": True, "relation": "related_to"}
_NEEDED |= {"action": "completed", "what_went_wrong": "plain words"}

COMPLETED: list[tuple[dict[str, Any], str]] = [
    *(
        ({"ref": {"type": "ref/prompt", "name": prompt.name}}, name)
        for prompt in PROMPTS
        for name in prompt.takes
        if name in NAMES
    ),
    ({"ref": {"type": "ref/resource", "uri": TEMPLATE.uri_template}}, "id"),
]


def called(world: World, hidden: Hidden) -> Iterator[Pair]:
    yield from (_both("tools/list", {}), _both("resources/list", {}), _both("prompts/list", {}))
    yield from (_both("resources/read", {"uri": uri}, name=uri) for uri in ("memory://recent", "memory://context"))
    yield from (_both("prompts/get", {"name": name}, name=name) for name in ("review-inbox", "recall-context"))
    yield from (
        _both("completion/complete", {**ref, "argument": {"name": name, "value": ""}}) for ref, name in COMPLETED
    )
    for both in list(hidden.twins["memory_id"].items()):
        yield _pair("resources/read", [{"uri": f"memory://{one}"} for one in both], both, key="uri")
    for ref, name in COMPLETED:
        for both in [both for kind in KINDS[name] for both in hidden.twins.get(kind, {}).items()][:MOST_OF_A_KIND]:
            yield _pair(
                "completion/complete", [{**ref, "argument": {"name": name, "value": one}} for one in both], both
            )
    for tool in TOOLS:
        needed = {word: _NEEDED.get(word, new_id()) for word in tool.needs}
        others = {one: find_name(one, tool.takes) for one in ALIASES if one not in tool.takes}
        for word, ours in {**{one: one for one in tool.takes}, **others}.items():
            twins = [both for kind in KINDS.get(ours or "", ()) for both in hidden.twins.get(kind, {}).items()]
            for both in twins[:MOST_OF_A_KIND]:
                given = [{"name": tool.name, "arguments": {**needed, word: one}} for one in both]
                yield _pair("tools/call", given, both, writes=tool.effect != "reads")


def _pair(
    method: str, given: list[dict[str, Any]], names: tuple[str, str], *, key: str = "name", writes: bool = False
) -> Pair:
    hidden, absent = (
        _request(method, params, params.get(key), sent=frozenset({name}), writes=writes)
        for params, name in zip(given, names, strict=True)
    )
    return Pair(hidden, absent)


def _both(method: str, params: dict[str, Any], *, name: str | None = None) -> Pair:
    request = _request(method, params, name)
    return Pair(request, request)


def _request(
    method: str,
    params: dict[str, Any],
    name: str | None,
    *,
    sent: frozenset[str] = frozenset(),
    writes: bool = False,
) -> Request:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": _META}}
    headers = {"mcp-protocol-version": VERSION, "mcp-method": method, "content-type": "application/json"}
    headers |= {"accept": "application/json, text/event-stream"}
    if name is not None:
        headers["mcp-name"] = name
    return Request(PATH, "POST", f"{PATH}?tools=full", body, headers, sent=sent, writes=writes)
