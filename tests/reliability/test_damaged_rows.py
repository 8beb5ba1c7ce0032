"""One value that cannot be read costs its row alone: every column of every table, taken from the schema itself."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from mycel.app import open_workspace
from mycel.embedded.workspace import Workspace
from mycel.errors import MemoryDamaged, NotFound, StoreDamaged
from mycel.stores.migrate import migrations
from mycel.stores.postgres.damaged_rows import ROWS_OF_ORGANISATION, ROWS_OF_TEAM
from mycel.stores.postgres.schema import SCHEMA
from mycel.stores.sql import damaged_rows
from mycel.stores.sql.damaged_rows import Column, Sort, Table
from mycel.stores.sql.rows import micros
from mycel.stores.sqlite import index_keeper
from mycel.stores.sqlite.connection import migrate, open_memory
from mycel.stores.sqlite.damaged_rows import SQLITE_ROWS
from mycel.stores.sqlite.database import Disk
from tests.reliability.inspection import team_file
from tests.template import settings_of

TEAM, AGENT, LEAD = "alpha", "swe-1", "lead-1"
NOT_UTF8, NONSENSE = b"no \xff\xfe text", "neither JSON nor known {"
FAR = 2**62
# What the test asks with must be who it is: whoever is damaged is no member any more.
ASKING = {("members", AGENT), ("members", LEAD), ("members", "operator")}


class World(NamedTuple):
    workspace: Workspace
    folder: Path
    first: str
    other: str


def fill(workspace: Workspace) -> tuple[str, str]:
    """Something of every kind; into a table that this story leaves empty a row is put by hand."""
    workspace.add_team(TEAM)
    workspace.add_team("beta", parent=TEAM)
    workspace.add_member(id=AGENT, team=TEAM, role="agent", kind="agent")
    workspace.add_member(id=LEAD, team=TEAM, role="lead", kind="human")
    workspace.add_member(id="b-1", team="beta", role="agent", kind="agent")
    workspace.issue_token("b-1")
    memory, lead = workspace.as_member(AGENT), workspace.as_member(LEAD)
    first = memory.save("The kestrel build needs Node 22.", tags=["bird"], project="nest", metadata={"a": 1})
    other = memory.save("Herons are counted on Mondays.", type="decision", alternatives=["Tuesday"], rationale="rest")
    memory.save("The registry listens on port 5000.", visibility="role", allowed_roles=["agent", "lead"])
    memory.update(first.id, content="The kestrel build needs Node 24.", reason="it moved")
    memory.link(first.id, other.id, "supports")
    lead.rate(first.id, useful=True)
    memory.save("Repeated once.", idempotency_key="k1")
    gone = memory.save("soon gone")
    workspace.as_operator(TEAM).purge(gone.id)
    memory.search("kestrel build")
    memory.projects.register("nest", description="where birds are")
    memory.repos.register("nest-repo", project="nest")
    memory.views.save("mine", query="kestrel")
    memory.capture_session("user: We decided to use Postgres for the ledger.\nassistant: Noted.", session_id="s1")
    memory.episodes.log(approach="by eye", outcome="done", action="completed")
    lead.set_policy(review=["lesson"])
    memory.artifacts.register(path="notes/report.md", content="A report about kestrels.", type="document")
    lead.cascade(other.id)
    memory.recent()
    return first.id, other.id


class Backdoor:
    """Past Mycel, into the rows: of the team's database, or of the workspace's own."""

    def __init__(self, data: Path, *, of_team: bool) -> None:
        self.of_team = of_team
        self.is_postgres = bool(os.environ.get("MYCEL_DATABASE_URL"))
        if self.is_postgres:
            from tests.postgres import server

            name = str(conninfo_to_dict(os.environ["MYCEL_DATABASE_URL"])["dbname"])
            self._postgres = psycopg.connect(make_conninfo(server().admin, dbname=name), autocommit=True)
            self._postgres.execute("SET session_replication_role = replica")
            self._postgres.execute(f"SET search_path TO {SCHEMA}, public".encode())
            self._postgres.execute("SELECT set_config('mycel.team', %s, false)", (TEAM if of_team else "*",))
        else:
            self.file = team_file(data, TEAM) if of_team else data / "workspace.sqlite"
            self._sqlite = apsw.Connection(str(self.file))
            self._sqlite.set_busy_timeout(5000)
            # What rots does not tell the tables that follow it.
            self._sqlite.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)

    def close(self) -> None:
        (self._postgres if self.is_postgres else self._sqlite).close()

    def execute(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        if not self.is_postgres:
            return self._sqlite.execute(sql, values).fetchall()
        found = self._postgres.execute(sql.replace("%", "%%").replace("?", "%s").encode(), values)
        return found.fetchall() if found.description else []

    def tables(self) -> list[Table]:
        if not self.is_postgres:
            return SQLITE_ROWS.tables(self._sqlite)
        dialect = ROWS_OF_TEAM if self.of_team else ROWS_OF_ORGANISATION
        return dialect.tables(self._postgres)  # type: ignore[arg-type]

    def place(self) -> str:
        return "ctid" if self.is_postgres else "rowid"

    def last_row(self, table: Table) -> dict[str, Any]:
        names = [column.name for column in table.columns]
        read = ", ".join(f'"{name}"' for name in names)
        owned = f" WHERE team_id = '{TEAM}'" if self.is_postgres and self.of_team else ""
        order = ", ".join(f'"{name}"' for name in names if name in {"sequence", "number", "id"}) or "1"
        rows = self.execute(f"SELECT {read} FROM {table.name}{owned} ORDER BY {order}")
        if not rows:
            self.insert(table)
            rows = self.execute(f"SELECT {read} FROM {table.name}{owned}")
        return dict(zip(names, rows[-1], strict=True))

    def damage(self, table: Table, column: Column, bad: Any, row: dict[str, Any]) -> None:
        """Put a value into this row; what else the row holds tells it from the others."""
        known = {name: value for name, value in row.items() if value is not None}
        where = " AND ".join(f'"{name}" = ?' for name in known)
        new = "CAST(? AS TEXT)" if column.sort is Sort.TEXT and not self.is_postgres else "?"
        self.execute(f'UPDATE {table.name} SET "{column.name}" = {new} WHERE {where}', [bad, *known.values()])

    def repair(self, table: Table, column: Column, bad: Any, good: Any) -> None:
        is_bytes = column.sort is Sort.TEXT and not self.is_postgres
        old = f'CAST("{column.name}" AS BLOB)' if is_bytes else f'"{column.name}"'
        if is_bytes and isinstance(bad, str):
            bad = bad.encode()
        try:
            self.execute(f'UPDATE {table.name} SET "{column.name}" = ? WHERE {old} = ?', [good, bad])
        except (apsw.ConstraintError, psycopg.IntegrityError):
            # Somebody has written such a row anew.
            self.execute(f"DELETE FROM {table.name} WHERE {old} = ?", [bad])

    def insert(self, table: Table) -> None:
        values = {column.name: _made_up(table.name, column) for column in table.columns}
        names = ", ".join(f'"{name}"' for name in values)
        if self.is_postgres and self.of_team:
            names, values = f"team_id, {names}", {"team_id": TEAM, **values}
        marks = ", ".join("?" * len(values))
        self.execute(f"INSERT INTO {table.name} ({names}) VALUES ({marks})", list(values.values()))


def _made_up(table: str, column: Column) -> Any:
    """A sound value."""
    known = damaged_rows.KNOWN.get((table, column.name))
    if known is not None:
        return next(iter(known)).value
    for form, sound in (
        (damaged_rows.is_object, "{}"),
        (damaged_rows.is_texts, "[]"),
        (damaged_rows.is_roles, "[]"),
    ):
        if damaged_rows.JSON_FORMS.get((table, column.name)) is form:
            return sound
    if damaged_rows.MOMENT_NAME.fullmatch(column.name):
        return micros(datetime.now(UTC))
    return {Sort.TEXT: "some", Sort.WHOLE: 1, Sort.NUMBER: 0.5, Sort.BYTES: bytes(32)}[column.sort]


Acts = Mapping[str, Callable[[], object]]


def acts(world: World) -> Acts:
    """What must go on, whatever is damaged: none of it is about the damaged row by name."""
    workspace = world.workspace
    memory, lead = workspace.as_member(AGENT), workspace.as_member(LEAD)
    talk = "user: We decided to use Postgres for the ledger.\nassistant: Noted."
    return {
        "list": lambda: memory.list(limit=100),
        "search": lambda: memory.search("herons and kestrels", limit=20),
        "save": lambda: memory.save("Nothing of note."),
        "stats": lambda: lead.stats(with_tags=True),
        "changes": lambda: memory.changes(after=0),
        "capture": lambda: memory.capture_session(talk, session_id="s1"),
        "work": workspace.run_pending,
        "export": lambda: workspace.export(_anew(world.folder / "a.jsonl"), team=TEAM),
        "members": workspace.members,
    }


def more_acts(world: World) -> Acts:
    workspace = world.workspace
    memory, lead, operator = workspace.as_member(AGENT), workspace.as_member(LEAD), workspace.as_operator(TEAM)
    return {
        "list the past": lambda: memory.list(limit=100, as_of="2050-01-01T00:00:00Z"),
        "search by a phrase": lambda: memory.search('"kestrel build"'),
        "search the past": lambda: memory.search("kestrel", as_of="2050-01-01T00:00:00Z"),
        "save a value": lambda: memory.knowledge.upsert(key="port", value="5000", project="nest"),
        "context": lambda: memory.context_for(task="count the kestrels", project="nest"),
        "recent": memory.recent,
        "tree": memory.tree,
        "inbox": lead.inbox,
        "projects": memory.projects,
        "repos": memory.repos,
        "views": memory.views.list,
        "sources": memory.sources.list,
        "events": memory.sources.events,
        "episodes": memory.episodes.list,
        "rates": memory.episodes.success_rates,
        "artifacts": memory.artifacts.list,
        "reports": lead.reports,
        "cascades": lead.cascades,
        "audit": lead.audit,
        "consolidate": lead.consolidate,
        "maintain": workspace.maintain,
        "export as a member": lambda: memory.export(_anew(world.folder / "b.jsonl")),
        "the operator's list": lambda: operator.list(limit=100),
        "teams": workspace.teams,
        "tokens": workspace.tokens,
        "who": memory.who_am_i,
    }


def _anew(file: Path) -> Path:
    file.unlink(missing_ok=True)
    return file


def harms_of(table: Table, column: Column, *, is_postgres: bool) -> dict[str, Any]:
    """What may have become of a value, by how it is called. Postgres takes in nothing of another type or encoding."""
    place = (table.name, column.name)
    harms: dict[str, Any] = {}
    if column.sort is Sort.TEXT:
        if not is_postgres:
            harms["no UTF-8"] = NOT_UTF8
        if place in damaged_rows.KNOWN or place in damaged_rows.JSON_FORMS or place in damaged_rows.OWN_CHECKS:
            harms["nonsense"] = NONSENSE
        if place in damaged_rows.JSON_FORMS:
            harms["another form"] = "7"
    elif column.sort is Sort.WHOLE and damaged_rows.MOMENT_NAME.fullmatch(column.name):
        harms["out of range"] = FAR
    elif column.sort is Sort.BYTES and place in damaged_rows.OWN_CHECKS:
        harms["cut short"] = b"x"
    return harms


@pytest.fixture(scope="module")
def world(kept_for_the_module: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("world")
    with open_workspace(settings=settings_of(folder / "data"), disk=Disk(synchronous="OFF")) as workspace:
        first, other = fill(workspace)
        workspace.run_pending()
        yield World(workspace, folder, first, other)


@pytest.fixture(autouse=True)
def looks_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(damaged_rows, "RECHECK_SECONDS", 0)
    monkeypatch.setattr(damaged_rows, "LOOK_AGAIN_SECONDS", 0)
    monkeypatch.setattr(damaged_rows, "LOOK_AGAIN_TIMES", 0)
    monkeypatch.setattr(index_keeper, "RENEW_AGAIN_SECONDS", 0)


@contextmanager
def backdoor(world: World, *, of_team: bool) -> Generator[Backdoor]:
    opened = Backdoor(world.folder / "data", of_team=of_team)
    try:
        yield opened
    finally:
        opened.close()


def tables_of(schema: str) -> list[str]:
    """From the migrations themselves: a table that comes with one is in this test from then on."""
    memory = open_memory()
    migrate(memory, migrations("mycel.stores.sqlite", schema))
    return sorted(table.name for table in SQLITE_ROWS.tables(memory))


TABLES = [(True, name) for name in tables_of("team")] + [(False, name) for name in tables_of("workspace")]


def find_trouble(world: World, door: Backdoor, table: Table, acts: Acts, most: int) -> Iterator[str]:
    for column in table.columns:
        for harm, bad in list(harms_of(table, column, is_postgres=door.is_postgres).items())[:most]:
            row = door.last_row(table)
            if (table.name, row.get("id")) in ASKING:
                continue
            door.damage(table, column, bad, row)
            for name, act in acts.items():
                try:
                    act()
                except Exception as error:  # noqa: BLE001 - whatever it is, somebody would have seen it
                    yield f"{table.name}.{column.name} {harm}: {name} fails with {type(error).__name__}: {error}"
            said = str(world.workspace.check())
            if f"{table.name} " not in said or f"{column.name} is" not in said:
                yield f"{table.name}.{column.name} {harm}: check does not name it: {said}"
            if not any(damage.rows for damage in world.workspace.damages()):
                yield f"{table.name}.{column.name} {harm}: whoever watches is not told"
            door.repair(table, column, bad, row[column.name])
            if said := world.workspace.check():
                yield f"{table.name}.{column.name} {harm}: still said when it is over: {said}"


def walk(world: World, *, of_team: bool, name: str, acts: Acts, most: int = 9) -> list[str]:
    with backdoor(world, of_team=of_team) as door:
        table = next((table for table in door.tables() if table.name == name), None)
        # Some tables are of files alone.
        return [] if table is None or name == "teams" else list(find_trouble(world, door, table, acts, most))


@pytest.mark.each_database(slow=True)
@pytest.mark.parametrize(("of_team", "table"), TABLES)
def test_a_bad_value_in_any_column_costs_its_row_alone(world: World, of_team: bool, table: str) -> None:
    assert walk(world, of_team=of_team, name=table, acts=acts(world), most=1) == []


@pytest.mark.proof
@pytest.mark.each_database
@pytest.mark.parametrize(("of_team", "table"), TABLES)
def test_all_else_goes_on_as_well(world: World, of_team: bool, table: str) -> None:
    assert walk(world, of_team=of_team, name=table, acts={**acts(world), **more_acts(world)}) == []


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[World]:
    with open_workspace(settings=settings_of(tmp_path / "data")) as workspace:
        first, other = fill(workspace)
        yield World(workspace, tmp_path, first, other)


def spoil(world: World, id: str, column: str) -> None:
    """As a page that rots does it: in the file on the disk, or where Postgres would take no such text, its metadata."""
    with backdoor(world, of_team=True) as door:
        if door.is_postgres:
            door.execute("UPDATE memories SET metadata = '{no JSON' WHERE id = ?", [id])
        else:
            door.execute(f"UPDATE memories SET {column} = CAST(? AS TEXT) WHERE id = ?", [NOT_UTF8, id])


@pytest.mark.each_database
def test_a_damaged_memory_is_named_when_asked_for_and_can_be_deleted_and_purged(fresh: World) -> None:
    memory, operator = fresh.workspace.as_member(AGENT), fresh.workspace.as_operator(TEAM)
    spoil(fresh, fresh.first, "content")
    for ask in (memory.get, memory.history, memory.links, memory.usage):
        with pytest.raises(MemoryDamaged, match=fresh.first):
            ask(fresh.first)
    fresh.workspace.run_pending()
    with pytest.raises(MemoryDamaged):
        memory.update(fresh.first, title="Another title")
    # It looks like nothing to whoever could not see it.
    with pytest.raises(NotFound) as hidden:
        fresh.workspace.as_member("b-1").get(fresh.first)
    assert not isinstance(hidden.value, MemoryDamaged)
    memory.delete(fresh.first)
    assert fresh.workspace.check() == {}
    with pytest.raises(NotFound):
        memory.get(fresh.first)
    spoil(fresh, fresh.other, "title")
    assert operator.purge(fresh.other).memory_id == fresh.other
    assert fresh.workspace.check() == {}
    assert fresh.workspace.damages() == []
    assert not {fresh.first, fresh.other} & {one.id for one in memory.list(limit=100)}


@pytest.mark.each_database
def test_answers_and_copies_say_what_they_lack(fresh: World) -> None:
    memory = fresh.workspace.as_member(AGENT)
    spoil(fresh, fresh.first, "content")
    listed = [one.id for one in memory.list(limit=100)]
    assert fresh.first not in listed
    assert fresh.other in listed
    assert "damaged_rows" in memory.search("kestrel build").degraded
    whole = fresh.workspace.export(fresh.folder / "whole.jsonl", team=TEAM)
    assert [fresh.first in text for text in whole.left_out] == [True]
    seen = memory.export(fresh.folder / "seen.jsonl")
    assert [fresh.first in text for text in seen.left_out] == [False]
    assert fresh.workspace.damages()[0].rows == 1
    backup = fresh.workspace.backup(fresh.folder / "copy")
    assert [fresh.first in text for text in backup.damaged] == [True]


def test_a_value_of_another_type_costs_its_row_alone(fresh: World) -> None:
    """SQLite sees to types when it writes; what has rotted is of whatever type its bytes say."""
    file = team_file(fresh.folder / "data", TEAM)
    connection = apsw.Connection(str(file))
    connection.pragma("writable_schema", True)
    connection.execute("UPDATE sqlite_schema SET sql = replace(sql, ') STRICT', ')') WHERE name = 'memories'")
    connection.close()
    connection = apsw.Connection(str(file))
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
    connection.execute("UPDATE memories SET version = 'seven', title = x'00ff' WHERE id = ?", (fresh.first,))
    connection.pragma("writable_schema", True)
    connection.execute("UPDATE sqlite_schema SET sql = sql || ' STRICT' WHERE name = 'memories'")
    connection.close()
    said = fresh.workspace.check()
    assert [fresh.first in text for text in said[TEAM]] == [True], said
    memory = fresh.workspace.as_member(AGENT)
    assert fresh.first not in {one.id for one in memory.list(limit=100)}
    assert memory.save("It can still be written.").id
    memory.delete(fresh.first)
    assert fresh.workspace.check() == {}


def test_a_policy_that_cannot_be_read_is_no_policy_of_nothing(fresh: World) -> None:
    with backdoor(fresh, of_team=False) as door:
        door.execute("UPDATE teams SET policy = '{no JSON' WHERE name = ?", [TEAM])
    # Whoever has read it before may go by what it was.
    fresh.workspace.close()
    with open_workspace(settings=settings_of(fresh.folder / "data")) as workspace:
        with pytest.raises((StoreDamaged, NotFound)):
            workspace.as_member(AGENT).save("Let through by nobody's rules.", type="lesson")
        assert "policy is no JSON" in str(workspace.check())
        assert workspace.as_member("b-1").save("Another team goes on.").id
