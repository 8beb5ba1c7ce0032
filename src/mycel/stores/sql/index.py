"""What ranking needs to know of the memories that a search may return."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from mycel.access.scope import ReadScope
from mycel.contracts.search_store import PastVersion
from mycel.domain.ids import MemoryId
from mycel.domain.memory import INDEXED, Memory
from mycel.domain.query import Filters
from mycel.domain.search_request import Signals
from mycel.retrieval.lexical import values_hold_phrase
from mycel.retrieval.passages import embedded_text, text_hash
from mycel.retrieval.terms import ANALYSER
from mycel.stores.sql.clauses import matching, visible
from mycel.stores.sql.connection import Connection, Cursor
from mycel.stores.sql.part import Part, query
from mycel.stores.sql.rows import columns_of, memory_from, micros, moment_or_none, unpacked_texts

_MEMORY = columns_of("m")
# Terms of an earlier analyser; a constant, as the index that holds them alone has it.
OUTDATED = f"analyser < {ANALYSER}"
# The fields that words are found in.
_SEARCHED = tuple(name for names in INDEXED.values() for name in names)
# The texts of so many memories are read at once where words are quoted, in answers of some megabytes.
TEXTS_READ = 4_000
_UNREAD = Signals()
_NO_VOICES: Mapping[tuple[int, int], set[str]] = {}


class SqlIndex(Part):
    """The part of `contracts.search_store.IndexReads` that asks for known memories."""

    # The memories of `:numbers`, each looked up by its number and by nothing else that a filter names.
    BY_NUMBER = "json_each(:numbers) n CROSS JOIN memories m ON m.number = CAST(n.value AS bigint) WHERE true"

    @query
    def load(
        self, connection: Connection, scope: ReadScope, numbers: Collection[int], *, filters: Filters
    ) -> dict[int, Memory]:
        """Those of the numbers that the scope sees and the filters let through."""
        rows = self._ask_memories(connection, scope, numbers, filters)
        return {row[-1]: memory_from(row, scope.team) for row in rows}

    @query
    def load_with_signals(
        self, connection: Connection, scope: ReadScope, numbers: Collection[int], *, filters: Filters
    ) -> dict[int, tuple[Memory, Signals]]:
        """Both are asked for before the first answer is looked at: where the database is far, they travel together."""
        rows = self._ask_memories(connection, scope, numbers, filters)
        usage = _ask_usage(connection, scope, numbers)
        memories = {row[-1]: memory_from(row, scope.team) for row in rows}
        signals = _read_signals(connection, scope, usage)
        return {number: (memory, signals.get(number, _UNREAD)) for number, memory in memories.items()}

    def _ask_memories(
        self, connection: Connection, scope: ReadScope, numbers: Collection[int], filters: Filters
    ) -> Cursor:
        seen, values = visible(scope)
        wanted, filter_values = matching(filters, found=True)
        sql = f"SELECT {_MEMORY}, m.number FROM {self.BY_NUMBER} AND {seen} AND {wanted}"
        return connection.execute(sql, {**values, **filter_values, "numbers": _listed(numbers)})

    def holding_phrase(
        self, scope: ReadScope, numbers: Sequence[int], phrase: Sequence[str], *, filters: Filters
    ) -> frozenset[int]:
        """Those in whose texts the terms follow each other; of every one the texts are read, and nothing else."""
        found: list[int] = []
        for first in range(0, len(numbers), TEXTS_READ):
            found += self._holding_phrase(scope, numbers[first : first + TEXTS_READ], phrase, filters)
        return frozenset(found)

    @query
    def _holding_phrase(
        self, connection: Connection, scope: ReadScope, numbers: Sequence[int], phrase: Sequence[str], filters: Filters
    ) -> list[int]:
        seen, values = visible(scope)
        wanted, filter_values = matching(filters, found=True)
        sql = f"SELECT {columns_of('m', _SEARCHED)}, m.number FROM {self.BY_NUMBER} AND {seen} AND {wanted}"
        rows = connection.execute(sql, {**values, **filter_values, "numbers": _listed(numbers)})
        return [row[-1] for row in rows if values_hold_phrase(_searched(row), phrase)]

    @query
    def has_outdated(self, connection: Connection) -> bool:
        return bool(connection.execute(f"SELECT EXISTS (SELECT 1 FROM memory_terms WHERE {OUTDATED})").fetchone()[0])

    @query
    def find_number(self, connection: Connection, scope: ReadScope, id: MemoryId) -> int | None:
        seen, values = visible(scope)
        sql = f"SELECT m.number FROM memories m WHERE m.id = :id AND m.deleted_at IS NULL AND {seen}"
        row = connection.execute(sql, {**values, "id": id}).fetchone()
        return None if row is None else row[0]

    @query
    def numbers(self, connection: Connection, scope: ReadScope, ids: Sequence[MemoryId]) -> Mapping[MemoryId, int]:
        seen, values = visible(scope)
        sql = f"""
            SELECT m.id, m.number FROM json_each(:ids) n CROSS JOIN memories m ON m.id = n.value
            WHERE m.deleted_at IS NULL AND {seen}"""
        return dict(connection.execute(sql, {**values, "ids": json.dumps(list(ids))}).fetchall())

    @query
    def signals(self, connection: Connection, scope: ReadScope, numbers: Collection[int]) -> Mapping[int, Signals]:
        """One voice for each member. What builds on a memory speaks for it, as far as the reader may see that.

        What authors read of their own counts in their own searches alone.
        """
        return _read_signals(connection, scope, _ask_usage(connection, scope, numbers))

    @query
    def past_versions(
        self, connection: Connection, scope: ReadScope, *, at: datetime, filters: Filters, limit: int
    ) -> list[PastVersion]:
        """What stood differently at that moment, or is deleted since, as the reader could see it then and may today."""
        seen_then, values = visible(scope, "v")
        seen_now, _ = visible(scope)
        wanted, filter_values = matching(filters, "v", past=True)
        sql = f"""
            SELECT {columns_of("v")}, v.number, e.text_hash
            FROM memory_versions v JOIN memories m ON m.id = v.id
            LEFT JOIN embeddings e ON e.number = v.number AND e.passage = 0
            WHERE v.valid_from <= :at AND v.valid_to > :at AND {seen_then} AND {seen_now} AND {wanted}
            ORDER BY v.number DESC LIMIT :limit"""
        bound = {**values, **filter_values, "at": micros(at), "limit": limit}
        return [_past(row, scope) for row in connection.execute(sql, bound)]


def _searched(row: tuple[Any, ...]) -> dict[str, Any]:
    values = dict(zip(_SEARCHED, row, strict=False))
    values["tags"] = unpacked_texts(values["tags"]) if values["tags"] else ()
    return values


def _listed(numbers: Iterable[int]) -> str:
    """As JSON."""
    return f"[{','.join(map(str, numbers))}]"


def _ask_usage(connection: Connection, scope: ReadScope, numbers: Collection[int]) -> Cursor:
    sql = """
        SELECT m.number, coalesce(CASE m.agent_id WHEN ?2 THEN u.access_count ELSE u.others_count END, 0),
          CASE m.agent_id WHEN ?2 THEN u.last_accessed_at ELSE u.others_last_at END,
          EXISTS (SELECT 1 FROM ratings r WHERE r.memory_id = m.id)
            OR EXISTS (SELECT 1 FROM memory_links l WHERE l.to_id = m.id)
        FROM json_each(?1) n CROSS JOIN memories m ON m.number = CAST(n.value AS bigint)
        LEFT JOIN memory_usage u ON u.memory_id = m.id"""
    return connection.execute(sql, (_listed(numbers), scope.member_id))


def _read_signals(connection: Connection, scope: ReadScope, usage: Cursor) -> dict[int, Signals]:
    used = usage.fetchall()
    spoken_of = [number for number, _, _, has_voices in used if has_voices]
    voices = _read_voices(connection, scope, _listed(spoken_of)) if spoken_of else _NO_VOICES
    return {
        number: Signals(count, moment_or_none(last), len(voices.get((number, 1), ())), len(voices.get((number, 0), ())))
        for number, count, last, _ in used
    }


def _read_voices(connection: Connection, scope: ReadScope, numbers: str) -> Mapping[tuple[int, int], set[str]]:
    """Who found each useful (1), or built on it, and who useless (0). An author can only speak against its own."""
    seen, values = visible(scope, "o")
    sql = f"""
        SELECT m.number, r.useful, r.member_id
        FROM json_each(:numbers) n CROSS JOIN memories m ON m.number = CAST(n.value AS bigint)
        CROSS JOIN ratings r ON r.memory_id = m.id
        WHERE NOT r.useful OR r.member_id <> m.agent_id
        UNION ALL
        SELECT m.number, true, o.agent_id
        FROM json_each(:numbers) n CROSS JOIN memories m ON m.number = CAST(n.value AS bigint)
        CROSS JOIN memory_links l ON l.to_id = m.id CROSS JOIN memories o ON o.id = l.from_id
        WHERE l.relation IN ('supports', 'derived_from') AND o.deleted_at IS NULL
          AND o.agent_id <> m.agent_id AND l.created_by <> m.agent_id AND {seen}"""
    voices: defaultdict[tuple[int, int], set[str]] = defaultdict(set)
    for number, useful, member in connection.execute(sql, {**values, "numbers": numbers}):
        voices[number, useful].add(member)
    return voices


def _past(row: tuple[Any, ...], scope: ReadScope) -> PastVersion:
    memory = memory_from(row, scope.team)
    text = embedded_text(title=memory.title, content=memory.content, key=memory.key)
    return PastVersion(row[-2], memory, row[-1] == text_hash(text))
