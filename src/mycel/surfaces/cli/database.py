"""The commands about the Postgres database of a workspace."""

from __future__ import annotations

from typing import Annotated

import typer

from mycel.errors import InvalidInput
from mycel.surfaces.cli.invocation import add_group, invocation
from mycel.surfaces.cli.output import line, print_lines


def add_to(app: typer.Typer) -> None:
    add_group(
        app, "database", "Run", {"migrate": migrate}, help="Make and migrate the tables of a workspace on Postgres."
    )


def migrate(
    context: typer.Context,
    url: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="The database, as its owner logs in; otherwise MYCEL_DATABASE_URL."),
    ] = None,
) -> None:
    """Make the tables of a workspace in a Postgres database, or bring them to this version, as its owner.

    All of it happens or nothing. Where nothing is to be done, nothing is changed.
    """
    from mycel.app import migrate_database
    from mycel.settings import read_database_url

    call = invocation(context)
    call.require_operator()
    address = call.settings().database_url if url is None else read_database_url(url, origin="url")
    if address is None:
        raise InvalidInput("names the database, or MYCEL_DATABASE_URL does", field="url")
    before, after = migrate_database(address)
    when = "already" if before == after else "now"
    call.answer(
        {"before": before, "version": after}, lambda: print_lines([line(f"The tables are at version {after} {when}.")])
    )
