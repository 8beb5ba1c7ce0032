"""`mycel`, the command line: what every command shares, and how errors end it."""

from __future__ import annotations

import importlib
import io
import sys
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from mycel.surfaces.cli import failure
from mycel.surfaces.cli.invocation import (
    SHARED_OPTIONS,
    CreateOption,
    DataOption,
    Group,
    JsonOption,
    MemberOption,
    TeamOption,
)

# The modules of this package in the order of the help, each with the commands and groups that it adds.
MODULES: Mapping[str, tuple[str, ...]] = {
    "demo": ("demo",),
    "read": ("search", "recent", "get", "list", "tree", "stats", "context", "watch", "explain"),
    "write": ("save", "update", "delete", "restore", "purge"),
    "knowledge": ("learn", "profile", "knowledge"),
    "capture": ("capture",),
    "tasks": ("task",),
    "episodes": ("episodes",),
    "artifacts": ("artifacts",),
    "review": ("inbox",),
    "consolidation": ("consolidate", "reports", "undo", "settle"),
    "cascades": ("cascade", "escalate", "withdraw", "cascades"),
    "archive": ("export", "migrate"),
    "imports": ("import",),
    "vault": ("vault",),
    "mount": ("mount",),
    "backups": ("backup",),
    "organisation": ("team", "member", "token"),
    "policies": ("policy",),
    "engine": ("work", "maintain", "embed", "check"),
    "events": ("events",),
    "models": ("model",),
    "database": ("database",),
    "install": ("install", "uninstall"),
    "doctor": ("doctor",),
    "serve": ("mcp", "hook", "serve"),
    "service": ("status", "stop", "open"),
}
_FLAGS = frozenset({"--json", "--create"})


class Root(Group):
    """Ends every run with an exit code and at most one line about what went wrong."""

    def list_commands(self, ctx: Any) -> list[str]:
        order = [command for commands in MODULES.values() for command in commands]
        return sorted(super().list_commands(ctx), key=order.index)

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
    shared_create: CreateOption = False,
    shared_team: TeamOption = None,
    shared_json: JsonOption = False,
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Mycel: the shared memory of a team of AI agents and people."""
    # The names differ from every command's own parameters: after a command both are read from one line.


def build(line: Sequence[str] = ()) -> typer.Typer:
    """Every command or, since most of a start would go into the others, only what the line asks for."""
    app = typer.Typer(cls=Root, pretty_exceptions_enable=False)
    app.callback()(_start)
    asked = _command_of(line)
    for module in [module for module, commands in MODULES.items() if asked in commands] or MODULES:
        importlib.import_module(f"mycel.surfaces.cli.{module}").add_to(app)
    return app


def _command_of(line: Sequence[str]) -> str | None:
    """The first word that is neither a shared option nor the value of one."""
    words = iter(line)
    for word in words:
        if word in SHARED_OPTIONS and word not in _FLAGS:
            next(words, None)
        elif not word.startswith("-"):
            return word
        elif word not in _FLAGS and "=" not in word:
            return None
    return None


def main() -> None:
    for stream in (sys.stdout, sys.stderr):
        # A character that the terminal's encoding lacks is shown as an escape instead of ending the command.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    build(sys.argv[1:])()


if __name__ == "__main__":
    main()
