"""Runs the benchmarks: `make bench`, or `make bench ARGS="words --bench-data DIR"`."""

from __future__ import annotations

import argparse
import platform
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import apsw

import mycel
from benchmarks import gets, saves, teams, words

SUITES = {"saves": saves.run, "gets": gets.run, "words": words.run, "teams": teams.run}


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks", description="Speed and quality of Mycel.")
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=f"which of {', '.join(SUITES)}; all by default")
    parser.add_argument("--quick", action="store_true", help="smaller sizes and shorter runs")
    parser.add_argument("--bench-data", type=Path, help="folder with the LoCoMo, SciFact and CoSQA data")
    parser.add_argument("--folder", type=Path, help="where to write; the disk there is what is measured")
    options = parser.parse_args()
    if unknown := set(options.suites) - set(SUITES):
        parser.error(f"unknown suite: {', '.join(sorted(unknown))}")
    print(
        f"Mycel {mycel.__version__}, SQLite {apsw.sqlite_lib_version()}, Python {platform.python_version()}, "
        f"{platform.machine()}, {datetime.now(UTC):%Y-%m-%d}"
    )
    for name in options.suites or SUITES:
        with tempfile.TemporaryDirectory(dir=options.folder, prefix="mycel-bench-") as folder:
            arguments = {"bench_data": options.bench_data} if name == "words" else {}
            SUITES[name](Path(folder), quick=options.quick, **arguments)


if __name__ == "__main__":
    main()
