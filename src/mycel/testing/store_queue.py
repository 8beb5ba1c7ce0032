"""What every store promises the engine: sources that grow, a queue with leases, reports, cascades, progress."""

# ruff: noqa: S101 - a suite for pytest is made of assertions

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from mycel.access.scope import engine_scope
from mycel.contracts.engine_store import Footprint, LeaseLost
from mycel.contracts.store import Store, Transaction
from mycel.domain.cascade import Cascade, Delivery, Direction
from mycel.domain.ids import EventId, MemberId, ReportId, TeamName, new_id
from mycel.domain.link import Link, Relation
from mycel.domain.marks import with_marks
from mycel.domain.memory import EvidenceRef, MadeBy, SourceKind, SourceRef, Status, Visibility
from mycel.domain.report import Action, ActionKind, Report
from mycel.domain.source import EventState, IngestionEvent, Source, Step, Turn
from mycel.domain.team import ENGINE, Role
from mycel.testing.clock import ManualClock
from mycel.testing.store_racing import together
from mycel.testing.store_samples import AUTHOR, START, TEAM, TEAMMATE, a_source, an_event, change, purge, put, reader

MINUTE = timedelta(minutes=1)
ENGINE_SCOPE = engine_scope(TEAM)


def enqueue(
    store: Store, *, due_at: datetime = START, source: Source | None = None, agent_id: MemberId = AUTHOR
) -> IngestionEvent:
    event = an_event(source, steps=(Step.EXTRACT,), due_at=due_at, agent_id=agent_id)

    def work(transaction: Transaction) -> None:
        if source is not None:
            transaction.sources.add(source)
        transaction.queue.add(event)

    store.transact(work)
    return event


def claim(store: Store, *, lease: str = "worker-1") -> IngestionEvent | None:
    return store.transact(lambda transaction: transaction.queue.claim(lease=lease, until=transaction.now + MINUTE))


def settle(store: Store, event: IngestionEvent) -> None:
    def work(transaction: Transaction) -> None:
        transaction.queue.require_lease(event)
        transaction.queue.replace(replace(event, state=EventState.DONE, due_at=None, lease=None, lease_until=None))

    store.transact(work)


class StoreQueue:
    """Needs the fixtures `store`, `second` and `clock`."""

    def test_an_event_is_claimed_once_and_the_longest_due_first(self, store: Store, second: Store) -> None:
        later = enqueue(store, due_at=START - MINUTE)
        earlier = enqueue(store, due_at=START - 2 * MINUTE)
        enqueue(store, due_at=START + MINUTE)
        first, other, none = claim(store), claim(second), claim(store)
        assert first is not None
        assert other is not None
        assert (first.id, other.id, none) == (earlier.id, later.id, None)
        assert first.state is EventState.RUNNING
        assert first.lease == "worker-1"
        assert first.takeovers == 0

    def test_says_when_the_next_event_is_due(self, store: Store, clock: ManualClock) -> None:
        assert store.queue.next_due() is None
        enqueue(store, due_at=START + MINUTE)
        assert store.queue.next_due() == START + MINUTE
        clock.move(2 * MINUTE)
        event = claim(store)
        assert event is not None
        assert store.queue.next_due() == event.lease_until
        settle(store, event)
        assert store.queue.next_due() is None

    def test_a_lease_that_ran_out_is_taken_over_and_the_old_holder_changes_nothing(
        self, store: Store, second: Store, clock: ManualClock
    ) -> None:
        enqueue(store)
        lost = claim(store)
        assert lost is not None
        clock.move(MINUTE + timedelta(seconds=1))
        taken = claim(second, lease="worker-2")
        assert taken is not None
        assert (taken.id, taken.takeovers, taken.tries) == (lost.id, 1, 0)
        with pytest.raises(LeaseLost):
            settle(store, lost)
        assert (
            store.transact(lambda transaction: transaction.queue.extend_lease(lost, until=START + 9 * MINUTE)) is False
        )
        settle(second, taken)
        found = store.queue.find(ENGINE_SCOPE, lost.id)
        assert found is not None
        assert found.state is EventState.DONE

    def test_an_extended_lease_is_not_taken_over(self, store: Store, clock: ManualClock) -> None:
        enqueue(store)
        event = claim(store)
        assert event is not None
        until = START + 10 * MINUTE
        assert store.transact(lambda transaction: transaction.queue.extend_lease(event, until=until)) is True
        clock.move(5 * MINUTE)
        assert claim(store, lease="worker-2") is None
        settle(store, event)

    def test_racing_workers_share_the_queue_without_doing_anything_twice(self, store: Store, second: Store) -> None:
        events = {enqueue(store).id for _ in range(24)}

        def work(client: Store, name: str) -> list[str]:
            done: list[str] = []
            while (event := claim(client, lease=name)) is not None:
                settle(client, event)
                done.append(event.id)
            return done

        futures = together([lambda n=n, c=c: work(c, f"worker-{n}") for n, c in enumerate((store, second) * 3)])
        done = [id for future in futures for id in future.result()]
        assert sorted(done) == sorted(events)

    def test_a_failed_event_is_claimed_again_when_its_time_comes(self, store: Store, clock: ManualClock) -> None:
        enqueue(store)
        event = claim(store)
        assert event is not None
        failed = replace(
            event, state=EventState.FAILED, tries=1, error="no", due_at=START + MINUTE, lease=None, lease_until=None
        )
        store.transact(lambda transaction: transaction.queue.replace(failed))
        assert claim(store) is None
        clock.move(2 * MINUTE)
        again = claim(store)
        assert again is not None
        assert (again.tries, again.takeovers, again.error) == (1, 0, "no")

    def test_finds_the_unfinished_event_of_a_source(self, store: Store) -> None:
        source = a_source()
        event = enqueue(store, source=source)

        def waiting() -> IngestionEvent | None:
            return store.transact(lambda transaction: transaction.queue.find_waiting(source.id, Step.EXTRACT))

        assert waiting() == event
        assert store.transact(lambda transaction: transaction.queue.find_waiting(source.id, Step.INDEX)) is None
        claimed = claim(store)
        assert claimed is not None
        settle(store, claimed)
        assert waiting() is None
        latest = store.transact(lambda transaction: transaction.queue.find_latest(source.id))
        assert latest is not None
        assert latest.id == event.id

    def test_events_are_listed_by_state_and_counted(self, store: Store) -> None:
        source = a_source()
        events = [enqueue(store, source=source)]
        events += [enqueue(store) for _ in range(3)]
        assert [event.id for event in store.queue.page(reader(), state=EventState.PENDING, limit=9)] == [
            event.id for event in events[::-1]
        ]
        first = store.queue.page(reader(), limit=3)
        rest = store.queue.page(reader(), limit=3, cursor=first.next_cursor)
        assert [event.id for event in (*first, *rest)] == [event.id for event in events[::-1]]
        assert store.queue.count(reader()) == {"pending": 4}
        assert store.queue.count(reader(TEAMMATE)) == {"pending": 1}
        assert store.queue.find(reader(TEAMMATE), events[1].id) is None
        assert store.queue.find(reader(TEAMMATE), events[0].id) == events[0]

    def test_the_counts_are_those_of_the_events_in_sight(self, store: Store) -> None:
        audiences: list[dict[str, Any]] = [
            {},
            {"visibility": Visibility.PRIVATE},
            {"visibility": Visibility.PRIVATE, "agent_id": TEAMMATE},
            {"visibility": Visibility.ROLE, "allowed_roles": (Role.LEAD,)},
            {"visibility": Visibility.ROLE, "allowed_roles": (Role.LEAD,), "agent_id": TEAMMATE},
        ]
        for audience in audiences:
            for hidden_by in (None, *audiences):
                source = a_source(**audience)
                enqueue(store, source=source)
                if hidden_by is not None:
                    put(store, source_ref=SourceRef(source.id), **hidden_by)
        for author in (AUTHOR, TEAMMATE, ENGINE):
            enqueue(store, agent_id=author)
        for number in range(12):
            claimed = claim(store)
            assert claimed is not None
            if number % 2:
                settle(store, claimed)
        readers = [
            reader(member, role) for member in (AUTHOR, TEAMMATE) for role in (Role.AGENT, Role.LEAD, Role.ADMIN)
        ]
        for scope in (*readers, ENGINE_SCOPE):
            listed = Counter(event.state.value for event in store.queue.page(scope, limit=99))
            assert store.queue.count(scope) == dict(listed)

    def test_a_source_keeps_its_turns_and_place_and_can_grow(self, store: Store) -> None:
        source = a_source(
            "one", kind=SourceKind.RUN, session_id="s-1", project_id="p", title="t",
            turns=(Turn("user", 0, 3, "eng-1", START),),
        )  # fmt: skip
        store.transact(lambda transaction: transaction.sources.add(source))

        def known() -> Source | None:
            return store.sources.find_growing(source)

        assert known() == source
        other = replace(source, agent_id=TEAMMATE)
        assert store.sources.find_growing(other) is None
        grown = replace(source, text="one two", turns=(*source.turns, Turn("assistant", 4, 7)))
        assert store.transact(lambda transaction: transaction.sources.grow(source, grown)) is True
        stale = replace(source, sha256="f" * 64)
        assert store.transact(lambda transaction: transaction.sources.grow(stale, source)) is False
        store.transact(lambda transaction: transaction.sources.set_extracted(source.id, 7))
        assert known() == replace(grown, extracted_to=7)

    def test_the_same_material_in_the_same_place_is_known_again(self, store: Store) -> None:
        source = a_source("text", sha256="a" * 64, project_id="p")
        store.transact(lambda transaction: transaction.sources.add(source))

        def twin(**fields: object) -> Source | None:
            like = replace(source, **fields)  # pyright: ignore[reportArgumentType]
            return store.transact(lambda transaction: transaction.sources.find_twin(like))

        assert twin() == source
        for different in (
            {"sha256": "b" * 64},
            {"agent_id": TEAMMATE},
            {"project_id": None},
            {"visibility": Visibility.PRIVATE},
            {"kind": SourceKind.DOCUMENT},
        ):
            assert twin(**different) is None

    def test_shows_evidence_where_it_was_said(self, store: Store) -> None:
        source = a_source("a" * 50 + "the quote" + "b" * 50)
        store.transact(lambda transaction: transaction.sources.add(source))
        evidence = EvidenceRef(source.id, 50, 59)
        found = store.sources.find_surroundings(reader(TEAMMATE), evidence, around=5)
        assert found is not None
        assert (found.before, found.quote, found.after) == ("aaaaa", "the quote", "bbbbb")
        put(store, visibility=Visibility.PRIVATE, source_ref=SourceRef(source.id))
        assert store.sources.find_surroundings(reader(TEAMMATE), evidence, around=5) is None

    def test_finds_what_was_made_from_a_source(self, store: Store) -> None:
        source = a_source()
        store.transact(lambda transaction: transaction.sources.add(source))
        made = put(store, source_ref=SourceRef(source.id), made_by=MadeBy.SESSION_SUMMARY)

        def found(made_by: MadeBy) -> object:
            return store.transact(lambda transaction: transaction.memories.find_made(ENGINE_SCOPE, source.id, made_by))

        assert found(MadeBy.SESSION_SUMMARY) == made
        assert found(MadeBy.EXTRACTION) is None

    def test_lists_what_has_expired_and_old_episodes_until_archived(self, store: Store, clock: ManualClock) -> None:
        expiring = put(store, "soon", expires_at=START + MINUTE)
        put(store, "stays")
        clock.move(2 * MINUTE)

        def expired() -> list[str]:
            found = store.transact(lambda transaction: transaction.memories.expired(ENGINE_SCOPE, limit=9))
            return [memory.id for memory in found]

        assert expired() == [expiring.id]
        change(store, expiring.id, status=Status.ARCHIVED)
        assert expired() == []

    def test_remembers_how_far_the_engine_has_come(self, store: Store, second: Store) -> None:
        assert store.queue.progress("x") == 0
        store.transact(lambda transaction: transaction.queue.set_progress("x", 7))
        assert second.queue.progress("x") == 7

    def test_names_what_changed_after_a_sequence(self, store: Store) -> None:
        first, other = put(store, "one"), put(store, "two")
        change(store, first.id, content="three")
        numbers = {store.index.find_number(ENGINE_SCOPE, memory.id) for memory in (first, other)}
        found, reached = store.log.changed_memories(after=0, limit=9)
        assert set(found) == numbers
        assert reached == store.log.last_sequence() == 3
        assert store.log.changed_memories(after=3, limit=9) == ([], 3)
        assert store.log.first_moment_after(3) is None
        assert store.log.first_moment_after(0) == first.created_at

    def test_a_report_is_seen_as_far_as_its_memories_are(self, store: Store) -> None:
        shared, hidden = put(store, "one"), put(store, "two", visibility=Visibility.PRIVATE)
        report = Report(
            id=ReportId(new_id()),
            actions=(
                Action(kind=ActionKind.MERGE, memory_id=shared.id, why="same"),
                Action(kind=ActionKind.PROMOTE, memory_id=hidden.id, why="grounded"),
            ),
            dry_run=False,
            made_by=AUTHOR,
            made_at=START,
        )
        footprint = Footprint(((shared.id, 1, 2),), ((shared.id, hidden.id, Relation.SUPERSEDES),))
        store.transact(lambda transaction: transaction.reports.add(report, footprint))
        assert report.id is not None
        assert store.reports.find(ENGINE_SCOPE, report.id) == report
        seen = store.reports.find(reader(TEAMMATE), report.id)
        assert seen is not None
        assert seen.actions == report.actions[:1]
        assert list(store.reports.page(reader(TEAMMATE), limit=5, cursor=None)) == [seen]
        kept = store.transact(lambda transaction: transaction.reports.find_footprint(ReportId(str(report.id))))
        assert kept == footprint
        undone = replace(report, undone_by=AUTHOR, undone_at=START, left=(shared.id,))
        assert store.reports.undone_actions([shared.id]) == set()
        store.transact(lambda transaction: transaction.reports.mark_undone(undone))
        assert store.reports.find(ENGINE_SCOPE, report.id) == undone
        assert store.reports.undone_actions([shared.id]) == {(ActionKind.MERGE, shared.id, None)}

    def test_contested_memories_are_settled_when_no_opponent_stands(self, store: Store) -> None:
        marked = {"metadata": with_marks({}, contested=True)}
        one, other = put(store, "one", **marked), put(store, "two", **marked)
        link = Link(one.id, other.id, Relation.CONTRADICTS, AUTHOR, START)
        store.transact(lambda transaction: transaction.links.add(link, origin=one))
        assert store.memories.settled(ENGINE_SCOPE, limit=9) == []
        change(store, other.id, status=Status.ARCHIVED)
        assert [memory.id for memory in store.memories.settled(ENGINE_SCOPE, limit=9)] == [one.id]

    def test_a_cascaded_memory_arms_its_event_with_every_version(self, store: Store, clock: ManualClock) -> None:
        memory = put(store)
        event = an_event(None, id=EventId(new_id()), steps=(Step.DELIVER,), due_at=START)
        cascade = Cascade(
            memory_id=memory.id, event_id=event.id, direction=Direction.DOWN, started_by=AUTHOR, started_at=START
        )

        def begin(transaction: Transaction) -> None:
            transaction.queue.add(event)
            transaction.cascades.put(cascade)

        store.transact(begin)
        assert list(store.cascades.page(reader(), limit=9, cursor=None)) == [cascade]
        assert store.cascades.find(event_id=event.id) == cascade
        for act in (lambda: change(store, memory.id, content="two"), lambda: purge(store, memory.id)):
            claimed = claim(store)
            assert claimed is not None
            assert claimed.id == event.id
            settle(store, claimed)
            assert claim(store) is None
            act()
            clock.move(MINUTE)
        assert claim(store) is not None

    def test_remembers_which_team_has_which_version(self, store: Store) -> None:
        memory = put(store)
        delivery = Delivery(TeamName("below"), 3, START)
        store.transact(lambda transaction: transaction.cascades.put_delivery(memory.id, delivery))
        assert store.cascades.deliveries(memory.id) == [delivery]
        purge(store, memory.id)
        receipt = store.memories.find_receipt(memory.id)
        assert receipt is not None
        assert receipt.held_by_teams == ("below",)
