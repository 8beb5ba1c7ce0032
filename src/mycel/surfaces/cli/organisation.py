"""The operator's commands: teams, members and their tokens."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mycel.domain.team import Kind, Role, Trust
from mycel.surfaces.cli.display import moment, show_done
from mycel.surfaces.cli.invocation import add_group, invocation
from mycel.surfaces.cli.options import Yes, any_of
from mycel.surfaces.cli.output import Column, line, note, one_line, print_lines, print_table, whole_list

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mycel.domain.team import Member, Team, Token

_PANEL = "Organise"

MemberId = Annotated[str, typer.Argument(metavar="ID", help="The id of the member, such as swe-1.")]
Label = Annotated[str | None, typer.Option(metavar="TEXT", help="What the token is for.")]
TokenTtl = Annotated[str | None, typer.Option("--ttl", metavar="SPAN", help="It ends after 12h, 30d …")]


def add_to(app: typer.Typer) -> None:
    add_group(
        *(app, "team", _PANEL),
        {"add": add_team, "list": list_teams, "load": load_teams, "reset": reset_team},
        help="Add, list and load teams.",
    )
    add_group(
        *(app, "member", _PANEL),
        {
            "add": add_member,
            "list": list_members,
            "move": move_member,
            "remove": remove_member,
            "resolve": resolve_member,
        },
        help="Add, list, move and remove the agents and people of a team.",
    )
    add_group(
        *(app, "token", _PANEL),
        {"issue": issue_token, "list": list_tokens, "revoke": revoke_token},
        help="Issue, list and revoke the tokens members sign in with.",
    )


def add_team(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Lower-case letters, digits, - and _.")],
    parent: Annotated[
        str | None, typer.Option(metavar="TEAM", help="The team above it, `executive` by default.")
    ] = None,
) -> None:
    """Add a team with a store of its own. Adding it again changes nothing."""
    call = invocation(context)
    with call.operated() as workspace:
        team = workspace.add_team(name, parent=parent)
    call.answer(team, lambda: show_done(team.name, f"team {team.name} under {team.parent}"))


def list_teams(context: typer.Context) -> None:
    """List the teams."""
    call = invocation(context)
    with call.workspace() as workspace:
        teams = workspace.teams()
    call.answer(whole_list(teams), lambda: _show_teams(teams))


def load_teams(
    context: typer.Context,
    folder: Annotated[str, typer.Argument(metavar="ORG_FOLDER", help="A folder with teams/*.md in it.")],
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show which teams, members and roles the files stand for.")
    ] = False,
) -> None:
    """Make the teams and members of organisation files true: all of them, or none on an error."""
    from mycel.services.team_files import as_requested, read_org_files

    call = invocation(context)
    files = read_org_files(Path(folder))
    if not dry_run:
        with call.operated() as workspace:
            workspace.arrange(as_requested(files.teams))
    for passed_over in files.notes:
        note(passed_over)
    rows = [
        (team.name, team.parent or "", *said)
        for team in files.teams
        for said in [(one.id, one.title or "", one.role, one.kind) for one in team.members] or [("", "", "", "")]
    ]
    names = ("parent", "member", "title", "role", "kind")
    call.answer(whole_list(files.teams), lambda: print_table((Column("team", "bold"), *map(Column, names)), rows))


def reset_team(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The team whose store is damaged or gone.")],
    *,
    yes: Yes = False,
) -> None:
    """Let a team whose store is damaged or gone start afresh, with nothing in its memory.

    What is left of its files is put aside in a folder beside them.
    """
    call = invocation(context)
    if not yes:
        call.require_yes(f"Let {name} start with an empty memory?")
    with call.operated() as workspace:
        workspace.reset_store(name)
    call.answer({"team": name}, lambda: show_done(name, f"{name} starts afresh; what was left is put aside"))


def add_member(
    context: typer.Context,
    id: MemberId,
    team: Annotated[str, typer.Option(metavar="TEAM", help="Its team.")],
    role: Annotated[
        str | None,
        typer.Option(
            metavar="ROLE", help=f"One of {any_of(Role)}; by default as its title says, else agent or member."
        ),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(metavar="KIND", help=f"One of {any_of(Kind)}; by default human for a member, else agent."),
    ] = None,
    title: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Its job title; a director, lead, manager, head or chief leads.")
    ] = None,
    trust: Annotated[
        str, typer.Option(metavar="TRUST", help=f"One of {any_of(Trust)}; what low ones write waits for review.")
    ] = Trust.NORMAL.value,
) -> None:
    """Add an agent or a person to a team. Adding the same one again changes nothing."""
    call = invocation(context)
    with call.operated() as workspace:
        member = workspace.add_member(id, team=team, role=role, kind=kind, trust=trust, title=title)
    call.answer(member, lambda: show_done(member.id, f"{member.kind} {member.id} in {member.team} as {member.role}"))


def move_member(
    context: typer.Context,
    id: MemberId,
    team: Annotated[str, typer.Option(metavar="TEAM", help="The team it works in from now on.")],
    role: Annotated[
        str | None, typer.Option(metavar="ROLE", help=f"One of {any_of(Role)}; it keeps its own by default.")
    ] = None,
) -> None:
    """Move a member to another team. What it wrote stays where it is, and its tokens go on working."""
    call = invocation(context)
    with call.operated() as workspace:
        before = next((one.team for one in workspace.members() if one.id == id), None)
        member = workspace.update_member(id, team=team, role=role)
    came = f"from {before} " if before not in {None, member.team} else ""
    call.answer(member, lambda: show_done(member.id, f"moved {came}to {member.team} as {member.role}"))


def list_members(
    context: typer.Context,
    team: Annotated[str | None, typer.Option(metavar="TEAM", help="Only of this team.")] = None,
) -> None:
    """List the members."""
    call = invocation(context)
    with call.workspace() as workspace:
        members = workspace.members(team=team or call.team)
    call.answer(whole_list(members), lambda: _show_members(members))


def remove_member(context: typer.Context, id: MemberId, *, yes: Yes = False) -> None:
    """Remove a member and end its tokens; what it wrote stays. On a terminal it asks first."""
    call = invocation(context)
    if not yes and sys.stdin.isatty():
        call.require_yes(f"Remove {one_line(id)} and end its tokens?")
    with call.operated() as workspace:
        member = workspace.remove_member(id)
    call.answer(member, lambda: show_done(member.id, f"removed from {member.team}"))


def resolve_member(context: typer.Context, id: MemberId) -> None:
    """Say which team an id belongs to; one that no team lists belongs to `executive`."""
    call = invocation(context)
    with call.workspace() as workspace:
        team = workspace.resolve_team(id)
    call.answer({"id": id, "team": team}, lambda: print_lines([line(team)]))


def issue_token(
    context: typer.Context,
    member: Annotated[str, typer.Argument(metavar="MEMBER", help="Who will sign in with it.")],
    label: Label = None,
    ttl: TokenTtl = None,
) -> None:
    """Issue a token and print it: this once, since only its hash is kept."""
    call = invocation(context)
    with call.operated() as workspace:
        issued = workspace.new_token(member, label=label, ttl=ttl)
    said = f"Keep it: the token of {member} is not shown again. It works {_validity(issued.token)}."
    call.answer({"token": issued.secret}, lambda: show_done(issued.secret, said))


def list_tokens(
    context: typer.Context,
    member: Annotated[str | None, typer.Option(metavar="MEMBER", help="Only those of this member.")] = None,
) -> None:
    """List tokens, without their secrets."""
    call = invocation(context)
    with call.operated() as workspace:
        tokens = workspace.tokens(member_id=member)
    call.answer(whole_list(tokens), lambda: _show_tokens(tokens))


def revoke_token(
    context: typer.Context,
    token: Annotated[str, typer.Argument(metavar="TOKEN", help="Its id, or the token itself.")],
    *,
    yes: Yes = False,
) -> None:
    """Revoke a token and all that was issued with it, within a second. On a terminal it asks first."""
    call = invocation(context)
    if not yes and sys.stdin.isatty():
        call.require_yes("Revoke this token and all that was issued with it? Whoever uses one is shut out.")
    with call.operated() as workspace:
        workspace.revoke_token(token)
    call.answer({"revoked": True}, lambda: note("revoked"))


def _show_teams(teams: Sequence[Team]) -> None:
    columns = (Column("team", "bold"), Column("parent"), Column("created", "dim"))
    print_table(columns, [(team.name, team.parent or "", moment(team.created_at)) for team in teams])


def _show_members(members: Sequence[Member]) -> None:
    names = ("team", "role", "title", "kind", "trust", "created")
    rows = [
        (member.id, member.team, member.role, member.title or "", member.kind, member.trust, moment(member.created_at))
        for member in members
    ]
    if rows:
        print_table((Column("member", "bold"), *map(Column, names)), rows)
    else:
        note("No members.")


def _show_tokens(tokens: Sequence[Token]) -> None:
    rows = [
        (token.member_id, token.label, _validity(token), moment(token.created_at), token.id, token.parent_id or "")
        for token in tokens
    ]
    names = ("label", "valid", "created")
    ids = (Column("id", "dim", below=True), Column("issued with", "dim", below=True, apart=True))
    if rows:
        print_table((Column("member", "bold"), *map(Column, names), *ids), rows)
    else:
        note("No tokens.")


def _validity(token: Token) -> str:
    if token.revoked_at is not None:
        return "revoked"
    return f"until {moment(token.expires_at)}" if token.expires_at else "until revoked"
