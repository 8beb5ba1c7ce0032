"""Scenario 8 between SQLite and Postgres: the archive is the same on both, and a backup of one fills the other."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import psycopg
import pytest

import mycel
from mycel.restoration import restore_workspace
from mycel.settings import load_settings
from tests.acceptance.test_moving import Two, fill, opened
from tests.postgres import Server, another, as_url, emptied, programs, server, unmigrated


def archive(workspace: mycel.Workspace, file: Path) -> list[str]:
    """Without the first line, which says when it was made, and the last, which is its hash."""
    workspace.export(file, team="squad")
    return file.read_text("utf-8").splitlines()[1:-1]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, real_defaults: None) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MYCEL_DATA", str(tmp_path / "own"))
    emptied()
    return tmp_path


def test_8_an_archive_is_the_same_after_the_way_to_postgres_and_back(folder: Path) -> None:
    url = as_url(server().service)
    with opened(folder / "old") as old, opened(url) as database, opened(folder / "back") as back:
        fill(Two(old, database, folder))
        first = archive(old, folder / "first.jsonl")
        database.import_(folder / "first.jsonl", team="squad")
        second = archive(database, folder / "second.jsonl")
        back.import_(folder / "second.jsonl", team="squad")
        third = archive(back, folder / "third.jsonl")
    assert len(first) > 10
    assert first == second == third


def test_a_backup_of_files_fills_a_database_and_back(folder: Path) -> None:
    url = as_url(server().service)
    with opened(folder / "old") as old:
        fill(Two(old, old, folder))
        expected = archive(old, folder / "first.jsonl")
        old.backup(folder / "of-files")
    restore_workspace(load_settings(url), folder / "of-files")
    with mycel.open(url) as database:
        assert archive(database, folder / "second.jsonl") == expected
        database.backup(folder / "of-database")
    restore_workspace(load_settings(folder / "back"), folder / "of-database")
    with mycel.open(folder / "back") as back:
        assert archive(back, folder / "third.jsonl") == expected
        assert back.check() == {}


def test_a_dump_by_the_tools_of_postgres_is_the_same_workspace_again(folder: Path) -> None:
    """By the lines of the guide, as the owner, whom the policies bind."""
    guide = (Path(__file__).parents[2] / "docs/guides/postgres.md").read_text("utf-8")
    dump, restore = re.findall(r"^(pg_(?:dump|restore) .*)$", guide, re.MULTILINE)
    one, again = another(), unmigrated()
    with opened(as_url(one.service)) as database:
        fill(Two(database, database, folder))
        expected = archive(database, folder / "first.jsonl")
        hits = found(database)
    for line, database in ((dump, one), (restore, again)):
        _run(re.sub(r"--dbname=\S+", f"--dbname={as_url(database.owner)}", line))
    with mycel.open(as_url(again.service)) as database:
        assert archive(database, folder / "second.jsonl") == expected
        assert database.check() == {}
        assert found(database) == hits
        swe = database.as_member("swe-1")
        assert swe.save("The dump is in use.").id in {memory.id for memory in swe.recent()}
    for count in ("pg_policy", "pg_class WHERE relforcerowsecurity", "pg_trigger"):
        assert len({_counted(database, count) for database in (one, again)}) == 1, count


def found(workspace: mycel.Workspace) -> list[tuple[str, str]]:
    """By words and by meaning."""
    hits = workspace.as_member("swe-1").search("the WAL, and what is not on time").hits
    assert len(hits) > 1
    return [(hit.memory.id, hit.why) for hit in hits]


def _run(line: str) -> None:
    path = os.pathsep.join([str(programs()), os.environ["PATH"]])
    done = subprocess.run(line.split(), env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def _counted(database: Server, what: str) -> tuple[int, ...] | None:
    with psycopg.connect(database.admin) as admin:
        return admin.execute(f"SELECT count(*) FROM {what}").fetchone()


def test_what_was_purged_in_one_database_stays_so_when_the_other_sends_it_again(folder: Path) -> None:
    url = as_url(server().service)
    with opened(folder / "old") as old, opened(url) as database:
        saved = [old.as_member("swe-1").save(f"To be forgotten, {number}.") for number in range(4)]
        old.as_member("swe-1").link(saved[0].id, saved[1].id, "supports")
        old.export(folder / "whole.jsonl", team="squad")
        database.import_(folder / "whole.jsonl", team="squad")
        database.as_member("swe-1").purge(saved[0].id)
        old.as_member("swe-1").purge(saved[3].id)
        for one, other in ((old, database), (database, old), (old, database)):
            one.export(folder / "again.jsonl", team="squad")
            other.import_(folder / "again.jsonl", team="squad")
        for one in (old, database):
            one.import_(folder / "whole.jsonl", team="squad")
        assert {memory.content for memory in database.as_member("swe-1").list()} == {
            f"To be forgotten, {number}." for number in (1, 2, 3)
        }
        assert {memory.content for memory in old.as_member("swe-1").list()} == {
            f"To be forgotten, {number}." for number in (0, 1, 2)
        }
