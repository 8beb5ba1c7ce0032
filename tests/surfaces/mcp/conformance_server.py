"""A service with the fixtures of fixed names that the conformance suite of MCP, which brings no token, expects.

`python -m tests.surfaces.mcp.conformance_server FOLDER` prints its address.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import uvicorn
from mcp_types import ContentBlock, EmbeddedResource, TextResourceContents
from starlette.types import Receive, Scope, Send

from mycel.app import open_workspace
from mycel.contracts.memory_api import MemoryApi
from mycel.domain.ids import TeamName
from mycel.errors import InvalidInput
from mycel.surfaces.http.app import create_app
from mycel.surfaces.mcp import notifications, server
from mycel.surfaces.mcp.argument_help import Schema
from mycel.surfaces.mcp.callers import Guest
from mycel.surfaces.mcp.prompts import Written
from mycel.surfaces.mcp.resources import Rendered
from mycel.surfaces.mcp.server import Offer
from mycel.surfaces.mcp.tool import LocalTool, Tool
from mycel.surfaces.mcp.tool_results import Tell, Told


def _fail(_found: object, _home: TeamName) -> Told:
    raise InvalidInput("This tool intentionally returns an error for testing", field="nothing")


def _simple(_memory: MemoryApi, _given: Mapping[str, str]) -> str:
    return "This is a simple prompt for testing."


def _arguments(_memory: MemoryApi, given: Mapping[str, str]) -> str:
    return f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'"


def _slow(_guest: Guest, _given: Mapping[str, Any]) -> None:
    """As long as it takes to be told of it three times."""
    time.sleep(3.5 * notifications.EVERY_SECONDS)


def _said(text: str, *attached: ContentBlock) -> Tell:
    return lambda _found, _home: Told(text, {}, attached)


def _text_of(text: str, *, mime_type: str = "text/plain") -> Rendered:
    return Rendered("Text", "A text.", lambda _guest: text, mime_type=mime_type)


class _SchemaTool(Tool):
    """With words of its schema that those of ours do not have."""

    @property
    def schema(self) -> Schema:
        address = {"type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": {"address": address},
            "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
            "additionalProperties": False,
        }


_EMBEDDED = EmbeddedResource(
    type="resource",
    resource=TextResourceContents(uri="test://embedded-resource", mime_type="text/plain", text="An embedded resource."),
)
FIXTURES = Offer(
    tools=(
        Tool(
            name="test_simple_text",
            does="stats",
            about="Answers with a text.",
            tell=_said("This is a simple text response for testing."),
        ),
        Tool(name="test_error_handling", does="stats", about="Fails.", tell=_fail),
        Tool(name="test_embedded_resource", does="stats", about="Attaches.", tell=_said("With a text.", _EMBEDDED)),
        Tool(name="test_tool_with_logging", does="stats", about="Is logged as every tool is.", tell=_said("Done.")),
        LocalTool(name="test_tool_with_progress", does="", about="Takes long.", apply=_slow, tell=_said("Done.")),
        _SchemaTool(name="json_schema_2020_12_tool", does="stats", about="Is listed.", tell=_said("Done.")),
    ),
    rendered=MappingProxyType(
        {
            "test://static-text": _text_of("This is the content of the static text resource."),
            "test://static-binary": Rendered("Bytes", "Bytes.", lambda _guest: b"\x00\xff", mime_type="image/png"),
            "test://template/123/data": _text_of('{"id": "123"}', mime_type="application/json"),
        }
    ),
    prompts=(
        Written(
            "test_simple_prompt",
            "Simple",
            "A text.",
            lambda _memory, _given: "This is a simple prompt for testing.",
            {},
        ),
        Written("test_prompt_with_arguments", "Two", "Two words.", _arguments, {"arg1": "One", "arg2": "Two"}),
    ),
)


def main(folder: Path) -> None:
    server.Offer.of = staticmethod(lambda _chosen: FIXTURES)  # type: ignore[method-assign]
    with open_workspace(folder) as workspace:
        app, token = create_app(workspace), workspace.issue_token("operator")

        async def with_token(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "http":
                scope["headers"] = [*scope["headers"], (b"authorization", f"Bearer {token}".encode())]
            await app(scope, receive, send)

        running = uvicorn.Server(uvicorn.Config(with_token, port=0, log_config=None, timeout_graceful_shutdown=1))
        sockets = [running.config.bind_socket()]
        sys.stdout.write(f"http://127.0.0.1:{sockets[0].getsockname()[1]}/mcp\n")
        sys.stdout.flush()
        running.run(sockets)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
