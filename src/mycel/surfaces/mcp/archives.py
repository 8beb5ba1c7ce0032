"""Archives over MCP: what a caller sees of its team as one resource, and an archive taken in from a text.

No model reads an archive: it holds what waits for review, and a hash over every byte. So a tool tells what is in one,
and programs fetch it as packed bytes.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any, NamedTuple

from mcp_types import ResourceLink

from mycel.domain.archive import ExportReport, MoveReport
from mycel.domain.ids import TeamName
from mycel.errors import InvalidInput, TooLarge
from mycel.surfaces.mcp.callers import Guest
from mycel.surfaces.mcp.tool import Effect, LocalTool
from mycel.surfaces.mcp.tool_results import Told

URI = "memory://export"
PACKED = "application/gzip"
# Of the packed bytes: what a resource has can be sent back in one message, which is a megabyte at most.
MOST_BYTES = 512 * 1024
MOST_LETTERS = 700_000
_NAME = "team.jsonl.gz"


class Exported(NamedTuple):
    report: ExportReport
    size_bytes: int


def read_export(guest: Guest) -> bytes:
    """The archive itself, packed; in a worker thread."""
    with guest.stage(_NAME) as file:
        guest.memory.export(file)
        size = file.stat().st_size
        if size > MOST_BYTES:
            raise TooLarge(f"the archive has {size:,} bytes, more than a resource can have: fetch /api/export")
        return file.read_bytes()


def _export(guest: Guest, _arguments: Mapping[str, Any]) -> Exported:
    with guest.stage(_NAME) as file:
        report = guest.memory.export(file)
        return Exported(report, file.stat().st_size)


def _import(guest: Guest, arguments: Mapping[str, Any]) -> MoveReport:
    archive = _bytes(arguments["archive"])
    with guest.stage(_NAME) as file:
        file.write_bytes(archive)
        return guest.memory.import_(file, dry_run=arguments.get("dry_run", False))


def _bytes(archive: object) -> bytes:
    if not isinstance(archive, str):
        raise InvalidInput("must be text: lines of JSON, or a packed archive in base64", field="archive")
    if len(archive) > MOST_LETTERS:
        raise InvalidInput(f"is longer than {MOST_LETTERS:,} characters: send it to /api/import", field="archive")
    if archive.lstrip().startswith("{"):
        return archive.strip().encode() + b"\n"
    try:
        return base64.b64decode(archive, validate=True)
    except (binascii.Error, ValueError):
        raise InvalidInput("is neither lines of JSON nor base64", field="archive") from None


def _tell_export(found: Exported, _home: TeamName) -> Told:
    report, size = found
    what = f"An archive of what you see of your team: {_counted(report.counts)}; {size:,} bytes packed."
    values = {"counts": dict(report.counts), "size_bytes": size}
    whole = "GET /api/export of the service, or `mycel export FILE`"
    if size > MOST_BYTES:
        return Told(f"{what} It is too large for a resource; {whole} has it.", values)
    link = ResourceLink(type="resource_link", uri=URI, name="export", mime_type=PACKED, size=size)
    text = f"{what} The resource {URI} is that archive; so is {whole}."
    return Told(text, {**values, "uri": URI}, (link,))


def _tell_import(found: MoveReport, _home: TeamName) -> Told:
    counts = {kind: {what.value: number for what, number in taken.items()} for kind, taken in found.counts.items()}
    lines = [f"{kind}: {_counted(taken)}" for kind, taken in counts.items()] or ["The archive is empty."]
    ending = "Nothing was stored: this is what would be." if found.dry_run else "What others wrote waits for review."
    return Told("\n".join([*lines, ending]), {"dry_run": found.dry_run, "counts": counts})


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {what}" for what, number in counts.items()) or "nothing"


ARCHIVES: tuple[LocalTool, ...] = (
    LocalTool(
        name="export",
        does="export",
        about="An archive of what you see of the team, for a program or a person to keep or to move elsewhere: what it "
        "holds, and where it is fetched. The archive is no reading matter; to read memories, list or search them.",
        apply=_export,
        goes_over_all=True,
        tell=_tell_export,
    ),
    LocalTool(
        name="import",
        does="import_",
        about="Take in the memories of an archive as your own, new ones; what others wrote waits for review, and a "
        "second time changes nothing. With `dry_run` it only says what would happen.",
        takes=("archive", "dry_run"),
        needs=("archive",),
        local_effect=Effect.ADDS,
        apply=_import,
        goes_over_all=True,
        tell=_tell_import,
    ),
)
