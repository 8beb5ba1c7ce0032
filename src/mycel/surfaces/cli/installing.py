"""`mycel install` and `mycel uninstall`: our entries in the settings of a coding agent, and out of them again."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mycel.domain.team import EXECUTIVE, OPERATOR
from mycel.errors import Conflict, InvalidInput
from mycel.surfaces.cli.invocation import Command, Invocation, invocation
from mycel.surfaces.cli.options import Yes
from mycel.surfaces.cli.output import Line, is_terminal, line, note, print_lines
from mycel.surfaces.hooks.happening import AGENTS

if TYPE_CHECKING:
    from mycel.surfaces.agents.installing import Change, Site

_PANEL = "Agents"
_STYLES = {"+": "green", "-": "red", "@": "cyan"}

AgentName = Annotated[str, typer.Argument(metavar="AGENT", help=f"One of {', '.join(AGENTS)}.")]
ForProject = Annotated[
    bool, typer.Option("--project", help="In the repository of this folder, for everybody who works in it.")
]
ForUser = Annotated[bool, typer.Option("--user", help="In the settings of this user, for every folder; the default.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only show what would change.")]


def add_to(app: typer.Typer) -> None:
    for command in (install, uninstall):
        app.command(cls=Command, rich_help_panel=_PANEL)(command)


def install(
    context: typer.Context,
    agent: AgentName,
    *,
    project: ForProject = False,
    user: ForUser = False,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> None:
    """Connect a coding agent: its tools (MCP) and its hooks, merged into the settings it has.

    It acts as a member named like the agent, or as --as says, added to --team if there is none. All else in the files
    stays as it is; `mycel uninstall` restores them.
    """
    from mycel.surfaces.agents.connecting import agent_named, connection_of, site_of
    from mycel.surfaces.agents.installing import install as put_in
    from mycel.surfaces.agents.installing import plan_install
    from mycel.surfaces.agents.records import Records

    call = invocation(context)
    found = agent_named(agent)
    scope = _scope(project=project, user=user)
    site = site_of(found, scope)
    settings = call.settings()
    member = call.member or found.name
    connection = connection_of(settings, scope=scope, member=member)
    changes = [change for change in plan_install(site, connection) if not change.is_none]
    if not call.as_json:
        _show(changes)
    if dry_run:
        _tell(call, site, changes, written=False, words="Nothing was written.")
        return
    _ask(call, changes, yes=yes)
    # One who signs in by a token is who the token says, and need not be able to add members.
    if settings.token is None:
        _add_member(call, member)
    records = Records(settings.data)
    if changes or records.find(found.name, scope, site.root) is None:
        put_in(site, connection, records)
    who = member if settings.token is None else "whoever MYCEL_TOKEN belongs to"
    done = f"{found.title} acts as {who} in its next session." if changes else "Nothing changes: it is set up."
    _tell(call, site, changes, written=bool(changes), words=done)


def uninstall(
    context: typer.Context,
    agent: AgentName,
    *,
    project: ForProject = False,
    user: ForUser = False,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> None:
    """Take Mycel out of the settings of a coding agent: the files are as they were before.

    Of a file that others have changed since, only Mycel's own entries are removed. The member and what it wrote stay.
    """
    from mycel.surfaces.agents.connecting import agent_named, connection_of, site_of
    from mycel.surfaces.agents.installing import plan_uninstall
    from mycel.surfaces.agents.installing import uninstall as take_out
    from mycel.surfaces.agents.records import Records

    call = invocation(context)
    found = agent_named(agent)
    scope = _scope(project=project, user=user)
    site = site_of(found, scope)
    connection = connection_of(call.settings(), scope=scope, member=found.name)
    records = Records(call.settings().data)
    changes = plan_uninstall(site, connection, records)
    if not call.as_json:
        _show(changes)
    if dry_run:
        _tell(call, site, changes, written=False, words="Nothing was written.")
        return
    _ask(call, changes, yes=yes)
    changes = take_out(site, connection, records)
    for change in changes:
        if change.merely_own:
            note(f"{change.path} has changed since it was installed: only Mycel's own entries were removed.")
    done = f"{found.title} no longer knows Mycel." if changes else "Nothing changes: it is not set up."
    _tell(call, site, changes, written=bool(changes), words=done)


def _scope(*, project: bool, user: bool) -> str:
    from mycel.surfaces.agents.table import PROJECT, USER

    if project and user:
        raise InvalidInput("cannot be given together with --user", field="project")
    return PROJECT if project else USER


def _add_member(call: Invocation, member: str) -> None:
    if member == OPERATOR:
        return
    with call.workspace() as workspace:
        known = next((one for one in workspace.members() if one.id == member), None)
        if known is None:
            workspace.add_member(member, team=call.team or EXECUTIVE)
        elif call.team not in {None, known.team}:
            raise Conflict(f"{member} is a member of {known.team}: leave out --team, or name another one by --as")


def _ask(call: Invocation, changes: Sequence[Change], *, yes: bool) -> None:
    if changes and not (yes or call.as_json) and sys.stdin.isatty() and is_terminal():
        call.require_yes("Write this?")


def _show(changes: Iterable[Change]) -> None:
    print_lines(_coloured(text) for change in changes for text in change.diff())


def _coloured(text: str) -> Line:
    style = "bold" if text.startswith(("+++", "---")) else _STYLES.get(text[:1], "")
    return line((text, style))


def _tell(call: Invocation, site: Site, changes: Sequence[Change], *, written: bool, words: str) -> None:
    if call.as_json:
        files: list[dict[str, Any]] = [
            {"path": str(change.path), "diff": "\n".join(change.diff()), "only_own": change.merely_own}
            for change in changes
        ]
        told = {"agent": site.agent.name, "scope": site.scope, "root": str(site.root), "files": files}
        call.answer({**told, "written": written}, lambda: None)
    else:
        note(words)
