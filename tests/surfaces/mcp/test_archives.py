"""Archives over MCP: what is in one, fetching it, and taking one in."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any
from uuid import uuid4

import pytest
from mcp import Client, MCPError

import mycel
from mycel.surfaces.mcp import archives, resources
from tests.surfaces.mcp.clients import Served, empty_archive, run, save, text_of
from tests.surfaces.mcp.reader import OFFER, Reader, answer_of

pytestmark = pytest.mark.each_database(slow=True)

WAYS = ["http", "stdio"]


async def exported(client: Client) -> str:
    (content,) = (await client.read_resource(archives.URI)).contents
    return content.blob  # pyright: ignore


def memories_in(archive: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in gzip.decompress(base64.b64decode(archive)).splitlines()]
    return [line for line in lines if line["kind"] == "memory"]


@pytest.mark.parametrize("way", WAYS)
def test_a_team_is_exported_by_one_and_taken_in_by_another(served: Served, way: str) -> None:
    async def work() -> None:
        text = f"The lathe is calibrated on Mondays {uuid4().hex}."
        async with getattr(served, way)("swe-1") as here, served.http("designer-1") as there:
            await save(here, text)
            told = await here.call_tool("export", {})
            assert [one.type for one in told.content] == ["text", "resource_link"]
            assert told.structured_content["counts"]["memory"] >= 1
            assert text not in text_of(told)
            archive = await exported(here)
            assert text in {one["content"] for one in memories_in(archive)}
            tried = await there.call_tool("import", {"archive": archive, "dry_run": True})
            assert tried.structured_content["dry_run"] is True
            taken = await there.call_tool("import", {"archive": archive})
            assert taken.structured_content["counts"]["memory"]["new"] >= 1
            again = await there.call_tool("import", {"archive": archive})
            assert "new" not in again.structured_content["counts"]["memory"]

    run(work)


def test_an_export_has_what_the_caller_sees_and_no_more(served: Served) -> None:
    async def work() -> None:
        async with served.http("swe-1") as author, served.http("swe-2") as other:
            text = f"Only mine {uuid4().hex}."
            await save(author, text, visibility="private")
            seen = {one["content"] for one in memories_in(await exported(author))}
            hidden = {one["content"] for one in memories_in(await exported(other))}
            assert (text in seen, text in hidden) == (True, False)

    run(work)


def test_an_archive_of_lines_is_taken_in_and_what_is_none_is_refused(served: Served) -> None:
    async def work() -> None:
        async with served.http("swe-1") as client:
            assert not (await client.call_tool("import", {"archive": empty_archive()})).is_error
            cut_short = empty_archive().splitlines()[0]
            for wrong in ("nonsense!", cut_short, "{}", "AAAA", "x" * (archives.MOST_LETTERS + 1)):
                result = await client.call_tool("import", {"archive": wrong})
                assert result.structured_content["code"] == "invalid_input", wrong[:80]

    run(work)


def test_an_archive_too_large_for_a_message_says_where_it_is_fetched(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "MOST_BYTES", 10)
    with mycel.connect(served.service.url, token=served.tokens["swe-1"]) as workspace:
        reader = Reader(workspace.me())
        export = next(tool for tool in OFFER.tools if tool.name == "export")
        text, values = answer_of(reader, export, {})
        assert "/api/export" in text
        assert "uri" not in values
        with pytest.raises(MCPError, match="/api/export"):
            run(lambda: resources.read(reader, archives.URI, OFFER.rendered))
