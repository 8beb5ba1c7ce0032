"""The command line on a Postgres workspace: its tables, its doctor, and an address of which no secret is told."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest

from mycel.settings import load_settings
from mycel.stores.postgres import requirements, vector_scan
from mycel.stores.postgres.schema import SCHEMA
from mycel.stores.postgres.vector_index import INDEXING
from tests.postgres import LOGIN, another, as_url, name_of, server, unmigrated
from tests.service_process import Service, service

pytestmark = pytest.mark.usefixtures("on_files", "words_only", "home")
PASSWORD = "hush-7261"


def with_password(conninfo: str) -> str:
    return as_url(conninfo).replace("@", f":{PASSWORD}@")


@pytest.fixture
def use(untouched, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    return lambda url: monkeypatch.setenv("MYCEL_DATABASE_URL", url)


def states(mycel) -> dict[str, str]:
    return {one["name"]: one["state"] for one in json.loads(mycel.run("doctor", "--json").stdout)["checks"]}


def test_the_owner_makes_the_tables_and_the_service_refuses_to_run_without(untouched, use) -> None:
    empty = unmigrated()
    use(as_url(empty.service))
    refused = untouched.run("save", "before there is a table")
    assert refused.exit_code == 9
    assert "mycel database migrate" in refused.output
    made = untouched.json("database", "migrate", "--url", as_url(empty.owner))
    assert made["before"] == 0
    again = untouched.json("database", "migrate", "--url", as_url(empty.owner))
    assert again == {"before": made["version"], "version": made["version"]}
    assert "already" in untouched.ok("database", "migrate", "--url", as_url(empty.owner))
    untouched.save("after the tables were made")
    assert "after the tables" in untouched.ok("search", "tables")


def test_the_owner_indexes_the_vectors_of_large_teams(untouched, use, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_scan, "EXACT_ROWS", 2)
    one = another()
    use(as_url(one.service))
    for number in range(4):
        untouched.save(f"lesson {number} of the heron")
    with psycopg.connect(one.owner) as owner:
        owner.execute(f"UPDATE {SCHEMA}.passages SET model = 'm', direction = '[0.6,0.8]'")
    assert untouched.json("database", "index", "--url", as_url(one.owner)) == {"indexes": 1}
    assert untouched.json("database", "index", "--url", as_url(one.owner)) == {"indexes": 1}
    with psycopg.connect(one.owner) as owner:
        assert owner.execute("SELECT count(*) FROM pg_indexes WHERE indexname ~ '^nearest_'").fetchone() == (1,)
    assert "1 large team has its index" in untouched.ok("database", "index", "--url", as_url(one.owner))


def test_nobody_but_the_owner_indexes_and_two_do_not_get_in_each_others_way(untouched) -> None:
    one = another()
    refused = untouched.run("database", "index", "--url", as_url(one.service))
    assert (refused.exit_code, "owner" in refused.output) == (9, True)
    refused = untouched.run("database", "index", "--url", as_url(unmigrated().owner))
    assert (refused.exit_code, "mycel database migrate" in refused.output) == (9, True)
    with psycopg.connect(one.owner) as other:
        other.execute("SELECT pg_advisory_lock(%s)", (INDEXING,))
        busy = untouched.run("database", "index", "--url", as_url(one.owner))
        assert (busy.exit_code, "somebody else" in busy.output) == (7, True)


def test_whoever_lacks_something_is_told_what_and_what_to_do(untouched, use, monkeypatch: pytest.MonkeyPatch) -> None:
    empty = another(of="template0")
    wrong = partial(_wrong, untouched)
    assert "CREATE EXTENSION vector" in wrong(9, "database", "migrate", "--url", as_url(empty.owner))
    assert "superuser" in wrong(9, "database", "migrate", "--url", as_url(empty.owner))
    with monkeypatch.context() as patch:
        patch.setattr(requirements, "VECTOR", "mycel_no_such_extension")
        assert "install pgvector 0.8" in wrong(9, "database", "migrate", "--url", as_url(empty.admin))
    made = unmigrated()
    for name, value in (("LEAST_SERVER", 99), ("LEAST_VECTOR", (99, 0))):
        with monkeypatch.context() as patch:
            patch.setattr(requirements, name, value)
            said = wrong(9, "database", "migrate", "--url", as_url(made.owner))
            assert ("99" in said, "ALTER EXTENSION" in said) == (name == "LEAST_SERVER", name == "LEAST_VECTOR")
    assert "log in as the owner" in wrong(9, "database", "migrate", "--url", as_url(made.service))
    use(as_url(made.service))
    assert "nobody has made the tables" in wrong(9, "recent")
    with psycopg.connect(made.admin, autocommit=True) as admin:
        admin.execute(f"REVOKE CONNECT ON DATABASE {name_of(made)} FROM public")
        assert "grant it CONNECT" in wrong(9, "recent")
    use(as_url(server().service))
    with psycopg.connect(server().admin, autocommit=True) as admin:
        admin.execute(f"ALTER ROLE {LOGIN} CONNECTION LIMIT 0")
        try:
            assert "max_connections" in wrong(7, "recent")
        finally:
            admin.execute(f"ALTER ROLE {LOGIN} CONNECTION LIMIT -1")


def _wrong(mycel: Any, code: int, *command: str) -> str:
    refused = mycel.run(*command)
    assert refused.exit_code == code, refused.output
    assert "Traceback" not in refused.output
    return refused.output


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("nothing answers", "no server takes connections"),
        ("no such host", "nobody knows the host"),
        ("no such database", "no database of this name"),
        ("no such role", "refuses this login"),
        ("an unsafe role", "row-level security does not bind"),
    ],
)
def test_the_message_names_what_is_wrong_with_the_address(untouched, use, fault: str, said: str) -> None:
    use(FAULTS[fault]())
    for command in (("recent",), ("serve", "--port", "0")):
        assert said in untouched.run(*command).output
    if fault != "an unsafe role":
        assert said in untouched.run("doctor").output


@pytest.mark.parametrize("command", ["migrate", "index"])
def test_without_an_address_there_is_nothing_to_do(untouched, command: str) -> None:
    refused = untouched.run("database", command)
    assert (refused.exit_code, "url:" in refused.output) == (2, True)


def test_a_folder_is_a_folder_and_a_database_has_a_setting_of_its_own(untouched) -> None:
    untouched.data = f"postgresql://swe-1:{PASSWORD}@localhost/mycel"
    refused = untouched.run("recent")
    assert (refused.exit_code, "MYCEL_DATABASE_URL" in refused.output) == (2, True)
    assert PASSWORD not in refused.output


def test_the_doctor_looks_at_the_database(untouched, use) -> None:
    use(as_url(server().service))
    found = states(untouched)
    assert {"database", "pgvector", "schema", "login", "clock", "connections", "member", "stores", "index"} <= set(
        found
    )
    assert {state for name, state in found.items() if name not in {"service", "agents"}} == {"ok"}
    assert "sqlite" not in found


def test_the_doctor_says_what_is_wrong_with_the_database(untouched, use, monkeypatch: pytest.MonkeyPatch) -> None:
    use(as_url(unmigrated().service))
    assert states(untouched)["schema"] == "problem"
    newer = another()
    use(as_url(newer.service))
    for oldest_writer, state in ((0, "warning"), (9000, "problem")):
        with psycopg.connect(newer.owner) as owner:
            owner.execute(f"UPDATE {SCHEMA}.schema_version SET version = 9000, oldest_writer = {oldest_writer}")
        assert states(untouched)["schema"] == state
    use(as_url(server().owner))
    assert states(untouched)["login"] == "problem"
    monkeypatch.setenv("MYCEL_DATABASE_LOGIN", "trusted")
    assert states(untouched)["login"] == "warning"
    use("postgresql://swe-1@127.0.0.1:1/mycel")
    assert states(untouched)["database"] == "problem"


FAULTS = {
    "nothing answers": lambda: f"postgresql://swe-1:{PASSWORD}@127.0.0.1:1/mycel",
    "no such host": lambda: f"postgresql://swe-1:{PASSWORD}@no-such-host.invalid/mycel",
    "no such database": lambda: with_password(server().service).rpartition("/")[0] + "/nowhere",
    "no such role": lambda: with_password(server().service).replace("mycel_test_service", "nobody"),
    "an unsafe role": lambda: with_password(server().admin),
    "no tables": lambda: with_password(unmigrated().service),
    "an address that cannot be read": lambda: with_password(server().service).replace(PASSWORD, f"{PASSWORD}%zz"),
    "a port that is none": lambda: f"postgresql://swe-1:{PASSWORD}@127.0.0.1:seven/mycel",
    "an option that nobody knows": lambda: f"{with_password(server().service)}?colour={PASSWORD}",
    "not even an address": lambda: f"postgresql://swe-1:{PASSWORD} @host",
    "nothing": lambda: with_password(server().service),
}
COMMANDS = [
    ("doctor",),
    ("save", "a heron"),
    ("recent",),
    ("check",),
    ("model", "list"),
    ("database", "migrate"),
    ("database", "index"),
    ("serve", "--port", "0", "--host", "no-such-host.invalid"),
]


@pytest.mark.parametrize("fault", FAULTS)
def test_no_command_tells_the_password_of_the_database(untouched, use, caplog, fault: str) -> None:
    url = FAULTS[fault]()
    use(url)
    for command in COMMANDS:
        for line in (command, (*command, "--json")):
            assert PASSWORD not in untouched.run(*line).output, line
    for name in ("migrate", "index"):
        assert PASSWORD not in untouched.run("database", name, "--url", url).output
    assert PASSWORD not in caplog.text
    if fault != "not even an address":
        assert PASSWORD not in repr(load_settings(untouched.data))


def test_a_service_tells_no_password_and_marks_its_database(tmp_path: Path) -> None:
    with service(
        tmp_path / "data", MYCEL_DATABASE_URL=with_password(another().service), MYCEL_LOG_LEVEL="debug"
    ) as one:
        written = [one.log, *(path for path in one.data.rglob("*") if path.is_file() and path.name != "operator.token")]
        assert [path.name for path in written if PASSWORD in path.read_text("utf-8", "replace")] == []
        assert json.loads((one.data / "daemon.json").read_text())["database"]


def test_a_command_does_not_mistake_the_service_of_other_files_for_that_of_its_database(
    untouched, use, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MYCEL_DAEMON", "auto")
    running = Service(untouched.data)
    try:
        untouched.ok("recent")
        use(as_url(server().service))
        refused = untouched.run("recent")
        assert (refused.exit_code, "another database" in refused.output) == (5, True)
    finally:
        running.kill()


def test_a_check_says_whose_files_they_are(untouched, use) -> None:
    use(as_url(server().service))
    assert "pg_amcheck" in untouched.run("check").output


def test_the_owner_publishes_changes_and_ends_it(untouched) -> None:
    fresh = another()
    with psycopg.connect(fresh.admin, autocommit=True) as admin:
        if admin.execute("SELECT 1 FROM pg_roles WHERE rolname = 'mycel_test_subscriber'").fetchone() is None:
            admin.execute("CREATE ROLE mycel_test_subscriber NOLOGIN")
    said = ("database", "publish", "--to", "mycel_test_subscriber", "--url", as_url(fresh.owner))
    assert untouched.ok(*said) == "Changes are published now.\n"
    assert untouched.ok(*said) == "Changes are published already.\n"
    assert untouched.json(*said, "--off") == {"published": False}
    assert untouched.ok(*said, "--off") == "Changes are not published already.\n"
    refused = untouched.run("database", "publish", "--to", "mycel_test_subscriber", "--url", as_url(fresh.service))
    assert (refused.exit_code, "owner" in refused.output) == (9, True)
    assert untouched.run("database", "publish", "--to", "nobody_here", "--url", as_url(fresh.owner)).exit_code == 2
    assert "mycel database migrate" in untouched.run("database", "publish", "--url", as_url(unmigrated().owner)).output
