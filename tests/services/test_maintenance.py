"""Life and death: memories leave on time, are archived at night, and are purged only where a policy says so."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from mycel.domain.memory import Status
from mycel.errors import NotFound
from mycel.services.maintenance import last_night, next_night
from mycel.testing.clock import ManualClock
from tests.squad import Squad, open_squad

pytestmark = pytest.mark.each_database(slow=True)


DAY = timedelta(days=1)


@pytest.fixture
def squad(tmp_path: Path) -> Iterator[Squad]:
    squad = open_squad(tmp_path)
    with squad.workspace:
        yield squad


def statuses(squad: Squad) -> list[str]:
    return [memory.status.value for memory in squad.author.list(status="any", order_by="created_at")]


def test_nights_begin_at_three_o_clock_local_time() -> None:
    zone = timezone(timedelta(hours=2))
    assert last_night(datetime(2026, 11, 15, 2, 0, tzinfo=UTC), zone) == datetime(2026, 11, 15, 1, 0, tzinfo=UTC)
    assert last_night(datetime(2026, 11, 15, 0, 30, tzinfo=UTC), zone) == datetime(2026, 11, 14, 1, 0, tzinfo=UTC)
    assert next_night(datetime(2026, 11, 15, 2, 0, tzinfo=UTC), zone) == datetime(2026, 11, 16, 1, 0, tzinfo=UTC)


def test_what_expired_leaves_search_at_once_and_is_archived_by_maintenance(squad: Squad) -> None:
    short = squad.author.save("The heron is on the lake.", ttl="1h")
    squad.author.save("The heron is in the reeds.")
    squad.pass_time(hours=2)
    assert len(squad.author.search("heron").hits) == 1
    assert squad.author.get(short.id).status is Status.ACTIVE
    squad.workspace.maintain()
    assert statuses(squad) == ["archived", "active"]
    last = squad.author.history(short.id)[-1]
    assert (last.changed_by, last.reason) == ("engine", "its time was up")


def test_a_missed_night_is_made_up_at_the_next_start(tmp_path: Path) -> None:
    clock = ManualClock()
    with open_squad(tmp_path, clock=clock).workspace as workspace:
        workspace.as_member("swe-1").save("The heron is on the lake.", ttl="1h")
        workspace.run_pending()
    clock.move(5 * DAY)
    squad = open_squad(tmp_path, clock=clock)
    with squad.workspace:
        squad.workspace.run_pending()
        assert statuses(squad) == ["archived"]


def test_maintenance_runs_once_a_night(squad: Squad) -> None:
    squad.author.save("x")
    squad.workspace.maintain()
    events = [event for event in squad.workspace.as_operator("squad").sources.events() if "maintain" in event.steps]
    squad.workspace.run_pending()
    again = [event for event in squad.workspace.as_operator("squad").sources.events() if "maintain" in event.steps]
    assert again == events


def test_nothing_expires_by_itself_after_the_clock_has_jumped(squad: Squad) -> None:
    squad.author.save("The heron is on the lake.", ttl="30d")
    squad.workspace.run_pending()
    squad.pass_time(days=3650)
    squad.workspace.run_pending()
    assert statuses(squad) == ["active"]
    squad.workspace.maintain()
    assert statuses(squad) == ["archived"]


def test_candidates_nobody_looked_at_are_archived_after_thirty_days(squad: Squad) -> None:
    squad.lead.set_policy(promote_from=1.0)
    said = "We decided to use PostgreSQL for the billing service because of its JSON support."
    squad.author.capture_conversation([{"role": "user", "content": said}])
    squad.workspace.run_pending()
    squad.pass_time(days=31)
    squad.workspace.maintain()
    assert statuses(squad) == ["archived"]


def test_episodes_leave_the_ledger_after_thirty_days(squad: Squad) -> None:
    squad.author.save("Tried the cache.", type="episode")
    squad.author.save("A fact stays.")
    squad.pass_time(days=31)
    squad.workspace.maintain()
    assert statuses(squad) == ["archived", "active"]


def test_times_to_live_follow_the_policy(squad: Squad) -> None:
    squad.lead.set_policy(lives={"task_completion": "1h", "file_index": "never"})
    squad.author.complete_task(task_id="t", output="done")
    squad.author.index_file("a.md", "text")
    assert squad.author.list(type="document")[0].expires_at is None
    squad.pass_time(hours=2)
    assert list(squad.author.list(type="episode")) == []


def test_purging_is_off_until_a_policy_asks_for_it(squad: Squad) -> None:
    gone, expired = squad.author.save("deleted"), squad.author.save("expired", ttl="1d")
    squad.author.delete(gone.id)
    squad.pass_time(days=400)
    squad.workspace.maintain()
    squad.pass_time(days=400)
    squad.workspace.maintain()
    assert squad.author.restore(gone.id).status is Status.ACTIVE
    squad.author.delete(gone.id)
    squad.lead.set_policy(purge_after="90d")
    squad.pass_time(days=91)
    squad.workspace.maintain()
    for memory in (gone, expired):
        with pytest.raises(NotFound):
            squad.author.restore(memory.id)
    assert squad.admin.receipt(gone.id).purged_by == "engine"
