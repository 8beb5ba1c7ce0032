"""How fast memories are found on Postgres, beside SQLite and a bare scan of the same vectors."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import perf_counter

import psycopg

from benchmarks.finding_speed import MEMBER, QUESTIONS, SIZES, WARMING, Corpus
from benchmarks.report import Figure, interleaved, p50, p95, show
from mycel.app import open_workspace
from mycel.stores.postgres.schema import SCHEMA
from mycel.stores.postgres.vector_index import index_large_teams
from mycel.stores.postgres.vector_scan import EXACT_ROWS
from tests.postgres import as_url, emptied, server

# What a search may take, by the number of memories.
AIMS = {SIZES[0]: 0.008, SIZES[1]: 0.030}
COMMON_WORDS = 3

_BARE_SCAN = "SELECT number FROM passages ORDER BY direction <=> %s::halfvec LIMIT 60"


def speed(folder: Path, *, quick: bool) -> None:
    os.environ["MYCEL_DATA"] = str(folder / "settings")
    emptied()
    on_server = Corpus(folder / "server", database=as_url(server().service))
    on_files = Corpus(folder / "files")
    for size in SIZES[:1] if quick else SIZES:
        seconds = [_seconds(lambda corpus=corpus, size=size: corpus.fill(size)) for corpus in (on_server, on_files)]
        with psycopg.connect(server().owner, autocommit=True) as owner:
            owner.execute("VACUUM ANALYZE")
        indexing = _seconds(lambda: index_large_teams(server().owner, above=EXACT_ROWS))
        figures = [
            Figure("filling up to here", f"{seconds[0]:.0f} s", f"SQLite: {seconds[1]:.0f} s", ""),
            Figure("index of vectors", f"{indexing:.0f} s" if size > SIZES[0] else "none", "", ""),
            *_searching(on_server, on_files),
        ]
        show(f"Postgres: searching {size:,} memories, vectors given", figures)


def _searching(on_server: Corpus, on_files: Corpus) -> Iterator[Figure]:
    asked = on_server.questions(WARMING + QUESTIONS)
    on_files.questions(WARMING + QUESTIONS)
    common = [" ".join(on_server.notes.common(COMMON_WORDS)) for _ in range(QUESTIONS)]
    embedder = on_server.embedder
    with (
        open_workspace(on_server.address, embedder=embedder) as server_workspace,
        open_workspace(on_files.address, embedder=embedder) as files_workspace,
        psycopg.connect(server().owner, autocommit=True) as owner,
    ):
        owner.execute("SELECT set_config('search_path', %s, false)", (f"{SCHEMA}, public",))
        # Every row is measured, one after the other.
        owner.execute("SET enable_indexscan = off; SET max_parallel_workers_per_gather = 0; SET jit = off")
        ours, files = (workspace.as_member(MEMBER) for workspace in (server_workspace, files_workspace))
        times = _interleaved(asked, ours.search, files.search)
        # Apart from the others: it reads all there is, and what they read would have to be fetched again.
        vectors = {question: str(embedder.embed_query(question)[0].tolist()) for question in asked}
        times += _interleaved(asked, lambda question: owner.execute(_BARE_SCAN, (vectors[question],)).fetchall())
        yield from _figures("words and vector", times, on_server.count)
    with open_workspace(on_server.address) as server_workspace, open_workspace(on_files.address) as files_workspace:
        ours, files = (workspace.as_member(MEMBER) for workspace in (server_workspace, files_workspace))
        for name, questions in (("words alone", asked), ("common words alone", common)):
            times = _interleaved(questions, ours.search, files.search)
            yield from _figures(name, times)


def _interleaved(questions: Sequence[str], *calls: Callable[[str], object]) -> list[list[float]]:
    """Seconds of each call, without those of the first questions."""
    seconds: list[list[float]] = [[] for _ in calls]
    for place, question in enumerate(questions):
        once = interleaved(*[lambda call=call, question=question: call(question) for call in calls], rounds=1)
        if place >= WARMING:
            for kept, new in zip(seconds, once, strict=True):
                kept.extend(new)
    return seconds


def _figures(name: str, times: Sequence[Sequence[float]], count: int | None = None) -> Iterator[Figure]:
    aim = None if count is None else AIMS.get(count)
    bare = f"; bare halfvec scan: {_ms(p50(times[2]))}" if len(times) > 2 else ""
    yield Figure(
        f"{name}, p50",
        _ms(p50(times[0])),
        f"SQLite: {_ms(p50(times[1]))}{bare}",
        f"{p50(times[0]) / p50(times[1]):.1f} x",
        "" if aim is None else f"<= {_ms(aim)}",
        None if aim is None else p50(times[0]) <= aim,
    )
    yield Figure(f"{name}, p95", _ms(p95(times[0])), f"SQLite: {_ms(p95(times[1]))}", "")


def _seconds(call: Callable[[], object]) -> float:
    started = perf_counter()
    call()
    return perf_counter() - started


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms"
