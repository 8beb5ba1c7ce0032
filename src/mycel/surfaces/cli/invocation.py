"""What every command shares: where the data is, who acts in which team, and how it answers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from typer.core import TyperCommand, TyperGroup

from mycel.domain.team import EXECUTIVE, OPERATOR
from mycel.errors import AccessDenied, Conflict, InvalidInput, Misconfigured, NotFound
from mycel.stores.layout import BACKUPS_FOLDER, is_unused
from mycel.surfaces.cli.membership import admit
from mycel.surfaces.cli.output import is_terminal, note, print_json

if TYPE_CHECKING:
    from pathlib import Path

    from mycel.client.workspace import RemoteWorkspace
    from mycel.contracts.memory_api import MemoryApi
    from mycel.embedded.workspace import Visit, Workspace
    from mycel.settings import Settings

    AnyWorkspace = Workspace | RemoteWorkspace


# Where typer keeps what converts a parameter's values: None until it is first needed.
_CONVERTER = "_runtime_param"


def spare_conversion(parameters: Iterable[Any]) -> None:
    """Spares a command the library by which typer converts values, where there is nothing to convert.

    Loading it takes longer than most commands run. What stands on the line as text and is wanted as text is passed on,
    and so is a default that nobody has changed; all else is converted and checked by typer as ever.
    """
    for parameter in parameters:
        # A version of typer that keeps it elsewhere makes commands slower, and changes nothing else.
        if getattr(parameter, _CONVERTER, parameter) is None:
            setattr(parameter, _CONVERTER, _AsGiven())


class _AsGiven:
    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        several = param.multiple or param.nargs == -1
        wanted = param.type_descriptor.annotation
        if value is None:
            return () if several else None
        if value is param.default or (wanted is str and not several):
            return value
        if wanted == list[str] and isinstance(value, list | tuple):
            return list(cast(Iterable[str], value))
        setattr(param, _CONVERTER, None)
        return param.get_runtime_param().coerce(value, param=param, ctx=ctx)


# What may be the first command in a data directory. Every other one reads or changes what is there.
FIRST_COMMANDS = frozenset(
    {
        *("save", "learn", "profile set", "knowledge set", "knowledge import", "episodes log", "artifacts register"),
        *("capture session", "capture conversation", "capture thread", "capture file", "task complete", "task fail"),
        *("team add", "team load", "member add", "token issue", "policy set", "model use", "import", "migrate"),
        *("backup restore", "backup verify", "backup list"),
        *("install", "mcp", "hook", "serve", "open", "work", "database migrate", "database index", "database publish"),
        *("vault sync", "vault watch"),
    }
)
# They look at the name themselves: the agent must not notice, nothing may be asked yet, it is what they report on, or
# the data directory is not theirs.
_ADMIT_THEMSELVES = frozenset({"hook", "serve", "install", "doctor", "demo"})


@dataclass(slots=True)
class Invocation:
    """The shared options of one run, wherever on the line they stood."""

    data: str | None = None
    member: str | None = None
    team: str | None = None
    as_json: bool = False
    create: bool = False
    _settings: Settings | None = None
    _opened: AnyWorkspace | None = None
    _may_be_first: bool = True

    def begin(self, command: str, context: typer.Context) -> None:
        """Before the command of this name does anything."""
        names_somebody = self.member not in {None, OPERATOR}
        if self.create and not names_somebody:
            raise InvalidInput("goes with --as, which says whom to add", field="create")
        if names_somebody and command not in _ADMIT_THEMSELVES:
            # Nobody is known where nothing is.
            self._may_be_first = self.create and command in FIRST_COMMANDS
            workspace = context.with_resource(self.workspace())
            admit(self, workspace)
            self._opened = workspace
        self._may_be_first = command in FIRST_COMMANDS

    def settings(self) -> Settings:
        if self._settings is None:
            self._settings = self.settings_with(embedder=None)
        return self._settings

    def settings_with(self, *, embedder: str | None) -> Settings:
        """As they are but for the embedder, if one is named."""
        from mycel.settings import DATABASE_SCHEMES, load_settings

        if self.data is not None and not self.data.strip():
            raise InvalidInput("must name a folder", field="data")
        if self.data is not None and self.data.startswith(DATABASE_SCHEMES):
            raise InvalidInput("must name a folder; MYCEL_DATABASE_URL names a database", field="data")
        return load_settings(self.data, embedder=embedder)

    def settings_on(self, url: str | None, *, origin: str) -> Settings:
        """As they are, on the database of this address, or on the files of the data directory without one."""
        from mycel.settings import read_database_url

        address = None if url is None else read_database_url(url, origin=origin)
        return replace(self.settings(), database_url=address)

    def backup_folder(self) -> Path:
        """Where backups are that nobody has named a place for."""
        settings = self.settings()
        return settings.backup_folder or settings.data / BACKUPS_FOLDER

    @contextmanager
    def workspace(self) -> Generator[AnyWorkspace]:
        """Opened once for a command, however often it asks."""
        if self._opened is not None:
            yield self._opened
            return
        self.require_data()
        with self.open() as opened:
            yield opened

    def require_data(self) -> None:
        """Whoever reads finds nothing where nothing was ever written, and leaves it so."""
        settings = self.settings()
        if settings.is_on_files and not self._may_be_first and is_unused(settings.data):
            raise NotFound(
                f"there is nothing in {settings.data} yet: `mycel save TEXT` or `mycel team add NAME` begins it, "
                "--data or MYCEL_DATA names another folder"
            )

    @contextmanager
    def open(self) -> Generator[AnyWorkspace]:
        """Through the service: the one that the settings name, or that of the data directory, started if need be."""
        settings = self.settings()
        if settings.url is None and settings.daemon == "off":
            with self.files() as opened:
                yield opened
            return
        with self._remote(lasting=False) as workspace:
            yield workspace

    def through_service(self) -> RemoteWorkspace:
        """The service, also where the settings say that commands work on the files themselves."""
        return self._remote(lasting=False)

    def lasting(self) -> AnyWorkspace:
        """As `workspace`, for a process that goes on and uses it from several threads."""
        self.require_data()
        settings = self.settings()
        if settings.url is None and settings.daemon == "off":
            from mycel.app import open_workspace

            return open_workspace(settings=settings)
        return self._remote(lasting=True)

    @contextmanager
    def files(self, *, for_others: bool = False) -> Generator[Workspace]:
        """The files of the data directory, for what a service does not do for others.

        For others than the user of this line, files are read only where the settings allow it.
        """
        from mycel.app import open_workspace

        self.require_data()
        settings = self.settings()
        if for_others and settings.artifact_roots is None:
            settings = replace(settings, artifact_roots=())
        with open_workspace(settings=settings) as workspace:
            yield workspace

    def _remote(self, *, lasting: bool) -> RemoteWorkspace:
        from mycel.client.daemon import ensure_daemon, find_daemon
        from mycel.client.workspace import RemoteWorkspace
        from mycel.wire.daemon_file import database_mark

        settings = self.settings()
        if settings.url is not None:
            return RemoteWorkspace.at(settings.url, token=_token_of(settings))
        daemon = ensure_daemon(settings.data)
        if settings.database_url is not None and daemon.database != database_mark(settings.database_url):
            raise Conflict(
                f"the service at {daemon.url} works on another database than the settings name, or on none: "
                f"end process {daemon.pid}, or name another folder by --data or MYCEL_DATA"
            )
        if daemon.note is not None:
            note(daemon.note)
        token = settings.token or daemon.token
        if token is None:
            raise Misconfigured(f"the service at {daemon.url} has no operator token to read: set MYCEL_TOKEN")
        if lasting:
            return RemoteWorkspace.lasting(daemon, token=token, locate=partial(find_daemon, settings.data))
        return RemoteWorkspace.here(daemon.url, token=token, service_secret=daemon.secret)

    @property
    def sees_every_team(self) -> bool:
        """Whoever owns the files, and names neither a member nor a team nor shows a token."""
        settings = self.settings()
        return all(one is None for one in (self.member, self.team, settings.agent, settings.token, settings.url))

    @contextmanager
    def operated(self) -> Generator[AnyWorkspace]:
        self.require_operator()
        with self.workspace() as workspace:
            yield workspace

    def require_operator(self) -> None:
        """For what only the operator does, whoever MYCEL_AGENT names: the same user owns the files."""
        if self.member not in {None, OPERATOR}:
            raise AccessDenied(f"only the operator can do this, not {self.member}: leave out --as")

    @contextmanager
    def memory(self, *, reads_other_team: bool = False, reads_files: bool = False) -> Generator[MemoryApi]:
        """What reads files of this machine works on those of the workspace too, unless it is elsewhere."""
        local = reads_files and self.settings().url is None
        with self.files() if local else self.workspace() as workspace:
            yield self.memory_in(workspace, reads_other_team=reads_other_team)

    def memory_in(self, workspace: AnyWorkspace, *, reads_other_team: bool = False) -> MemoryApi:
        member = self.member or self.settings().agent or OPERATOR
        if (token := self.settings().token) is not None:
            # The token says who it is, unless the operator's says otherwise.
            return self._memory_by_token(workspace, token, reads_other_team=reads_other_team)
        if member == OPERATOR:
            return workspace.as_operator(self.team or EXECUTIVE)
        if self.team is not None and not (reads_other_team or self.create):
            raise InvalidInput(f"is for the operator; {member} acts in its own team", field="team")
        # `--as` was admitted before; MYCEL_AGENT may name an agent that nobody has added yet.
        return workspace.as_member(member, may_be_new=True)

    def _memory_by_token(self, workspace: AnyWorkspace, token: str, *, reads_other_team: bool) -> MemoryApi:
        member = None if self.member == OPERATOR else self.member
        team = None if reads_other_team or member is not None else self.team
        # Only local files have it; what they are made of is not imported to find out.
        sign_in = getattr(workspace, "sign_in", None)
        if sign_in is not None:
            return cast("Visit", sign_in(token, member=member, team=team)).memory
        remote = cast("RemoteWorkspace", workspace)
        return remote.as_member(member) if member else remote.as_operator(team) if team else remote.me()

    def require_yes(self, question: str) -> None:
        """Asks on standard error: typer's own question leaves a blank on standard output, which holds the answer."""
        if self.as_json:
            raise InvalidInput("is needed with --json, since nothing is asked then", field="yes")
        typer.echo(f"{question} [y/N] ", nl=False, err=True)
        answer = sys.stdin.readline()
        if not answer:
            raise InvalidInput("is needed where nobody answers", field="yes")
        if answer.strip().lower() not in {"y", "yes"}:
            raise typer.Abort

    def answer(self, value: object, show: Callable[[], None]) -> None:
        """One JSON value, or what a person reads."""
        if self.as_json:
            print_json(value)
        else:
            show()


def _token_of(settings: Settings) -> str:
    if settings.token is None:
        raise Misconfigured("MYCEL_URL names a service: set MYCEL_TOKEN to a token of it as well")
    return settings.token


def invocation(context: typer.Context) -> Invocation:
    return context.ensure_object(Invocation)


def _remember(name: str) -> Callable[[typer.Context, Any], Any]:
    def remember(context: typer.Context, value: Any) -> Any:
        shared = invocation(context)
        if value is not None and value is not False:
            setattr(shared, name, value)
        return value

    return remember


def _shared(option: str, remembered: str, *, help: str, metavar: str | None = None) -> Any:
    return typer.Option(
        option,
        metavar=metavar,
        help=help,
        callback=_remember(remembered),
        expose_value=False,
        rich_help_panel="Shared options",
    )


DataOption = Annotated[
    str | None,
    _shared(
        "--data", "data", metavar="DIR", help="The data directory; otherwise MYCEL_DATA, then the user's data folder."
    ),
]
MemberOption = Annotated[
    str | None,
    _shared("--as", "member", metavar="MEMBER", help="The member to act as; otherwise MYCEL_AGENT, then the operator."),
]
TeamOption = Annotated[
    str | None,
    _shared(
        *("--team", "team"),
        metavar="TEAM",
        help="The team the operator acts in, or that `list`, `tree` and `watch` read.",
    ),
]
JsonOption = Annotated[bool, _shared("--json", "as_json", help="Answer with one JSON value on standard output.")]
CreateOption = Annotated[
    bool,
    _shared(
        "--create", "create", help="Add the member that --as names if there is none: to --team, or to `executive`."
    ),
]
USAGE_ERROR = 2
SHARED_OPTIONS = ("--data", "--as", "--create", "--team", "--json")


class Command(TyperCommand):
    """A command that takes the shared options as well, so that they may stand before its name or after it."""

    def get_params(self, ctx: Any) -> list[Any]:
        own: list[Any] = list(super().get_params(ctx))
        taken = {option for param in own for option in param.opts}
        of_root: list[Any] = ctx.find_root().command.params
        shared = [param for param in of_root if set(param.opts) & set(SHARED_OPTIONS) - taken]
        spare_conversion([*own, *shared])
        return [*own[:-1], *shared, *own[-1:]]

    def invoke(self, ctx: Any) -> Any:
        invocation(ctx).begin(ctx.command_path.partition(" ")[2], ctx)
        return super().invoke(ctx)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        if not is_terminal():
            self.rich_markup_mode = None
        super().format_help(ctx, formatter)


def add_commands(app: typer.Typer, panel: str | None, commands: Mapping[str, Callable[..., None]]) -> None:
    for name, command in commands.items():
        app.command(name, cls=Command, rich_help_panel=panel)(command)


class Group(TyperGroup):
    """A group of commands; without one it shows its help."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args and not ctx.resilient_parsing:
            typer.echo(ctx.get_help())
            ctx.exit(USAGE_ERROR)
        return super().parse_args(ctx, args)

    def get_params(self, ctx: Any) -> list[Any]:
        own: list[Any] = list(super().get_params(ctx))
        spare_conversion(own)
        return own

    def format_help(self, ctx: Any, formatter: Any) -> None:
        if not is_terminal():
            self.rich_markup_mode = None
        super().format_help(ctx, formatter)


class ListingGroup(Group):
    """A group that begins with what it is mostly asked for: alone, or with options alone, it is its first command."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if (not args or args[0].startswith("-")) and "--help" not in args and not ctx.resilient_parsing:
            args = [next(iter(self.commands)), *args]
        return super().parse_args(ctx, args)


def add_group(
    app: typer.Typer,
    name: str,
    panel: str,
    commands: Mapping[str, Callable[..., None]],
    *,
    help: str,
    cls: type[Group] = Group,
) -> None:
    group = typer.Typer(cls=cls, help=help)
    add_commands(group, None, commands)
    app.add_typer(group, name=name, rich_help_panel=panel)
