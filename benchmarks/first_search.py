"""A process of its own that opens a filled workspace: how long its first search takes, and what memory it needs.

`python -m benchmarks.first_search FOLDER` reads questions from stdin, a JSON list, and prints one JSON object.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from time import perf_counter

# What a search would import when it is first made; Python's own time for that is not what is measured.
_IMPORTED = (
    "numpy",
    "mycel.app",
    "mycel.index.index_file",
    "mycel.retrieval.relevance",
    "mycel.index.team_index",
    "mycel.index.vectors",
)


def main() -> None:
    questions = json.load(sys.stdin)
    started = perf_counter()
    for name in _IMPORTED:
        import_module(name)
    imported = perf_counter()

    from benchmarks.given_vectors import GivenVectors
    from benchmarks.texts import Notes
    from mycel.app import open_workspace

    embedder = GivenVectors(Notes())
    embedder.embed_query(questions[0])
    before = resident_bytes()
    opening = perf_counter()
    with open_workspace(Path(sys.argv[1]), embedder=embedder) as workspace:
        memory = workspace.as_member("swe-1", may_be_new=True)
        first = memory.search(questions[0])
        answered = perf_counter()
        with_index = resident_bytes()
        for question in questions[1:]:
            memory.search(question)
        figures = {
            "import_seconds": imported - started,
            "first_search_seconds": answered - opening,
            "index_bytes": with_index - before,
            "all_bytes": resident_bytes() - before,
            "degraded": list(first.degraded),
        }
    print(json.dumps(figures))


def resident_bytes() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS"))


if __name__ == "__main__":
    main()
