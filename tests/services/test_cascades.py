"""Between teams: copies go down and up, follow their origin, and nobody else can change them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mycel.domain.marks import ORIGIN
from mycel.embedded.team_memory import TeamMemory
from mycel.errors import AccessDenied, InvalidInput, NotFound
from mycel.settings import Settings
from mycel.stores.sqlite import pool
from mycel.stores.sqlite.pool import SqliteStores
from tests.squad import Squad, open_squad

pytestmark = pytest.mark.each_database(slow=True)


@pytest.fixture
def squad(tmp_path: Path) -> Iterator[Squad]:
    squad = open_squad(tmp_path)
    with squad.workspace:
        yield squad


def contents(memory: TeamMemory) -> list[str]:
    return [found.content for found in memory.list(type="decision")]


def test_a_cascaded_decision_reaches_every_team_below_with_its_origin(squad: Squad) -> None:
    operator = squad.workspace.as_operator()
    decision = operator.save("All services log JSON.", type="decision", key="logs", category="decision")
    operator.cascade(decision.id)
    squad.workspace.run_pending()
    (copy,) = squad.author.list(type="decision")
    (deeper,) = squad.child_lead.list(type="decision")
    assert copy.metadata[ORIGIN] == {"team": "executive", "id": decision.id, "version": 1}
    assert (copy.content, copy.agent_id) == ("All services log JSON.", "operator")
    assert copy.id != deeper.id
    assert contents(squad.child_lead) == ["All services log JSON."]
    assert squad.author.search("services log JSON").hits[0].memory.id == copy.id


def test_later_versions_and_withdrawal_follow(squad: Squad) -> None:
    decision = squad.lead.save("Deploy on Tuesdays.", type="decision")
    squad.lead.cascade(decision.id)
    squad.workspace.run_pending()
    squad.lead.update(decision.id, content="Deploy on Thursdays.")
    squad.workspace.run_pending()
    (copy,) = squad.child_lead.list(type="decision")
    assert (copy.content, copy.version) == ("Deploy on Thursdays.", 2)
    squad.lead.withdraw(decision.id)
    squad.workspace.run_pending()
    assert contents(squad.child_lead) == []
    assert list(squad.lead.cascades()) == []
    squad.lead.cascade(decision.id)
    squad.workspace.run_pending()
    assert [memory.id for memory in squad.child_lead.list(type="decision")] == [copy.id]


def test_what_is_sent_is_listed_in_pages(squad: Squad) -> None:
    sent: list[str] = []
    for number in range(5):
        squad.pass_time(minutes=number % 2)
        sent.append(squad.lead.save(f"Decision {number} of the squad.", type="decision").id)
        squad.lead.cascade(sent[-1])
    first = squad.lead.cascades(limit=2)
    assert first.next_cursor is not None
    squad.lead.withdraw(first.items[1].memory_id)
    second = squad.lead.cascades(limit=2, cursor=first.next_cursor)
    last = squad.lead.cascades(limit=2, cursor=second.next_cursor)
    listed = [cascade.memory_id for cascade in (*first, *second, *last)]
    assert (len(listed), set(listed), last.next_cursor) == (5, set(sent), None)
    starts = [cascade.started_at for cascade in (*first, *second, *last)]
    assert starts == sorted(starts, reverse=True)
    for wrong in ({"limit": 0}, {"cursor": "x"}):
        with pytest.raises(InvalidInput):
            squad.lead.cascades(**wrong)


@pytest.mark.files_only
def test_copies_travel_and_are_found_where_one_store_may_be_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "WAIT_SECONDS", 0.2)
    squad = open_squad(tmp_path, settings=Settings(data=tmp_path, embedder="none", max_open_stores=1))
    with squad.workspace:
        decision = squad.lead.save("Deploy on Tuesdays.", type="decision")
        squad.lead.cascade(decision.id)
        squad.workspace.run_pending()
        (copy,) = squad.child_lead.list(type="decision")
        # A lead searches the parent team too.
        found = {hit.memory.id for hit in squad.child_lead.search("deploy on Tuesdays").hits}
        assert {copy.id, decision.id} & found
        squad.lead.purge(decision.id)
        squad.workspace.run_pending()
        assert contents(squad.child_lead) == []
        assert squad.lead.receipt(decision.id).held_by_teams == ()


def test_deleting_restoring_and_purging_follow_too(squad: Squad) -> None:
    decision = squad.lead.save("Deploy on Tuesdays.", type="decision")
    squad.lead.cascade(decision.id)
    squad.workspace.run_pending()
    squad.lead.delete(decision.id)
    squad.workspace.run_pending()
    assert contents(squad.child_lead) == []
    squad.lead.restore(decision.id)
    squad.workspace.run_pending()
    (copy,) = squad.child_lead.list(type="decision")
    assert squad.lead.purge(decision.id).held_by_teams == ("squad-child",)
    squad.workspace.run_pending()
    assert squad.lead.receipt(decision.id).held_by_teams == ()
    with pytest.raises(NotFound):
        squad.child_lead.get(copy.id)
    with pytest.raises(NotFound):
        squad.workspace.as_operator("squad-child").restore(copy.id)


def test_an_escalated_decision_reaches_the_parent(squad: Squad) -> None:
    decision = squad.child_lead.save("We drop the old importer.", type="decision")
    squad.child_lead.escalate(decision.id)
    squad.workspace.run_pending()
    assert contents(squad.author) == ["We drop the old importer."]
    assert contents(squad.workspace.as_operator()) == []
    with pytest.raises(InvalidInput):
        squad.child_lead.cascade(decision.id)


def test_a_copy_is_read_only(squad: Squad) -> None:
    decision = squad.lead.save("Deploy on Tuesdays.", type="decision")
    squad.lead.cascade(decision.id)
    squad.workspace.run_pending()
    (copy,) = squad.child_lead.list(type="decision")
    for act in (
        lambda: squad.child_lead.update(copy.id, content="x"),
        lambda: squad.child_lead.delete(copy.id),
        lambda: squad.child_lead.cascade(copy.id),
        lambda: squad.child_lead.link(copy.id, "project:p", "applies_to"),
    ):
        with pytest.raises(AccessDenied, match="copy"):
            act()


def test_only_leads_and_admins_send_and_only_what_the_team_may_read(squad: Squad) -> None:
    decision = squad.author.save("Deploy on Tuesdays.", type="decision")
    with pytest.raises(AccessDenied):
        squad.author.cascade(decision.id)
    with pytest.raises(NotFound):
        squad.child_lead.cascade("019a0000-0000-7000-8000-000000000000")
    private = squad.lead.save("Mine.", visibility="private")
    with pytest.raises(InvalidInput):
        squad.lead.cascade(private.id)
    with pytest.raises(InvalidInput, match="no parent"):
        squad.workspace.as_operator().escalate(squad.workspace.as_operator().save("x").id)


def test_what_becomes_private_is_taken_back(squad: Squad) -> None:
    decision = squad.lead.save("Deploy on Tuesdays.", type="decision")
    squad.lead.cascade(decision.id)
    squad.workspace.run_pending()
    squad.lead.update(decision.id, visibility="private")
    squad.workspace.run_pending()
    assert contents(squad.child_lead) == []


def test_a_new_team_receives_what_is_for_it(squad: Squad) -> None:
    decision = squad.lead.save("Deploy on Tuesdays.", type="decision")
    squad.lead.cascade(decision.id)
    squad.workspace.run_pending()
    squad.workspace.add_team("squad-late", parent="squad")
    squad.workspace.add_member("late-1", team="squad-late")
    squad.workspace.run_pending()
    assert contents(squad.workspace.as_member("late-1")) == ["Deploy on Tuesdays."]


def test_a_delivery_that_was_cut_short_is_finished_by_the_next_try(
    squad: Squad, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mycel.errors import Unavailable

    squad.workspace.add_team("squad-second", parent="squad")
    squad.workspace.add_member("second-1", team="squad-second")
    decision = squad.lead.save("Deploy on Tuesdays.", type="decision")
    lease = SqliteStores.lease

    def refuse(self: SqliteStores, team: str) -> object:
        if team == "squad-second":
            raise Unavailable("away")
        return lease(self, team)  # type: ignore[arg-type]

    monkeypatch.setattr(SqliteStores, "lease", refuse)
    squad.lead.cascade(decision.id)
    squad.workspace.run_pending()
    monkeypatch.undo()
    squad.pass_time(minutes=5)
    squad.workspace.run_pending()
    assert contents(squad.child_lead) == contents(squad.workspace.as_member("second-1")) == ["Deploy on Tuesdays."]
    (copy,) = squad.child_lead.list(type="decision")
    assert copy.version == 1


def test_a_copy_that_its_team_purged_stays_purged(squad: Squad) -> None:
    decision = squad.lead.save("Deploy on Tuesdays.", type="decision")
    squad.lead.cascade(decision.id)
    squad.workspace.run_pending()
    (copy,) = squad.child_lead.list(type="decision")
    squad.workspace.as_operator("squad-child").purge(copy.id)
    squad.lead.update(decision.id, content="Deploy on Thursdays.")
    squad.workspace.run_pending()
    assert contents(squad.child_lead) == []
    squad.lead.purge(decision.id)
    squad.workspace.run_pending()
    assert squad.lead.receipt(decision.id).held_by_teams == ()


def test_a_delivery_that_lost_its_lease_is_looked_at_again(squad: Squad, monkeypatch: pytest.MonkeyPatch) -> None:
    from mycel.services.cascades import Cascading

    decision = squad.lead.save("Deploy on Tuesdays.", type="decision")
    squad.lead.cascade(decision.id)
    deliver = Cascading._deliver

    def withdrawn_meanwhile(self: Cascading, *given: object) -> int:
        monkeypatch.undo()
        squad.lead.withdraw(decision.id)
        squad.workspace.run_pending()
        return deliver(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(Cascading, "_deliver", withdrawn_meanwhile)
    squad.workspace.run_pending()
    squad.workspace.run_pending()
    assert contents(squad.child_lead) == []


def test_nobody_below_overrules_a_copy(squad: Squad) -> None:
    decision = squad.lead.save("Deploy on Tuesdays.", type="decision")
    squad.lead.cascade(decision.id)
    squad.workspace.run_pending()
    (copy,) = squad.child_lead.list(type="decision")
    own = squad.child_lead.save("Deploy on Fridays.", type="decision", needs_review=True)
    squad.child_lead.link(own.id, copy.id, "supersedes")
    squad.child_lead.approve(own.id)
    assert squad.child_lead.get(copy.id).status.value == "active"
