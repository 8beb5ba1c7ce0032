"""The commands about the Postgres database of a workspace, for its owner."""

from __future__ import annotations

from typing import Annotated

import typer

from mycel.errors import InvalidInput
from mycel.surfaces.cli.invocation import Invocation, add_group, invocation
from mycel.surfaces.cli.output import line, print_lines


def add_to(app: typer.Typer) -> None:
    add_group(
        app,
        "database",
        "Run",
        {"migrate": migrate, "index": index, "publish": publish},
        help="Make and migrate the tables of a workspace on Postgres, its vector indexes and its publication.",
    )


_Url = Annotated[
    str | None,
    typer.Option("--url", metavar="ADDRESS", help="The database, as its owner logs in; otherwise MYCEL_DATABASE_URL."),
]


def migrate(context: typer.Context, url: _Url = None) -> None:
    """Make the tables of a workspace in a Postgres database, or bring them to this version, as its owner.

    All of it happens or nothing. Where nothing is to be done, nothing is changed.
    """
    from mycel.storage import migrate_database

    call = invocation(context)
    before, after = migrate_database(_address(call, url))
    when = "already" if before == after else "now"
    call.answer(
        {"before": before, "version": after}, lambda: print_lines([line(f"The tables are at version {after} {when}.")])
    )


def index(context: typer.Context, url: _Url = None) -> None:
    """Make the vector indexes that large teams lack and drop those of no use, as the owner of the database.

    Everybody goes on meanwhile. A team is large from 50,000 memories on. Where nothing is to be done, nothing is
    changed, so run it every night.
    """
    from mycel.storage import index_database

    call = invocation(context)
    kept = index_database(_address(call, url))
    teams = "1 large team has its index" if kept == 1 else f"{kept} large teams have their index"
    call.answer({"indexes": kept}, lambda: print_lines([line(f"{teams} of vectors.")]))


def publish(
    context: typer.Context,
    url: _Url = None,
    *,
    to: Annotated[
        str, typer.Option("--to", metavar="ROLE", help="Whom the database lets read the changes of its own team.")
    ] = "authenticated",
    off: Annotated[bool, typer.Option("--off", help="Publish nothing any more, and drop the table.")] = False,
) -> None:
    """Publish changes for programs that follow the database, such as Supabase Realtime, as its owner.

    The table public.memory_items gets a row for each change of what a whole team may read: what happened, where and
    when, without any text. Publishing twice changes nothing.
    """
    from mycel.storage import publish_database

    call = invocation(context)
    is_new = publish_database(_address(call, url), to=None if off else to)
    state = "not published" if off else "published"
    when = "now" if is_new else "already"
    call.answer({"published": not off}, lambda: print_lines([line(f"Changes are {state} {when}.")]))


def _address(call: Invocation, url: str | None) -> str:
    from mycel.settings import read_database_url

    call.require_operator()
    address = call.settings().database_url if url is None else read_database_url(url, origin="url")
    if address is None:
        raise InvalidInput("names the database, or MYCEL_DATABASE_URL does", field="url")
    return address
