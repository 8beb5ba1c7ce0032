"""Subscribing to changes by the database: a program that follows Postgres, as Supabase Realtime does."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql

import mycel
from mycel.errors import Conflict, InvalidInput
from mycel.storage import publish_database
from tests.postgres import another, as_url, server

pytestmark = pytest.mark.parametrize("database", ["postgres"], indirect=True)

# What a subscriber of the document names: `schema: 'public', table: 'memory_items'`.
TABLE = ("public", "memory_items")
READER = "mycel_test_subscriber"
Row = dict[str, str | None]


@dataclass
class Subscriber:
    """A client of logical replication that follows one publication, and reads what the server's own plugin sends."""

    admin: psycopg.Connection[Any]
    slot: str = field(default_factory=lambda: f"mycel_{uuid4().hex[:12]}")
    columns: dict[int, tuple[tuple[str, str], list[str]]] = field(default_factory=dict)

    def open(self) -> None:
        self.admin.execute("SELECT pg_create_logical_replication_slot(%s, 'pgoutput')", (self.slot,))

    def close(self) -> None:
        self.admin.execute("SELECT pg_drop_replication_slot(%s)", (self.slot,))

    def read(self) -> list[Row]:
        """Return the rows inserted since the last time."""
        options = "'proto_version', '1', 'publication_names', 'mycel_changes'"
        messages = self.admin.execute(
            f"SELECT data FROM pg_logical_slot_get_binary_changes(%s, NULL, NULL, {options})", (self.slot,)
        )
        found: list[Row] = []
        for (message,) in messages:
            kind, body = message[:1], message[1:]
            if kind == b"R":
                self._learn(body)
            elif kind not in b"BC":
                assert kind == b"I", f"only what is new is published, not {kind}"
                found.append(self._row(body))
        return found

    def _learn(self, body: bytes) -> None:
        (number,) = struct.unpack_from("!i", body)
        schema, table, rest = body[4:].split(b"\0", 2)
        (count,) = struct.unpack_from("!h", rest, 1)
        names: list[str] = []
        rest = rest[3:]
        for _ in range(count):
            name, _, rest = rest[1:].partition(b"\0")
            names.append(name.decode())
            rest = rest[8:]
        self.columns[number] = (schema.decode(), table.decode()), names

    def _row(self, body: bytes) -> Row:
        number, _, count = struct.unpack_from("!ich", body)
        table, names = self.columns[number]
        assert (table, len(names)) == (TABLE, count)
        row: Row = {}
        at = 7
        for name in names:
            kind, at = body[at : at + 1], at + 1
            row[name] = None
            if kind == b"t":
                (size,) = struct.unpack_from("!i", body, at)
                row[name] = body[at + 4 : at + 4 + size].decode()
                at += 4 + size
        return row


def events(rows: list[Row]) -> list[tuple[str | None, str | None]]:
    return [(row["event"], row["path"]) for row in rows]


@pytest.fixture
def published(workspace: mycel.Workspace) -> Iterator[str]:
    """The owner publishes changes to a role of subscribers, as `mycel database publish --to ROLE` does."""
    owner = as_url(server().owner)
    with psycopg.connect(server().admin, autocommit=True) as admin:
        if admin.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (READER,)).fetchone() is None:
            admin.execute(sql.SQL("CREATE ROLE {} NOLOGIN").format(sql.Identifier(READER)))
    for team in ("squad", "others"):
        workspace.add_team(team)
    for id, team, role in (("swe-1", "squad", "agent"), ("lead-1", "squad", "lead"), ("swe-9", "others", "agent")):
        workspace.add_member(id, team=team, role=role)
    assert publish_database(owner, to=READER)
    try:
        yield owner
    finally:
        assert publish_database(owner, to=None)


@pytest.fixture
def subscriber(published: str) -> Iterator[Subscriber]:
    with psycopg.connect(server().admin, autocommit=True) as admin:
        if admin.execute("SHOW wal_level").fetchone() != ("logical",):
            pytest.skip("needs a server with wal_level = logical")
        opened = Subscriber(admin)
        opened.open()
        try:
            yield opened
        finally:
            opened.close()


def test_a_subscriber_follows_changes_below_a_path(workspace: mycel.Workspace, subscriber: Subscriber) -> None:
    memory = workspace.as_member("swe-1")
    decided = memory.save("We adopt Option A.", type="decision", path="/projects/pricing/decisions")
    other = memory.save("Elsewhere.", path="/projects/website")
    memory.update(decided.id, content="We adopt Option A for all.")
    memory.delete(decided.id)
    memory.restore(decided.id)
    rows = subscriber.read()
    here = [row for row in rows if (row["path"] or "").startswith("/projects/pricing")]
    assert [row["event"] for row in here] == ["INSERT", "UPDATE", "DELETE", "INSERT"]
    assert {(row["team_id"], row["memory_id"], row["path"]) for row in here} == {
        ("squad", decided.id, "/projects/pricing/decisions")
    }
    assert [row["memory_id"] for row in rows if row not in here] == [other.id]
    # What happened, where and when: the text is read as oneself.
    assert set(rows[0]) == {"id", "team_id", "event", "memory_id", "path", "changed_at"}
    assert "Option A" not in str(rows)


def test_the_filter_of_the_document_holds_of_the_rows(workspace: mycel.Workspace, published: str) -> None:
    memory = workspace.as_member("swe-1")
    for path in ("/projects/pricing/decisions", "/projects/pricing", "/projects/website"):
        memory.save(f"In {path}", path=path)
    with psycopg.connect(server().admin) as admin:
        rows = admin.execute("SELECT path FROM public.memory_items WHERE path LIKE '/projects/pricing%' ORDER BY 1")
        assert [path for (path,) in rows] == ["/projects/pricing", "/projects/pricing/decisions"]


def test_what_moves_leaves_its_old_place_first(workspace: mycel.Workspace, subscriber: Subscriber) -> None:
    memory = workspace.as_member("swe-1")
    moved = memory.save("a", path="/projects/pricing")
    memory.update(moved.id, path="/projects/website")
    assert events(subscriber.read()) == [
        ("INSERT", "/projects/pricing"),
        ("DELETE", "/projects/pricing"),
        ("INSERT", "/projects/website"),
    ]


def test_what_only_some_may_read_is_never_published(workspace: mycel.Workspace, subscriber: Subscriber) -> None:
    author, lead = workspace.as_member("swe-1"), workspace.as_member("lead-1")
    for hidden in (
        author.save("only mine", visibility="private", path="/secret/mine"),
        lead.save("for leads", visibility="role", allowed_roles=["lead"], path="/secret/leads"),
    ):
        owner = author if hidden.visibility == "private" else lead
        owner.update(hidden.id, content="changed")
        owner.delete(hidden.id)
        owner.restore(hidden.id)
        owner.purge(hidden.id)
    shown = author.save("for all", path="/notes")
    mine = author.save("mine again", visibility="private", path="/secret/again")
    author.link(shown.id, mine.id, "related_to")
    author.link(mine.id, shown.id, "supports")
    waits = author.save("a candidate", path="/projects/pricing", needs_review=True)
    rows = subscriber.read()
    assert [(row["memory_id"], row["path"]) for row in rows] == [(shown.id, "/notes"), (waits.id, "/inbox")]
    with psycopg.connect(server().admin) as admin:
        assert admin.execute("SELECT count(*) FROM public.memory_items").fetchone() == (2,)


def test_what_is_hidden_or_purged_leaves_with_its_rows(workspace: mycel.Workspace, subscriber: Subscriber) -> None:
    author = workspace.as_member("swe-1")
    hidden, purged = author.save("a", path="/notes/a"), author.save("b", path="/notes/b")
    author.update(hidden.id, visibility="private")
    author.update(hidden.id, content="nobody sees this")
    author.purge(purged.id)
    assert events(subscriber.read()) == [
        ("INSERT", "/notes/a"),
        ("INSERT", "/notes/b"),
        ("DELETE", "/notes/a"),
        ("DELETE", "/notes/b"),
    ]
    with psycopg.connect(server().admin) as admin:
        rows = admin.execute("SELECT event FROM public.memory_items WHERE memory_id = %s", (hidden.id,)).fetchall()
        assert ("INSERT",) not in rows
        left = admin.execute("SELECT event FROM public.memory_items WHERE memory_id = %s", (purged.id,)).fetchall()
        assert left == [("DELETE",)]


def test_a_reader_is_shown_the_rows_of_its_own_team_alone(workspace: mycel.Workspace, published: str) -> None:
    for id in ("swe-1", "swe-9"):
        workspace.as_member(id).save(f"of {id}", path="/notes")

    def shown(claims: str | None) -> list[str]:
        with psycopg.connect(server().admin) as admin:
            admin.execute(sql.SQL("SET ROLE {}").format(sql.Identifier(READER)))
            if claims is not None:
                admin.execute("SELECT set_config('request.jwt.claims', %s, true)", (claims,))
            return [team for (team,) in admin.execute("SELECT team_id FROM public.memory_items")]

    assert shown('{"app_metadata": {"mycel_team": "squad"}}') == ["squad"]
    assert shown('{"app_metadata": {"mycel_team": "others"}}') == ["others"]
    # Nobody says what a user may write about itself.
    assert shown('{"user_metadata": {"mycel_team": "squad"}}') == []
    assert shown('{"app_metadata": {}}') == shown("") == shown(None) == []


def test_a_reader_changes_nothing_and_the_service_writes_nothing_by_itself(
    workspace: mycel.Workspace, published: str
) -> None:
    workspace.as_member("swe-1").save("a")
    writes = (
        "DELETE FROM public.memory_items",
        "UPDATE public.memory_items SET path = ''",
        "TRUNCATE public.memory_items",
    )
    for login, role in ((server().admin, READER), (server().service, None)):
        for write in writes:
            with psycopg.connect(login) as connection:
                if role is not None:
                    connection.execute(sql.SQL("SET ROLE {}").format(sql.Identifier(role)))
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    connection.execute(write)


def test_publishing_twice_changes_nothing_and_takes_no_table_of_others(published: str) -> None:
    assert not publish_database(published, to=READER)
    fresh = another()
    with pytest.raises(InvalidInput, match="to: names no role"):
        publish_database(as_url(fresh.owner), to="nobody_here")
    with psycopg.connect(fresh.admin) as admin:
        admin.execute("CREATE TABLE public.memory_items (id uuid)")
    with pytest.raises(Conflict, match="another table"):
        publish_database(as_url(fresh.owner), to=READER)
    assert not publish_database(as_url(fresh.owner), to=None)


def test_realtime_follows_its_own_publication_where_there_is_one(workspace: mycel.Workspace) -> None:
    fresh = another()
    with psycopg.connect(fresh.owner) as owner:
        owner.execute("CREATE PUBLICATION supabase_realtime")
    with psycopg.connect(fresh.admin, autocommit=True) as admin:
        if admin.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (READER,)).fetchone() is None:
            admin.execute(sql.SQL("CREATE ROLE {} NOLOGIN").format(sql.Identifier(READER)))
        publish_database(as_url(fresh.owner), to=READER)
        tables = "SELECT pubname, schemaname, tablename FROM pg_publication_tables ORDER BY 1"
        assert admin.execute(tables).fetchall() == [("mycel_changes", *TABLE), ("supabase_realtime", *TABLE)]
        publish_database(as_url(fresh.owner), to=None)
        assert admin.execute(tables).fetchall() == []
