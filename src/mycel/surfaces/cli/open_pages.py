"""`mycel open`: the pages for people in a browser of this machine, signed in by a link that works once."""

from __future__ import annotations

from typing import Annotated

import typer

from mycel.surfaces.cli.invocation import add_commands, invocation


def add_to(app: typer.Typer) -> None:
    add_commands(app, "Run", {"open": open_})


def open_(
    context: typer.Context,
    *,
    print_only: Annotated[bool, typer.Option("--print", help="Show the link instead of opening a browser.")] = False,
) -> None:
    """Open the pages for people, signed in. The service is started if none runs.

    The link works once, within ten minutes, for the operator or for whom --as names.
    """
    call = invocation(context)
    with call.through_service() as workspace:
        link = workspace.sign_in_link(call.member)
    opened = False if print_only or call.as_json else _browse(link["url"])
    call.answer(
        {**link, "opened": opened},
        lambda: typer.echo("The pages are open in your browser." if opened else link["url"]),
    )


def _browse(url: str) -> bool:
    import webbrowser

    return webbrowser.open(url)
