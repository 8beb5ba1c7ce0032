"""Runs the benchmarks: `make bench`, or `make bench ARGS="words --bench-data DIR"`."""

from __future__ import annotations

import argparse
import os
import platform
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import apsw

import mycel
from benchmarks import (
    capture,
    context,
    embedding,
    episodes,
    extraction,
    files,
    finding,
    gets,
    hooks,
    imports,
    judging,
    mcp_calls,
    moving,
    pages,
    postgres,
    relevance,
    saves,
    service,
    small_teams,
    startup,
    subscribers,
    summaries,
    teams,
    words,
)

SUITES = {
    "saves": saves.run,
    "gets": gets.run,
    "words": words.run,
    "teams": teams.run,
    "embedding": embedding.run,
    "finding": finding.run,
    "capture": capture.run,
    "extraction": extraction.run,
    "judging": judging.run,
    "relevance": relevance.run,
    "small-teams": small_teams.run,
    "summaries": summaries.run,
    "context": context.run,
    "episodes": episodes.run,
    "imports": imports.run,
    "service": service.run,
    "startup": startup.run,
    "mcp": mcp_calls.run,
    "subscribers": subscribers.run,
    "hooks": hooks.run,
    "moving": moving.run,
    "files": files.run,
    "pages": pages.run,
    "postgres": postgres.run,
}
# The options that a suite takes besides --quick.
OPTIONS = {
    "words": ("bench_data",),
    "judging": ("bench_data",),
    "extraction": ("talk",),
    "embedding": ("model",),
    "relevance": ("model", "cache"),
    "small-teams": ("model", "cache"),
    "finding": ("large", "only", "bench_data", "model", "cache"),
    "postgres": ("only", "bench_data", "model", "cache"),
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks", description="Speed and quality of Mycel.")
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=f"which of {', '.join(SUITES)}; all by default")
    parser.add_argument("--quick", action="store_true", help="smaller sizes and shorter runs")
    parser.add_argument("--bench-data", type=Path, help="folder with the LoCoMo, SciFact and CoSQA data")
    parser.add_argument("--folder", type=Path, help="where to write; the disk there is what is measured")
    parser.add_argument("--large", action="store_true", help="finding: a million memories as well; takes minutes")
    parser.add_argument("--only", choices=("speed", "quality"), help="finding, postgres: one part alone")
    parser.add_argument(
        "--model", type=Path, help="embedding, finding, relevance, small-teams, postgres: folder of a local model"
    )
    parser.add_argument("--cache", type=Path, help="for the same: where vectors are kept for the next run")
    parser.add_argument("--talk", type=Path, help="extraction: print what is drawn from this talk, line by line")
    options = parser.parse_args()
    if unknown := set(options.suites) - set(SUITES):
        parser.error(f"unknown suite: {', '.join(sorted(unknown))}")
    # Stores and words are measured by themselves; what measures meaning names its embedder.
    os.environ["MYCEL_EMBEDDER"] = "none"
    print(
        f"Mycel {mycel.__version__}, SQLite {apsw.sqlite_lib_version()}, Python {platform.python_version()}, "
        f"{platform.machine()}, {datetime.now(UTC):%Y-%m-%d}"
    )
    for name in options.suites or SUITES:
        with tempfile.TemporaryDirectory(dir=options.folder, prefix="mycel-bench-") as folder:
            arguments = {option: getattr(options, option) for option in OPTIONS.get(name, ())}
            SUITES[name](Path(folder), quick=options.quick, **arguments)


if __name__ == "__main__":
    main()
