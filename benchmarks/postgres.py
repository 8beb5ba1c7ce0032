"""A workspace on Postgres beside the same one on files, on a server started for it or at MYCEL_TEST_DATABASE_URL."""

from __future__ import annotations

import atexit
import os
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg

from benchmarks import postgres_nodes, postgres_saves
from benchmarks.postgres_search import speed
from scripts.postgres import running
from tests.postgres import MEMORY

# What the guide asks for: a team of 100,000 with its index has some 400 MB, which the server's 128 MB do not hold.
SHARED_BUFFERS = "1GB"


def run(
    folder: Path,
    *,
    quick: bool,
    only: str | None = None,
    bench_data: Path | None = None,
    model: Path | None = None,
    cache: Path | None = None,
) -> None:
    _start()
    if only != "quality":
        postgres_saves.run(folder / "saves", quick=quick)
        postgres_nodes.run(folder / "nodes", quick=quick)
        speed(folder, quick=quick)
    if only != "speed" and bench_data is not None:
        from benchmarks.postgres_quality import quality

        quality(folder / "quality", bench_data=bench_data, model=model, cache=cache)


def _start() -> None:
    """A setting of memory needs a second start."""
    if "MYCEL_TEST_DATABASE_URL" in os.environ:
        return
    until_the_end = ExitStack()
    atexit.register(until_the_end.close)
    folder = Path(until_the_end.enter_context(TemporaryDirectory(prefix="mycel-bench-", dir=MEMORY)))
    with running(folder) as url, psycopg.connect(url, autocommit=True) as admin:
        admin.execute(f"ALTER SYSTEM SET shared_buffers = '{SHARED_BUFFERS}'".encode())
    os.environ["MYCEL_TEST_DATABASE_URL"] = until_the_end.enter_context(running(folder))
