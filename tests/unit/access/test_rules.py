"""The table of who may do what to a memory it can see."""

from dataclasses import replace
from datetime import UTC, datetime
from itertools import product

import pytest

from mycel.access.rules import (
    may_delete,
    may_edit,
    may_purge,
    may_review,
    require_delete,
    require_edit,
    require_operator,
    require_purge,
    require_transition,
)
from mycel.domain.ids import MemberId, TeamName
from mycel.domain.memory import Memory, Status, Visibility
from mycel.domain.team import Caller, Kind, Role
from mycel.errors import AccessDenied
from mycel.testing.store_samples import sample

OWNER = Caller(MemberId("swe-1"), TeamName("squad"), Role.AGENT)
CALLERS = {
    "owner": OWNER,
    "agent": replace(OWNER, member_id=MemberId("swe-2")),
    "person": Caller(MemberId("person-1"), TeamName("squad"), Role.MEMBER, Kind.HUMAN),
    "lead": Caller(MemberId("lead-1"), TeamName("squad"), Role.LEAD),
    "orchestrator": Caller(MemberId("orchestrator-1"), TeamName("squad"), Role.ORCHESTRATOR),
    "admin": Caller(MemberId("admin-1"), TeamName("squad"), Role.ADMIN, Kind.HUMAN),
}
MEMORIES: dict[str, Memory] = {
    "note": sample(),
    "knowledge": sample(key="k"),
    "waiting": sample(status=Status.INBOX),
    "for a role": sample(visibility=Visibility.ROLE, allowed_roles=tuple(Role)),
    "private": sample(visibility=Visibility.PRIVATE),
    "private knowledge": sample(visibility=Visibility.PRIVATE, key="k", status=Status.INBOX),
}
CURATED = {"owner", "lead", "admin"}
EDITORS = {
    "note": CURATED,
    "knowledge": CURATED | {"orchestrator"},
    "waiting": CURATED | {"person"},
    "for a role": CURATED,
    "private": {"owner"},
    "private knowledge": {"owner"},
}
CELLS = list(product(CALLERS, MEMORIES))


@pytest.mark.parametrize(("who", "what"), CELLS)
def test_who_may_edit(who: str, what: str) -> None:
    allowed = who in EDITORS[what]
    assert may_edit(CALLERS[who], MEMORIES[what]) is allowed
    _agrees(require_edit, who, what, allowed=allowed)


@pytest.mark.parametrize(("who", "what"), CELLS)
def test_who_may_delete(who: str, what: str) -> None:
    deciders = CURATED | {"orchestrator"} if what == "knowledge" else CURATED
    allowed = who in ({"owner"} if what.startswith("private") else deciders)
    assert may_delete(CALLERS[who], MEMORIES[what]) is allowed
    _agrees(require_delete, who, what, allowed=allowed)


@pytest.mark.parametrize(("who", "what"), CELLS)
def test_whoever_may_delete_may_purge_and_an_admin_purges_anything(who: str, what: str) -> None:
    allowed = who == "admin" or may_delete(CALLERS[who], MEMORIES[what])
    assert may_purge(CALLERS[who], MEMORIES[what]) is allowed
    _agrees(require_purge, who, what, allowed=allowed)


def test_people_leads_and_admins_review() -> None:
    assert {who for who, caller in CALLERS.items() if may_review(caller)} == {"person", "lead", "admin"}


@pytest.mark.parametrize("who", CALLERS)
def test_only_the_owner_and_admins_change_the_audience(who: str) -> None:
    before = MEMORIES["for a role"]
    for after in (
        replace(before, visibility=Visibility.TEAM, allowed_roles=()),
        replace(before, allowed_roles=(Role.LEAD,)),
        replace(before, visibility=Visibility.PRIVATE, allowed_roles=()),
    ):
        _transition(who, before, after, allowed=who in {"owner", "admin"})


@pytest.mark.parametrize("who", CALLERS)
@pytest.mark.parametrize("status", [status for status in Status if status is not Status.INBOX])
def test_only_reviewers_take_something_out_of_the_inbox(who: str, status: Status) -> None:
    before = MEMORIES["waiting"]
    _transition(who, before, replace(before, status=status), allowed=who in {"person", "lead", "admin"})
    _transition(who, before, replace(before, content="edited"), allowed=True)


def test_only_the_operator_does_what_is_the_operators() -> None:
    admin = CALLERS["admin"]
    with pytest.raises(AccessDenied):
        require_operator(admin)
    require_operator(replace(admin, is_operator=True))


def test_refusals_hold_no_text_of_the_memory() -> None:
    memory = sample("a secret", title="a secret", at=datetime(2026, 1, 1, tzinfo=UTC))
    with pytest.raises(AccessDenied) as refused:
        require_edit(CALLERS["agent"], memory)
    assert "secret" not in str(refused.value)


def _agrees(require: object, who: str, what: str, *, allowed: bool) -> None:
    assert callable(require)
    try:
        require(CALLERS[who], MEMORIES[what])
    except AccessDenied:
        assert not allowed
    else:
        assert allowed


def _transition(who: str, before: Memory, after: Memory, *, allowed: bool) -> None:
    try:
        require_transition(CALLERS[who], before, after)
    except AccessDenied:
        assert not allowed
    else:
        assert allowed
