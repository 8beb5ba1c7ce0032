"""A workspace on Postgres beside the same one on files; the server is found or started as for the tests."""

from __future__ import annotations

from pathlib import Path

from benchmarks import postgres_nodes, postgres_saves
from benchmarks.postgres_search import speed


def run(
    folder: Path,
    *,
    quick: bool,
    only: str | None = None,
    bench_data: Path | None = None,
    model: Path | None = None,
    cache: Path | None = None,
) -> None:
    if only != "quality":
        postgres_saves.run(folder / "saves", quick=quick)
        postgres_nodes.run(folder / "nodes", quick=quick)
        speed(folder, quick=quick)
    if only != "speed" and bench_data is not None:
        from benchmarks.postgres_quality import quality

        quality(folder / "quality", bench_data=bench_data, model=model, cache=cache)
