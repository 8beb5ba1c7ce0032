"""SQLite keeps every promise of a store."""

import itertools
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from mycel.access.scope import engine_scope
from mycel.contracts.store import Store, Transaction
from mycel.domain.change import ChangeFilter
from mycel.domain.ids import SourceId, new_id
from mycel.domain.memory import MemoryType, Visibility
from mycel.domain.source import Turn
from mycel.domain.team import Role
from mycel.stores.migrate import migrations
from mycel.stores.sql.queue import SqlQueue
from mycel.stores.sqlite.connection import open_writer
from mycel.stores.sqlite.database import Disk, migrate
from mycel.stores.sqlite.session import WriteSession
from mycel.stores.sqlite.store import SqliteStore
from mycel.testing.clock import ManualClock
from mycel.testing.store_conformance import StoreConformance
from mycel.testing.store_files import StoreFiles
from mycel.testing.store_racing import together
from mycel.testing.store_samples import (
    AUTHOR,
    EVERY_CHANGE,
    TEAM,
    TEAMMATE,
    a_source,
    an_event,
    change,
    delete,
    matches_of,
    purge,
    put,
    quoting,
    reader,
)
from tests.earlier_schema import before_terms
from tests.template import copy_template


def make_store(folder: Path) -> None:
    """With its tables, and nothing in them."""
    path = folder / "memory.sqlite"
    with closing(SqliteStore(path, root=folder, team=TEAM, clock=ManualClock(), disk=Disk())) as store:
        store.transact(lambda transaction: None)


class TestSqliteStore(StoreFiles, StoreConformance):
    @pytest.fixture
    def store(self, tmp_path: Path, clock: ManualClock) -> Iterator[Store]:
        copy_template(make_store, tmp_path)
        with closing(
            SqliteStore(tmp_path / "memory.sqlite", root=tmp_path, team=TEAM, clock=clock, disk=Disk())
        ) as store:
            yield store

    @pytest.fixture
    def second(self, store: Store, tmp_path: Path, clock: ManualClock) -> Iterator[Store]:
        with closing(
            SqliteStore(tmp_path / "memory.sqlite", root=tmp_path, team=TEAM, clock=clock, disk=Disk())
        ) as store:
            yield store

    @pytest.fixture
    def reopen(self, clock: ManualClock) -> Iterator[Callable[[Path], Store]]:
        with ExitStack() as opened:

            def open_copy(path: Path) -> Store:
                return opened.enter_context(
                    closing(SqliteStore(path, root=path.parent, team=TEAM, clock=clock, disk=Disk()))
                )

            yield open_copy


def test_reading_makes_no_file(tmp_path: Path) -> None:
    path = tmp_path / "teams" / TEAM / "memory.sqlite"
    with closing(SqliteStore(path, root=path.parent, team=TEAM, clock=ManualClock(), disk=Disk())) as store:
        assert store.log.last_sequence() == 0
        assert not path.parent.exists()
        put(store)
        assert path.exists()
        assert path.stat().st_mode & 0o077 == 0


def test_a_store_of_before_keeps_its_sources(tmp_path: Path) -> None:
    path = tmp_path / "memory.sqlite"
    before = (
        SourceId(new_id()), "private", AUTHOR, "run", "s-1", "hash", 5, "What was said.", "Title", "billing",
        '[["user",0,4,null,null]]', "low", 4,
    )  # fmt: skip
    with closing(open_writer(path)) as connection:
        migrate(connection, migrations("mycel.stores.sqlite", "team")[:3])
        connection.execute(
            """
            INSERT INTO sources (id, visibility, agent_id, kind, session_id, sha256, created_at, text, title,
              project_id, turns, trust, extracted_to) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
            before,
        )
    with closing(SqliteStore(path, root=tmp_path, team=TEAM, clock=ManualClock(), disk=Disk())) as store:
        found = store.sources.find(reader(), before[0])
        assert found is not None
        assert (found.text, found.title, found.project_id, found.trust) == ("What was said.", "Title", "billing", "low")
        assert (found.visibility, found.agent_id, found.kind, found.session_id) == ("private", AUTHOR, "run", "s-1")
        assert (found.sha256, found.extracted_to, found.turns) == ("hash", 4, (Turn("user", 0, 4),))
        assert [entry.id for entry in store.sources.page(reader(), limit=9, cursor=None)] == [found.id]
        assert list(store.sources.page(reader(TEAMMATE), limit=9, cursor=None)) == []
        assert store.files.check() == []


def test_a_store_of_before_tells_its_log_by_type_and_project_as_far_as_it_knows(tmp_path: Path) -> None:
    path = tmp_path / "memory.sqlite"
    steps = migrations("mycel.stores.sqlite", "team")
    with closing(SqliteStore(path, root=tmp_path, team=TEAM, clock=ManualClock(), disk=Disk())) as store:
        moved = put(store, type=MemoryType.FACT, project_id="web")
        change(store, moved.id, type=MemoryType.LESSON)
        change(store, moved.id, project_id=None)
        change(store, moved.id, path="/elsewhere", content="Moved.")
        change(store, moved.id, content="Said again.")
        hidden = put(store, visibility=Visibility.PRIVATE, project_id="web")
        change(store, hidden.id, visibility=Visibility.ROLE, allowed_roles=(Role.LEAD,), project_id="billing")
        purged = put(store, project_id="web")
        purge(store, purged.id)
        now = store.log.read(after=0, limit=99)
    unknown = [entry.change.memory_id == purged.id for entry, _ in now]
    with closing(open_writer(path)) as connection:
        # As the migration before this one left it.
        connection.execute("UPDATE changes SET old_visibility = NULL, old_agent_id = NULL, old_allowed_roles = NULL")
        connection.execute("UPDATE changes SET old_path = NULL")
        connection.execute(
            """
            UPDATE changes SET old_visibility = 'team', old_agent_id = agent_id, old_path = '/notes' WHERE sequence = 4;
            UPDATE changes SET old_visibility = 'private', old_agent_id = agent_id, old_path = path WHERE sequence = 7
            """
        )
        for column in ("type", "project_id", "old_type", "old_project_id"):
            connection.execute(f"ALTER TABLE changes DROP COLUMN {column}")
        connection.execute("PRAGMA user_version = 8")
        migrate(connection, steps[:9])
        connection.execute(f"PRAGMA user_version = {len(steps)}")
    with closing(SqliteStore(path, root=tmp_path, team=TEAM, clock=ManualClock(), disk=Disk())) as store:
        then = store.log.read(after=0, limit=99)
        assert [entry for entry, is_purged in zip(then, unknown, strict=True) if not is_purged] == [
            entry for entry, is_purged in zip(now, unknown, strict=True) if not is_purged
        ]
        assert [entry.after.type for entry, _ in then[7:]] == [None, None]
        found, reached = store.log.changes(reader(), after=7, wanted=EVERY_CHANGE, limit=9)
        assert (found, reached) == ([entry.change for entry, _ in now[7:]], 9)
        assert store.log.changes(reader(), after=7, wanted=ChangeFilter(project_id="web"), limit=9) == ([], 9)
        assert store.files.check() == []


def test_a_store_of_before_is_searched_by_all_of_its_words(tmp_path: Path) -> None:
    path = tmp_path / "memory.sqlite"
    for_leads = {"visibility": Visibility.ROLE, "allowed_roles": (Role.LEAD,)}
    with closing(SqliteStore(path, root=tmp_path, team=TEAM, clock=ManualClock(), disk=Disk())) as store:
        put(store, "the heron stands", tags=("wet", "grey"), key="own.pond", category="lead")
        put(store, "my heron stands by parseConfig", title="own", summary="a bird", visibility=Visibility.PRIVATE)
        put(store, "their heron stands, 計画", category="own", **for_leads)
        put(store, "…", title="…", visibility=Visibility.PRIVATE)
        delete(store, put(store, "a heron gone", key="gone").id)
        standing = everything_counted(store)
    with closing(open_writer(path)) as connection:
        before_terms(connection)
    with closing(SqliteStore(path, root=tmp_path, team=TEAM, clock=ManualClock(), disk=Disk())) as store:
        assert everything_counted(store) == standing
        assert store.files.check() == []


def everything_counted(store: SqliteStore) -> list[object]:
    terms = ["heron", "own", "wet", "parseconfig", "計画", "lead", "gone"]
    found: list[object] = []
    for scope in (reader(), reader(TEAMMATE), reader("lead-1", Role.LEAD), engine_scope(TEAM)):
        found.append(store.index.word_statistics(scope, terms))
        found.append(matches_of(store, terms, scope))
        found.append(quoting(store, ["heron", "stand"], scope))
    return found


def test_events_are_counted_without_looking_at_each(tmp_path: Path) -> None:
    path, many = tmp_path / "memory.sqlite", 500
    with closing(SqliteStore(path, root=tmp_path, team=TEAM, clock=ManualClock(), disk=Disk())) as store:

        def work(transaction: Transaction) -> None:
            for number in range(many):
                source = a_source(f"text {number}")
                transaction.sources.add(source)
                transaction.queue.add(an_event(source))

        store.transact(work)
    steps = itertools.count()
    with closing(open_writer(path)) as connection:
        queue = SqlQueue(WriteSession(connection, clock=ManualClock()))
        connection.set_progress_handler(lambda: next(steps) < 0, 1)
        assert queue.count(reader(TEAMMATE)) == {"pending": many}
    assert next(steps) < many


def test_connections_that_open_the_same_new_file_at_once_all_get_it(tmp_path: Path) -> None:
    def open_and_write(path: Path) -> None:
        with closing(open_writer(path)) as connection:
            connection.execute("CREATE TABLE IF NOT EXISTS notes (text)")

    for number in range(150):
        path = tmp_path / f"{number}.sqlite"
        for outcome in together([lambda path=path: open_and_write(path)] * 3):
            outcome.result()
