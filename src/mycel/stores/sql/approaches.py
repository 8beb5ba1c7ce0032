"""Which approaches mean the same: groups of wordings, found by their vectors after they were written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mycel.contracts.episode_store import Wording
from mycel.stores.sql.connection import Connection
from mycel.stores.sql.part import Part, query

if TYPE_CHECKING:
    from mycel.contracts.embedder import Vector

_UNSEEN = ""


class SqlApproaches(Part):
    """See `contracts.episode_store.ApproachReads`."""

    @query
    def next_wordings(self, connection: Connection, model: str, *, limit: int) -> list[Wording]:
        """Of which nobody has vectors of this model; a new model looks at all of them again."""
        sql = """
            SELECT a.id, CASE WHEN e.approach_end > 0 THEN substr(m.content, 1, e.approach_end) ELSE m.title END
            FROM approaches a
            CROSS JOIN episodes e ON e.number = (SELECT max(number) FROM episodes WHERE wording = a.wording)
            CROSS JOIN memories m ON m.number = e.number
            WHERE a.model = ? ORDER BY a.id LIMIT ?"""
        found = [Wording(*row) for row in connection.execute(sql, (_UNSEEN, limit))]
        if found:
            return found
        others = (
            "SELECT model FROM approaches WHERE model > ?1 UNION SELECT model FROM approaches WHERE model < ?1 LIMIT 1"
        )
        other = connection.execute(others, (model,)).fetchone()
        return [] if other is None else [Wording(*row) for row in connection.execute(sql, (other[0], limit))]

    @query
    def first_wordings(self, connection: Connection, model: str, *, limit: int) -> list[tuple[int, Vector]]:
        import numpy as np

        sql = "SELECT id, vector FROM approaches WHERE model = ? AND vector IS NOT NULL ORDER BY id DESC LIMIT ?"
        rows = connection.execute(sql, (model, limit))
        return [(id, np.frombuffer(vector, np.int8).astype(np.float32)) for id, vector in rows]


class ApproachWriter(SqlApproaches):
    """See `contracts.episode_store.ApproachWrites`."""

    @query
    def group(
        self, connection: Connection, model: str, grouped: Sequence[tuple[int, int | None, bytes | None]]
    ) -> None:
        for id, first, vector in grouped:
            row = connection.execute(
                """
                UPDATE approaches SET model = ?, vector = ?,
                  approach_group = coalesce((SELECT approach_group FROM approaches WHERE id = ?), wording)
                WHERE id = ? RETURNING wording, approach_group""",
                (model, vector, first, id),
            ).fetchone()
            if row is not None:
                moved = "UPDATE episodes SET approach_group = ?2 WHERE wording = ?1 AND approach_group <> ?2"
                connection.execute(moved, row)
