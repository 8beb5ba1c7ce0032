"""What every store promises about what agents were given, and about changes of what is no memory."""

# ruff: noqa: S101 - a suite for pytest is made of assertions

from __future__ import annotations

from datetime import datetime, timedelta

from mycel.contracts.memory_store import Rating
from mycel.contracts.store import Store
from mycel.domain.activity import Injection, Occasion
from mycel.domain.ids import MemberId, MemoryId, new_id
from mycel.domain.memory import Visibility
from mycel.testing.store_samples import AUTHOR, START, TEAMMATE, put, reader

HOUR = timedelta(hours=1)


def told(store: Store, *ids: MemoryId, to: MemberId = AUTHOR, at: datetime = START, kept: int = 9) -> Injection:
    injection = Injection(
        id=new_id(),
        member_id=to,
        occasion=Occasion.PROMPT,
        given_at=at,
        text="what was told",
        memory_ids=ids,
        session_id="session",
        task_id="task",
    )
    store.transact(lambda transaction: transaction.activity.note_injection(injection, kept=kept))
    return injection


class StoreActivity:
    def test_what_was_given_is_listed_newest_first_and_bounded(self, store: Store) -> None:
        memory = put(store)
        first, second = told(store, memory.id), told(store, to=TEAMMATE, at=START + HOUR)
        listed = store.activity.injections(member_id=None, session_id="session", before=None, limit=9)
        assert listed == [second, first]
        assert store.activity.injections(member_id=AUTHOR, session_id=None, before=None, limit=9) == [first]
        assert store.activity.injections(member_id=None, session_id=None, before=second.id, limit=9) == [first]
        last = told(store, kept=1)
        assert store.activity.injections(member_id=AUTHOR, session_id=None, before=None, limit=9) == [last]

    def test_who_was_given_a_memory_is_told_to_those_who_see_it(self, store: Store) -> None:
        memory = put(store, visibility=Visibility.PRIVATE)
        told(store, memory.id)
        [given] = store.activity.given(reader(), memory.id, limit=9)
        assert (given.member_id, given.task_id, given.given_at) == (AUTHOR, "task", START)
        assert store.activity.given(reader(TEAMMATE), memory.id, limit=9) == []

    def test_what_was_given_long_ago_is_forgotten(self, store: Store) -> None:
        told(store)
        assert not store.activity.has_older(START)
        assert store.activity.has_older(START + HOUR)
        assert store.transact(lambda transaction: transaction.activity.forget_injections(before=START + HOUR)) == 1
        assert not store.activity.has_older(START + HOUR)

    def test_a_member_was_last_seen_with_what_the_reader_may_know_of(self, store: Store) -> None:
        put(store, visibility=Visibility.PRIVATE)
        assert AUTHOR not in store.activity.last_seen(reader(TEAMMATE), [AUTHOR])
        assert AUTHOR in store.activity.last_seen(reader(), [AUTHOR])
        told(store, to=TEAMMATE, at=START + HOUR)
        assert store.activity.last_seen(reader(), [TEAMMATE]) == {TEAMMATE: START + HOUR}

    def test_use_counts_reads_and_ratings_of_others(self, store: Store) -> None:
        memory, hidden = put(store), put(store, visibility=Visibility.PRIVATE)
        for one in (memory, hidden):
            rating = Rating(memory_id=one.id, member_id=TEAMMATE, useful=True, recall_id=None)
            store.transact(lambda transaction, rating=rating: transaction.memories.rate(rating))
        [use] = store.activity.use(reader(TEAMMATE), by_author=True, limit=9)
        assert (use.name, use.memories, use.useful, use.useless) == (AUTHOR, 1, 1, 0)
        [use] = store.activity.use(reader(TEAMMATE), by_author=False, limit=9)
        assert (use.name, use.rate) == (memory.type, 1.0)

    def test_actions_leave_out_hidden_memories_and_others_own_affairs(self, store: Store) -> None:
        hidden = put(store, visibility=Visibility.PRIVATE)

        def noted(operation: str, *, memory_id: MemoryId | None = None, own: bool = False) -> None:
            store.transact(
                lambda transaction: transaction.activity.note(
                    operation, by=AUTHOR, subject="it", before={"a": 1}, after={}, memory_id=memory_id, own=own
                )
            )

        noted("open")
        noted("about a hidden one", memory_id=hidden.id)
        noted("its own", own=True)
        all_of_them = store.activity.actions(reader(), by=AUTHOR, before=None, limit=9)
        assert [one.operation for one in all_of_them] == ["its own", "about a hidden one", "open"]
        assert all_of_them[0].before == {"a": 1}
        seen = store.activity.actions(reader(TEAMMATE), by=None, before=None, limit=9)
        assert [one.operation for one in seen] == ["open"]
        assert store.activity.actions(reader(), by=None, before=all_of_them[-1].id, limit=9) == []

    def test_actions_on_a_memory_are_found_by_their_name(self, store: Store) -> None:
        one, other = put(store), put(store)
        for operation, memory in (("unlink", one), ("rate", one), ("unlink", other)):
            store.transact(
                lambda transaction, operation=operation, memory=memory: transaction.activity.note(
                    operation, by=AUTHOR, subject=memory.id, memory_id=memory.id, before={"of": operation}
                )
            )
        [found] = store.transact(lambda transaction: transaction.activity.actions_on(one.id, "unlink"))
        assert (found.subject, found.before) == (one.id, {"of": "unlink"})
