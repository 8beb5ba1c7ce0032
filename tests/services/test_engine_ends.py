"""Whatever a step of the engine does, or fails to do: a run ends, says so, and leaves the other steps done."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from mycel.app import open_workspace
from mycel.contracts.engine_store import LeaseLost
from mycel.contracts.store import Store, Transaction
from mycel.domain.ids import TeamName
from mycel.domain.receipt import Erasure
from mycel.domain.source import EventState, IngestionEvent, Step
from mycel.errors import Misconfigured, MycelError, Unavailable
from mycel.services import episode_pruning, erasure, maintenance, queue_worker
from mycel.services.attempts import in_batches
from mycel.services.consolidation import team_event
from mycel.stores.sql import embeddings
from mycel.stores.sql.approaches import ApproachWriter
from mycel.stores.sql.episode_rates import RateWriter
from mycel.stores.sql.log import SqlLog
from mycel.stores.sql.queue import QueueWriter, SqlQueue
from mycel.stores.sqlite.database import Disk
from mycel.stores.sqlite.store import SqliteFiles
from mycel.testing.clock import ManualClock
from mycel.testing.embedder import WordEmbedder
from tests.patience import ends
from tests.squad import MEMBERS, TEAM, Squad, open_squad, rows, wide_embedder
from tests.template import settings_of

pytestmark = pytest.mark.each_database(slow=True)


DAY = timedelta(days=1)


@pytest.fixture
def squad(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Squad]:
    monkeypatch.setattr(queue_worker, "SPARE_EVENTS", 20, raising=False)
    squad = open_squad(tmp_path, embedder=wide_embedder())
    with squad.workspace:
        yield squad


class Restless:
    """Is done at once, each time, and leaves another event like its own."""

    def __init__(self) -> None:
        self.runs = 0

    def prepare(self, store: Store, event: IngestionEvent) -> Callable[[Transaction], str]:
        self.runs += 1

        def apply(transaction: Transaction) -> str:
            transaction.queue.add(team_event(transaction, event.steps[0]))
            return "done, and to be done"

        return apply


class Failing:
    def prepare(self, store: Store, event: IngestionEvent) -> Callable[[Transaction], str]:
        raise RuntimeError("nobody thought of this")


class Forgetful:
    """Never holds its lease, and is at once looked at again."""

    def prepare(self, store: Store, event: IngestionEvent) -> Callable[[Transaction], str]:
        def apply(transaction: Transaction) -> str:
            raise LeaseLost("gone")

        return apply

    def abandon(self, store: Store, event: IngestionEvent) -> None:
        def again(transaction: Transaction) -> None:
            waiting = replace(event, state=EventState.PENDING, due_at=transaction.now, lease=None, lease_until=None)
            transaction.queue.replace(waiting)

        store.transact(again)


def perform_with(squad: Squad, step: Step, performer: object) -> None:
    squad.workspace._do.upkeep._engine._working._performers[step] = performer
    with squad.workspace._do.upkeep._stores.lease(TEAM) as store:
        store.transact(lambda transaction: transaction.queue.add(team_event(transaction, step)))


@pytest.mark.files_only
@pytest.mark.parametrize("step", list(Step))
def test_a_step_that_comes_no_further_does_not_keep_a_run_from_ending(squad: Squad, step: Step) -> None:
    purged = squad.author.save("gone")
    squad.author.purge(purged.id)
    restless = Restless()
    perform_with(squad, step, restless)

    def run() -> None:
        with pytest.raises(Unavailable, match="no end of events"):
            squad.workspace.run_pending()

    ends(run)
    assert 1 < restless.runs < 50
    assert squad.author.receipt(purged.id).state is Erasure.SCRUBBED


@pytest.mark.parametrize("performer", [Failing(), Forgetful()], ids=["fails", "loses its lease"])
@pytest.mark.parametrize("step", list(Step))
def test_a_step_that_never_succeeds_does_not_either(squad: Squad, step: Step, performer: object) -> None:
    perform_with(squad, step, performer)

    def run() -> None:
        with contextlib.suppress(Unavailable):
            squad.workspace.run_pending()

    ends(run)


def nothing(*given: object, **named: object) -> None:
    """In the place of what makes a step go on."""


STUCK: dict[str, tuple[object, str, object]] = {
    "archiving": (maintenance, "archive", nothing),
    "pruning": (episode_pruning, "archive", nothing),
    "purging": (erasure, "purge", nothing),
    "telling months": (RateWriter, "mark_told", nothing),
    "grouping": (ApproachWriter, "group", nothing),
    "embedding": (embeddings, "_move", lambda *given: False),
    "consolidating": (SqlLog, "changed_memories", lambda self, *, after, limit: ([], after)),
    "settling": (QueueWriter, "replace", nothing),
    "scrubbing": (SqliteFiles, "scrub", lambda self: 0),
}


@pytest.mark.parametrize("broken", STUCK)
def test_work_that_stays_undone_ends_every_run(squad: Squad, monkeypatch: pytest.MonkeyPatch, broken: str) -> None:
    squad.lead.set_policy(purge_after="1d", episodes_kept="30d", consolidate_every="1h")
    fill_with_work(squad)
    squad.pass_time(days=2)
    squad.workspace.run_pending()
    squad.pass_time(days=40)
    fill_with_work(squad)
    owner, name, stand_in = STUCK[broken]
    monkeypatch.setattr(owner, name, stand_in)
    for call in (squad.workspace.maintain, squad.workspace.run_pending, lambda: squad.admin.consolidate()):

        def run(call: Callable[[], object] = call) -> None:
            with contextlib.suppress(MycelError):
                call()

        ends(run)


def fill_with_work(squad: Squad) -> None:
    """Something for every step."""
    squad.author.save("for an hour", ttl="1h")
    squad.author.delete(squad.author.save("to be forgotten").id)
    squad.author.purge(squad.author.save("to be scrubbed").id)
    for number in range(3):
        squad.author.episodes.log(action="completed", approach=f"approach {number} of the cache")
    squad.author.capture_conversation([{"role": "user", "content": "We decided to use PostgreSQL for billing."}])
    squad.lead.cascade(squad.lead.save("every team should know").id)


def test_batches_that_come_back_are_told() -> None:
    with pytest.raises(Unavailable, match="keeps coming back"):
        in_batches(lambda: ["the same"])
    left = [["a", "b"], ["c"], []]
    assert in_batches(lambda: left.pop(0)) == 3


class Away:
    """A language model that cannot be asked."""

    model = "away"

    def __init__(self, failure: Exception) -> None:
        self._failure = failure

    def __getattr__(self, name: str) -> object:
        raise self._failure

    def close(self) -> None:
        """Nothing was opened."""


FAILURES = {
    "unreachable": Unavailable("not now", retry_after=60.0),
    "misconfigured": Misconfigured("no such model"),
    "unforeseen": RuntimeError("nobody thought of this"),
}


@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES.keys())
@pytest.mark.parametrize("provider", ["embedder", "language model"])
def test_whichever_provider_is_away_what_does_not_need_it_is_done(
    tmp_path: Path, provider: str, failure: Exception, database: str
) -> None:
    embedder, clock = WordEmbedder(), ManualClock()
    embedder.failing = failure if provider == "embedder" else None
    workspace = open_workspace(
        clock=clock,
        disk=Disk(synchronous="OFF"),
        settings=settings_of(tmp_path),
        embedder=embedder,
        language_model=Away(failure) if provider == "language model" else None,  # type: ignore[arg-type]
    )
    with workspace:
        squad = Squad(workspace, clock, tmp_path)
        workspace.add_team(TEAM)
        workspace.add_team("squad-child", parent=TEAM)
        for id, (role, kind, team) in MEMBERS.items():
            workspace.add_member(id, team=team, role=role, kind=kind)
        check_every_step(squad, without=provider, scrubs=database == "files")


def check_every_step(squad: Squad, *, without: str, scrubs: bool) -> None:
    squad.lead.set_policy(purge_after="1d", episodes_kept="1d", consolidate_every="1h")
    told = squad.lead.save("every team should know")
    short = squad.author.save("for an hour", ttl="1h")
    forgotten = squad.author.save("to be forgotten")
    squad.author.delete(forgotten.id)
    purged = squad.author.save("to be scrubbed")
    squad.author.purge(purged.id)
    squad.author.episodes.log(action="completed", approach="with a cache")
    indexed = squad.author.index_file("notes.md", "# Notes\n\nThe build takes nine minutes.")
    captured = squad.author.capture_conversation([{"role": "user", "content": "We decided to use PostgreSQL."}])
    sent = squad.lead.cascade(told.id)
    squad.pass_time(days=1, hours=12)
    # The night has been, and a run is due; what it lacks it says in the end.
    with contextlib.suppress(MycelError, RuntimeError):
        squad.workspace.maintain()
    with contextlib.suppress(MycelError, RuntimeError):
        squad.workspace.run_pending()
    everything = squad.workspace.as_operator(TEAM)
    done = {
        step: {event.state for event in everything.sources.events() if step in event.steps}
        for step in (Step.MAINTAIN, Step.CONSOLIDATE)
    }
    assert done == {step: {EventState.DONE} for step in done}
    assert squad.lead.sources.event(sent.id).state is EventState.DONE
    assert squad.author.sources.event(indexed.id).state is EventState.DONE
    if without == "embedder":
        assert squad.author.sources.event(captured.id).state is EventState.DONE
    assert squad.author.get(short.id).status == "archived"
    assert squad.author.receipt(purged.id).state is (Erasure.SCRUBBED if scrubs else Erasure.LOGICAL)
    assert rows(squad.data, "SELECT 1 FROM memories WHERE id = ?", forgotten.id) == []
    assert (rows(squad.data, "SELECT 1 FROM receipts WHERE scrubbed_at IS NULL") == []) == scrubs
    assert [memory.content for memory in squad.child_lead.list()] == ["every team should know"]
    assert squad.author.list(type="episode", status="archived")
    if without != "embedder":
        assert squad.workspace.embedding_progress(TEAM).pending == 0


@pytest.mark.files_only
def test_a_team_that_cannot_be_worked_on_holds_up_no_other(squad: Squad, monkeypatch: pytest.MonkeyPatch) -> None:
    for author in (squad.author, squad.child_lead):
        author.purge(author.save("to be scrubbed").id)
    whole = SqlQueue.next_due
    with squad.workspace._do.upkeep._stores.lease(TeamName(TEAM)) as store:
        damaged = store.queue

    def broken(self: SqlQueue) -> object:
        if self is damaged:
            raise Misconfigured("the store is damaged")
        return whole(self)

    monkeypatch.setattr(SqlQueue, "next_due", broken)
    kept = squad.child_lead.save("for an hour", ttl="1h")
    squad.pass_time(hours=2)
    with pytest.raises(Misconfigured):
        squad.workspace.maintain()
    assert squad.child_lead.get(kept.id).status == "archived"
    with pytest.raises(Misconfigured):
        squad.workspace.run_pending()
    assert rows(squad.data, "SELECT 1 FROM receipts WHERE scrubbed_at IS NULL") == []
