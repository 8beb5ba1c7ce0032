"""What every store promises about single memories: storing, finding, versions, lists, keys, places, purging."""

# ruff: noqa: S101 - a suite for pytest is made of assertions

from __future__ import annotations

import base64
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from mycel.contracts.store import Store, Transaction
from mycel.domain.change import Operation
from mycel.domain.ids import MemoryId, new_id
from mycel.domain.memory import (
    EvidenceRef,
    MadeBy,
    Memory,
    MemoryType,
    Scope,
    SourceKind,
    SourceRef,
    Status,
    Visibility,
)
from mycel.domain.query import Filters, Folder, Order, OrderField
from mycel.domain.team import Role, Trust
from mycel.errors import Conflict, InvalidInput, NotFound
from mycel.testing.clock import ManualClock
from mycel.testing.store_samples import (
    ANY_STATUS,
    AUTHOR,
    EVERY_CHANGE,
    NEWEST,
    START,
    TEAMMATE,
    a_source,
    change,
    delete,
    found_by_word,
    insert,
    listed,
    purge,
    put,
    reader,
    restore,
    sample,
)

HOUR = timedelta(hours=1)


class StoreRecords:
    """Needs the fixtures `store` and `clock`."""

    def test_returns_every_field_as_it_was_stored(self, store: Store) -> None:
        source = a_source()
        store.transact(lambda transaction: transaction.sources.add(source))
        memory = put(
            store,
            'Naïve 日本語 \N{SNOWMAN}\n"quotes"',
            type=MemoryType.DECISION,
            title="A title",
            summary="A summary",
            category="architecture",
            key="node",
            tags=("ci", "build"),
            path="/projects/pricing/decisions",
            scope=Scope.PROJECT,
            project_id="pricing",
            repo_id="pricing-api",
            session_id="s-1",
            task_id="t-1",
            visibility=Visibility.ROLE,
            allowed_roles=(Role.AGENT, Role.LEAD),
            status=Status.ARCHIVED,
            confidence=0.25,
            trust=Trust.LOW,
            source_kind=SourceKind.CONVERSATION,
            made_by=MadeBy.EXTRACTION,
            source_ref=SourceRef(source.id, "thread", "message", "https://example.org"),
            evidence_ref=EvidenceRef(source.id, 3, 9),
            metadata={"nested": {"list": [1, 2.5, None, True, "x"]}},
            rationale="Because.",
            alternatives=("Node 20", "Deno"),
            observed_at=START - HOUR,
            expires_at=START + HOUR,
        )
        assert store.memories.find(reader(), memory.id) == memory

    def test_a_transaction_sees_its_own_writes(self, store: Store) -> None:
        def work(transaction: Transaction) -> Memory | None:
            memory = sample(at=transaction.committed_at)
            insert(transaction, memory)
            return transaction.memories.find(reader(), memory.id)

        assert store.transact(work) is not None

    def test_find_answers_none_and_get_raises_for_what_is_absent(self, store: Store) -> None:
        absent = MemoryId(new_id())
        assert store.memories.find(reader(), absent) is None
        assert store.transact(lambda transaction: transaction.memories.find(reader(), absent)) is None
        with pytest.raises(NotFound):
            store.transact(lambda transaction: transaction.memories.get(reader(), absent))

    def test_deleted_memories_are_found_only_when_asked_for(self, store: Store) -> None:
        memory = put(store)
        deleted = delete(store, memory.id)
        assert store.memories.find(reader(), memory.id) is None
        assert store.transact(lambda transaction: transaction.memories.find(reader(), memory.id)) is None
        assert (
            store.transact(lambda transaction: transaction.memories.get(reader(), memory.id, deleted=True)) == deleted
        )
        assert store.memories.versions(reader(), memory.id) == []
        assert listed(store) == set()
        assert listed(store, filters=Filters(statuses=(), deleted=True)) == {memory.id}
        restore(store, memory.id)
        assert listed(store) == {memory.id}

    def test_keeps_every_version_oldest_first(self, store: Store) -> None:
        first = put(store, "one")
        second = change(store, first.id, content="two", by=TEAMMATE, reason="it was wrong")
        third = change(store, first.id, content="three")
        versions = store.memories.versions(reader(), first.id)
        assert [version.memory for version in versions] == [first, second, third]
        assert [version.changed_by for version in versions] == [AUTHOR, TEAMMATE, AUTHOR]
        assert [version.reason for version in versions] == [None, "it was wrong", None]
        assert [version.believed_until for version in versions] == [
            versions[1].believed_from,
            versions[2].believed_from,
            None,
        ]
        assert versions[0].believed_from < versions[1].believed_from < versions[2].believed_from
        assert store.transact(lambda transaction: transaction.memories.find_version(reader(), first.id, 2)) == second
        assert store.transact(lambda transaction: transaction.memories.find_version(reader(), first.id, 4)) is None

    def test_finds_ids_by_either_end(self, store: Store) -> None:
        ids = [
            MemoryId("019a0000-0001-7000-8000-00000000000a"),
            MemoryId("019a0000-0002-7000-8000-00000000000a"),
            MemoryId("019a0000-00f0-7000-8000-0000019a0001"),
        ]
        elsewhere = MemoryId("019a0001-0001-7000-8000-00000000000b")
        for id in (*ids, elsewhere):
            put(store, f"a note under {id}", id=id)
        found = store.memories.ids_with
        assert found(reader(), ["019a0000"], limit=9) == ids
        assert found(reader(), ["019a0000-000"], limit=9) == ids[:2]
        assert found(reader(), ["019a0000"], limit=1) == ids[:1]
        assert found(reader(), ["019a0002"], limit=9) == []
        first, middle, last = ids
        assert found(reader(), ["0000000a"], limit=9) == [first, middle]
        assert found(reader(), ["0001-7000-8000-00000000000a"], limit=9) == [first]
        assert found(reader(), ["00000000000b"], limit=9) == [elsewhere]
        # One ends so, the other begins so.
        assert found(reader(), ["019a0001"], limit=9) == [last, elsewhere]
        assert found(reader(), [first], limit=9) == [first]
        delete(store, middle)
        assert found(reader(), ["019a0000-000"], limit=9) == [first]
        assert found(reader(), ["019a0000-000"], limit=9, deleted=True) == [first, middle]
        assert found(reader(), ["0000000a"], limit=9) == [first]

    def test_answers_what_was_believed_at_a_moment(self, store: Store, clock: ManualClock) -> None:
        first = put(store, "one")
        clock.move(HOUR)
        second = change(store, first.id, content="two")
        assert store.memories.find_as_of(reader(), first.id, first.created_at - HOUR) is None
        assert store.memories.find_as_of(reader(), first.id, first.created_at) == first
        assert store.memories.find_as_of(reader(), first.id, second.updated_at - timedelta(microseconds=1)) == first
        assert store.memories.find_as_of(reader(), first.id, second.updated_at) == second
        assert store.memories.find_as_of(reader(), first.id, second.updated_at + 99 * HOUR) == second

    def test_the_past_shows_only_what_the_reader_saw_then_and_sees_today(
        self, store: Store, clock: ManualClock
    ) -> None:
        draft = put(store, "one", visibility=Visibility.PRIVATE)
        clock.move(HOUR)
        shared = change(store, draft.id, visibility=Visibility.TEAM)
        other = reader(TEAMMATE)
        assert store.memories.find_as_of(other, draft.id, draft.created_at) is None
        assert store.memories.find_as_of(other, draft.id, shared.updated_at) == shared
        assert [version.memory.version for version in store.memories.versions(other, draft.id)] == [2]
        clock.move(HOUR)
        change(store, draft.id, visibility=Visibility.PRIVATE)
        assert store.memories.find_as_of(other, draft.id, shared.updated_at) is None
        assert store.memories.versions(other, draft.id) == []
        assert len(store.memories.versions(reader(), draft.id)) == 3

    @pytest.mark.parametrize(
        ("wanted", "given"),
        [
            (Filters(types=(MemoryType.LESSON,)), {"type": MemoryType.LESSON}),
            (Filters(types=(MemoryType.LESSON, MemoryType.NOTE)), {"type": MemoryType.NOTE}),
            (Filters(statuses=(Status.INBOX,)), {"status": Status.INBOX}),
            (Filters(scopes=(Scope.AGENT,)), {"scope": Scope.AGENT}),
            (Filters(tags=("ci",)), {"tags": ("build", "ci")}),
            (Filters(tags=("ci", "build")), {"tags": ("build", "ci", "x")}),
            (Filters(category="c"), {"category": "c"}),
            (Filters(key="k"), {"key": "k"}),
            (Filters(knowledge=True), {"key": "k"}),
            (Filters(knowledge=True, statuses=(Status.INBOX,)), {"key": "k", "status": Status.INBOX}),
            (Filters(project_id="p"), {"project_id": "p"}),
            (Filters(repo_id="r"), {"repo_id": "r"}),
            (Filters(agent_id=TEAMMATE), {"agent_id": TEAMMATE}),
            (Filters(session_id="s"), {"session_id": "s"}),
            (Filters(task_id="t"), {"task_id": "t"}),
            (Filters(path="/a"), {"path": "/a"}),
            (Filters(path="/a"), {"path": "/a/b/c"}),
            (Filters(at_path="/a/b"), {"path": "/a/b"}),
            (Filters(since=START + HOUR), {"at": START + HOUR}),
            (Filters(until=START - HOUR), {"at": START - HOUR - timedelta(microseconds=1)}),
        ],
    )
    def test_a_filter_leaves_what_it_names_in_lists_and_in_search(
        self, store: Store, wanted: Filters, given: dict[str, Any]
    ) -> None:
        match = put(store, "wanted heron", **given)
        for path in ("/ab", "/a0", "/A", "/notes"):
            put(store, "other heron", path=path, tags=("cicd",), at=START)
        put(store, "other heron", path="/a/bc" if wanted.at_path else "/ab/a", at=START)
        assert listed(store, filters=wanted) == {match.id}
        assert found_by_word(store, "heron", filters=wanted) == {match.id}

    def test_what_holds_at_a_moment_is_told_from_what_does_not(self, store: Store) -> None:
        instant = timedelta(microseconds=1)
        always = put(store, "a heron")
        then = put(store, "a heron", valid_from=START, valid_until=START)
        begun = put(store, "a heron", valid_from=START - HOUR)
        ending = put(store, "a heron", valid_until=START + HOUR)
        put(store, "a heron", valid_from=START + instant)
        over = put(store, "a heron", valid_until=START - instant)
        wanted = Filters(valid_at=START)
        assert listed(store, filters=wanted) == {always.id, then.id, begun.id, ending.id}
        assert found_by_word(store, "heron", filters=wanted) == {always.id, then.id, begun.id, ending.id}
        later = change(store, over.id, valid_until=START)
        assert later.id in found_by_word(store, "heron", filters=wanted)
        assert [one.memory.valid_until for one in store.memories.versions(reader(), over.id)] == [
            START - instant,
            START,
        ]

    def test_what_expired_is_left_out_from_that_instant_on(self, store: Store) -> None:
        memory = put(store, "a heron", expires_at=START + HOUR)
        before, after = START + HOUR - timedelta(microseconds=1), START + HOUR
        assert listed(store, filters=Filters(alive_at=before)) == {memory.id}
        assert listed(store, filters=Filters(alive_at=after)) == set()
        assert found_by_word(store, "heron", filters=Filters(alive_at=after)) == set()
        assert store.memories.find(reader(), memory.id) is not None

    @pytest.mark.parametrize("order", [Order(field, down) for field in OrderField for down in (True, False)], ids=str)
    def test_pages_skip_nothing_and_repeat_nothing(self, store: Store, order: Order) -> None:
        for index in range(23):
            put(store, f"title {index % 4}", path=f"/p{index % 3}", at=START + timedelta(hours=index % 5))
        seen, cursor = list[Memory](), None
        while True:
            page = store.memories.page(reader(), ANY_STATUS, order=order, limit=5, cursor=cursor)
            seen += page
            cursor = page.next_cursor
            if cursor is None:
                break
        assert len({memory.id for memory in seen}) == len(seen) == 23
        values = [getattr(memory, order.field) for memory in seen]
        assert values == sorted(values, reverse=order.descending)

    def test_the_newest_of_several_lists_are_as_their_pages_have_them(self, store: Store) -> None:
        for index in range(7):
            put(store, path=f"/p{index % 2}", at=START + timedelta(hours=index % 5))
        lists = [(Filters(path="/p0"), 3), (Filters(path="/nowhere"), 2), (Filters(), 9)]
        pages = [list(store.memories.page(reader(), one, order=NEWEST, limit=limit)) for one, limit in lists]
        assert [list(one) for one in store.memories.newest(reader(), lists)] == pages
        assert [len(page) for page in pages] == [3, 0, 7]
        assert list(store.memories.newest(reader(), [])) == []

    def test_a_page_that_is_just_full_is_the_last(self, store: Store) -> None:
        put(store)
        put(store)
        assert store.memories.page(reader(), ANY_STATUS, order=NEWEST, limit=2).next_cursor is None

    @pytest.mark.parametrize(
        "cursor",
        [
            "",
            "nonsense",
            "é",
            base64.urlsafe_b64encode(b"[]").decode(),
            base64.urlsafe_b64encode(b'["title", false, "a", "b"]').decode(),
            base64.urlsafe_b64encode(b'["title", false, 1, 1]').decode(),
            base64.urlsafe_b64encode(b'["title", false, "\\ud800", 1]').decode(),
            base64.urlsafe_b64encode(b'["title", false, "a", 1e400]').decode(),
            base64.urlsafe_b64encode(b'["created_at", true, 99999999999999999999999, 1]').decode(),
        ],
    )
    @pytest.mark.parametrize("order", [Order(), Order(OrderField.TITLE, descending=False)])
    def test_refuses_a_cursor_that_is_not_its_own(self, store: Store, cursor: str, order: Order) -> None:
        put(store)
        with pytest.raises(InvalidInput) as refused:
            store.memories.page(reader(), ANY_STATUS, order=order, limit=5, cursor=cursor)
        assert refused.value.field == "cursor"

    def test_refuses_the_cursor_of_another_order(self, store: Store) -> None:
        put(store)
        put(store)
        cursor = store.memories.page(reader(), ANY_STATUS, order=NEWEST, limit=1).next_cursor
        with pytest.raises(InvalidInput):
            store.memories.page(reader(), ANY_STATUS, order=Order(descending=False), limit=1, cursor=cursor)

    def test_folders_count_what_lies_at_and_below_them(self, store: Store) -> None:
        for path in ("/", "/a", "/a/b", "/a/b/c", "/ab", "/日本/語", "/日本"):
            put(store, path=path)
        put(store, path="/a", status=Status.INBOX)
        delete(store, put(store, path="/gone").id)
        top = store.memories.folders(reader(), "/", Filters())
        assert top == [Folder("/a", 3), Folder("/ab", 1), Folder("/日本", 2)]
        assert store.memories.folders(reader(), "/a", Filters()) == [Folder("/a/b", 2)]
        assert store.memories.folders(reader(), "/日本", Filters()) == [Folder("/日本/語", 1)]
        assert store.memories.folders(reader(), "/a/b/c", Filters()) == []
        assert store.memories.folders(reader(), "/a", Filters(path="/a/b/c")) == [Folder("/a/b", 1)]

    def test_statistics_count_what_the_filters_leave(self, store: Store) -> None:
        put(store, project_id="p")
        put(store, type=MemoryType.LESSON, project_id="q")
        put(store, status=Status.INBOX, project_id="q")
        delete(store, put(store).id)
        found = store.memories.statistics(reader(), ANY_STATUS)
        assert (found.memories, found.projects) == (3, 2)
        assert dict(found.by_type) == {"fact": 2, "lesson": 1}
        assert dict(found.by_status) == {"active": 2, "inbox": 1}

    def test_tags_are_counted_the_most_frequent_first(self, store: Store) -> None:
        put(store, tags=("b", "a"))
        put(store, tags=("b",), status=Status.INBOX)
        delete(store, put(store, tags=("c",)).id)
        assert list(store.memories.count_tags(reader(), ANY_STATUS).items()) == [("b", 2), ("a", 1)]

    def test_tags_follow_an_update(self, store: Store) -> None:
        memory = put(store, tags=("old", "kept"))
        change(store, memory.id, tags=("kept", "new"))
        assert listed(store, filters=Filters(tags=("old",))) == set()
        assert listed(store, filters=Filters(tags=("kept", "new"))) == {memory.id}

    def test_one_active_memory_stands_for_a_key(self, store: Store) -> None:
        standing = put(store, "one", key="k", category="c", project_id="p")
        like = sample("two", key="k", category="c", project_id="p")
        assert store.transact(lambda transaction: transaction.memories.find_by_key(reader(), like)) == standing
        for other in ({"category": "d"}, {"project_id": None}, {"key": "j"}, {"visibility": Visibility.PRIVATE}):
            near = replace(like, **other)
            assert (
                store.transact(lambda transaction, near=near: transaction.memories.find_by_key(reader(), near)) is None
            )
            put(store, key=near.key, category=near.category, project_id=near.project_id, visibility=near.visibility)
        with pytest.raises(Conflict):
            put(store, "two", key="k", category="c", project_id="p")
        waiting = put(store, "two", key="k", category="c", project_id="p", status=Status.INBOX)
        with pytest.raises(Conflict):
            change(store, waiting.id, status=Status.ACTIVE)
        delete(store, standing.id)
        assert change(store, waiting.id, status=Status.ACTIVE).version == 2
        with pytest.raises(Conflict):
            restore(store, standing.id)

    def test_a_key_that_not_everyone_sees_collides_with_nobody_elses(self, store: Store) -> None:
        for visibility, roles in ((Visibility.PRIVATE, ()), (Visibility.ROLE, (Role.LEAD,))):
            for author in (AUTHOR, TEAMMATE):
                put(store, key="k", visibility=visibility, allowed_roles=roles, agent_id=author)
        like = sample(key="k", visibility=Visibility.PRIVATE, agent_id=TEAMMATE)
        found = store.transact(lambda transaction: transaction.memories.find_by_key(reader(TEAMMATE), like))
        assert found is not None
        assert found.agent_id == TEAMMATE

    def test_a_store_never_written_to_reads_as_empty(self, store: Store) -> None:
        absent = MemoryId(new_id())
        assert listed(store) == set()
        assert store.memories.folders(reader(), "/", ANY_STATUS) == []
        assert store.memories.statistics(reader(), ANY_STATUS).memories == 0
        assert found_by_word(store, "heron") == set()
        assert store.log.changes(reader(), after=0, wanted=EVERY_CHANGE, limit=9) == ([], 0)
        assert store.log.last_sequence() == 0
        assert store.memories.find_receipt(absent) is None
        assert store.memories.usage(reader(), absent).access_count == 0

    def test_times_before_1970_and_far_ahead_are_kept(self, store: Store) -> None:
        early, late = datetime(1066, 10, 14, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)
        memory = put(store, observed_at=early, expires_at=late)
        assert store.memories.find(reader(), memory.id) == memory

    def test_operations_are_named_in_the_log(self, store: Store) -> None:
        memory = put(store)
        change(store, memory.id)
        delete(store, memory.id)
        restore(store, memory.id)
        purge(store, memory.id)
        found, _ = store.log.changes(reader(), after=0, wanted=EVERY_CHANGE, limit=9)
        assert [entry.operation for entry in found] == [
            Operation.CREATE,
            Operation.UPDATE,
            Operation.DELETE,
            Operation.RESTORE,
            Operation.PURGE,
        ]
