"""The vectors of a team's memories: which are missing, and storing them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from mycel.access.scope import ReadScope
from mycel.domain.embedding import Backlog, Embedded, EmbeddingProgress, Reached, Unembedded
from mycel.domain.ids import MemoryId
from mycel.retrieval.passages import embedded_text, text_hash
from mycel.stores.sql.clauses import visible
from mycel.stores.sql.connection import Connection
from mycel.stores.sql.part import Part, query

if TYPE_CHECKING:
    from mycel.contracts.embedder import Vector

_TEXT = """
    m.number, m.id, m.version, m.title, m.content, m.key,
    (SELECT text_hash FROM embeddings e WHERE e.number = m.number AND e.passage = 0 AND e.model = :model)"""
_IN_TURN = f"""
    SELECT {_TEXT} FROM memories m WHERE m.number > :number AND m.number <= :last_number
    ORDER BY m.number LIMIT :limit"""
_CHANGED = f"""
    SELECT {_TEXT}, c.sequence FROM changes c LEFT JOIN memories m ON m.id = c.memory_id
    WHERE c.sequence > :sequence ORDER BY c.sequence LIMIT :limit"""
_STATE = """
    SELECT p.number, p.last_number, p.sequence,
      (SELECT coalesce(max(number), 0) FROM memories), (SELECT coalesce(max(sequence), 0) FROM changes)
    FROM (SELECT 1) LEFT JOIN embedding_progress p ON p.model = ?"""
# A change of anything but the text counts here as well, until the log is gone through to there.
_UNEMBEDDED = """
    m.deleted_at IS NULL AND NOT EXISTS (
      SELECT 1 FROM embeddings e
      WHERE e.number = m.number AND e.passage = 0 AND e.model = :model AND e.version = m.version)"""
_INSERT = """
    INSERT INTO embeddings (number, passage, version, model, dimensions, text_hash, start, "end", vector)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"""


class SqlEmbeddings(Part):
    """See `contracts.search_store.EmbeddingReads`."""

    @query
    def backlog(self, connection: Connection, model: str, *, limit: int) -> Backlog:
        """The next memories whose text has no vectors of this model; nobody reads them through this."""
        noted, started, last_sequence = _state(connection, model)
        reached = started
        values = {"model": model, "limit": limit, **started._asdict()}
        if reached.number < reached.last_number:
            rows = connection.execute(_IN_TURN, values).fetchall()
            reached = reached._replace(number=rows[-1][0] if len(rows) == limit else reached.last_number)
        else:
            rows = connection.execute(_CHANGED, values).fetchall()
            reached = reached._replace(sequence=rows[-1][-1] if rows else reached.sequence)
        left = _left(reached, last_sequence)
        return Backlog(tuple(_missing(rows)), noted, reached, moved=reached != started, left=left)

    @query
    def has_backlog(self, connection: Connection, scope: ReadScope, model: str) -> bool:
        """Whether anything in sight is among what is still to be gone through."""
        _, reached, _ = _state(connection, model)
        seen, values = visible(scope)
        sql = f"""
            SELECT EXISTS (
              SELECT 1 FROM memories m
              WHERE m.number > :number AND m.number <= :last_number AND {_UNEMBEDDED} AND {seen}
            ) OR EXISTS (
              SELECT 1 FROM changes c CROSS JOIN memories m ON m.id = c.memory_id
              WHERE c.sequence > :sequence AND {_UNEMBEDDED} AND {seen})"""
        return bool(connection.execute(sql, {**values, "model": model, **reached._asdict()}).fetchone()[0])

    @query
    def progress(self, connection: Connection, model: str) -> EmbeddingProgress:
        _, reached, last_sequence = _state(connection, model)
        embedded = connection.execute(
            "SELECT count(*) FROM embeddings WHERE passage = 0 AND model = ?", (model,)
        ).fetchone()[0]
        return EmbeddingProgress(model, embedded, _left(reached, last_sequence))

    @query
    def of(
        self, connection: Connection, scope: ReadScope, ids: Collection[MemoryId], *, model: str
    ) -> dict[MemoryId, tuple[bytes, Vector]]:
        import numpy as np

        seen, values = visible(scope)
        sql = f"""
            SELECT m.id, e.text_hash, e.vector FROM json_each(:ids) n CROSS JOIN memories m ON m.id = n.value
            CROSS JOIN embeddings e ON e.number = m.number
            WHERE e.passage = 0 AND e.model = :model AND {seen}"""
        rows = connection.execute(sql, {**values, "ids": json.dumps(list(ids)), "model": model})
        return {MemoryId(id): (hash, np.frombuffer(vector, np.int8).astype(np.float32)) for id, hash, vector in rows}

    @query
    def vectors(self, connection: Connection, numbers: Collection[int], *, model: str) -> dict[int, Vector]:
        import numpy as np

        sql = """
            SELECT e.number, e.vector FROM json_each(?) n CROSS JOIN embeddings e ON e.number = CAST(n.value AS bigint)
            WHERE e.passage = 0 AND e.model = ?"""
        rows = connection.execute(sql, (json.dumps(list(numbers)), model))
        return {number: np.frombuffer(vector, np.int8).astype(np.float32) for number, vector in rows}


class EmbeddingWriter(SqlEmbeddings):
    """See `contracts.search_store.EmbeddingWrites`."""

    @query
    def put(
        self,
        connection: Connection,
        model: str,
        embedded: Sequence[Embedded],
        *,
        started: Reached | None,
        reached: Reached,
    ) -> bool:
        """Text that has changed meanwhile is left to the change that says so."""
        for one in embedded:
            row = connection.execute(
                "SELECT title, content, key FROM memories WHERE number = ?", (one.number,)
            ).fetchone()
            if row is None or text_hash(embedded_text(title=row[0], content=row[1], key=row[2])) != one.text_hash:
                continue
            connection.execute("DELETE FROM embeddings WHERE number = ?", (one.number,))
            connection.executemany(
                _INSERT,
                [
                    (one.number, place, one.version, model, len(vector), one.text_hash, start, end, vector)
                    for place, (start, end, vector) in enumerate(one.passages)
                ],
            )
        # Of other models, only vectors not yet replaced are left.
        connection.execute("DELETE FROM embedding_progress WHERE model <> ?", (model,))
        return _move(connection, model, started, reached)


def _move(connection: Connection, model: str, started: Reached | None, reached: Reached) -> bool:
    """Only from where this worker began: whoever moved it meanwhile has seen another state of the store."""
    if started is None:
        sql = "INSERT INTO embedding_progress VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING 1"
        return connection.execute(sql, (model, *reached)).fetchone() is not None
    sql = """
        UPDATE embedding_progress SET number = ?, last_number = ?, sequence = ?
        WHERE model = ? AND (number, last_number, sequence) = (?, ?, ?) RETURNING 1"""
    return connection.execute(sql, (*reached, model, *started)).fetchone() is not None


def _left(reached: Reached, last_sequence: int) -> int:
    """What is written between the statements that tell both is reached before it is counted."""
    return reached.last_number - reached.number + max(0, last_sequence - reached.sequence)


def _state(connection: Connection, model: str) -> tuple[Reached | None, Reached, int]:
    """What is noted, if anybody has begun; from where to go on; and the end of the log."""
    number, last_number, sequence, newest, last_sequence = connection.execute(_STATE, (model,)).fetchone()
    if number is None:
        # What stands now is gone through by number; what changes from here on is in the log.
        return None, Reached(0, newest, last_sequence), last_sequence
    reached = Reached(number, last_number, sequence)
    return reached, reached, last_sequence


def _missing(rows: Sequence[tuple[Any, ...]]) -> Iterator[Unembedded]:
    seen: set[int] = set()
    for number, id, version, title, content, key, known_hash, *_ in rows:
        if number is None or number in seen:
            continue
        seen.add(number)
        text = embedded_text(title=title, content=content, key=key)
        wanted = text_hash(text)
        if wanted != known_hash:
            yield Unembedded(number, id, version, text, wanted)
