"""The terms of a memory as they are kept with it and searched: a number for each, and how often it stands there.

Numbers in the place of words: the index is made again without reading a text or taking a word apart, and no file of it
holds a word that somebody may have wanted forgotten.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from operator import attrgetter
from typing import Any, cast

from mycel.domain.memory import INDEXED, Memory
from mycel.domain.memory_field import Index
from mycel.domain.packed_terms import PackedTerms
from mycel.retrieval.analysis import CACHED_CHUNKS, CACHED_WORDS, MAX_TOKEN_CHARS, analysed, index_tokens
from mycel.retrieval.bm25 import COLUMN_WEIGHTS
from mycel.retrieval.languages import Language, language_of

# Raised whenever the same text gives other terms than before: what was analysed by an earlier one is analysed again.
# The index of outdated rows in the migrations names it too, so that finding none costs nothing.
ANALYSER = 2

# How often a term stands in a memory, by the weights of its columns, is kept in halves; beyond this more says no more.
PER_ONE = 2
MOST_COUNTED = 255
# The length of the memory in tokens comes first, then the numbers of its terms, then how often each stands there.
HEAD = struct.Struct("<I")
NUMBER_BYTES = 8

_WEIGHTS = tuple(int(weight * PER_ONE) for weight in COLUMN_WEIGHTS)
# A memory is found by the names of its project and repo, and is no longer a text for having them: of two that say the
# same, the one of the project does not rank behind.
_NAMES = ("project_id", "repo_id")
_COLUMNS = tuple(tuple(name for name in INDEXED[index] if name not in _NAMES) for index in Index)
_NAME_WEIGHT = _WEIGHTS[list(Index).index(Index.LABELS)]
_SEARCHED = attrgetter(*(name for names in INDEXED.values() for name in names))


def packed_terms(memory: Memory) -> PackedTerms:
    return packed_values(vars(memory))


def packed_values(values: Mapping[str, Any]) -> PackedTerms:
    """Of a memory's fields by their names, of which some may be missing."""
    return packed_texts(*[_text_of(values, names) for names in _COLUMNS], names=_text_of(values, _NAMES))


def packed_texts(*columns: str, names: str = "") -> PackedTerms:
    """Of the text of each column, and of names that do not count to the length."""
    counts: dict[bytes, int] = {}
    length = 0
    for text, weight in zip(columns, _WEIGHTS, strict=True):
        if text:
            length += _count(text, weight, counts)
    if names:
        _count(names, _NAME_WEIGHT, counts)
    return pack(counts, length)


def _count(text: str, weight: int, counts: dict[bytes, int]) -> int:
    """Adds the terms of a text, and returns how many there are."""
    length = 0
    later: list[bytes] = []
    chunks = text.split()
    for found in map(_numbers_in(language_of(chunks)).__getitem__, chunks):
        if type(found) is not bytes:
            stream, parts = cast(_Several, found)
            for number in stream:
                counts[number] = counts.get(number, 0) + weight
            length += len(stream)
            later += parts
        elif found in counts:
            counts[found] += weight
            length += 1
        else:
            counts[found] = weight
            length += 1
    for number in later:
        counts[number] = counts.get(number, 0) + weight
    return length + len(later)


class Holders:
    """Finds in texts what may hold one of some terms, a few times as fast as by looking at each word."""

    def __init__(self, terms: Iterable[str]) -> None:
        self._numbers = frozenset(map(packed_number, terms))

    def among(self, chunks: Sequence[str]) -> list[int]:
        """The places of these, of what stands between spaces; and of all that is more than one plain word."""
        wanted = self._numbers
        numbers = map(_numbers_in(language_of(chunks)).__getitem__, chunks)
        return [place for place, found in enumerate(numbers) if found in wanted or type(found) is not bytes]


def column_tokens(values: Mapping[str, Any]) -> list[list[str]]:
    """What each column of the index is made from, analysed."""
    return [index_tokens(text) if (text := text_in(values, index)) else [] for index in Index]


def text_in(values: Mapping[str, Any], index: Index) -> str:
    """What a column of the index is made from."""
    return _text_of(values, INDEXED[index])


def _text_of(values: Mapping[str, Any], names: Iterable[str]) -> str:
    found: list[str] = []
    for name in names:
        value = values.get(name)
        if value:
            found += (value,) if isinstance(value, str) else value
    return " ".join(found) if len(found) != 1 else found[0]


def searched_values(memory: Memory) -> tuple[object, ...]:
    """The values behind the terms: when they are the same, so are the terms."""
    return _SEARCHED(memory)


def pack(counts: Mapping[bytes, int], length: int) -> PackedTerms:
    """Of the numbers of all terms with their weights in halves, and how many tokens there are."""
    weights = counts.values()
    try:
        counted = bytes(weights)
    except ValueError:
        counted = bytes([min(weight, MOST_COUNTED) for weight in weights])
    return PackedTerms(HEAD.pack(length) + b"".join(counts) + counted)


@lru_cache(maxsize=CACHED_WORDS)
def term_number(term: str) -> int:
    """The same in every process and on every machine."""
    return int.from_bytes(packed_number(term), "little")


def packed_number(term: str) -> bytes:
    return blake2b(term.encode("utf-8", "surrogatepass"), digest_size=NUMBER_BYTES).digest()


# The numbers of the stream, and those of the parts.
_Several = tuple[tuple[bytes, ...], tuple[bytes, ...]]


class _Numbers(dict[str, bytes | _Several]):
    """Of whatever stands between two spaces, mostly one; a call per word would be felt, and so would a tuple of one."""

    def __init__(self, language: Language | None = None) -> None:
        super().__init__()
        self._language = language

    def __missing__(self, chunk: str) -> bytes | _Several:
        tokens, parts = analysed(chunk, self._language)
        stream = tuple(map(packed_number, tokens))
        found = stream[0] if len(stream) == 1 and not parts else (stream, tuple(map(packed_number, parts)))
        if len(chunk) <= MAX_TOKEN_CHARS:
            if len(self) >= CACHED_CHUNKS:
                self.clear()
            self[chunk] = found
        return found


_numbers = _Numbers()
_by_language: dict[str, _Numbers] = {}


def _numbers_in(language: Language | None) -> _Numbers:
    if language is None:
        return _numbers
    return _by_language.get(language.name) or _by_language.setdefault(language.name, _Numbers(language))
