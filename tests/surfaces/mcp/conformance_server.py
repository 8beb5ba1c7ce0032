"""A service for the conformance suite of MCP, which brings no token and expects fixtures of fixed names.

`python -m tests.surfaces.mcp.conformance_server FOLDER [fixtures]` prints its address.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import uvicorn
from starlette.types import Receive, Scope, Send

from mycel.app import open_workspace
from mycel.contracts.memory_api import MemoryApi
from mycel.domain.ids import TeamName
from mycel.errors import InvalidInput
from mycel.surfaces.http.app import create_app
from mycel.surfaces.mcp import server
from mycel.surfaces.mcp.prompts import Written
from mycel.surfaces.mcp.resources import Rendered
from mycel.surfaces.mcp.server import Offer
from mycel.surfaces.mcp.telling import Told
from mycel.surfaces.mcp.tool import Tool


def _fail(_found: object, _home: TeamName) -> Told:
    raise InvalidInput("This tool intentionally returns an error for testing", field="nothing")


def _simple(_memory: MemoryApi, _given: Mapping[str, str]) -> str:
    return "This is a simple prompt for testing."


def _arguments(_memory: MemoryApi, given: Mapping[str, str]) -> str:
    return f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'"


FIXTURES = Offer(
    tools=(
        Tool(
            name="test_simple_text",
            does="stats",
            about="Answers with a text.",
            tell=lambda _found, _home: Told("This is a simple text response for testing.", {}),
        ),
        Tool(name="test_error_handling", does="stats", about="Fails.", tell=_fail),
    ),
    rendered=MappingProxyType(
        {
            "test://static-text": Rendered(
                "Text", "A text.", lambda _memory: "This is the content of the static text resource."
            )
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


def main(folder: Path, *, fixtures: bool) -> None:
    if fixtures:
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
    main(Path(sys.argv[1]), fixtures="fixtures" in sys.argv)
