"""Which team an agent joins: the one that has something to tell it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from mycel.domain.memory import MemoryType, Status
from mycel.domain.team import EXECUTIVE, OPERATOR
from mycel.errors import Conflict, InvalidInput
from mycel.stores.layout import is_unused
from mycel.surfaces.cli.membership import find_team, refuse_unknown
from mycel.surfaces.cli.output import one_line

if TYPE_CHECKING:
    from mycel.contracts.memory_api import MemoryApi
    from mycel.surfaces.cli.invocation import AnyWorkspace, Invocation

_MOST_DECISIONS = 100


@dataclass(frozen=True, slots=True)
class Membership:
    """Of an agent, as it will be; `before` is the team it is in now. `why` is given where nobody has named one."""

    member: str
    team: str
    before: str | None = None
    why: str | None = None
    others: tuple[str, ...] = ()

    @property
    def step(self) -> str:
        if self.before is None:
            return f"joins {self.team}"
        return f"is of {self.team}" if self.before == self.team else f"moves from {self.before} to {self.team}"


def choose_membership(call: Invocation, member: str, *, asks: bool) -> Membership:
    """Reads only: nobody is added before all else is decided."""
    if member == OPERATOR:
        team = call.team or EXECUTIVE
        return Membership(member, team, before=team)
    if call.settings().is_on_files and is_unused(call.settings().data):
        _require_meant(call, member, ())
        return Membership(member, call.team or EXECUTIVE)
    with call.workspace() as workspace:
        known = find_team(workspace, member)
        if known is not None:
            # Of a member that others may know by its name, an installation is not to move what it works in.
            if call.member is not None and call.team not in {None, known}:
                raise Conflict(f"{member} is a member of {known}: leave out --team, or name another one by --as")
            return Membership(member, call.team or known, before=known)
        _require_meant(call, member, [one.id for one in workspace.members()])
        if call.team is not None:
            return Membership(member, call.team)
        return _choose(workspace, member, asks=asks)


def what_it_sees(memory: MemoryApi) -> str:
    active = memory.stats().by_status.get(Status.ACTIVE, 0)
    page = memory.list(type=[MemoryType.DECISION], limit=_MOST_DECISIONS)
    decisions = f"{len(page)}{'+' if page.next_cursor else ''}"
    return f"{_counted(str(active), 'memory', 'memories')}, {_counted(decisions, 'decision', 'decisions')}"


def _choose(workspace: AnyWorkspace, member: str, *, asks: bool) -> Membership:
    """The team that knows the repository of this folder, else the one with the most memories, else with the most
    members. Where more than one could be meant, a person is asked."""
    teams: dict[str, MemoryApi] = {team.name: workspace.as_operator(team.name) for team in workspace.teams()}
    if len(teams) == 1:
        return Membership(member, next(iter(teams)))
    place, knowing = _those_that_know(teams)
    sizes = {name: teams[name].stats().by_status.get(Status.ACTIVE, 0) for name in knowing or teams}
    filled = [name for name, size in sizes.items() if size]
    candidates = knowing or filled or list(teams)
    people: list[str] = [one.team for one in workspace.members() if one.id != OPERATOR]
    best = max(candidates, key=lambda name: (sizes[name], people.count(name), name == EXECUTIVE))
    if asks and len(candidates) > 1:
        best = _ask(candidates, sizes, best)
    why = f"it knows {place}" if knowing else "it has the most memories" if filled else "it has the most members"
    others = tuple(sorted(name for name in teams if name != best))
    return Membership(member, best, why=why, others=others)


def _those_that_know(teams: dict[str, MemoryApi]) -> tuple[str, list[str]]:
    from mycel.surfaces.hooks.place import find_place

    place = find_place(Path.cwd())
    found = [
        name
        for name, memory in teams.items()
        if (place.repo and place.repo in {one.name for one in memory.repos()})
        or (place.project and place.project in {one.name for one in memory.projects()})
    ]
    return place.repo or place.project or "this folder", found


def _ask(candidates: Sequence[str], sizes: dict[str, int], best: str) -> str:
    listed = ", ".join(f"{name} ({_counted(str(sizes[name]), 'memory', 'memories')})" for name in candidates)
    typer.echo(f"Which team does it join? {one_line(listed)} [{best}] ", nl=False, err=True)
    answer = sys.stdin.readline().strip() or best
    if answer not in candidates:
        raise InvalidInput(f"must be one of {', '.join(candidates)}", field="team")
    return answer


def _require_meant(call: Invocation, member: str, known: Sequence[str]) -> None:
    """A name of the agent's own is no slip of the pen."""
    if call.member is not None and not call.create:
        raise refuse_unknown(member, known)


def _counted(number: str, one: str, many: str) -> str:
    return f"{number} {one if number == '1' else many}"
