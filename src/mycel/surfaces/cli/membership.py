"""Who `--as` names: a member that is known, one that `--create` adds, or a slip of the pen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mycel.domain.member_names import unknown_member
from mycel.domain.team import EXECUTIVE, OPERATOR
from mycel.errors import Conflict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mycel.errors import InvalidInput
    from mycel.surfaces.cli.invocation import AnyWorkspace, Invocation


def admit(call: Invocation, workspace: AnyWorkspace) -> None:
    """Refuses a name that nobody has, with those that are near it."""
    member = call.member
    if member is None or member == OPERATOR:
        return
    # For others than the operator the service decides, and tells them nothing of who there is.
    if call.settings().token is not None and not workspace.who_am_i().is_operator:
        return
    team = find_team(workspace, member)
    if call.create:
        _create(call, workspace, member, team)
    elif team is None:
        raise refuse_unknown(member, (one.id for one in workspace.members()))


def find_team(workspace: AnyWorkspace, member: str) -> str | None:
    """The team of a member, None where there is none of this name. Asked so that no answer grows with the workspace."""
    team = workspace.resolve_team(member)
    if team == EXECUTIVE and all(one.id != member for one in workspace.members(team=EXECUTIVE)):
        return None
    return team


def refuse_unknown(member: str, known: Iterable[str]) -> InvalidInput:
    return unknown_member(member, known, field="as", remedy="--create adds it")


def _create(call: Invocation, workspace: AnyWorkspace, member: str, team: str | None) -> None:
    if team is None:
        workspace.add_member(member, team=call.team or EXECUTIVE)
    elif call.team not in {None, team}:
        raise Conflict(f"{member} is a member of {team}: leave out --team, or name another one by --as")
