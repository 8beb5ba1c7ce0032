"""Who may say that somebody else did something."""

from __future__ import annotations

from mycel.domain.ids import MemberId
from mycel.domain.team import Caller, Role
from mycel.errors import AccessDenied

_SPEAKERS = frozenset({Role.ORCHESTRATOR, Role.LEAD, Role.ADMIN})


def require_attribution(caller: Caller, agent_id: MemberId) -> None:
    if agent_id != caller.member_id and caller.role not in _SPEAKERS:
        raise AccessDenied("only an orchestrator, a lead or an admin can name another member here")
