"""`mycel`, the command line: what every command shares, and how errors end it."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from mycel.surfaces.cli import context, explaining, failure, finding, memories, models, organisation, serve
from mycel.surfaces.cli.invocation import DataOption, Group, JsonOption, MemberOption, TeamOption


class Root(Group):
    """Ends every run with an exit code and at most one line about what went wrong."""

    def main(self, args: Sequence[str] | None = None, *_rest: Any, **_settings: Any) -> Any:
        given = list(sys.argv[1:] if args is None else args)
        try:
            # Commands return nothing; typer hands an exit code back as the value.
            code = super().main(given, "mycel", standalone_mode=False) or 0
        except failure.EXPECTED as error:
            code = failure.report(error, as_json=failure.wants_json(given))
        sys.exit(code)


def _show_version(*, value: bool) -> None:
    if value:
        from mycel import __version__

        typer.echo(f"mycel {__version__}")
        raise typer.Exit


def _start(
    *,
    shared_data: DataOption = None,
    shared_member: MemberOption = None,
    shared_team: TeamOption = None,
    shared_json: JsonOption = False,
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Mycel: the shared memory of a team of AI agents and people."""
    # The names differ from every command's own parameters: after a command both are read from one line.


def build() -> typer.Typer:
    app = typer.Typer(cls=Root, pretty_exceptions_enable=False)
    app.callback()(_start)
    for module in (finding, explaining, context, memories, organisation, models, serve):
        module.add_to(app)
    return app


def main() -> None:
    for stream in (sys.stdout, sys.stderr):
        # A character that the terminal's encoding lacks is shown as an escape instead of ending the command.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    build()()
