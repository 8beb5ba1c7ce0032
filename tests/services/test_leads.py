"""What the lead of a team reads: its own team, every team above it, and `executive`; and nothing else."""

from collections.abc import Callable
from pathlib import Path

import pytest

from mycel.embedded.team_memory import TeamMemory
from mycel.embedded.workspace import Workspace
from mycel.errors import AccessDenied, InvalidState, NotFound, StoreDamaged

pytestmark = pytest.mark.each_database(slow=True)

TEAMS = {"division": "executive", "platform": "division", "storage": "platform", "product": "division"}


@pytest.fixture
def company(workspace: Workspace) -> Workspace:
    """A chain of four teams and one beside it, each with a lead and an agent, and one memory of each team."""
    for team, parent in TEAMS.items():
        workspace.add_team(team, parent=parent)
    for team in ("executive", *TEAMS):
        workspace.add_member(f"{team}-lead", team=team, role="lead")
        workspace.add_member(f"{team}-swe", team=team)
        workspace.as_member(f"{team}-swe").save(f"Kestrels nest at {team}.", type="fact", tags=["bird"])
    return workspace


def found(memory: TeamMemory) -> dict[str, str]:
    return {hit.team: hit.memory.content for hit in memory.search("where do kestrels nest", min_relevance=0.1).hits}


def teams_read(memory: TeamMemory) -> list[str]:
    """Return the teams of which a member reads something, by every way that merges teams; all ways must agree."""
    by_search = set(found(memory))
    by_recent = {one.team for one in memory.recent(50)}
    bundle = memory.context_for(task="where do kestrels nest")
    by_context = {item.memory.team for items in bundle.sections.values() for item in items}
    assert by_search == by_recent == by_context == {one.team for one in bundle.recent}
    return sorted(by_search)


def test_a_lead_reads_every_team_above_and_others_their_own(company: Workspace) -> None:
    storage = company.as_member("storage-lead")
    assert teams_read(storage) == ["division", "executive", "platform", "storage"]
    assert found(storage)["executive"] == "Kestrels nest at executive."
    assert teams_read(company.as_member("platform-lead")) == ["division", "executive", "platform"]
    assert teams_read(company.as_member("executive-lead")) == ["executive"]
    assert teams_read(company.as_member("storage-swe")) == ["storage"]
    for role in ("admin", "orchestrator", "member", "agent"):
        company.update_member("storage-lead", role=role)
        assert teams_read(company.as_member("storage-lead")) == ["storage"], role


def test_the_newest_of_all_teams_come_newest_first(company: Workspace) -> None:
    teams = [one.team for one in company.as_member("storage-lead").recent(3)]
    assert teams == ["storage", "platform", "division"]
    text = company.as_member("storage-lead").context_for().to_team_memory()
    lines = [line for line in text.splitlines() if line.startswith("[")]
    assert lines == [
        f"[fact][{team}-swe] Kestrels nest at {team}." for team in ("storage", "platform", "division", "executive")
    ]


def read_all(member: TeamMemory, team: str, id: str) -> list[Callable[[], object]]:
    return [
        lambda: member.get(id),
        lambda: member.get(id[-8:]),
        lambda: member.history(id),
        lambda: member.links(id),
        lambda: list(member.list(team=team)),
        lambda: member.tree(team=team),
        lambda: list(member.changes(team=team)),
        lambda: list(member.episodes.list(team=team)),
        lambda: list(member.artifacts.list(team=team)),
    ]


@pytest.mark.parametrize("team", ["executive", "division", "platform"])
def test_one_memory_and_one_team_are_read_by_the_same_rule(company: Workspace, team: str) -> None:
    memory = company.as_member(f"{team}-swe").list()[0]
    for read in read_all(company.as_member("storage-lead"), team, memory.id):
        read()
    for other in ("storage-swe", "product-swe"):
        for read in read_all(company.as_member(other), team, memory.id):
            with pytest.raises(NotFound):
                read()
    with pytest.raises(AccessDenied, match=team):
        company.as_member("storage-lead").update(memory.id, content="Ours.")


def test_what_a_team_above_keeps_for_some_stays_there(company: Workspace) -> None:
    boss = company.as_member("executive-lead")
    boss.save("Kestrels move in May.", visibility="role", allowed_roles=["lead"])
    boss.save("Kestrels move in June.", visibility="private")
    boss.save("Kestrels move in July.", needs_review=True)
    shown = [one.content for one in company.as_member("storage-lead").recent(50)]
    assert not [content for content in shown if "move" in content]


def test_a_team_decides_by_its_policy_which_leads_read_it(company: Workspace) -> None:
    boss = company.as_member("executive-lead")
    memory = boss.list()[0]
    boss.set_policy(leads_below="direct")
    lead = company.as_member("storage-lead")
    assert teams_read(lead) == ["division", "platform", "storage"]
    assert teams_read(company.as_member("division-lead")) == ["division", "executive"]
    for read in read_all(lead, "executive", memory.id):
        with pytest.raises(NotFound):
            read()
    boss.set_policy(leads_below="none")
    assert teams_read(company.as_member("division-lead")) == ["division"]
    boss.set_policy(leads_below="all")
    assert teams_read(company.as_member("storage-lead")) == ["division", "executive", "platform", "storage"]


def test_the_lead_of_a_team_that_moves_reads_by_its_new_place(company: Workspace) -> None:
    company.arrange([{"name": "storage", "parent": "product"}])
    assert teams_read(company.as_member("storage-lead")) == ["division", "executive", "product", "storage"]


def test_a_chain_of_teams_is_bounded_and_never_a_circle(workspace: Workspace) -> None:
    for depth in range(16):
        workspace.add_team(f"t{depth}", parent=f"t{depth - 1}" if depth else None)
    with pytest.raises(InvalidState, match="more than 16 teams above it"):
        workspace.add_team("t16", parent="t15")
    workspace.add_team("top")
    with pytest.raises(InvalidState, match="more than 16 teams above it"):
        workspace.arrange([{"name": "t0", "parent": "top"}])
    with pytest.raises(InvalidState, match="above itself"):
        workspace.arrange([{"name": "t3", "parent": "t9"}])
    workspace.add_member("lead-1", team="t15", role="lead")
    workspace.as_operator("executive").save("Kestrels nest at executive.")
    assert found(workspace.as_member("lead-1")) == {"executive": "Kestrels nest at executive."}


def test_a_damaged_store_above_leaves_the_rest_readable(company: Workspace, tmp_path: Path, database: str) -> None:
    if database != "files":
        pytest.skip("has no file for each team")
    lead = company.as_member("storage-lead")
    lost = company.as_member("division-swe").list()[0]
    company.close()
    [file] = tmp_path.rglob("division/memory.sqlite")
    file.write_bytes(b"not a database" * 1000)
    import mycel

    with mycel.open(file.parents[2]) as again:
        lead = again.as_member("storage-lead")
        assert sorted(found(lead)) == ["executive", "platform", "storage"]
        assert {one.team for one in lead.recent(50)} == {"executive", "platform", "storage"}
        assert lead.get(again.as_member("storage-swe").list()[0].id[-8:])
        assert "executive" in lead.context_for().to_markdown()
        with pytest.raises(StoreDamaged):
            lead.get(lost.id)
