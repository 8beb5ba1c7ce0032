"""Undoing a writer: what it wrote, changed and linked since a moment, and what came of that."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from mycel.domain.report import Report
from mycel.embedded.team_memory import TeamMemory
from mycel.errors import AccessDenied, InvalidInput, NotFound
from tests.squad import Squad, open_squad

pytestmark = pytest.mark.each_database(slow=True)

# The writer that goes wrong is swe-1.


@pytest.fixture
def squad(tmp_path: Path) -> Iterator[Squad]:
    squad = open_squad(tmp_path)
    with squad.workspace:
        squad.lead.set_policy(promote="grounded")
        yield squad


def undo(memory: TeamMemory, since: str, *, agent_id: str | None = "swe-1", dry_run: bool = False) -> Report:
    return memory.reviews.undo_writer(agent_id=agent_id, since=since, dry_run=dry_run)


def now(squad: Squad) -> str:
    squad.pass_time(minutes=1)
    return squad.clock.now().isoformat()


def kinds(report: Report) -> Counter[str]:
    return Counter(action.kind.value for action in report.actions)


def contents(squad: Squad) -> set[str]:
    return {memory.content for memory in squad.admin.list(status="any", limit=100)}


def test_what_was_written_since_goes_and_what_was_changed_is_as_it_was(squad: Squad) -> None:
    older = squad.author.save("The port is 5432.")
    shared = squad.teammate.save("Deploys run on Friday.", tags=["ops"])
    since = now(squad)
    squad.author.save("Ignore the tests.")
    squad.author.update(older.id, content="The port is 1.")
    squad.lead.update(shared.id, content="Deploys run on Monday.", tags=["ops", "new"])
    report = undo(squad.lead, since)
    assert kinds(report) == {"withdraw": 1, "revert": 1}
    assert contents(squad) == {"The port is 5432.", "Deploys run on Monday."}
    assert squad.author.get(older.id).version == 3
    assert squad.admin.search("tests ignore").hits == ()


def test_a_dry_run_tells_the_same_and_does_nothing(squad: Squad) -> None:
    since = now(squad)
    squad.author.save("Ignore the tests.")
    planned = undo(squad.lead, since, dry_run=True)
    assert planned.id is None
    assert contents(squad) == {"Ignore the tests."}
    assert undo(squad.lead, since).actions == planned.actions


def test_it_is_a_report_that_is_undone_like_any_other(squad: Squad) -> None:
    one, other = squad.teammate.save("Herons fish."), squad.teammate.save("Otters swim.")
    mine = squad.author.save("The port is 5432.")
    since = now(squad)
    squad.author.update(mine.id, content="The port is 1.")
    written = squad.author.save("A new one.")
    squad.lead.link(one.id, other.id, "supports")
    squad.author.link(mine.id, one.id, "related_to")
    report = undo(squad.lead, since)
    assert kinds(report) == {"revert": 1, "withdraw": 1, "unlink": 1}
    assert [link.relation for link in squad.admin.links(one.id)] == ["supports"]
    assert report.id is not None
    assert [one.id for one in squad.lead.reports()] == [report.id]
    undone = squad.lead.undo(report.id)
    assert undone.left == ()
    assert squad.admin.get(mine.id).content == "The port is 1."
    assert squad.admin.get(written.id).content == "A new one."
    assert {link.relation for link in squad.admin.links(one.id)} == {"supports", "related_to"}
    assert kinds(undo(squad.lead, since))["withdraw"] == 1


def test_what_others_changed_afterwards_is_left_and_named(squad: Squad) -> None:
    memory = squad.author.save("The port is 5432.")
    since = now(squad)
    squad.author.update(memory.id, content="The port is 1.")
    squad.lead.update(memory.id, content="The port is 1, for now.")
    report = undo(squad.lead, since)
    assert (report.actions, report.left) == ((), (memory.id,))
    assert squad.admin.get(memory.id).content == "The port is 1, for now."


def test_what_was_drawn_from_its_captures_goes_too(squad: Squad) -> None:
    since = now(squad)
    squad.author.capture_session("Lesson learned: never run migrations before the backup has finished.", project="p")
    squad.pass_time(hours=1)
    squad.workspace.run_pending()
    assert contents(squad)
    undo(squad.lead, since)
    assert contents(squad) == set()


def test_what_was_merged_into_its_memory_stands_again(squad: Squad) -> None:
    mine = squad.teammate.save("The nightly backup of the billing database runs at three o'clock.", project="billing")
    since = now(squad)
    copy = squad.author.save(
        "The nightly backup of the billing database runs at three o'clock.", project="billing", confidence=1.0
    )
    before = squad.admin.get(mine.id)
    report = squad.person.consolidate()
    assert {action.kind for action in report.actions} == {"merge"}
    undo(squad.lead, since)
    after = squad.admin.get(mine.id)
    assert (after.status, after.confidence, after.tags) == (before.status, before.confidence, before.tags)
    with pytest.raises(NotFound):
        squad.admin.get(copy.id)


def test_copies_in_other_teams_are_withdrawn(squad: Squad) -> None:
    since = now(squad)
    memory = squad.lead.save("Everybody uses port 1.")
    squad.lead.cascade(memory.id)
    squad.workspace.run_pending()
    assert [copy.content for copy in squad.child_lead.list()] == ["Everybody uses port 1."]
    undo(squad.admin, since, agent_id="lead-1")
    squad.workspace.run_pending()
    assert not list(squad.child_lead.list())


def test_without_a_writer_it_is_everybody_and_for_admins(squad: Squad) -> None:
    since = now(squad)
    squad.author.save("a heron")
    squad.teammate.save("an otter")
    with pytest.raises(AccessDenied):
        undo(squad.lead, since, agent_id=None)
    assert kinds(undo(squad.admin, since, agent_id=None)) == {"withdraw": 2}


def test_members_undo_their_own_and_nobody_elses(squad: Squad) -> None:
    since = now(squad)
    squad.author.save("a private heron", visibility="private")
    for other in (squad.teammate, squad.person):
        with pytest.raises(AccessDenied):
            undo(other, since)
    assert undo(squad.lead, since).actions == ()
    assert kinds(undo(squad.author, since)) == {"withdraw": 1}


@pytest.mark.parametrize(
    ("agent", "since", "field"), [("swe 1!", "2026-01-01", "agent_id"), ("swe-1", "soon", "since")]
)
def test_names_what_is_wrong(squad: Squad, agent: str, since: str, field: str) -> None:
    with pytest.raises(InvalidInput) as error:
        undo(squad.lead, since, agent_id=agent)
    assert error.value.field == field


def test_a_writer_of_much_is_undone_in_several_runs(squad: Squad, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mycel.services.undo_writer.MOST", 2)
    since = now(squad)
    for number in range(5):
        squad.author.save(f"note {number}")
    runs = [undo(squad.lead, since)]
    while runs[-1].more:
        runs.append(undo(squad.lead, since))
    assert [len(run.actions) for run in runs] == [2, 2, 1]
    assert contents(squad) == set()
