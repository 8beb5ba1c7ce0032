"""Reading one memory by its id, beside the SELECT of the same row."""

from __future__ import annotations

from pathlib import Path

import apsw

import mycel
from benchmarks.report import Figure, interleaved, p50, show
from benchmarks.texts import Notes


def run(folder: Path, *, quick: bool) -> None:
    notes = Notes()
    with mycel.open(folder / "gets") as workspace:
        memory = workspace.as_member("swe-1", may_be_new=True)
        for _ in range(10):
            saved = memory.save_many([{"content": notes.text(), "tags": ["bench", "deploy"]} for _ in range(1000)])
        wanted = saved[500].id
        connection = apsw.Connection(str(folder / "gets" / "teams" / "executive" / "memory.sqlite"))
        sql = "SELECT * FROM memories WHERE id = ?"
        ours, bare = interleaved(
            lambda: memory.get(wanted),
            lambda: connection.execute(sql, (wanted,)).fetchone(),
            rounds=30 if quick else 200,
            repeat=100,
        )
    ratio = p50(ours) / p50(bare)
    show(
        "Reading",
        [
            Figure(
                "get by id, p50",
                f"{p50(ours) * 1e6:.1f} µs",
                f"bare SELECT through apsw: {p50(bare) * 1e6:.1f} µs",
                f"{ratio:.2f} x",
                "<= 3 x",
                ratio <= 3,
            )
        ],
    )
