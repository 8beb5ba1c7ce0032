"""The members of the API suites: one of each sort, on two teams and a child team."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from mycel.contracts.memory_api import MemoryApi
from mycel.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Cast:
    """What each member sees; all but the last two belong to one team."""

    author: MemoryApi
    teammate: MemoryApi
    human: MemoryApi
    lead: MemoryApi
    orchestrator: MemoryApi
    admin: MemoryApi
    newcomer: MemoryApi
    """An agent of low trust."""
    outsider: MemoryApi
    """An agent of another team."""
    child_lead: MemoryApi
    """The lead of a team whose parent is the cast's team."""


# name, team, kind, role and trust: what the fixture `cast` must set up; `squad-child` stands under `squad`.
MEMBERS: dict[str, tuple[str, str, str, str, str]] = {
    "author": ("swe-1", "squad", "agent", "agent", "normal"),
    "teammate": ("swe-2", "squad", "agent", "agent", "normal"),
    "human": ("person-1", "squad", "human", "member", "normal"),
    "lead": ("lead-1", "squad", "agent", "lead", "normal"),
    "orchestrator": ("orchestrator-1", "squad", "agent", "orchestrator", "normal"),
    "admin": ("admin-1", "squad", "human", "admin", "normal"),
    "newcomer": ("swe-new", "squad", "agent", "agent", "low"),
    "outsider": ("swe-9", "other", "agent", "agent", "normal"),
    "child_lead": ("lead-9", "squad-child", "agent", "lead", "normal"),
}
TEAMS = {"squad": "executive", "other": "executive", "squad-child": "squad"}


def outcome(call: Callable[[], object], *expected: type[Exception] | None) -> None:
    """The call is refused with one of these errors, or not at all when None is expected."""
    errors = tuple(error for error in expected if error is not None)
    if not errors:
        call()
        return
    with pytest.raises(errors):
        call()


def check_refused(api: object, cases: Sequence[tuple[str, Callable[[Any], object]]]) -> None:
    """Each call names the field that is wrong; all of them in one place, since none leaves anything behind."""
    for place, (field, call) in enumerate(cases):
        with pytest.raises(InvalidInput) as refused:
            pytest.fail(f"case {place}: a wrong {field} is taken, and the answer is {call(api)!r:.200}")
        assert refused.value.field == field, f"case {place}"
