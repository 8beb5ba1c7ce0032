"""What every store promises to whoever takes back what a member did."""

# ruff: noqa: S101 - a suite for pytest is made of assertions

from __future__ import annotations

from datetime import timedelta

from mycel.contracts.engine_store import Footprint
from mycel.contracts.store import Store
from mycel.domain.ids import ReportId, new_id
from mycel.domain.link import Link, Relation
from mycel.domain.memory import SourceRef, Visibility
from mycel.domain.report import Action, ActionKind, Report
from mycel.testing.clock import ManualClock
from mycel.testing.store_samples import AUTHOR, TEAMMATE, a_source, change, delete, put, reader


class StoreUndo:
    """Needs the fixtures `store` and `clock`."""

    def test_tells_what_a_member_has_written_since(self, store: Store, clock: ManualClock) -> None:
        older, untouched = put(store), put(store)
        clock.move(timedelta(hours=1))
        since = clock.now()
        change(store, older.id, content="changed")
        made, gone = put(store), put(store)
        put(store, visibility=Visibility.PRIVATE, agent_id=TEAMMATE)
        delete(store, gone.id)
        assert store.memories.written_since(reader(), since, by=AUTHOR) == [older.id, made.id, gone.id]
        assert store.memories.written_since(reader(), since, by=None) == [older.id, made.id, gone.id]
        assert untouched.id not in store.memories.written_since(reader(), since, by=None)
        clock.move(timedelta(hours=1))
        assert store.memories.written_since(reader(), clock.now(), by=None) == []

    def test_tells_what_was_drawn_from_what_a_member_has_captured_since(self, store: Store) -> None:
        source = a_source()
        store.transact(lambda transaction: transaction.sources.add(source))
        drawn = put(store, source_ref=SourceRef(source_id=source.id))
        put(store)
        before, after = source.created_at, source.created_at + timedelta(seconds=1)
        assert store.memories.drawn_since(reader(), before, by=source.agent_id) == [drawn.id]
        assert store.memories.drawn_since(reader(), before, by=None) == [drawn.id]
        assert store.memories.drawn_since(reader(), after, by=None) == []
        delete(store, drawn.id)
        assert store.memories.drawn_since(reader(), before, by=None) == []

    def test_tells_which_links_a_member_has_made_since(self, store: Store, clock: ManualClock) -> None:
        one, other = put(store), put(store)
        now = clock.now()
        early = Link(one.id, other.id, Relation.SUPPORTS, AUTHOR, now - timedelta(hours=1))
        late = Link(one.id, "project:web", Relation.RELATED_TO, AUTHOR, now)
        for link in (early, late):
            store.transact(lambda transaction, link=link: transaction.links.add(link, origin=one))
        assert store.links.made_since(reader(), now, by=AUTHOR) == [late]
        assert store.links.made_since(reader(), now, by=TEAMMATE) == []
        assert store.links.made_since(reader(), early.created_at, by=None) == [early, late]

    def test_tells_whether_others_have_changed_a_memory(self, store: Store) -> None:
        memory = put(store)
        for text in ("changed", "changed again"):
            change(store, memory.id, content=text)
        assert not store.memories.was_changed_by_others(memory.id, AUTHOR)
        assert store.memories.was_changed_by_others(memory.id, TEAMMATE)

    def test_tells_which_memories_point_at_one(self, store: Store, clock: ManualClock) -> None:
        one, other, third = put(store), put(store), put(store, visibility=Visibility.PRIVATE, agent_id=TEAMMATE)
        for start, relation in ((other, Relation.SUPERSEDES), (third, Relation.SUPERSEDES), (other, Relation.SUPPORTS)):
            link = Link(start.id, one.id, relation, AUTHOR, clock.now())
            store.transact(lambda transaction, link=link, start=start: transaction.links.add(link, origin=start))
        delete(store, one.id)
        found = store.transact(lambda transaction: transaction.links.pointing_at(one.id, Relation.SUPERSEDES))
        assert set(found) == {other.id, third.id}

    def test_tells_with_what_a_memory_was_consolidated(self, store: Store, clock: ManualClock) -> None:
        one, other, third = put(store), put(store), put(store)
        actions = (
            Action(kind=ActionKind.MERGE, memory_id=one.id, other_id=other.id, why="the same"),
            Action(kind=ActionKind.PROMOTE, memory_id=third.id, why="grounded"),
        )
        report = Report(id=ReportId(new_id()), actions=actions, dry_run=False, made_by=AUTHOR, made_at=clock.now())
        assert report.id is not None
        store.transact(lambda transaction: transaction.reports.add(report, Footprint(((one.id, 1, 2),), ())))
        since = clock.now()
        assert store.reports.partners(one.id, since=since) == [(report.id, other.id)]
        assert store.reports.partners(other.id, since=since) == [(report.id, one.id)]
        assert store.reports.partners(third.id, since=since) == []
        assert store.reports.partners(one.id, since=since + timedelta(seconds=1)) == []
        assert store.reports.change_of(report.id, one.id) == (1, 2)
        assert store.reports.change_of(report.id, other.id) is None
