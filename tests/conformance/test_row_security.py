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
from tests.postgres import Server, another, database, emptied, server

ONE, OTHER = TeamName("one"), TeamName("other")
OF_ALL_TEAMS = {"teams", "members", "tokens", "organisation", "organisation_actions", "request_counts"}
VIEWS = {"searched_terms", "memory_items"}
# The number that stands in every row of a team, beside its name.
MARKS = {ONE: 71_001, OTHER: 71_002}
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


@pytest.fixture(scope="module")
def crowded() -> Server:
    """Each table has a row of each of two teams, those of later migrations too."""
    found = another()
    with psycopg.connect(found.admin) as admin:
        admin.execute("SET session_replication_role = replica")
        for table, columns in columns_to_fill(admin).items():
            names = sql.SQL(", ").join(map(sql.Identifier, columns))
            for team in MARKS:
                values = sql.SQL(", ").join(something(type, team=team) for type in columns.values())
                admin.execute(
                    sql.SQL("INSERT INTO {} ({}) VALUES ({})").format(sql.Identifier(SCHEMA, table), names, values)
                )
        # So that the view of what stands has a row of each team too.
        admin.execute(
            sql.SQL("UPDATE {} SET id = gen_random_uuid()::text, visibility = 'team', status = 'active'").format(
                sql.Identifier(SCHEMA, "memories")
            )
        )
    return found


def columns_to_fill(admin: Connection) -> dict[str, dict[str, str]]:
    rows = admin.execute(
        """
        SELECT c.relname, a.attname, format_type(a.atttypid, NULL) FROM pg_class c
        JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
        WHERE n.nspname = %s AND c.relkind IN ('r', 'p') AND c.relname <> 'schema_version'
          AND a.attnum > 0 AND a.attnotnull AND a.attgenerated = ''""",
        (SCHEMA,),
    )
    found: dict[str, dict[str, str]] = {}
    for table, column, type in rows:
        found.setdefault(table, {})[column] = type
    return found


def something(type: str, *, team: TeamName) -> sql.Composable:
    match type:
        case "text":
            return sql.Literal(team)
        case "bytea":
            return sql.Literal(team.encode())
        case "boolean":
            return sql.Literal(True)
        case "bigint[]":
            return sql.Literal([MARKS[team]])
        case "timestamp with time zone":
            return sql.SQL("to_timestamp({})").format(sql.Literal(MARKS[team]))
        case _:
            return sql.Literal(MARKS[team])


def shown(database: Server, *, team: str | None) -> dict[str, list[list[Any]]]:
    """What the service's own credentials are shown of every table and view, asked by hand and without a filter."""
    with psycopg.connect(database.service) as connection:
        names = connection.execute(
            """
            SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = %s AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.relname <> 'schema_version'""",
            (SCHEMA,),
        ).fetchall()
        connection.execute("SELECT set_config('search_path', %s, true)", (SCHEMA,))
        if team is not None:
            connection.execute("SELECT set_config('mycel.team', %s, true)", (team,))
        return {
            name: [*map(list, connection.execute(sql.SQL("SELECT * FROM {}").format(sql.Identifier(name))))]
            for (name,) in names
        }


def test_without_a_team_the_service_sees_no_row_of_any_table(crowded: Server) -> None:
    with psycopg.connect(crowded.admin) as admin:
        for table in shown(crowded, team=None).keys() - VIEWS:
            assert count(admin, table) >= len(MARKS), table
    for nobody in (None, "", "nobody"):
        assert {name for name, rows in shown(crowded, team=nobody).items() if rows} == set()


@pytest.mark.parametrize("team", [ONE, OTHER])
def test_with_a_team_the_service_sees_the_rows_of_that_team_alone(crowded: Server, team: TeamName) -> None:
    [other] = MARKS.keys() - {team}
    found = shown(crowded, team=team)
    assert {name: len(rows) for name, rows in found.items()} == {name: int(name not in OF_ALL_TEAMS) for name in found}
    foreign = {name for name, rows in found.items() for row in rows if other in row or MARKS[other] in row}
    assert foreign == set()


def test_for_the_organisation_the_service_sees_of_teams_only_which_have_written(crowded: Server) -> None:
    found = shown(crowded, team="*")
    assert {name for name, rows in found.items() if rows} == OF_ALL_TEAMS | {"heads"}


def count(connection: Connection, table: str) -> int:
    row = connection.execute(sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(SCHEMA, table))).fetchone()
    assert row is not None
    return row[0]


def test_a_team_outlasts_no_transaction(service: Connection) -> None:
    service.execute("SELECT set_config('mycel.team', %s, true)", (ONE,))
    service.commit()
    assert count(service, "memories") == 0


def test_nobody_writes_into_another_team(crowded: Server) -> None:
    with psycopg.connect(crowded.service) as service, service.transaction(force_rollback=True):
        service.execute("SELECT set_config('mycel.team', %s, true)", (ONE,))
        for table in shown(crowded, team=None).keys() - VIEWS:
            name = sql.Identifier(SCHEMA, table)
            if table not in OF_ALL_TEAMS:
                with pytest.raises(psycopg.errors.InsufficientPrivilege), service.transaction():
                    service.execute(sql.SQL("UPDATE {} SET team_id = {}").format(name, sql.Literal(OTHER)))
            with service.transaction(force_rollback=True):
                deleted = service.execute(sql.SQL("DELETE FROM {}").format(name)).rowcount
            assert deleted == (table not in OF_ALL_TEAMS), table


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
            WHERE n.nspname = %s AND c.relkind IN ('r', 'p') AND c.relname <> 'schema_version'""",
            (SCHEMA,),
        ).fetchall()
    assert [name for name, is_fenced, _ in found if not is_fenced] == []
    assert {name for name, _, key in found if key != "team_id"} == OF_ALL_TEAMS


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
