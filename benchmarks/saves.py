"""Durable saves: many callers into one team, beside one commit per write; bulk saves beside bare SQL."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from itertools import cycle
from pathlib import Path
from time import perf_counter

import apsw

import mycel
from benchmarks.report import Figure, show
from benchmarks.texts import Notes
from mycel.contracts.clock import SystemClock
from mycel.domain.draft import new_memory, read_fields, written_at
from mycel.domain.ids import MemberId, MemoryId, TeamName, new_id
from mycel.domain.team import Caller, Role
from mycel.retrieval.terms import packed_terms
from mycel.stores.migrate import migrations
from mycel.stores.sqlite.connection import open_writer
from mycel.stores.sqlite.database import migrate
from mycel.stores.sqlite.transaction import SqliteTransaction

THREADS = 64
CALLER = Caller(MemberId("swe-1"), TeamName("executive"), Role.AGENT)


def run(folder: Path, *, quick: bool) -> None:
    notes = Notes()
    seconds = 1.0 if quick else 4.0
    fsync = bare_fsync(folder)
    bare = single_commits(folder / "single", notes, seconds=seconds)
    with mycel.open(folder / "grouped") as workspace:
        memory = workspace.as_member("swe-1", may_be_new=True)
        texts = cycle([notes.text() for _ in range(5000)])

        def save() -> object:
            return memory.save(next(texts), tags=["bench"])

        one_thread = concurrent([save], seconds=seconds)
        grouped = concurrent([save] * THREADS, seconds=seconds)
    aim = 3 if fsync < 0.001 else 15
    figures = [
        Figure("bare fsync of 4 KiB", "", f"{fsync * 1000:.2f} ms", ""),
        Figure(
            f"durable saves, {THREADS} threads, one team",
            f"{grouped:,.0f}/s",
            f"the same call from 1 thread, so 1 commit each: {one_thread:,.0f}/s",
            f"{grouped / one_thread:.1f} x",
            f">= {aim} x at this fsync",
            grouped >= aim * one_thread,
        ),
        Figure(
            "the same",
            f"{grouped:,.0f}/s",
            f"its statements alone, 1 commit each, no threads: {bare:,.0f}/s",
            f"{grouped / bare:.1f} x",
        ),
        Figure("the same, absolute", f"{grouped:,.0f}/s", "", "", ">= 3,000/s on 2 idle cores", grouped >= 3000),
        *bulk(folder, notes, count=5_000 if quick else 20_000),
    ]
    show("Saving", figures)


def bare_fsync(folder: Path, rounds: int = 100) -> float:
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder / "fsync", os.O_CREAT | os.O_RDWR)
    try:
        started = perf_counter()
        for _ in range(rounds):
            os.write(handle, b"x" * 4096)
            os.fsync(handle)
        return (perf_counter() - started) / rounds
    finally:
        os.close(handle)


def single_commits(folder: Path, notes: Notes, *, seconds: float) -> float:
    """The same rows, words and change, each in a transaction of its own on one thread."""
    folder.mkdir(parents=True)
    connection = make_schema(folder / "memory.sqlite")
    texts = [notes.text() for _ in range(5000)]
    count, until = 0, perf_counter() + seconds
    while perf_counter() < until:
        connection.execute("BEGIN IMMEDIATE")
        transaction = SqliteTransaction(connection, clock=SystemClock())
        values = new_memory(read_fields({"content": texts[count % len(texts)], "tags": ["bench"]}), caller=CALLER)
        record = written_at(values, transaction.committed_at, id=MemoryId(new_id()))
        transaction.memories.insert([(record, packed_terms(record))], by=CALLER.member_id)
        transaction.finish()
        connection.execute("COMMIT")
        count += 1
    connection.close()
    return count / seconds


def concurrent(saves: Sequence[Callable[[], object]], *, seconds: float) -> float:
    """Saves a second, each of the calls repeated by a thread of its own."""
    until = perf_counter() + seconds
    counts = [0] * len(saves)

    def work(place: int) -> None:
        while perf_counter() < until:
            saves[place]()
            counts[place] += 1

    workers = [threading.Thread(target=work, args=(place,)) for place in range(len(saves))]
    started = perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return sum(counts) / (perf_counter() - started)


def bulk(folder: Path, notes: Notes, *, count: int) -> list[Figure]:
    items = [{"content": notes.text(), "tags": ["bench"]} for _ in range(count)]
    with mycel.open(folder / "bulk") as workspace:
        memory = workspace.as_member("swe-1", may_be_new=True)
        started = perf_counter()
        for place in range(0, count, 1000):
            memory.save_many(items[place : place + 1000])
        ours = count / (perf_counter() - started)
    bare = bare_sql(folder / "bare", folder / "bulk" / "teams" / "executive" / "memory.sqlite")
    return [
        Figure(
            f"bulk saves, {count:,} notes",
            f"{ours:,.0f}/s",
            f"bare SQL, same schema and rows: {bare:,.0f}/s",
            f"{ours / bare:.2f} x",
            ">= 10,000/s",
            ours >= 10_000,
        )
    ]


def bare_sql(folder: Path, filled: Path) -> float:
    """The very rows of the store that was just filled, put into an empty one by executemany."""
    folder.mkdir(parents=True)
    source = apsw.Connection(str(filled))
    names = ("memories", "memory_tags", "memory_terms", "changes")
    tables = {name: source.execute(f"SELECT * FROM {name}").fetchall() for name in names}
    count = len(tables["memories"])
    connection = make_schema(folder / "memory.sqlite")
    started = perf_counter()
    for place in range(0, count, 1000):
        connection.execute("BEGIN IMMEDIATE")
        for name, rows in tables.items():
            part = rows[place : place + 1000]
            marks = ", ".join("?" * len(rows[0]))
            connection.executemany(f"INSERT INTO {name} VALUES ({marks})", part)
        connection.execute("COMMIT")
    return count / (perf_counter() - started)


def make_schema(path: Path) -> apsw.Connection:
    connection = open_writer(path)
    migrate(connection, migrations("mycel.stores.sqlite", "team"))
    return connection
