"""The log in memory tells every reader what the store would."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mycel.access.scope import ReadScope, everyones_scope
from mycel.contracts.store import Store
from mycel.domain.change import ChangeFilter, Operation
from mycel.domain.ids import MemberId
from mycel.domain.link import Link, Relation
from mycel.domain.memory import MemoryType, Visibility
from mycel.domain.team import Role
from mycel.services.log_tail import RecentLog, told_of
from mycel.stores.sqlite.database import Disk
from mycel.stores.sqlite.store import SqliteStore
from mycel.testing.clock import ManualClock
from mycel.testing.store_samples import (
    AUTHOR,
    EVERY_CHANGE,
    EVERYTHING,
    START,
    TEAM,
    TEAMMATE,
    change,
    delete,
    purge,
    put,
    reader,
    restore,
)

pytestmark = pytest.mark.each_database(slow=True)


READERS: list[ReadScope] = [
    reader(),
    reader(TEAMMATE),
    reader("lead-1", Role.LEAD),
    reader("admin-1", Role.ADMIN),
    everyones_scope(TEAM),
    EVERYTHING,
]
FILTERS = [
    EVERY_CHANGE,
    ChangeFilter(path="/a"),
    ChangeFilter(project_id="web"),
    ChangeFilter(types=(MemoryType.FACT, MemoryType.NOTE)),
    ChangeFilter(path="/a", project_id="web", types=(MemoryType.LESSON,)),
]
AUDIENCES = [(Visibility.TEAM, ()), (Visibility.ROLE, (Role.LEAD,)), (Visibility.PRIVATE, ())]
FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "path": st.sampled_from(["/a", "/a/b", "/ab", "/"]),
        "project_id": st.sampled_from([None, "web", "billing"]),
        "type": st.sampled_from([MemoryType.FACT, MemoryType.NOTE, MemoryType.LESSON]),
        "audience": st.sampled_from(AUDIENCES),
    },
)
WHICH = st.integers(0, 9)
STEP = st.one_of(
    st.tuples(st.just("put"), FIELDS, st.sampled_from([AUTHOR, TEAMMATE])),
    st.tuples(st.just("change"), WHICH, FIELDS),
    st.tuples(st.sampled_from(["delete", "restore", "purge"]), WHICH),
    st.tuples(st.sampled_from(["link", "unlink"]), WHICH, WHICH),
    st.tuples(st.just("link to a place"), WHICH),
)


@contextmanager
def a_store() -> Iterator[Store]:
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(
            Path(folder) / "memory.sqlite",
            root=Path(folder),
            team=TEAM,
            clock=ManualClock(),
            disk=Disk(synchronous="OFF"),
        )
        try:
            yield store
        finally:
            store.close()


def fields_of(given: dict[str, Any]) -> dict[str, Any]:
    fields = dict(given)
    if "audience" in fields:
        fields["visibility"], fields["allowed_roles"] = fields.pop("audience")
    return fields


class Team:
    """Carries out steps on whatever memories there are."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.ids: list[Any] = []

    def do(self, step: tuple[Any, ...]) -> None:
        kind, *rest = step
        if kind == "put":
            self.ids.append(put(self.store, agent_id=MemberId(rest[1]), **fields_of(rest[0])).id)
        elif self.ids:
            self._touch(kind, self.ids[rest[0] % len(self.ids)], rest[1:])

    def _touch(self, kind: str, id: Any, rest: list[Any]) -> None:
        if kind == "change":
            change(self.store, id, **fields_of(rest[0]))
        elif kind == "purge":
            purge(self.store, id)
            self.ids.remove(id)
        elif kind in {"delete", "restore"}:
            {"delete": delete, "restore": restore}[kind](self.store, id)
        else:
            to = self.ids[rest[0] % len(self.ids)] if rest else "project:web"
            self._link(Link(id, to, Relation.RELATED_TO, AUTHOR, START), undo=kind == "unlink")

    def _link(self, link: Link, *, undo: bool) -> None:
        def work(transaction: Any) -> None:
            origin = transaction.memories.get(EVERYTHING, link.from_id, deleted=True)
            (transaction.links.remove if undo else transaction.links.add)(link, origin=origin)

        self.store.transact(work)


def assert_agreement(store: Store, recent: RecentLog) -> None:
    assert recent.last == store.log.last_sequence()
    for scope in READERS:
        for wanted in FILTERS:
            for after in range(recent.last - len(recent), recent.last + 1):
                kept = recent.after(after)
                assert kept is not None
                expected = store.log.changes(scope, after=after, wanted=wanted, limit=1000)
                assert told_of(kept, scope, wanted, after=after, limit=1000) == expected
                limited = store.log.changes(scope, after=after, wanted=wanted, limit=2)
                assert told_of(kept, scope, wanted, after=after, limit=2) == limited


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(steps=st.lists(st.lists(STEP, min_size=1, max_size=6), min_size=1, max_size=5), batch=st.integers(1, 5))
def test_what_is_kept_tells_every_reader_what_the_store_tells(steps: list[Any], batch: int) -> None:
    with a_store() as store:
        team, recent = Team(store), RecentLog(last=0, most=8)
        for some in steps:
            for step in some:
                team.do(step)
            while logged := store.log.read(after=recent.last, limit=batch):
                recent.add(logged)
            assert_agreement(store, recent)
            assert len(recent) <= 10


@settings(max_examples=30, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(steps=st.lists(STEP, min_size=1, max_size=25), batch=st.integers(1, 4))
def test_what_is_read_long_after_it_happened_is_judged_by_today(steps: list[Any], batch: int) -> None:
    with a_store() as store:
        team, recent = Team(store), RecentLog(last=0, most=100)
        for step in steps:
            team.do(step)
        while logged := store.log.read(after=recent.last, limit=batch):
            recent.add(logged)
            for scope in READERS:
                told, _ = told_of(recent.after(0) or (), scope, EVERY_CHANGE, after=0, limit=1000)
                everything, _ = store.log.changes(scope, after=0, wanted=EVERY_CHANGE, limit=1000)
                assert told == [one for one in everything if one.sequence <= recent.last]


@pytest.mark.proof
@pytest.mark.timeout(600)
@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=st.lists(st.lists(STEP, min_size=1, max_size=8), min_size=1, max_size=6), batch=st.integers(1, 5))
def test_what_is_kept_tells_every_reader_what_the_store_tells_for_long(steps: list[Any], batch: int) -> None:
    test_what_is_kept_tells_every_reader_what_the_store_tells.hypothesis.inner_test(steps, batch)


def test_what_has_been_hidden_since_is_told_no_more() -> None:
    with a_store() as store:
        recent = RecentLog(last=0, most=9)
        shown, hidden = put(store), put(store)
        link = Link(shown.id, hidden.id, Relation.SUPPORTS, AUTHOR, START)
        store.transact(lambda transaction: transaction.links.add(link, origin=shown))
        recent.add(store.log.read(after=0, limit=9))
        assert len(told_of(recent.after(0) or [], reader(TEAMMATE), EVERY_CHANGE, after=0, limit=9)[0]) == 3
        change(store, hidden.id, visibility=Visibility.PRIVATE)
        recent.add(store.log.read(after=3, limit=9))
        told, reached = told_of(recent.after(0) or [], reader(TEAMMATE), EVERY_CHANGE, after=0, limit=9)
        assert [(one.sequence, one.operation) for one in told] == [(1, Operation.CREATE), (4, Operation.REMOVE)]
        assert reached == 4


def test_a_link_to_what_was_written_long_ago_is_told_to_those_who_see_both() -> None:
    with a_store() as store:
        shown, hidden = put(store), put(store, visibility=Visibility.PRIVATE)
        recent = RecentLog(last=2, most=9)
        for other in (shown, hidden):
            link = Link(shown.id, other.id, Relation.SUPPORTS, AUTHOR, START)
            store.transact(lambda transaction, link=link: transaction.links.add(link, origin=shown))
        recent.add(store.log.read(after=2, limit=9))
        for scope, sequences in ((reader(), [3, 4]), (reader(TEAMMATE), [3])):
            told, _ = told_of(recent.after(2) or (), scope, EVERY_CHANGE, after=2, limit=9)
            assert [one.sequence for one in told] == sequences


def test_a_cursor_before_what_is_kept_has_to_ask_the_store() -> None:
    with a_store() as store:
        recent = RecentLog(last=0, most=4)
        for _ in range(9):
            put(store)
            recent.add(store.log.read(after=recent.last, limit=9))
        assert len(recent) in {4, 5}
        assert recent.after(9 - len(recent) - 1) is None
        assert len(recent.after(9 - len(recent)) or ()) == len(recent)
        assert recent.after(9) == recent.after(100) == ()


def test_a_gap_begins_anew() -> None:
    with a_store() as store:
        for _ in range(6):
            put(store)
        logged = store.log.read(after=0, limit=9)
        recent = RecentLog(last=0, most=9)
        recent.add(logged[:2])
        recent.add(logged[4:])
        assert (recent.last, len(recent)) == (6, 2)
        assert recent.after(3) is None


def test_what_no_entry_names_any_more_is_forgotten() -> None:
    with a_store() as store:
        recent = RecentLog(last=0, most=4)
        for _ in range(30):
            put(store)
        recent.add(store.log.read(after=0, limit=30))
        assert len(recent._standings) == 4


def test_a_filter_takes_all_that_was_asked_for() -> None:
    with a_store() as store:
        put(store, path="/a/b", project_id="web", type=MemoryType.LESSON)
        [(entry, _)] = store.log.read(after=0, limit=1)
        wanted = ChangeFilter(path="/a", project_id="web", types=(MemoryType.LESSON, MemoryType.NOTE))
        assert wanted.takes(entry.after)
        for wrong in (
            {"path": "/a/b/c"},
            {"path": "/ab"},
            {"project_id": "w"},
            {"types": (MemoryType.NOTE,)},
        ):
            assert not replace(wanted, **wrong).takes(entry.after)
        unknown = replace(entry.after, type=None)
        assert not wanted.takes(unknown)
        assert replace(wanted, types=()).takes(unknown)
