"""Bearer tokens: shown once, stored hashed, gone within a second."""

import threading
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import apsw
import pytest

from mycel.access.token_secret import PREFIX, hash_secret
from mycel.app import open_workspace
from mycel.domain.ids import MemberId, TeamName
from mycel.domain.team import Caller, IssuedToken, Kind, Role
from mycel.embedded.workspace import Workspace
from mycel.errors import AccessDenied, InvalidInput, NotFound, Unauthenticated
from mycel.services.tokens import Tokens
from mycel.stores.sqlite.database import Disk
from mycel.stores.sqlite.directory import SqliteDirectory
from mycel.testing.clock import ManualClock

pytestmark = pytest.mark.each_database(slow=True)


SETTLED_SECONDS = 0.6


@pytest.fixture
def squad(workspace: Workspace) -> Workspace:
    workspace.add_team("squad")
    workspace.add_member("swe-1", team="squad")
    workspace.add_member("admin-1", team="squad", kind="human", role="admin")
    return workspace


@pytest.fixture
def tokens(squad: Workspace, tmp_path: Path, clock: ManualClock) -> Iterator[Tokens]:
    """Through a second client of the workspace's own database, to call the use cases as somebody else."""
    with closing(SqliteDirectory(tmp_path / "data" / "workspace.sqlite", clock=clock, disk=Disk())) as directory:
        yield Tokens(directory)


def test_a_token_is_its_member(squad: Workspace) -> None:
    member = squad.with_token(squad.issue_token("swe-1", label="laptop"))
    assert (member.member_id, member.team) == ("swe-1", "squad")
    assert member.save("a").agent_id == "swe-1"


@pytest.mark.files_only
def test_only_the_hash_is_on_the_disk(squad: Workspace, tmp_path: Path) -> None:
    secret = squad.issue_token("swe-1")
    assert secret.startswith(PREFIX)
    assert len(secret) > 40
    squad.close()
    for file in (tmp_path / "data").rglob("*"):
        if file.is_file():
            assert secret.removeprefix(PREFIX).encode() not in file.read_bytes()
    rows = apsw.Connection(str(tmp_path / "data" / "workspace.sqlite")).execute("SELECT secret_hash FROM tokens")
    assert rows.fetchall() == [(hash_secret(secret),)]


@pytest.mark.files_only
def test_listing_and_printing_tokens_shows_no_secret(squad: Workspace, tokens: Tokens) -> None:
    operator = Caller(MemberId("operator"), TeamName("executive"), Role.ADMIN, Kind.HUMAN, is_operator=True)
    issued = tokens.issue(operator, "swe-1", label="laptop", parent=None)
    assert isinstance(issued, IssuedToken)
    assert issued.secret not in repr(issued)
    [token] = squad.tokens(member_id="swe-1")
    assert (token.member_id, token.label) == ("swe-1", "laptop")
    assert issued.secret not in repr(token)
    assert squad.tokens(member_id="admin-1") == []


def test_two_tokens_of_a_member_differ(squad: Workspace) -> None:
    assert squad.issue_token("swe-1") != squad.issue_token("swe-1")


@pytest.mark.parametrize("secret", ["", "x", "mycel_", "mycel_" + "A" * 43, "\ud800", "swe-1", None, 5, b"x"])
def test_what_is_not_a_token_is_refused(squad: Workspace, secret: object) -> None:
    squad.issue_token("swe-1")
    with pytest.raises(AccessDenied, match="unknown, expired or revoked"):
        squad.with_token(secret)  # type: ignore[arg-type]


def test_a_token_expires_at_its_moment(squad: Workspace, clock: ManualClock) -> None:
    secret = squad.issue_token("swe-1", ttl="1h")
    clock.move(timedelta(minutes=59, seconds=59))
    member = squad.with_token(secret)
    clock.move(timedelta(seconds=1))
    with pytest.raises(AccessDenied):
        squad.with_token(secret)
    time.sleep(SETTLED_SECONDS)
    with pytest.raises(AccessDenied):
        member.list()


def test_without_a_lifetime_a_token_stays(squad: Workspace, clock: ManualClock) -> None:
    secret = squad.issue_token("swe-1")
    clock.move(timedelta(days=3650))
    assert squad.with_token(secret).member_id == "swe-1"


@pytest.mark.parametrize("by", ["id", "secret"])
def test_a_revoked_token_stops_within_a_second_in_every_process(squad: Workspace, tmp_path: Path, by: str) -> None:
    secret, other = squad.issue_token("swe-1"), squad.issue_token("swe-1")
    with open_workspace(tmp_path / "data") as elsewhere:
        members = [squad.with_token(secret), elsewhere.with_token(secret)]
        for member in members:
            member.list()
        token = squad.tokens(member_id="swe-1")[0]
        squad.revoke_token(token.id if by == "id" else secret)
        time.sleep(SETTLED_SECONDS)
        for member in members:
            with pytest.raises(AccessDenied):
                member.list()
        with pytest.raises(AccessDenied):
            elsewhere.with_token(secret)
        assert squad.with_token(other).list() is not None


def test_whoever_follows_changes_is_cut_off_when_the_token_is_revoked(squad: Workspace) -> None:
    squad.as_member("admin-1").save("before")
    secret = squad.issue_token("swe-1")
    following = squad.with_token(secret).changes(follow=True)
    next(following)
    squad.revoke_token(secret)
    time.sleep(SETTLED_SECONDS)
    seen: list[object] = []

    def follow() -> None:
        try:
            seen.append(next(following))
        except AccessDenied as error:
            seen.append(error)

    reader = threading.Thread(target=follow, daemon=True)
    reader.start()
    squad.as_member("admin-1").save("after")
    reader.join(5)
    assert [type(found) for found in seen] == [Unauthenticated]


def test_whoever_acts_for_a_member_does_so_as_long_as_the_token_works(squad: Workspace) -> None:
    secret = squad.issue_token("operator")
    visit = squad.sign_in(secret, member="swe-1")
    assert visit.caller().member_id == "swe-1"
    assert visit.memory.save("for it").agent_id == "swe-1"
    squad.revoke_token(secret)
    time.sleep(SETTLED_SECONDS)
    for attempt in (visit.caller, visit.memory.list, visit.workspace.teams):
        with pytest.raises(Unauthenticated):
            attempt()


@pytest.mark.parametrize("named", [{"member": ""}, {"team": ""}, {"member": "swe-1", "team": "squad"}])
def test_acting_for_nobody_in_particular_is_an_error(squad: Workspace, named: dict[str, str]) -> None:
    with pytest.raises(InvalidInput):
        squad.sign_in(squad.issue_token("operator"), **named)


def test_revoking_what_is_not_there_is_not_found(squad: Workspace) -> None:
    for token in ("x", "mycel_" + "A" * 43, "019a0000-0000-7000-8000-000000000000"):
        with pytest.raises(NotFound):
            squad.revoke_token(token)


def test_a_token_needs_a_member_and_a_lifetime_that_makes_sense(squad: Workspace) -> None:
    with pytest.raises(NotFound):
        squad.issue_token("stranger")
    with pytest.raises(InvalidInput):
        squad.issue_token("swe-1", ttl="soon")
    with pytest.raises(InvalidInput):
        squad.issue_token("swe-1", label="two\nlines")
    squad.remove_member("swe-1")
    with pytest.raises(NotFound):
        squad.issue_token("swe-1")


@pytest.mark.files_only
def test_members_have_their_own_tokens_and_admins_those_of_their_team(squad: Workspace, tokens: Tokens) -> None:
    squad.add_member("swe-9", team="executive")
    agent = Caller(MemberId("swe-1"), TeamName("squad"), Role.AGENT)
    admin = Caller(MemberId("admin-1"), TeamName("squad"), Role.ADMIN, Kind.HUMAN)
    assert tokens.issue(agent, "swe-1", parent=None).token.member_id == "swe-1"
    assert [token.member_id for token in tokens.list(agent)] == ["swe-1"]
    assert tokens.list(agent, member_id="admin-1") == []
    with pytest.raises(AccessDenied):
        tokens.issue(agent, "admin-1", parent=None)
    # Members of other teams look like nobody.
    for caller, owner in ((agent, "swe-9"), (admin, "swe-9"), (admin, "operator")):
        with pytest.raises(NotFound):
            tokens.issue(caller, owner, parent=None)
    secret = squad.issue_token("swe-9")
    with pytest.raises(NotFound):
        tokens.revoke(admin, secret)


@pytest.mark.files_only
def test_an_admin_of_the_executive_team_cannot_become_the_operator(squad: Workspace, tokens: Tokens) -> None:
    squad.add_member("admin-2", team="executive", kind="human", role="admin")
    admin = Caller(MemberId("admin-2"), TeamName("executive"), Role.ADMIN, Kind.HUMAN)
    with pytest.raises(AccessDenied):
        tokens.issue(admin, "operator", parent=None)
