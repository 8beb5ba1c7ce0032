"""The plain design that many build: FTS5 with every word OR-ed, a scan of float vectors, fused by reciprocal rank."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import apsw
import sqlite_vec
from numpy.typing import NDArray

DEPTH = 50
# The usual smoothing of reciprocal ranks.
RANK_SMOOTHING = 60

_BY_WORDS = "SELECT rowid FROM words WHERE words MATCH :words {inside} ORDER BY rank LIMIT :depth"
_BY_MEANING = "SELECT rowid FROM vectors WHERE embedding MATCH :vector AND k = :depth {inside} ORDER BY distance"
_FOLDER = "rowid IN (SELECT number FROM notes WHERE folder = :folder)"
# The plus keeps SQLite from asking FTS5 anew for every row of the folder; vec0 needs the condition as it is.
_INSIDE = {_BY_WORDS: f"AND +{_FOLDER}", _BY_MEANING: f"AND {_FOLDER}"}


class Note(NamedTuple):
    id: str
    folder: str
    text: str


class PlainSearch:
    """Kept in a file, or in memory when none is given.

    Vectors are of length one, so that vec0's own distance, its fastest, orders them as the cosine does.
    """

    def __init__(self, file: Path | None = None, *, dimensions: int) -> None:
        self._connection = apsw.Connection(":memory:" if file is None else str(file))
        self._connection.enable_load_extension(True)
        self._connection.load_extension(sqlite_vec.loadable_path())
        schema = f"""
            PRAGMA synchronous = OFF;
            PRAGMA cache_size = -262144;
            PRAGMA mmap_size = 4294967296;
            CREATE TABLE notes (number INTEGER PRIMARY KEY, id TEXT, folder TEXT, text TEXT);
            CREATE INDEX notes_by_folder ON notes (folder);
            CREATE VIRTUAL TABLE words USING fts5 (text, content = '', tokenize = 'porter');
            CREATE VIRTUAL TABLE vectors USING vec0 (embedding float[{dimensions}])"""
        # Read to the end: the pragmas answer, and what follows them runs only then.
        self._connection.execute(schema).fetchall()
        self.count = 0

    def add(self, notes: Sequence[Note], vectors: NDArray) -> None:
        numbers = range(self.count + 1, self.count + 1 + len(notes))
        with self._connection:
            self._fill("notes VALUES (?, ?, ?, ?)", ((n, *note) for n, note in zip(numbers, notes, strict=True)))
            self._fill("words (rowid, text) VALUES (?, ?)", zip(numbers, (note.text for note in notes), strict=True))
            blobs = (row.tobytes() for row in vectors)
            self._fill("vectors (rowid, embedding) VALUES (?, ?)", zip(numbers, blobs, strict=True))
        self.count += len(notes)

    def search(self, question: str, vector: NDArray, *, folder: str | None = None, limit: int = 10) -> list[Note]:
        words = " OR ".join(f'"{word}"' for word in dict.fromkeys(re.findall(r"\w+", question)))
        asked = {"words": words, "vector": vector.tobytes(), "folder": folder, "depth": DEPTH}
        scores: dict[int, float] = {}
        for sql, inside in _INSIDE.items():
            statement = sql.format(inside="" if folder is None else inside)
            for place, (number,) in enumerate(self._connection.execute(statement, asked)):
                scores[number] = scores.get(number, 0.0) + 1 / (RANK_SMOOTHING + place)
        best = sorted(scores, key=lambda number: -scores[number])[:limit]
        return [self._load(number) for number in best]

    def close(self) -> None:
        self._connection.close()

    def _fill(self, target: str, rows: Iterable[tuple[object, ...]]) -> None:
        self._connection.executemany(f"INSERT INTO {target}", rows)

    def _load(self, number: int) -> Note:
        sql = "SELECT id, folder, text FROM notes WHERE number = ?"
        return Note(*self._connection.execute(sql, (number,)).fetchone())
