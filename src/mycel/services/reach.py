"""Which team a reader asks about: its own, or one that its role lets it read."""

from __future__ import annotations

from mycel.access.scope import ReadScope, scope_of_team
from mycel.domain import fields
from mycel.domain.team import Caller
from mycel.errors import NotFound


def named_scope(caller: Caller, team: object) -> ReadScope:
    name = None if team is None else fields.label(team, field="team")
    scope = scope_of_team(caller, name)
    if scope is None:
        raise NotFound(f"no team {name}")
    return scope
