"""The database itself keeps the teams apart, whatever a query forgets to say."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import psycopg
import pytest
from psycopg import sql

from mycel.domain.ids import MemberId, TeamName
from mycel.domain.team import Kind, Member, Role, Team, Token, Trust
from mycel.errors import Misconfigured
from mycel.stores.postgres.database import Database
from mycel.stores.postgres.directory import PostgresDirectory
from mycel.stores.postgres.schema import ROLE, SCHEMA, migrate
from mycel.stores.postgres.store import PostgresStore
from mycel.testing.clock import ManualClock
from mycel.testing.store_samples import START, found_by_word, put
from tests.postgres import database, emptied, server

ONE, OTHER = TeamName("one"), TeamName("other")
Connection = psycopg.Connection[tuple[Any, ...]]


@pytest.fixture
def filled() -> None:
    """Two teams with a memory each, and an organisation."""
    clock = ManualClock()
    directory = PostgresDirectory(emptied(), clock=clock)

    def organise(transaction: Any) -> None:
        transaction.put_team(Team(ONE, None, START))
        transaction.put_member(Member(MemberId("swe-1"), ONE, Role.AGENT, Kind.AGENT, Trust.NORMAL, START))
        transaction.add_token(Token("t-1", MemberId("swe-1"), "laptop", START), "hash")

    directory.transact(organise)
    for team in (ONE, OTHER):
        with closing(PostgresStore(database(), team=team, clock=clock)) as store:
            put(store, f"the heron of {team}", team=team, tags=("bird",))


@pytest.fixture
def service(filled: None) -> Iterator[Connection]:
    """With the service's own credentials, by hand."""
    with psycopg.connect(server().service) as connection:
        connection.execute("SELECT set_config('search_path', %s, false)", (SCHEMA,))
        connection.commit()
        yield connection


def tables() -> list[str]:
    with psycopg.connect(server().owner) as owner:
        rows = owner.execute("SELECT tablename FROM pg_tables WHERE schemaname = %s ORDER BY 1", (SCHEMA,)).fetchall()
    return [name for (name,) in rows if name != "schema_version"]


def count(connection: Connection, table: str) -> int:
    row = connection.execute(sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(table))).fetchone()
    assert row is not None
    return row[0]


def test_without_a_team_the_service_sees_no_row_of_any_table(service: Connection) -> None:
    assert {table: seen for table in tables() if (seen := count(service, table))} == {}


def test_with_a_team_the_service_sees_the_rows_of_that_team_alone(service: Connection) -> None:
    service.execute("SELECT set_config('mycel.team', %s, true)", (ONE,))
    assert service.execute("SELECT team_id, content FROM memories").fetchall() == [(ONE, "the heron of one")]
    for table in ("memory_tags", "memory_terms", "changes", "heads"):
        assert count(service, table) == 1, table
    assert {count(service, table) for table in ("teams", "members", "tokens")} == {0}


def test_a_team_outlasts_no_transaction(service: Connection) -> None:
    service.execute("SELECT set_config('mycel.team', %s, true)", (ONE,))
    service.commit()
    assert count(service, "memories") == 0


def test_nobody_writes_into_another_team(service: Connection) -> None:
    service.execute("SELECT set_config('mycel.team', %s, true)", (ONE,))
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        service.execute("INSERT INTO projects VALUES ('web', NULL, 0, %s)", (OTHER,))
    service.rollback()
    service.execute("SELECT set_config('mycel.team', %s, true)", (ONE,))
    assert service.execute("UPDATE memories SET content = 'mine' WHERE team_id = %s", (OTHER,)).rowcount == 0


def test_words_are_found_in_the_own_team_alone(filled: None) -> None:
    with closing(PostgresStore(database(), team=ONE, clock=ManualClock())) as store:
        assert len(found_by_word(store, "heron")) == 1


def test_every_table_is_fenced_and_every_team_s_is_keyed_by_the_team_first() -> None:
    with psycopg.connect(server().owner) as owner:
        found = owner.execute(
            """
            SELECT c.relname, c.relrowsecurity AND c.relforcerowsecurity, (
              SELECT a.attname FROM pg_index i JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]
              WHERE i.indrelid = c.oid AND i.indisprimary)
            FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = %s AND c.relkind = 'r' AND c.relname <> 'schema_version'""",
            (SCHEMA,),
        ).fetchall()
    assert [name for name, is_fenced, _ in found if not is_fenced] == []
    organisation = {"teams", "members", "tokens", "organisation", "organisation_actions", "request_counts"}
    assert {name for name, _, key in found if key != "team_id"} == organisation


def test_the_service_s_role_is_bound_by_the_policies_and_owns_nothing() -> None:
    with psycopg.connect(server().owner) as owner:
        row = owner.execute(
            """
            SELECT rolsuper, rolbypassrls, rolcanlogin, (SELECT count(*) FROM pg_class WHERE relowner = r.oid)
            FROM pg_roles r WHERE rolname = %s""",
            (ROLE,),
        ).fetchone()
    assert row == (False, False, False, 0)


@pytest.mark.parametrize("login", ["admin", "owner"])
def test_a_login_that_could_look_past_the_policies_is_refused_until_it_is_trusted(login: str, filled: None) -> None:
    url = getattr(server(), login)
    with closing(Database(url)) as refused, pytest.raises(Misconfigured, match="row-level security"):
        refused.open()
    if login == "owner":
        with psycopg.connect(server().admin, autocommit=True) as admin:
            admin.execute(sql.SQL("GRANT {} TO {}").format(sql.Identifier(ROLE), sql.Identifier("mycel_test_owner")))
    with closing(Database(url, trust_login=True)) as trusted:
        trusted.open()
        with closing(PostgresStore(trusted, team=ONE, clock=ManualClock())) as store:
            assert store.log.last_sequence() == 1


def test_a_database_that_nobody_migrated_is_refused_and_a_second_migration_changes_nothing() -> None:
    migrate(server().owner)
    with psycopg.connect(server().owner, autocommit=True) as owner:
        owner.execute(f"UPDATE {SCHEMA}.schema_version SET version = version - 1")
        try:
            with closing(Database(server().service)) as old, pytest.raises(Misconfigured, match="database migrate"):
                old.open()
        finally:
            owner.execute(f"UPDATE {SCHEMA}.schema_version SET version = version + 1")
