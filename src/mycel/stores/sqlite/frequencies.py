"""How common each word is among what one reader may read, remembered for as long as nothing has changed."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from math import isclose

import apsw

from mycel.access.scope import ReadScope
from mycel.retrieval.bm25 import rarity_of
from mycel.stores.sqlite.connection import one_moment
from mycel.stores.sqlite.word_index import audience_query, quoted

CACHED_COUNTS = 20_000
# Counting a word costs as much as it is common, 20 ns for each row. Up to here that is no more than bringing a count
# up to date costs.
WORTH_KEEPING = 1_000
# The length of a note, where nothing is shared that could tell it.
USUAL_TERMS = 40.0

# By how much the rarity of a word may differ before rows that are ranked by one cannot be put beside the others.
ABOUT_AS_RARE = 0.03

_STATE = "SELECT ifnull(max(sequence), 0) FROM changes"
# Whatever is not a new memory at the end may have taken words away.
_ONLY_NEW = "SELECT NOT EXISTS (SELECT 1 FROM changes WHERE sequence > ? AND operation <> 'create')"
_LAST_NUMBER = "SELECT ifnull(max(number), 0) FROM memories"
# FTS5's own record of the table: how many rows, then how many terms in each column.
_TOTALS = "SELECT block FROM memory_words_data WHERE id = 1"
_COUNTED = """
    SELECT v.term, v.doc FROM json_each(?) t CROSS JOIN memory_vocabulary v ON v.term = t.value"""
_COUNTED_SINCE = "SELECT count(*) FROM memory_words WHERE memory_words MATCH ? AND rowid > ?"
_RESTRICTED = "SELECT v.term FROM json_each(?) t CROSS JOIN restricted_vocabulary v ON v.term = t.value"
_COUNTED_RESTRICTED = "SELECT count(*) FROM restricted_words WHERE restricted_words MATCH ?"

# Stands for no term: all that the reader may read of the restricted.
_ALL = ""


@dataclass(frozen=True, slots=True)
class Counted:
    """In how many memories each term stands, of how many, how many of these are restricted, and their usual length.

    `like_shared`: among what everybody may read, each term is about as rare as among all that this reader may.
    """

    frequencies: Mapping[str, int]
    documents: int
    restricted: int
    usual_length: float
    like_shared: bool = True


class WordFrequencies:
    """Exact for the state of the store it is asked in, whatever stood there before."""

    def __init__(self) -> None:
        self._counts = _Counts(-1)

    def look_up(self, connection: apsw.Connection, scope: ReadScope, terms: Iterable[str]) -> Counted:
        wanted = list(dict.fromkeys(terms))
        audience = audience_query(scope)
        counts = self._counts
        if counts.sequence != _one(connection, _STATE) or not counts.know(audience, wanted):
            with one_moment(connection):
                counts = self._counts = _brought_up_to_date(counts, connection)
                counts.count(connection, audience, wanted)
        return counts.of(audience, wanted)


@dataclass(slots=True)
class _Counts:
    """Counts at one moment. Another moment has another object, so that no thread puts a late count into it."""

    sequence: int
    last_number: int = 0
    shared: int = 0
    shared_terms: int = 0
    by_term: dict[str, int] = field(default_factory=dict[str, int])
    # Of an earlier moment since when only new memories came: the counts of common words, and up to which number.
    earlier: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    # By audience and term.
    restricted: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])

    def know(self, audience: str | None, terms: Collection[str]) -> bool:
        known = all(term in self.by_term for term in terms)
        return known and (audience is None or all((audience, term) in self.restricted for term in (_ALL, *terms)))

    def of(self, audience: str | None, terms: Collection[str]) -> Counted:
        frequencies = {term: self.by_term[term] for term in terms}
        restricted = 0
        if audience is not None:
            restricted = self.restricted[audience, _ALL]
            frequencies = {term: count + self.restricted[audience, term] for term, count in frequencies.items()}
        usual = self.shared_terms / self.shared if self.shared_terms else USUAL_TERMS
        documents = self.shared + restricted
        alike = all(
            isclose(rarity_of(self.by_term[term], self.shared), rarity_of(count, documents), rel_tol=ABOUT_AS_RARE)
            for term, count in frequencies.items()
        )
        return Counted(frequencies, documents, restricted, usual, like_shared=alike)

    def count(self, connection: apsw.Connection, audience: str | None, terms: Collection[str]) -> None:
        missing = [term for term in terms if term not in self.by_term]
        for term in [term for term in missing if term in self.earlier]:
            count, number = self.earlier[term]
            self.by_term[term] = count + _one(connection, _COUNTED_SINCE, (quoted(term), number))
        anew = [term for term in missing if term not in self.earlier]
        found = dict(connection.execute(_COUNTED, (json.dumps(anew),))) if anew else {}
        self.by_term.update({term: found.get(term, 0) for term in anew})
        if audience is not None:
            self._count_restricted(connection, audience, terms)

    def _count_restricted(self, connection: apsw.Connection, audience: str, terms: Collection[str]) -> None:
        missing = [term for term in terms if (audience, term) not in self.restricted]
        if (audience, _ALL) not in self.restricted:
            self.restricted[audience, _ALL] = _one(connection, _COUNTED_RESTRICTED, (audience,))
        counts = dict.fromkeys(missing, 0)
        if self.restricted[audience, _ALL] and missing:
            there = connection.execute(_RESTRICTED, (json.dumps(missing),)).fetchall()
            for (term,) in there:
                asked = f"{audience} AND - audience : {quoted(term)}"
                counts[term] = _one(connection, _COUNTED_RESTRICTED, (asked,))
        self.restricted.update({(audience, term): count for term, count in counts.items()})


def _brought_up_to_date(counts: _Counts, connection: apsw.Connection) -> _Counts:
    sequence = _one(connection, _STATE)
    if sequence == counts.sequence and len(counts.by_term) + len(counts.restricted) <= CACHED_COUNTS:
        return counts
    rows, *terms = _varints(connection.execute(_TOTALS).fetchone()[0]) or [0]
    kept: dict[str, tuple[int, int]] = {}
    if 0 <= counts.sequence < sequence and _one(connection, _ONLY_NEW, (counts.sequence,)):
        common = {term: (count, counts.last_number) for term, count in counts.by_term.items() if count > WORTH_KEEPING}
        kept = counts.earlier | common
    return _Counts(sequence, _one(connection, _LAST_NUMBER), rows, sum(terms), earlier=kept)


def _one(connection: apsw.Connection, sql: str, values: tuple[object, ...] = ()) -> int:
    return connection.execute(sql, values).fetchone()[0]


def _varints(block: bytes) -> list[int]:
    """Seven bits a byte, the highest first; the eighth says that more follow."""
    numbers = [0]
    for byte in block:
        numbers[-1] = numbers[-1] << 7 | byte & 0x7F
        if byte < 0x80:
            numbers.append(0)
    return numbers[:-1]
