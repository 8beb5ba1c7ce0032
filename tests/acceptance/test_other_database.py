"""A workspace moves to Postgres and back, and nothing about it changes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import psycopg
import pytest

import mycel
from mycel.app import open_workspace
from mycel.contracts.clock import SystemClock
from mycel.contracts.tables import Row, Table, Take
from mycel.domain.ids import TeamName
from mycel.domain.transfer import ORGANISATION, Outcome
from mycel.errors import Conflict
from mycel.services.transfer import Side, transfer
from mycel.stores.postgres.pool import open_database
from mycel.stores.postgres.schema import SCHEMA
from mycel.stores.sql.tables import OF_ORGANISATION, OF_TEAM
from mycel.stores.sqlite.database import Disk
from mycel.stores.sqlite.pool import open_data_directory
from mycel.testing.embedder import WordEmbedder
from tests.acceptance.test_moving import MEMBERS, Two, everything, fill, opened
from tests.postgres import as_url, emptied, server
from tests.service_process import environment

# What a database makes of the other rows by itself.
DERIVED = {
    "sqlite": {"stores", "event_counts", "search_revision", "sqlite_sequence"},
    "postgres": {
        *("heads", "event_counts", "passages", "audiences", "organisation", "schema_version"),
        # What nobody misses later.
        "request_counts",
    },
}


@pytest.fixture
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, real_defaults: None) -> Path:
    """A workspace with something of every sort."""
    monkeypatch.chdir(tmp_path)
    emptied()
    with opened(tmp_path / "old") as workspace:
        fill(Two(workspace, workspace, tmp_path))
        one = workspace.as_member("swe-1")
        one.rate(one.search("WAL").hits[0].memory.id, useful=True)
        workspace.issue_token("swe-1")
    return tmp_path / "old"


def on_files(folder: Path) -> Side:
    return Side(*open_data_directory(folder, clock=SystemClock(), disk=Disk()))


def on_postgres() -> Side:
    return Side(*open_database(as_url(server().service), clock=SystemClock()))


def close(*sides: Side) -> None:
    for side in sides:
        side.stores.close()
        side.directory.close()


def rows_of(side: Side) -> dict[str, dict[str, list[str]]]:
    found: dict[str, dict[str, list[str]]] = {}
    for part in (ORGANISATION, "squad", "executive"):
        tables = found.setdefault(part, {})

        def take(table: Table, rows: Sequence[Row], tables: dict[str, list[str]] = tables) -> None:
            tables.setdefault(table.name, []).extend(
                json.dumps(dict(sorted(zip(table.columns, row, strict=True))), default=bytes.hex) for row in rows
            )

        with side.tables(part) as source:
            source.read(take)
    return {part: {name: sorted(rows) for name, rows in tables.items()} for part, tables in found.items()}


def moved(source: Side, target: Side, *, replace: bool = False) -> dict[str, Outcome]:
    report = transfer(source, target, replace=replace)
    assert report.written_meanwhile == ()
    return {part.name: part.outcome for part in report.parts}


def test_everything_is_the_same_on_postgres_and_back(old: Path, tmp_path: Path) -> None:
    files, database, again = on_files(old), on_postgres(), on_files(tmp_path / "again")
    moved(files, database)
    moved(database, again)
    rows = rows_of(files)
    assert rows["squad"].keys() >= {"memory_terms", "embeddings", "ratings", "receipts", "episodes", "ingestion_events"}
    assert rows_of(database) == rows
    assert rows_of(again) == rows
    close(files, database, again)
    with mycel.open(old) as one, mycel.open(as_url(server().service)) as two, mycel.open(tmp_path / "again") as three:
        for member in MEMBERS:
            expected = everything(one.as_member(member))
            assert everything(two.as_member(member)) == expected
            assert everything(three.as_member(member)) == expected
        for number, workspace in enumerate((one, two, three)):
            workspace.export(tmp_path / f"{number}.jsonl", team="squad")
    archives = [archive_lines(tmp_path / f"{number}.jsonl") for number in range(3)]
    assert archives[1:] == [archives[0], archives[0]]


@pytest.mark.proof
@pytest.mark.timeout(3600)
def test_a_hundred_thousand_memories_are_the_same_on_postgres_and_back(tmp_path: Path) -> None:
    emptied()
    address, count, at_once = as_url(server().service), 100_000, 1_000
    with open_workspace(
        tmp_path / "old", disk=Disk(synchronous="OFF"), embedder=WordEmbedder(dimensions=384)
    ) as workspace:
        memory = workspace.as_operator()
        for start in range(0, count, at_once):
            lessons = [f"Lesson {number} of rack {number % 97}." for number in range(start, start + at_once)]
            first, second, *_ = memory.save_many([{"content": lesson, "tags": ["racks"]} for lesson in lessons])
            memory.update(first.id, content=f"Corrected lesson {start}.")
            memory.delete(second.id)
        workspace.embed_pending()
        assert workspace.embedding_progress().pending == 0
    files, database, again = on_files(tmp_path / "old"), on_postgres(), on_files(tmp_path / "again")
    assert set(moved(files, database).values()) == {Outcome.MOVED}
    assert set(moved(database, again).values()) == {Outcome.MOVED}
    close(files, database, again)
    for number, place in enumerate((tmp_path / "old", address, tmp_path / "again")):
        with mycel.open(place) as workspace:
            workspace.export(tmp_path / f"{number}.jsonl")
    archives = [archive_lines(tmp_path / f"{number}.jsonl") for number in range(3)]
    assert len(archives[0]) > count
    assert archives[1:] == [archives[0], archives[0]]


def archive_lines(file: Path) -> list[str]:
    """But for the first and the last, which say when it was written."""
    return file.read_text("utf-8").splitlines()[1:-1]


def test_writing_goes_on_where_the_old_side_ended(old: Path) -> None:
    files, database = on_files(old), on_postgres()
    moved(files, database)
    close(files, database)
    with mycel.open(old) as one, mycel.open(as_url(server().service)) as two:
        last = max(change.sequence for change in one.as_operator("squad").changes())
        swe = two.as_member("swe-1")
        saved = swe.save("The new side has its first memory.")
        swe.episodes.log(task_id="T-2", action="failed", approach="another way entirely", outcome="no")
        assert next(swe.changes(after=last)).sequence == last + 1
        assert saved.id in [hit.memory.id for hit in swe.search("first memory of the new side").hits]


def test_every_table_is_moved_or_made_of_the_others(old: Path) -> None:
    moved_tables = {*OF_TEAM, *OF_ORGANISATION}
    with psycopg.connect(server().owner) as owner:
        rows = owner.execute("SELECT tablename FROM pg_tables WHERE schemaname = %s", (SCHEMA,)).fetchall()
    assert {name for (name,) in rows} - DERIVED["postgres"] == moved_tables
    import apsw

    for file, expected in (("workspace.sqlite", OF_ORGANISATION), ("teams/squad/memory.sqlite", OF_TEAM)):
        connection = apsw.Connection(str(old / file))
        names = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
        assert names - DERIVED["sqlite"] == set(expected)
        connection.close()


def test_a_move_that_was_cut_off_goes_on(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files, database = on_files(old), on_postgres()
    with files.stores.lease(TeamName("squad")) as store:
        whole = store.tables.read

        def cut(take: Take) -> None:
            def break_off(table: Table, rows: Sequence[Row]) -> None:
                if table.name == "changes":
                    raise KeyboardInterrupt
                take(table, rows)

            whole(break_off)

        monkeypatch.setattr(store.tables, "read", cut)
        with pytest.raises(KeyboardInterrupt):
            transfer(files, database)
        monkeypatch.undo()
    with database.stores.lease(TeamName("squad")) as store:
        assert store.tables.count() == 0
    outcomes = moved(files, database)
    assert outcomes[ORGANISATION] is Outcome.ALREADY_THERE
    assert outcomes["squad"] is Outcome.MOVED
    assert set(moved(files, database).values()) == {Outcome.ALREADY_THERE}
    close(files, database)


def test_what_the_other_side_has_of_its_own_is_kept_unless_told(old: Path) -> None:
    files, database = on_files(old), on_postgres()
    moved(files, database)
    close(database)
    with mycel.open(as_url(server().service)) as workspace:
        workspace.as_member("swe-1").save("Only the new side knows this.")
    database = on_postgres()
    with pytest.raises(Conflict, match="squad is on the other side already"):
        transfer(files, database)
    assert moved(files, database, replace=True)["squad"] is Outcome.MOVED
    assert rows_of(files) == rows_of(database)
    close(files, database)


def test_a_database_with_teams_of_its_own_is_left_alone(old: Path, tmp_path: Path) -> None:
    with mycel.open(as_url(server().service)) as workspace:
        workspace.add_team("other")
        workspace.add_member("ops-1", team="other")
        workspace.as_member("ops-1").save("We were here first.")
    files, database = on_files(old), on_postgres()
    for replace in (False, True):
        with pytest.raises(Conflict, match="teams of its own: other"):
            transfer(files, database, replace=replace)
    close(files, database)


def test_a_database_that_was_only_opened_counts_as_empty(old: Path) -> None:
    with mycel.open(as_url(server().service)):
        pass
    files, database = on_files(old), on_postgres()
    assert moved(files, database)[ORGANISATION] is Outcome.MOVED
    close(files, database)


def test_what_is_written_meanwhile_is_told(old: Path) -> None:
    files, database = on_files(old), on_postgres()
    written: list[str] = []

    def write(name: str, done: int, whole: int) -> None:
        if name == "squad" and not written:
            with mycel.open(old) as workspace:
                written.append(workspace.as_member("swe-1").save("Too late for the move.").id)

    assert transfer(files, database, report=write).written_meanwhile == ("squad",)
    close(files, database)


def test_the_command_moves_both_ways_and_says_what_it_compared(old: Path, tmp_path: Path) -> None:
    url = as_url(server().service)

    def run(*words: str, data: Path = old) -> subprocess.CompletedProcess[str]:
        line = [sys.executable, "-m", "mycel.surfaces.cli.main", "--data", str(data), "migrate", *words]
        return subprocess.run(line, env=environment(), capture_output=True, text=True, timeout=60, check=False)

    there = run("--to", url)
    assert (there.returncode, there.stderr) == (0, "Both sides are the same, row by row.\n")
    assert [line.split("\t")[0] for line in there.stdout.splitlines()] == ["part", "organisation", "squad"]
    back = json.loads(run("--from", url, "--json", data=tmp_path / "again").stdout)
    assert [(part["name"], part["outcome"]) for part in back["parts"]] == [
        ("organisation", "moved"),
        ("squad", "moved"),
    ]
    assert {part["checksum"] for part in back["parts"]} == {
        line.split("\t")[2] for line in there.stdout.splitlines()[1:]
    }
    for words, told in (
        ((), "--to or --from names the Postgres database"),
        (("--to", url, "--from", url), "to: is the same database"),
        (("--to", "mysql://host/x"), "--to: must be an address such as postgresql://host/database"),
    ):
        failed = run(*words)
        assert failed.returncode != 0, words
        assert told in failed.stderr, failed.stderr
