"""`mycel install` and `mycel uninstall`: our entries in the settings of a coding agent, and out of them again."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mycel.domain.team import OPERATOR
from mycel.errors import InvalidInput
from mycel.surfaces.cli.invocation import Invocation, add_commands, invocation
from mycel.surfaces.cli.membership import admit
from mycel.surfaces.cli.options import Yes
from mycel.surfaces.cli.output import Line, is_terminal, line, note, print_lines
from mycel.surfaces.hooks.hook_event import AGENTS
from mycel.surfaces.mcp.tool_sets import TOOL_SETS

if TYPE_CHECKING:
    from mycel.surfaces.agents.agent import Agent
    from mycel.surfaces.agents.install import Change
    from mycel.surfaces.agents.site import Site
    from mycel.surfaces.cli.team_choice import Membership

_PANEL = "Agents"
_STYLES = {"+": "green", "-": "red", "@": "cyan"}

AgentName = Annotated[str, typer.Argument(metavar="AGENT", help=f"One of {', '.join(AGENTS)}.")]
ForProject = Annotated[
    bool, typer.Option("--project", help="In the repository of this folder, for everybody who works in it.")
]
ForUser = Annotated[bool, typer.Option("--user", help="In the settings of this user, for every folder; the default.")]
Reflect = Annotated[
    bool,
    typer.Option("--reflect", help="Once in a session in which it has worked, ask the agent to save what it learned."),
]
Tools = Annotated[
    str,
    typer.Option(
        metavar="SET",
        help="Which tools the model gets: coding, team, swarm (memory-search, inject-learning, task results) or full.",
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only show what would change.")]


def add_to(app: typer.Typer) -> None:
    add_commands(app, _PANEL, {"install": install, "uninstall": uninstall})


def install(
    context: typer.Context,
    agent: AgentName,
    *,
    project: ForProject = False,
    user: ForUser = False,
    reflect: Reflect = False,
    tools: Tools = TOOL_SETS[0],
    dry_run: DryRun = False,
    yes: Yes = False,
) -> None:
    """Connect a coding agent: its tools (MCP) and its hooks, merged into the settings it has.

    It acts as a member named like the agent, or as --as says. One that is new joins --team; without it the team that
    knows the repository of this folder, else the one with the most memories, else with the most members; on a terminal
    you are asked. All else in the files stays as it is; `mycel uninstall` restores them. Run again without --reflect,
    it no longer asks the agent what it learned; without --tools, the model gets those of a coding agent.
    """
    from mycel.surfaces.agents.install import install as put_in
    from mycel.surfaces.agents.install import plan_install
    from mycel.surfaces.agents.records import Records
    from mycel.surfaces.agents.registry import agent_named, connection_of
    from mycel.surfaces.agents.site import site_of

    call = invocation(context)
    found = agent_named(agent)
    scope = _scope(project=project, user=user)
    if reflect and found.no_reflection:
        raise InvalidInput(f"is not for {found.title}: {found.no_reflection}", field="reflect")
    if tools not in TOOL_SETS:
        raise InvalidInput(f"must be one of {', '.join(TOOL_SETS)}", field="tools")
    site = site_of(found, scope)
    settings = call.settings()
    member = call.member or found.name
    connection = connection_of(
        settings, scope=scope, member=member, reflects=reflect, tools=None if tools == TOOL_SETS[0] else tools
    )
    changes = [change for change in plan_install(site, connection) if not change.is_none]
    if not call.as_json:
        _show(changes)
    membership = _membership(call, member, asks=_may_ask(call, yes=yes) and not dry_run)
    if dry_run:
        _tell(call, site, changes, written=False, words=_dry_words(membership), membership=membership)
        return
    if changes and _may_ask(call, yes=yes):
        call.require_yes("Write this?")
    sees = None if membership is None else _join(call, membership)
    records = Records(settings.data)
    if changes or records.find(found.name, scope, site.root) is None:
        put_in(site, connection, records)
    is_moved = membership is not None and membership.before != membership.team
    words = _words(found, membership, sees) if changes or is_moved else "Nothing changes: it is set up."
    _tell(call, site, changes, written=bool(changes), words=words, membership=membership)
    if not call.as_json and changes:
        _advise(found, membership)


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
    from mycel.surfaces.agents.install import plan_uninstall
    from mycel.surfaces.agents.install import uninstall as take_out
    from mycel.surfaces.agents.records import Records
    from mycel.surfaces.agents.registry import agent_named, connection_of
    from mycel.surfaces.agents.site import site_of

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
    if changes and _may_ask(call, yes=yes):
        call.require_yes("Write this?")
    changes = take_out(site, connection, records)
    for change in changes:
        if change.merely_own:
            note(f"{change.path} has changed since it was installed: only Mycel's own entries were removed.")
    done = f"{found.title} no longer knows Mycel." if changes else "Nothing changes: it is not set up."
    _tell(call, site, changes, written=bool(changes), words=done)


def _scope(*, project: bool, user: bool) -> str:
    from mycel.surfaces.agents.agent import PROJECT, USER

    if project and user:
        raise InvalidInput("cannot be given together with --user", field="project")
    return PROJECT if project else USER


def _membership(call: Invocation, member: str, *, asks: bool) -> Membership | None:
    """One who signs in by a token is who the token says, and need not be able to add members."""
    from mycel.surfaces.cli.team_choice import choose_membership

    if call.settings().token is None:
        return choose_membership(call, member, asks=asks)
    if call.member is not None:
        with call.workspace() as workspace:
            admit(call, workspace)
    return None


def _join(call: Invocation, membership: Membership) -> str:
    """What it sees there, as it sees it."""
    from mycel.surfaces.cli.team_choice import what_it_sees

    with call.workspace() as workspace:
        if membership.before is None:
            workspace.add_member(membership.member, team=membership.team)
        elif membership.before != membership.team:
            workspace.update_member(membership.member, team=membership.team)
        if membership.member == OPERATOR:
            return what_it_sees(workspace.as_operator(membership.team))
        return what_it_sees(workspace.as_member(membership.member))


def _words(agent: Agent, membership: Membership | None, sees: str | None) -> str:
    if membership is None:
        return f"{agent.title} acts as whoever MYCEL_TOKEN belongs to in its next session."
    member, step = membership.member, membership.step
    return f"{agent.title} acts as {member} in its next session. {member} {step}: {sees}."


def _dry_words(membership: Membership | None) -> str:
    nothing = "Nothing was written."
    return nothing if membership is None else f"{nothing} Otherwise {membership.member} {membership.step}."


def _advise(agent: Agent, membership: Membership | None) -> None:
    if membership is not None and membership.why:
        others = ", ".join(membership.others)
        chosen = f"{membership.team} was chosen since {membership.why}"
        note(f"{chosen}; another one ({others}) by `mycel install {agent.name} --team TEAM`.")
    if agent.after_install:
        note(agent.after_install)


def _may_ask(call: Invocation, *, yes: bool) -> bool:
    return not (yes or call.as_json) and sys.stdin.isatty() and is_terminal()


def _show(changes: Iterable[Change]) -> None:
    print_lines(_coloured(text) for change in changes for text in change.diff())


def _coloured(text: str) -> Line:
    style = "bold" if text.startswith(("+++", "---")) else _STYLES.get(text[:1], "")
    return line((text, style))


def _tell(
    call: Invocation,
    site: Site,
    changes: Sequence[Change],
    *,
    written: bool,
    words: str,
    membership: Membership | None = None,
) -> None:
    if call.as_json:
        files: list[dict[str, Any]] = [
            {"path": str(change.path), "diff": "\n".join(change.diff()), "only_own": change.merely_own}
            for change in changes
        ]
        told = {"agent": site.agent.name, "scope": site.scope, "root": str(site.root), "files": files}
        acting: Mapping[str, str] = {} if membership is None else {"member": membership.member, "team": membership.team}
        call.answer({**told, **acting, "written": written}, lambda: None)
    else:
        note(words)
