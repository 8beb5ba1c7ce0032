"""One write by a clock that was years ahead, or days behind: whatever lives for a while lives as long as it should."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from mycel.contracts.store import Store
from mycel.domain.ids import TeamName
from mycel.domain.memory import Status
from mycel.domain.source import EventState, IngestionEvent, Step
from mycel.errors import Unauthenticated
from mycel.services.consolidation import team_event
from mycel.services.queue_worker import LEASE
from tests.squad import TEAM, Squad, open_squad, rows

pytestmark = pytest.mark.each_database(slow=True)

HOUR, DAY, YEARS = timedelta(hours=1), timedelta(days=1), timedelta(days=3650)
STEPS = {"three days back": timedelta(days=-3), "ten years ahead": YEARS}
SAID = [{"role": "user", "content": "We decided to use PostgreSQL for billing because of its JSON support."}]


@pytest.fixture(params=STEPS.values(), ids=STEPS.keys())
def step(request: pytest.FixtureRequest) -> timedelta:
    return request.param


@pytest.fixture
def squad(tmp_path: Path) -> Iterator[Squad]:
    squad = open_squad(tmp_path)
    with squad.workspace:
        squad.author.save("before the clock was set")
        yield squad


def write_while_set(squad: Squad, step: timedelta, write: Callable[[], object] | None = None) -> None:
    """The clock is set, something is written, and the clock is put right."""
    squad.clock.move(step)
    (write or (lambda: squad.teammate.save("by a wrong clock")))()
    squad.clock.move(-step)


def listed(squad: Squad) -> list[str]:
    return [memory.content for memory in squad.author.list()]


def lives_for_an_hour(squad: Squad, is_there: Callable[[], bool]) -> None:
    assert is_there()
    squad.pass_time(minutes=59)
    assert is_there()
    squad.pass_time(minutes=2)
    assert not is_there()


def test_a_memory_lives_as_long_as_it_was_given(squad: Squad, step: timedelta) -> None:
    earlier = squad.author.save("saved earlier", ttl="1h")
    write_while_set(squad, step)
    later = squad.author.save("saved later", ttl="1h")
    assert later.expires_at == earlier.expires_at == squad.clock.now() + HOUR
    lives_for_an_hour(squad, lambda: {"saved earlier", "saved later"} <= set(listed(squad)))
    assert not {"saved earlier", "saved later"} & set(listed(squad))


def test_a_memory_lives_as_long_as_it_was_given_by_a_change(squad: Squad, step: timedelta) -> None:
    id = squad.author.save("a note").id
    write_while_set(squad, step)
    assert squad.author.update(id, ttl="1h").expires_at == squad.clock.now() + HOUR
    lives_for_an_hour(squad, lambda: "a note" in listed(squad))


def test_maintenance_archives_what_is_over_and_nothing_else(squad: Squad, step: timedelta) -> None:
    earlier = squad.author.save("saved earlier", ttl="1h")
    write_while_set(squad, step)
    later = squad.author.save("saved later", ttl="1h")

    def stand() -> bool:
        squad.workspace.maintain()
        return {squad.author.get(id).status for id in (earlier.id, later.id)} == {Status.ACTIVE}

    lives_for_an_hour(squad, stand)


def test_a_value_stands_as_long_as_it_was_given(squad: Squad, step: timedelta) -> None:
    earlier = squad.author.save("8080", key="earlier", category="fact", confidence=0.9, ttl="1h")
    write_while_set(squad, step)
    squad.author.save("8080", key="later", category="fact", confidence=0.9, ttl="1h")
    assert earlier.expires_at == squad.clock.now() + HOUR

    def stand() -> bool:
        said = [squad.teammate.knowledge.upsert(key=key, value="9090", confidence=0.5) for key in ("earlier", "later")]
        return {memory.status for memory in said} == {Status.INBOX}

    lives_for_an_hour(squad, stand)


def test_a_candidate_waits_as_long_as_the_policy_says(squad: Squad, step: timedelta) -> None:
    squad.lead.set_policy(promote_from=1.0)
    write_while_set(squad, step)
    squad.author.capture_conversation(SAID)
    squad.workspace.run_pending()
    (item,) = squad.person.inbox()
    assert item.memory.expires_at == squad.clock.now() + timedelta(days=30)


def test_a_file_is_indexed_anew_when_its_parts_are_over(squad: Squad, step: timedelta) -> None:
    squad.lead.set_policy(lives={"file_index": "1h"})
    write_while_set(squad, step)
    squad.author.index_file("notes.md", "The build takes nine minutes.")
    again = squad.author.index_file("notes.md", "The build takes nine minutes.")
    assert len(squad.author.list(type="document")) == 1
    squad.pass_time(hours=2)
    assert squad.author.index_file("notes.md", "The build takes nine minutes.").id != again.id
    assert len(squad.author.list(type="document")) == 1


def test_a_retry_is_known_for_a_week(squad: Squad, step: timedelta) -> None:
    earlier = squad.author.save("once", idempotency_key="earlier")
    # This one forgets what is too old.
    write_while_set(squad, step, lambda: squad.author.save("by a wrong clock", idempotency_key="meanwhile"))
    assert squad.author.save("once", idempotency_key="earlier") == earlier
    later = squad.author.save("once more", idempotency_key="later")
    squad.pass_time(days=6)
    assert squad.author.save("once more", idempotency_key="later") == later
    assert squad.author.save("once", idempotency_key="earlier") == earlier
    squad.pass_time(days=2)
    assert squad.author.save("once more", idempotency_key="later") != later
    assert squad.author.save("once", idempotency_key="earlier") != earlier


def test_a_token_works_as_long_as_it_was_given(squad: Squad, step: timedelta) -> None:
    earlier = squad.workspace.issue_token("swe-1", ttl="1h")
    write_while_set(squad, step, lambda: squad.workspace.issue_token("swe-2"))
    later = squad.workspace.issue_token("swe-1", ttl="1h")

    def work() -> bool:
        try:
            return all(squad.workspace.with_token(token).stats() for token in (earlier, later))
        except Unauthenticated:
            return False

    lives_for_an_hour(squad, work)


def test_whoever_is_refused_while_the_clock_is_ahead_is_admitted_again(squad: Squad) -> None:
    memory = squad.workspace.with_token(squad.workspace.issue_token("swe-1", ttl="1h"))
    squad.clock.move(YEARS)
    with pytest.raises(Unauthenticated):
        memory.stats()
    squad.clock.move(-YEARS)
    assert memory.stats()


def leased(squad: Squad) -> Store:
    return squad.workspace._do.upkeep._stores.lease(TeamName(TEAM)).__enter__()


def claim(store: Store) -> IngestionEvent | None:
    return store.transact(lambda transaction: transaction.queue.claim(lease="a", until=transaction.now + LEASE))


def waiting(store: Store) -> IngestionEvent:
    def add(transaction) -> IngestionEvent:
        event = team_event(transaction, Step.CONSOLIDATE)
        transaction.queue.add(event)
        return event

    return store.transact(add)


@pytest.mark.parametrize("claimed", ["before", "meanwhile", "after"])
def test_what_a_worker_left_behind_is_taken_over_after_its_lease(squad: Squad, step: timedelta, claimed: str) -> None:
    if claimed == "meanwhile" and step < timedelta(0):
        return  # Nobody can tell a clock that was put right by days from a worker that has been dead for days.
    store = leased(squad)
    event = waiting(store)
    if claimed == "before":
        assert claim(store) is not None
    write_while_set(squad, step, lambda: claim(store) if claimed == "meanwhile" else None)
    squad.teammate.save("something else")
    if claimed == "after":
        assert claim(store) is not None
    assert claim(store) is None
    squad.clock.move(LEASE + timedelta(seconds=1))
    taken = claim(store)
    assert taken is not None
    assert (taken.id, taken.takeovers) == (event.id, 1)


@pytest.mark.parametrize("back", [timedelta(days=3), YEARS], ids=str)
def test_whoever_lives_keeps_its_lease_when_the_clock_is_set_back(squad: Squad, back: timedelta) -> None:
    store = leased(squad)
    waiting(store)
    held = claim(store)
    assert held is not None
    squad.clock.move(-back)
    for _ in range(6):
        assert claim(store) is None
        squad.clock.move(LEASE / 3)
        assert store.transact(lambda transaction: transaction.queue.extend_lease(held, until=transaction.now + LEASE))


def test_a_session_is_read_when_it_has_been_quiet(squad: Squad, step: timedelta) -> None:
    write_while_set(squad, step)
    event = squad.author.capture_session(SAID, session_id="s", closed=False)
    squad.workspace.run_pending()
    assert squad.author.sources.event(event.id).state is EventState.PENDING
    squad.pass_time(minutes=6)
    squad.workspace.run_pending()
    assert squad.author.sources.event(event.id).state is EventState.DONE


def test_what_was_captured_meanwhile_is_done_when_the_clock_is_right(squad: Squad, step: timedelta) -> None:
    squad.clock.move(step)
    event = squad.author.capture_session(SAID)
    squad.clock.move(-step)
    squad.workspace.run_pending()
    assert squad.author.sources.event(event.id).state is EventState.DONE


def test_what_failed_is_tried_again_after_a_pause(
    squad: Squad, step: timedelta, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_while_set(squad, step)
    event = squad.author.capture_session(SAID)
    with monkeypatch.context() as patched:
        patched.setattr("mycel.services.process_source.get_source", lambda *given: 1 / 0)
        squad.workspace.run_pending()
    failed = squad.author.sources.event(event.id)
    assert failed.due_at is not None
    assert failed.state is EventState.FAILED
    assert timedelta(0) < failed.due_at - squad.clock.now() < timedelta(minutes=1)
    squad.clock.move(failed.due_at - squad.clock.now())
    squad.workspace.run_pending()
    assert squad.author.sources.event(event.id).state is EventState.DONE


def test_a_later_version_reaches_other_teams_at_once(squad: Squad, step: timedelta) -> None:
    told = squad.lead.save("Deploy on Tuesdays.")
    squad.lead.cascade(told.id)
    squad.workspace.run_pending()
    write_while_set(squad, step)
    squad.lead.update(told.id, content="Deploy on Thursdays.")
    squad.workspace.run_pending()
    assert [memory.content for memory in squad.child_lead.list()] == ["Deploy on Thursdays."]


def count(squad: Squad, *ids: str) -> int:
    found = rows(squad.data, "SELECT count(*) FROM memories WHERE id IN (SELECT value FROM json_each(?))", json_of(ids))
    return found[0][0]


def json_of(ids: tuple[str, ...]) -> str:
    return "[" + ", ".join(f'"{id}"' for id in ids) + "]"


def test_what_is_deleted_or_archived_is_kept_as_long_as_the_policy_says(squad: Squad, step: timedelta) -> None:
    squad.lead.set_policy(purge_after="10d")
    earlier, archived_earlier = squad.author.save("deleted earlier").id, squad.author.save("archived earlier").id
    squad.author.delete(earlier)
    squad.author.update(archived_earlier, status="archived")
    write_while_set(squad, step)
    later, archived_later = squad.author.save("deleted later").id, squad.author.save("archived later").id
    squad.author.delete(later)
    squad.author.update(archived_later, status="archived")
    for day, left in ((1, 4), (9, 4), (11, 0)):
        squad.clock.move(day * DAY)
        squad.workspace.maintain()
        assert count(squad, earlier, archived_earlier, later, archived_later) == left, f"after {day} days"
        squad.clock.move(-day * DAY)


def test_an_episode_is_kept_as_long_as_the_policy_says(squad: Squad, step: timedelta) -> None:
    squad.lead.set_policy(episodes_kept="10d")
    squad.author.episodes.log(action="completed", approach="earlier")
    write_while_set(squad, step)
    squad.author.episodes.log(action="completed", approach="later")
    for day, left in ((1, 2), (9, 2), (11, 0)):
        squad.clock.move(day * DAY)
        squad.workspace.maintain()
        assert len(squad.author.list(type="episode")) == left, f"after {day} days"
        squad.clock.move(-day * DAY)


def recalls(squad: Squad) -> int:
    return len(rows(squad.data, "SELECT id FROM recalls"))


def test_a_question_is_remembered_for_a_month(squad: Squad, step: timedelta) -> None:
    squad.author.explain(squad.author.search("clock").id)
    write_while_set(squad, step)
    squad.author.explain(squad.author.search("clock").id)
    squad.clock.move(29 * DAY)
    squad.workspace.maintain()
    assert recalls(squad) == 2
    squad.clock.move(2 * DAY)
    squad.workspace.maintain()
    assert recalls(squad) == 0


def test_a_run_while_the_clock_is_ahead_forgets_nothing(squad: Squad) -> None:
    squad.author.explain(squad.author.search("clock").id)
    squad.clock.move(YEARS)
    squad.workspace.run_pending()
    assert recalls(squad) == 1


def steps_done(squad: Squad, step: Step) -> int:
    events = squad.workspace.as_operator(TEAM).sources.events(limit=200)
    return sum(step in event.steps and event.state is EventState.DONE for event in events)


def test_the_engine_goes_on_as_often_as_before(tmp_path: Path, step: timedelta) -> None:
    squad = open_squad(tmp_path)
    with squad.workspace:
        squad.lead.set_policy(consolidate_every="1h")
        squad.author.save("before the clock was set")
        write_while_set(squad, step)
        # The nightly work, too, was done by the wrong clock.
        write_while_set(squad, step, squad.workspace.maintain)
    again = open_squad(tmp_path, clock=squad.clock)
    with again.workspace:
        again.author.save("after the clock was put right")
        for _ in range(2):
            consolidated, maintained = steps_done(again, Step.CONSOLIDATE), steps_done(again, Step.MAINTAIN)
            again.author.save("one more")
            again.pass_time(hours=23)
            again.workspace.run_pending()
            assert steps_done(again, Step.CONSOLIDATE) == consolidated + 1
            assert steps_done(again, Step.MAINTAIN) == maintained + 1
            consolidated = steps_done(again, Step.CONSOLIDATE)
            again.workspace.run_pending()
            assert steps_done(again, Step.CONSOLIDATE) == consolidated


def test_a_step_that_was_given_up_by_a_wrong_clock_is_asked_for_again(squad: Squad) -> None:
    store = leased(squad)

    def give_up(transaction) -> None:
        from dataclasses import replace

        event = team_event(transaction, Step.MAINTAIN)
        transaction.queue.add(event)
        transaction.queue.replace(replace(event, state=EventState.DEAD, due_at=None))

    write_while_set(squad, YEARS, lambda: store.transact(give_up))
    squad.workspace.maintain()
    assert steps_done(squad, Step.MAINTAIN) == 1


def test_nothing_is_due_or_expires_by_the_moment_in_the_history() -> None:
    """Adding to it or taking from it is what a lifetime does."""
    source = Path(__file__).parents[2] / "src" / "mycel"
    found = [
        f"{file.relative_to(source)}: {line.strip()}"
        for file in source.rglob("*.py")
        for line in file.read_text("utf-8").splitlines()
        if "committed_at +" in line or "committed_at -" in line or ("due_at=" in line and "committed_at" in line)
    ]
    assert found == []


def test_the_clock_and_the_history_are_told_apart(squad: Squad) -> None:
    write_while_set(squad, YEARS)
    store = leased(squad)
    now, committed_at = store.transact(lambda transaction: (transaction.now, transaction.committed_at))
    assert now == squad.clock.now()
    assert isinstance(committed_at, datetime)
    assert committed_at - now > YEARS - DAY
