"""What every store promises about its change log, and whom it tells of what."""

# ruff: noqa: S101 - a suite for pytest is made of assertions

from __future__ import annotations

from typing import Any

import pytest

from mycel.access.scope import ReadScope
from mycel.contracts.store import Store
from mycel.domain.change import AuditFilter, Change, ChangeFilter, Operation
from mycel.domain.ids import MemoryId
from mycel.domain.link import Link, Relation
from mycel.domain.memory import Memory, MemoryType, Visibility
from mycel.testing.store_samples import (
    AUTHOR,
    EVERY_CHANGE,
    START,
    TEAMMATE,
    change,
    delete,
    purge,
    put,
    reader,
    restore,
)


class StoreLog:
    """Needs the fixture `store`."""

    def test_the_log_has_no_gaps_and_is_in_order(self, store: Store) -> None:
        memory = put(store)
        for _ in range(10):
            put(store)
            change(store, memory.id)
        found, reached = store.log.changes(reader(), after=0, wanted=EVERY_CHANGE, limit=100)
        assert [entry.sequence for entry in found] == list(range(1, 22))
        assert reached == store.log.last_sequence() == 21
        moments = [entry.committed_at for entry in found]
        assert moments == sorted(set(moments))

    def test_reading_on_continues_where_the_last_page_ended(self, store: Store) -> None:
        for _ in range(7):
            put(store)
        found: list[Change] = []
        after = 0
        while True:
            page, reached = store.log.changes(reader(), after=after, wanted=EVERY_CHANGE, limit=3)
            found += page
            if reached == after:
                break
            after = reached
        assert [entry.sequence for entry in found] == list(range(1, 8))

    def test_reading_on_moves_past_what_the_scope_does_not_see(self, store: Store) -> None:
        for _ in range(5):
            put(store, visibility=Visibility.PRIVATE)
        assert store.log.changes(reader(TEAMMATE), after=0, wanted=EVERY_CHANGE, limit=2) == ([], 5)

    def test_a_reader_who_loses_sight_is_told_of_a_removal_and_nothing_after(self, store: Store) -> None:
        memory = put(store)
        change(store, memory.id, visibility=Visibility.PRIVATE, path="/secret")
        change(store, memory.id, content="private thought", path="/more-secret")
        [removal] = seen_by(store, reader(TEAMMATE))
        assert (removal.operation, removal.sequence, removal.path) == (Operation.REMOVE, 2, "/notes")
        assert operations(store, reader()) == [Operation.CREATE, Operation.UPDATE, Operation.UPDATE]

    def test_a_reader_who_gains_sight_sees_the_change_that_gave_it(self, store: Store) -> None:
        memory = put(store, visibility=Visibility.PRIVATE)
        change(store, memory.id, visibility=Visibility.TEAM)
        assert [entry.sequence for entry in seen_by(store, reader(TEAMMATE))] == [2]

    def test_leaving_a_path_is_a_removal_for_those_who_follow_it(self, store: Store) -> None:
        memory = put(store, path="/a/b")
        put(store, path="/ab")
        change(store, memory.id, path="/c")
        followed = store.log.changes(reader(), after=0, wanted=ChangeFilter(path="/a"), limit=9)[0]
        assert [(entry.operation, entry.path) for entry in followed] == [
            (Operation.CREATE, "/a/b"),
            (Operation.REMOVE, "/a/b"),
        ]
        arrived = store.log.changes(reader(), after=0, wanted=ChangeFilter(path="/c"), limit=9)[0]
        assert [(entry.operation, entry.path) for entry in arrived] == [(Operation.UPDATE, "/c")]

    @pytest.mark.parametrize(
        ("left", "entered"),
        [
            ({"project_id": "web"}, {"project_id": "billing"}),
            ({"project_id": "web"}, {"project_id": None}),
            ({"type": MemoryType.FACT}, {"type": MemoryType.LESSON}),
            ({"type": MemoryType.FACT, "path": "/a"}, {"type": MemoryType.LESSON, "path": "/b"}),
        ],
        ids=str,
    )
    def test_leaving_a_project_or_type_is_a_removal_for_those_who_follow_it(
        self, store: Store, left: dict[str, Any], entered: dict[str, Any]
    ) -> None:
        memory = put(store, **left)
        change(store, memory.id, **entered)
        change(store, memory.id, content="there", visibility=Visibility.PRIVATE)
        assert operations_for(store, left) == [Operation.CREATE, Operation.REMOVE]
        arrived = [Operation.UPDATE, Operation.UPDATE]
        assert operations_for(store, entered) == (arrived if any(entered.values()) else [Operation.CREATE, *arrived])
        # Hidden today: a teammate is told of nothing but that it left.
        assert operations_for(store, left, reader(TEAMMATE)) == [Operation.REMOVE]
        assert operations_for(store, {"project_id": "another"}) == []

    def test_a_change_that_moves_nothing_is_told_where_the_memory_is(self, store: Store) -> None:
        memory = put(store, project_id="web", type=MemoryType.DECISION)
        other = put(store, project_id="billing")
        link = Link(memory.id, other.id, Relation.SUPPORTS, AUTHOR, START)
        store.transact(lambda transaction: transaction.links.add(link, origin=memory))
        delete(store, memory.id)
        restore(store, memory.id)
        store.transact(lambda transaction: transaction.links.remove(link, origin=memory))
        purge(store, memory.id)
        expected = [Operation.CREATE, Operation.DELETE, Operation.RESTORE, Operation.PURGE]
        for fields in ({"project_id": "web"}, {"type": MemoryType.DECISION}):
            linked = [one for one in operations_for(store, fields) if one not in expected]
            assert linked == [Operation.LINK, Operation.UNLINK]
            assert [one for one in operations_for(store, fields) if one in expected] == expected
        assert operations_for(store, {"project_id": "billing"}) == [Operation.CREATE]

    def test_several_types_are_followed_at_once(self, store: Store) -> None:
        kinds = (MemoryType.FACT, MemoryType.LESSON, MemoryType.NOTE)
        for kind in kinds:
            put(store, type=kind)
        wanted = ChangeFilter(types=kinds[1:])
        found = store.log.changes(reader(), after=0, wanted=wanted, limit=9)[0]
        assert [entry.sequence for entry in found] == [2, 3]

    def test_the_latest_changes_come_newest_first_by_whom_and_of_what(self, store: Store) -> None:
        oldest, hidden, newest = put(store), put(store, visibility=Visibility.PRIVATE), put(store)
        other = reader(TEAMMATE)
        found, reached = store.log.latest(other, before=None, wanted=AuditFilter(), limit=1)
        assert [change.memory_id for change in found] == [newest.id]
        older, end = store.log.latest(other, before=reached, wanted=AuditFilter(), limit=9)
        assert ([change.memory_id for change in older], end) == ([oldest.id], None)
        at = found[0].committed_at
        for wanted in (
            AuditFilter(by=TEAMMATE),
            AuditFilter(memory_id=hidden.id),
            AuditFilter(operation=Operation.DELETE),
            AuditFilter(since=at, until=at),
        ):
            assert store.log.latest(other, before=None, wanted=wanted, limit=9) == ([], None)
        of_one = AuditFilter(by=AUTHOR, memory_id=hidden.id, operation=Operation.CREATE)
        [entry] = store.log.latest(reader(), before=None, wanted=of_one, limit=9)[0]
        assert entry.memory_id == hidden.id

    def test_the_log_itself_says_how_each_memory_stood_and_who_reads_it_today(self, store: Store) -> None:
        memory = put(store, project_id="web")
        change(store, memory.id, type=MemoryType.LESSON)
        change(store, memory.id, visibility=Visibility.PRIVATE)
        other = put(store)
        link = Link(memory.id, other.id, Relation.SUPPORTS, AUTHOR, START)
        store.transact(lambda transaction: transaction.links.add(link, origin=store_find(store, memory.id)))
        logged = store.log.read(after=0, limit=9)
        assert [entry.change.sequence for entry, _ in logged] == [1, 2, 3, 4, 5]
        assert [entry.after.type for entry, _ in logged[:3]] == ["fact", "lesson", "lesson"]
        assert [entry.before and entry.before.type for entry, _ in logged[:4]] == [None, "fact", "lesson", None]
        assert [today.memory and today.memory.visibility for _, today in logged[:4]] == ["private"] * 3 + ["team"]
        assert logged[4][1].other == logged[3][1].memory
        purge(store, other.id)
        rest = store.log.read(after=3, limit=2)
        assert [entry.change.sequence for entry, _ in rest] == [4, 5]
        assert rest[0][1].memory is not None
        assert rest[1][1].other is None

    def test_a_purge_shows_to_those_who_saw_the_memory(self, store: Store) -> None:
        shown, hidden = put(store), put(store, visibility=Visibility.PRIVATE)
        purge(store, shown.id)
        purge(store, hidden.id)
        assert operations(store, reader(TEAMMATE)) == [Operation.CREATE, Operation.PURGE]
        assert operations(store, reader()) == [Operation.CREATE, Operation.CREATE, Operation.PURGE, Operation.PURGE]

    def test_purging_what_was_made_private_shows_nobody_more_than_before(self, store: Store) -> None:
        memory = put(store)
        change(store, memory.id, visibility=Visibility.PRIVATE)
        before = seen_by(store, reader(TEAMMATE))
        purge(store, memory.id)
        assert seen_by(store, reader(TEAMMATE)) == before

    def test_links_of_a_purged_memory_leave_the_log(self, store: Store) -> None:
        kept, purged = put(store, "kept"), put(store, "purged")
        link = Link(kept.id, purged.id, Relation.SUPPORTS, AUTHOR, START)
        store.transact(lambda transaction: transaction.links.add(link, origin=kept))
        assert seen_by(store, reader())[-1].other_id == purged.id
        purge(store, purged.id)
        assert Operation.LINK not in operations(store, reader())

    def test_a_deleted_memory_keeps_its_place_in_the_log(self, store: Store) -> None:
        memory = put(store)
        delete(store, memory.id)
        assert operations(store, reader(TEAMMATE)) == [Operation.CREATE, Operation.DELETE]


def seen_by(store: Store, scope: ReadScope) -> list[Change]:
    return store.log.changes(scope, after=0, wanted=EVERY_CHANGE, limit=100)[0]


def operations_for(store: Store, fields: dict[str, Any], scope: ReadScope | None = None) -> list[Operation]:
    """Told to whoever asks for memories with these fields."""
    wanted = ChangeFilter(
        path=fields.get("path", "/"),
        project_id=fields.get("project_id"),
        types=(fields["type"],) if "type" in fields else (),
    )
    return [entry.operation for entry in store.log.changes(scope or reader(), after=0, wanted=wanted, limit=99)[0]]


def store_find(store: Store, id: MemoryId) -> Memory:
    found = store.memories.find(reader(), id)
    assert found is not None
    return found


def operations(store: Store, scope: ReadScope) -> list[Operation]:
    return [entry.operation for entry in seen_by(store, scope)]
