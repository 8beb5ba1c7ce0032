"""Basic Memory through its MCP server in the same process; words only, one project per scope."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from driver import Item, Vectors, serve


class BasicMemoryStore:
    def __init__(self, folder: Path, vectors: Vectors) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        os.environ |= {
            "BASIC_MEMORY_HOME": str(folder / "main"),
            "BASIC_MEMORY_CONFIG_DIR": str(folder / "config"),
            "BASIC_MEMORY_AUTO_UPDATE": "false",
            "BASIC_MEMORY_LOG_LEVEL": "ERROR",
            # Its model is a download, and it takes no vectors.
            "BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED": "false",
        }
        import basic_memory.mcp.tools  # noqa: F401
        from basic_memory.mcp.server import mcp
        from fastmcp import Client
        from loguru import logger

        logger.remove()
        self._folder = folder
        self._loop = asyncio.new_event_loop()
        self._client = Client(mcp)
        self._loop.run_until_complete(self._client.__aenter__())
        self._projects: dict[str, str] = {}

    def add(self, item: Item) -> None:
        self._call("write_note", title=item.id, content=item.text, directory="notes", project=self._project(item.scope))

    def search(self, question: str, *, scope: str, limit: int) -> list[str]:
        asked = {"query": question, "page_size": limit, "search_type": "text", "entity_types": ["entity"]}
        return [hit["title"] for hit in self._call("search_notes", project=self._project(scope), **asked)["results"]]

    def settle(self) -> None:
        pass

    def close(self) -> None:
        self._loop.run_until_complete(self._client.__aexit__(None, None, None))

    def _project(self, scope: str) -> str:
        if scope not in self._projects:
            name = f"scope-{len(self._projects)}"
            place = self._folder / name
            place.mkdir()
            self._call("create_memory_project", project_name=name, project_path=str(place))
            self._projects[scope] = name
        return self._projects[scope]

    def _call(self, tool: str, **arguments: object) -> dict:
        answer = self._client.call_tool(tool, arguments | {"output_format": "json"})
        return self._loop.run_until_complete(answer).data


if __name__ == "__main__":
    serve(BasicMemoryStore)
