"""Teams, members, and who a caller is."""

import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from mycel.app import open_workspace
from mycel.domain.ids import MemberId, TeamName
from mycel.domain.team import Caller, Kind, Role
from mycel.embedded.workspace import Workspace
from mycel.errors import AccessDenied, Conflict, InvalidInput, NotFound
from mycel.services.organisation import Organisation
from mycel.stores.sqlite.database import Disk
from mycel.stores.sqlite.directory import SqliteDirectory
from mycel.testing.clock import ManualClock

pytestmark = pytest.mark.each_database(slow=True)


# A change of a member reaches a caller that is already at work within half a second.
SETTLED_SECONDS = 0.6


@pytest.fixture
def workspace(tmp_path: Path, clock: ManualClock) -> Iterator[Workspace]:
    """In which nobody has written anything: it has no team's file yet."""
    with open_workspace(tmp_path / "data", clock=clock) as workspace:
        yield workspace


@pytest.fixture
def organisation(workspace: Workspace, tmp_path: Path, clock: ManualClock) -> Iterator[Organisation]:
    """Through a second client of the workspace's own database, to call the use cases as somebody else."""
    with closing(SqliteDirectory(tmp_path / "data" / "workspace.sqlite", clock=clock, disk=Disk())) as directory:
        yield Organisation(directory)


def admin_of(team: str) -> Caller:
    return Caller(MemberId("admin-1"), TeamName(team), Role.ADMIN, Kind.HUMAN)


def test_every_workspace_has_an_executive_team_and_an_operator(workspace: Workspace) -> None:
    assert [(team.name, team.parent) for team in workspace.teams()] == [("executive", None)]
    [operator] = workspace.members()
    assert (operator.id, operator.team, operator.role, operator.kind) == ("operator", "executive", "admin", "human")


def test_opening_again_changes_nothing(workspace: Workspace, tmp_path: Path) -> None:
    workspace.add_team("squad")
    with open_workspace(tmp_path / "data") as again:
        assert again.teams() == workspace.teams()
        assert again.members() == workspace.members()


def test_a_team_stands_under_the_executive_team_unless_told(workspace: Workspace) -> None:
    assert workspace.add_team("squad").parent == "executive"
    assert workspace.add_team("crew", parent="squad").parent == "squad"


def test_adding_a_team_again_changes_nothing_but_moving_it_is_a_conflict(workspace: Workspace) -> None:
    first = workspace.add_team("squad")
    workspace.add_team("other")
    assert workspace.add_team("squad") == workspace.add_team("squad", parent="executive") == first
    with pytest.raises(Conflict):
        workspace.add_team("squad", parent="other")
    with pytest.raises(Conflict):
        workspace.add_team("executive", parent="squad")


def test_a_parent_must_exist(workspace: Workspace) -> None:
    with pytest.raises(InvalidInput) as refused:
        workspace.add_team("squad", parent="nowhere")
    assert refused.value.field == "parent"
    with pytest.raises(InvalidInput):
        workspace.add_team("squad", parent="squad")
    assert len(workspace.teams()) == 1


@pytest.mark.parametrize("name", ["", "A", "a b", "../x", "-a", "a" * 64, "con", "nul", "com1", "ü", None, 5, "a\n"])
def test_a_team_name_is_a_safe_folder(workspace: Workspace, name: object) -> None:
    with pytest.raises(InvalidInput) as refused:
        workspace.add_team(name)  # type: ignore[arg-type]
    assert refused.value.field == "name"


@pytest.mark.parametrize("id", ["", " a", "a b", "a/b", "-a", "a" * 129, "ü", None, 5, "a\n"])
def test_a_member_id_is_a_plain_name(workspace: Workspace, id: object) -> None:
    with pytest.raises(InvalidInput) as refused:
        workspace.add_member(id, team="executive")  # type: ignore[arg-type]
    assert refused.value.field == "id"


def test_a_member_has_a_usual_role_by_its_kind(workspace: Workspace) -> None:
    agent = workspace.add_member("swe-1", team="executive")
    person = workspace.add_member("person-1", team="executive", kind="human")
    assert (agent.role, agent.kind, agent.trust) == ("agent", "agent", "normal")
    assert (person.role, person.kind) == ("member", "human")


def test_adding_a_member_again_changes_nothing_but_another_role_is_a_conflict(workspace: Workspace) -> None:
    workspace.add_team("squad")
    first = workspace.add_member("swe-1", team="squad")
    assert workspace.add_member("swe-1", team="squad") == first
    for change in ({"role": "lead"}, {"trust": "low"}, {"team": "executive"}, {"kind": "human"}):
        with pytest.raises(Conflict):
            workspace.add_member("swe-1", **{"team": "squad", **change})  # type: ignore[arg-type]


def test_a_member_needs_a_team_that_exists(workspace: Workspace) -> None:
    with pytest.raises(InvalidInput) as refused:
        workspace.add_member("swe-1", team="nowhere")
    assert refused.value.field == "team"
    workspace.add_member("swe-1", team="executive")
    with pytest.raises(InvalidInput):
        workspace.update_member("swe-1", team="nowhere")


@pytest.mark.parametrize("fields", [{"role": "boss"}, {"kind": "robot"}, {"trust": "blind"}])
def test_a_wrong_field_of_a_member_is_named(workspace: Workspace, fields: dict[str, str]) -> None:
    with pytest.raises(InvalidInput) as refused:
        workspace.add_member("swe-1", team="executive", **fields)  # type: ignore[arg-type]
    assert refused.value.field in fields


def test_a_name_that_nobody_has_is_refused_with_the_near_ones(workspace: Workspace) -> None:
    workspace.add_team("squad")
    workspace.add_member("swe-1", team="squad")
    assert workspace.resolve_team("swe-1") == "squad"
    assert workspace.resolve_team("stranger") == "executive"
    with pytest.raises(InvalidInput, match="there is no member swe1; did you mean swe-1") as refused:
        workspace.as_member("swe1")
    assert refused.value.field == "id"
    with pytest.raises(InvalidInput, match=r"there is no member stranger; .*shows who there is"):
        workspace.as_member("stranger")
    assert workspace.as_member("operator").member_id == "operator"
    assert [one.id for one in workspace.members()] == ["operator", "swe-1"]
    workspace.add_member("swe1", team="squad")
    assert workspace.as_member("swe1").team == "squad"


def test_a_moved_member_works_in_the_new_team(workspace: Workspace) -> None:
    workspace.add_team("squad")
    workspace.add_member("swe-1", team="executive")
    member = workspace.as_member("swe-1")
    kept = member.save("stays")
    workspace.update_member("swe-1", team="squad", role="lead", trust="high")
    time.sleep(SETTLED_SECONDS)
    assert (member.team, workspace.resolve_team("swe-1")) == ("squad", "squad")
    assert not member.list()
    # As a lead it still reads the parent team.
    assert member.get(kept.id) == kept
    assert member.save("b").trust == "high"


def test_a_removed_member_is_refused_and_what_it_wrote_stays(workspace: Workspace) -> None:
    workspace.add_member("swe-1", team="executive")
    member, secret = workspace.as_member("swe-1"), workspace.issue_token("swe-1")
    with_token = workspace.with_token(secret)
    memory = member.save("stays")
    removed = workspace.remove_member("swe-1")
    assert removed.removed_at is not None
    assert [found.id for found in workspace.members()] == ["operator"]
    assert workspace.resolve_team("swe-1") == "executive"
    time.sleep(SETTLED_SECONDS)
    for attempt in (member.list, with_token.list, lambda: workspace.as_member("swe-1")):
        with pytest.raises(AccessDenied):
            attempt()
    with pytest.raises(AccessDenied):
        workspace.with_token(secret)
    assert workspace.as_operator().get(memory.id) == memory
    with pytest.raises(NotFound):
        workspace.remove_member("swe-1")
    with pytest.raises(NotFound):
        workspace.update_member("swe-1", role="lead")


def test_a_removed_member_can_come_back_but_its_tokens_do_not(workspace: Workspace) -> None:
    workspace.add_member("swe-1", team="executive")
    secret = workspace.issue_token("swe-1")
    workspace.remove_member("swe-1")
    assert workspace.add_member("swe-1", team="executive", role="lead").role == "lead"
    assert workspace.as_member("swe-1").list() is not None
    with pytest.raises(AccessDenied):
        workspace.with_token(secret)


def test_an_admin_cannot_take_over_the_name_of_somebody_who_left_another_team(workspace: Workspace) -> None:
    for team in ("squad", "other"):
        workspace.add_team(team)
        workspace.add_member(f"admin-{team}", team=team, role="admin", kind="human")
    workspace.add_member("swe-1", team="squad")
    workspace.remove_member("swe-1")
    admins = {team: workspace.sign_in(workspace.issue_token(f"admin-{team}")).workspace for team in ("squad", "other")}
    with pytest.raises(Conflict, match=r"^swe-1 is already a member$"):
        admins["other"].add_member("swe-1", team="other")
    assert admins["squad"].add_member("swe-1", team="squad").team == "squad"
    workspace.remove_member("swe-1")
    assert workspace.add_member("swe-1", team="other").team == "other"


@pytest.mark.parametrize(
    "change", [{"team": "squad"}, {"role": "member"}, {"role": "agent"}], ids=["team", "member", "agent"]
)
def test_the_operator_stays_what_it_is(workspace: Workspace, change: dict[str, str]) -> None:
    workspace.add_team("squad")
    with pytest.raises(InvalidInput):
        workspace.update_member("operator", **change)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput):
        workspace.remove_member("operator")
    with pytest.raises(Conflict):
        workspace.add_member("operator", team="squad")


def test_the_operator_is_an_admin_of_every_team(workspace: Workspace) -> None:
    workspace.add_team("squad")
    workspace.add_member("swe-1", team="squad")
    memory = workspace.as_member("swe-1").save("a", visibility="role", allowed_roles=["lead"])
    hidden = workspace.as_member("swe-1").save("b", visibility="private")
    operator = workspace.as_operator("squad")
    assert operator.get(memory.id) == memory
    with pytest.raises(NotFound):
        operator.get(hidden.id)
    assert operator.purge(hidden.id).purged_by == "operator"
    with pytest.raises(NotFound):
        workspace.as_operator("nowhere")


def test_only_the_operator_arranges_teams(organisation: Organisation) -> None:
    for caller in (admin_of("executive"), Caller(MemberId("operator"), TeamName("executive"), Role.ADMIN)):
        with pytest.raises(AccessDenied):
            organisation.add_team(caller, "squad")
        with pytest.raises(AccessDenied):
            organisation.arrange(caller, [])


@pytest.mark.files_only
def test_an_admin_manages_the_members_of_its_own_team_only(workspace: Workspace, organisation: Organisation) -> None:
    workspace.add_team("squad")
    workspace.add_team("other")
    workspace.add_member("swe-9", team="other")
    admin = admin_of("squad")
    assert organisation.add_member(admin, "swe-1", team="squad").team == "squad"
    assert organisation.update_member(admin, "swe-1", trust="low").trust == "low"
    for attempt in (
        lambda: organisation.add_member(admin, "swe-2", team="other"),
        lambda: organisation.update_member(admin, "swe-1", team="other"),
        lambda: organisation.add_member(Caller(MemberId("lead-1"), TeamName("squad"), Role.LEAD), "x", team="squad"),
    ):
        with pytest.raises(AccessDenied):
            attempt()
    for hidden in ("swe-9", "nobody"):
        with pytest.raises(NotFound, match=f"no member {hidden}"):
            organisation.update_member(admin, hidden, role="lead")
        with pytest.raises(NotFound, match=f"no member {hidden}"):
            organisation.remove_member(admin, hidden)
    assert organisation.remove_member(admin, "swe-1").removed_at is not None


@pytest.mark.files_only
def test_nobody_but_the_operator_touches_the_operator(organisation: Organisation) -> None:
    with pytest.raises((AccessDenied, InvalidInput)):
        organisation.update_member(admin_of("executive"), "operator", trust="low")


@pytest.mark.files_only
def test_a_teams_file_is_made_on_its_first_write(workspace: Workspace, tmp_path: Path) -> None:
    workspace.add_team("squad")
    workspace.add_member("swe-1", team="squad")
    member, folder = workspace.as_member("swe-1"), tmp_path / "data" / "teams"
    assert not member.list()
    assert not member.search("x").hits
    assert member.stats().memories == 0
    assert list(member.changes()) == []
    assert workspace.check() == {}
    assert workspace.run_pending() == 0
    assert not folder.exists()
    member.save("a")
    assert [path.name for path in folder.iterdir()] == ["squad"]
    assert (folder / "squad" / "memory.sqlite").stat().st_mode & 0o077 == 0


def test_a_refused_write_makes_no_file(workspace: Workspace, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput):
        workspace.as_member("swe-1").save("")
    assert not (tmp_path / "data" / "teams").exists()


def test_teams_are_apart(workspace: Workspace) -> None:
    for team in ("squad", "other"):
        workspace.add_team(team)
        workspace.add_member(f"swe-{team}", team=team)
        workspace.as_member(f"swe-{team}").save(f"heron of {team}", key="k", project="p")
    for team in ("squad", "other"):
        member = workspace.as_member(f"swe-{team}")
        assert [memory.content for memory in member.list()] == [f"heron of {team}"]
        assert [hit.team for hit in member.search("heron").hits] == [team]


@pytest.mark.files_only
def test_a_backup_is_a_workspace_that_opens(workspace: Workspace, tmp_path: Path) -> None:
    workspace.add_team("squad")
    workspace.add_member("swe-1", team="squad")
    memory = workspace.as_member("swe-1").save("a")
    backup = workspace.backup(tmp_path / "copy")
    assert (backup.teams, backup.name, backup.problem) == (("squad",), "copy", None)
    with open_workspace(tmp_path / "copy") as copy:
        assert copy.as_member("swe-1").get(memory.id) == memory
        assert copy.check() == {}
    with pytest.raises(InvalidInput):
        workspace.backup(tmp_path / "copy")


def test_a_closed_workspace_says_so(workspace: Workspace) -> None:
    workspace.add_member("swe-1", team="executive")
    member = workspace.as_member("swe-1")
    member.save("a")
    workspace.close()
    workspace.close()
    for attempt in (member.list, lambda: member.save("b")):
        with pytest.raises(Exception, match="closed"):
            attempt()
