"""The commands that capture material: sessions, conversations, threads and files."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mycel.domain.memory import Scope
from mycel.domain.source import SURROUNDINGS
from mycel.errors import InvalidInput
from mycel.surfaces.cli.events import show_event_done
from mycel.surfaces.cli.every_team import teams_of
from mycel.surfaces.cli.invocation import Invocation, add_group, invocation
from mycel.surfaces.cli.material import FROM_INPUT, read_material, read_messages
from mycel.surfaces.cli.options import any_of, naming, with_fields

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mycel.contracts.memory_api import MemoryApi
    from mycel.domain.memory_field import FieldRow

_MATERIAL = "A text, a JSON list of messages, or a transcript (JSONL) of Claude Code or Codex"

OptionalFile = Annotated[
    str | None, typer.Argument(metavar="FILE", help=f"{_MATERIAL}; `-`, or nothing, is standard input.")
]
SourceOption = Annotated[
    str | None,
    typer.Option("--source", "--source-ref", metavar="ID", help="Material that was stored earlier, instead of a file."),
]
ScopeOption = Annotated[
    str | None,
    typer.Option(
        metavar="SCOPE",
        help=f"Where what is drawn from it applies: {any_of(Scope)}; project:NAME and repo:NAME say where it belongs.",
    ),
]


def _surroundings(without: str = "") -> Iterable[FieldRow]:
    return (row for name, row in SURROUNDINGS.items() if name != without)


def add_to(app: typer.Typer) -> None:
    add_group(
        app,
        "capture",
        "Capture",
        {"session": session, "conversation": conversation, "thread": thread, "file": file},
        help="Hand in sessions, conversations, threads and files to draw memories from.",
    )


@with_fields(_surroundings("thread_id"))
def session(
    context: typer.Context,
    file: OptionalFile = None,
    *,
    fields: dict[str, Any],
    source: SourceOption = None,
    scope: ScopeOption = None,
    closed: Annotated[
        bool,
        typer.Option("--closed/--open", help="Whether it is over; an open one is looked at once it has gone quiet."),
    ] = True,
) -> None:
    """Capture the transcript of a session: a summary and candidates for the inbox follow.

    A session that is captured again under its --session-id grows.
    """
    call = invocation(context)
    messages = None if _is_stored(file, source=source) else read_messages(file or FROM_INPUT)
    with naming(messages="file", source_id="source", task_id="task"), _team_of(call, source) as memory:
        event = memory.capture_session(messages, scope, source_id=source, closed=closed, **fields)
    call.answer(event, lambda: show_event_done(event, done="captured"))


@with_fields(_surroundings())
def conversation(
    context: typer.Context,
    file: OptionalFile = None,
    *,
    fields: dict[str, Any],
    source: SourceOption = None,
    scope: ScopeOption = None,
    store: Annotated[bool, typer.Option("--store", help="Only keep it; --source draws from it later.")] = False,
) -> None:
    """Capture a conversation: candidates for the inbox follow."""
    call = invocation(context)
    messages = None if _is_stored(file, source=source) else read_messages(file or FROM_INPUT)
    with naming(messages="file", source_id="source", task_id="task"), _team_of(call, source) as memory:
        mode = "store" if store else "extract"
        event = memory.capture_conversation(messages, scope, mode, source_id=source, **fields)
    call.answer(event, lambda: show_event_done(event, done="captured"))


@with_fields(_surroundings("session_id"))
def thread(
    context: typer.Context,
    file: OptionalFile = None,
    *,
    fields: dict[str, Any],
    source: SourceOption = None,
) -> None:
    """Capture a merged or archived thread: its summary becomes a memory, candidates for the inbox follow."""
    call = invocation(context)
    messages = None if _is_stored(file, source=source) else read_messages(file or FROM_INPUT)
    with naming(messages="file", source_id="source", task_id="task"), _team_of(call, source) as memory:
        event = memory.summarize_thread(messages, source_id=source, **fields)
    call.answer(event, lambda: show_event_done(event, done="captured"))


@with_fields(_surroundings("thread_id"))
def file(
    context: typer.Context,
    path: Annotated[str, typer.Argument(metavar="PATH", help="The file; `-` is standard input.")],
    *,
    fields: dict[str, Any],
    name: Annotated[
        str | None,
        typer.Option("--name", metavar="PATH", help="What the file is called; by default its absolute path."),
    ] = None,
    extract: Annotated[bool, typer.Option("--extract", help="Draw candidates for the inbox from it too.")] = False,
) -> None:
    """Index a file, split on its headings; captured again under its name, it makes new versions."""
    if name is None and path == FROM_INPUT:
        raise InvalidInput("is needed for what comes from standard input", field="name")
    call = invocation(context)
    content = read_material(path, field="path")
    called = _name_of(path, personal=call.settings().personal_memory_folder) if name is None else name
    with naming(path="path" if name is None else "name", content="path", task_id="task"), call.memory() as memory:
        event = memory.index_file(called, content, extract=extract, **fields)
    call.answer(event, lambda: show_event_done(event, done="indexed"))


@contextmanager
def _team_of(call: Invocation, source: str | None) -> Generator[MemoryApi]:
    """The team that has the stored material, or the one where new material goes."""
    with teams_of(call) as teams:
        if source is None:
            yield teams.home(call).memory
        else:
            yield teams.having(lambda memory: memory.sources.get(source), id=source, field="source")


def _is_stored(file: str | None, *, source: str | None) -> bool:
    if source is not None and file is not None:
        raise InvalidInput("names stored material: leave the file out", field="source")
    return source is not None


def _name_of(path: str, *, personal: str) -> str:
    """Its absolute path. A file of the personal memory folder is named below it, by whatever link it was reached."""
    if personal:
        within, folder = Path(path).resolve(), Path(personal).resolve()
        if within.is_relative_to(folder):
            return str(Path(personal) / within.relative_to(folder))
    return os.path.normpath(Path(path).absolute())
