"""Whether what belongs together in a team's store is there."""

from __future__ import annotations

from mycel.stores.sql.connection import Connection


def find_inconsistency(connection: Connection) -> list[str]:
    missing = connection.execute(
        """
        SELECT (SELECT count(*) FROM memories) - (SELECT count(*) FROM memory_terms),
          (SELECT count(*) FROM changes) - (SELECT coalesce(max(sequence) - min(sequence) + 1, 0) FROM changes)"""
    ).fetchone()
    problems: list[str] = []
    if missing[0]:
        problems.append(f"{missing[0]} memories more than indexed texts")
    if missing[1]:
        problems.append("the change log has gaps")
    return problems
