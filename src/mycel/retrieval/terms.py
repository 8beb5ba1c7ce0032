"""The terms of a memory as they are kept with it and searched: a number for each, and how often it stands there.

Numbers in the place of words: the index is made again without reading a text or taking a word apart, and no file of it
holds a word that somebody may have wanted forgotten.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from operator import attrgetter
from typing import Any

from mycel.domain.memory import INDEXED, Memory
from mycel.domain.memory_field import Index
from mycel.domain.packed_terms import PackedTerms
from mycel.retrieval.analysis import index_tokens
from mycel.retrieval.bm25 import COLUMN_WEIGHTS

# How often a term stands in a memory, by the weights of its columns, is kept in halves; beyond this more says no more.
PER_ONE = 2
MOST_COUNTED = 255
# The length of the memory in tokens comes first, then the numbers of its terms, then how often each stands there.
HEAD = struct.Struct("<I")
NUMBER_BYTES = 8

CACHED_NUMBERS = 65_536

_WEIGHTS = tuple(int(weight * PER_ONE) for weight in COLUMN_WEIGHTS)
_SEARCHED = attrgetter(*(name for names in INDEXED.values() for name in names))


def packed_terms(memory: Memory) -> PackedTerms:
    return packed_values(vars(memory))


def packed_values(values: Mapping[str, Any]) -> PackedTerms:
    """Of a memory's fields by their names, of which some may be missing."""
    return pack(*column_tokens(values))


def column_tokens(values: Mapping[str, Any]) -> list[list[str]]:
    """What each column of the index is made from, analysed."""
    return [index_tokens(text) if (text := text_in(values, index)) else [] for index in Index]


def text_in(values: Mapping[str, Any], index: Index) -> str:
    """What a column of the index is made from."""
    found: list[str] = []
    for name in INDEXED[index]:
        value = values.get(name)
        if value:
            found += (value,) if isinstance(value, str) else value
    return " ".join(found) if len(found) != 1 else found[0]


def searched_values(memory: Memory) -> tuple[object, ...]:
    """The values behind the terms: when they are the same, so are the terms."""
    return _SEARCHED(memory)


def pack(*columns: Sequence[str]) -> PackedTerms:
    """Of the tokens of each column."""
    counts: dict[str, int] = {}
    for tokens, weight in zip(columns, _WEIGHTS, strict=True):
        for token in tokens:
            counts[token] = counts.get(token, 0) + weight
    numbers = b"".join([_numbers[term] for term in counts])
    head = HEAD.pack(sum(map(len, columns)))
    try:
        return PackedTerms(head + numbers + bytes(counts.values()))
    except ValueError:
        return PackedTerms(head + numbers + bytes([min(count, MOST_COUNTED) for count in counts.values()]))


def term_number(term: str) -> int:
    """The same in every process and on every machine."""
    return int.from_bytes(_numbers[term], "little")


class _Numbers(dict[str, bytes]):
    """Each as it is packed; a call per term would be felt."""

    def __missing__(self, term: str) -> bytes:
        number = blake2b(term.encode("utf-8", "surrogatepass"), digest_size=NUMBER_BYTES).digest()
        if len(self) >= CACHED_NUMBERS:
            self.clear()
        self[term] = number
        return number


_numbers = _Numbers()
