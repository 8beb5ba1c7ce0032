"""Languages other than English: which one a text is written in, and the forms its words are also found by.

Every word is indexed as the analyser has it, whatever its language. In a text that is recognised as German, say, its
German stem and the words that a compound is made of are added as parts, so that nothing that was found before is lost.
"""

from __future__ import annotations

import threading
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from importlib.resources import files
from typing import Any, NamedTuple, Protocol, cast

import Stemmer  # pyright: ignore[reportMissingTypeStubs]  # PyStemmer ships no types; see WordStemmer

ENGLISH = "english"
# Enough of a text to tell its language by.
LOOKED_AT = 120
# Around a word; in Spanish also before the first one.
_SIGNS = ".,;:!?()[]{}\"'¿¡„“”«»"
# Shorter words are not taken apart, and what they are made of is not shorter than this.
LEAST_COMPOUND, LEAST_PIECE = 9, 3
# Where only the end of it is known.
LEAST_FIRST, LEAST_LAST = 4, 5
MOST_PIECES = 5
CACHED_FORMS = 32_768
LONGEST_REMEMBERED = 64


class WordStemmer(Protocol):
    """The one method used of PyStemmer's class."""

    def stemWord(self, word: str, /) -> str: ...  # noqa: N802


class Language:
    """The words of one language that say nothing by themselves, its stems and its compounds."""

    def __init__(self, name: str, table: Mapping[str, Any]) -> None:
        self.name = name
        self.telling = frozenset(table["telling"].casefold().split())
        self.function_words = self.telling | frozenset(table.get("others", "").casefold().split())
        self._table = table
        self._thread = threading.local()
        self.forms = lru_cache(CACHED_FORMS)(self._forms)

    def _forms(self, word: str) -> tuple[str, ...]:
        """Return the stem of a word and the stems of what it is made of; nothing for a word that says nothing."""
        letters = unicodedata.normalize("NFC", word).casefold()
        if not letters.isalpha() or len(letters) < LEAST_PIECE or letters in self.function_words:
            return ()
        pieces = self._pieces(letters) or self._last_noun(letters) if len(letters) >= LEAST_COMPOUND else []
        return tuple(dict.fromkeys(map(self._stem, (letters, *pieces))))

    def _stem(self, word: str) -> str:
        stemmer = getattr(self._thread, "stemmer", None)
        if stemmer is None:
            # PyStemmer's objects are not thread safe.
            stemmer = self._thread.stemmer = cast("WordStemmer", Stemmer.Stemmer(self.name, 0))  # pyright: ignore[reportUnknownMemberType]
        return stemmer.stemWord(word)

    def _pieces(self, word: str) -> list[str]:
        """Take a compound apart from its beginning on, the longest known noun first; nothing where one is unknown."""
        for end in range(len(word) - LEAST_PIECE, LEAST_PIECE - 1, -1):
            if word[:end] not in self._nouns:
                continue
            for joint in ("", *self._joints):
                rest = word[end:].removeprefix(joint)
                if len(rest) < LEAST_PIECE or (joint and not word[end:].startswith(joint)):
                    continue
                if self._stem(rest) in self._noun_stems:
                    return [word[:end], rest]
                further = self._pieces(rest) if len(rest) >= LEAST_COMPOUND - LEAST_PIECE else []
                if further and len(further) < MOST_PIECES:
                    return [word[:end], *further]
        return []

    def _last_noun(self, word: str) -> list[str]:
        """What a compound is in the end, whatever it begins with: the longest known noun that it ends in."""
        for start in range(LEAST_FIRST, len(word) - LEAST_LAST + 1):
            if word[start:] in self._nouns:
                return [word[start:]]
        return []

    @cached_property
    def _nouns(self) -> frozenset[str]:
        return frozenset(self._table.get("nouns", "").casefold().split())

    @cached_property
    def _noun_stems(self) -> frozenset[str]:
        return frozenset(map(self._stem, self._nouns))

    @cached_property
    def _joints(self) -> Sequence[str]:
        return tuple(self._table.get("joints", ()))


def language_of(chunks: Sequence[str]) -> Language | None:
    """Return the language of a text, given as what stands between its spaces; None for English and what is unknown.

    It is told by the words of each language that stand in nearly every sentence of it, and by these alone.
    """
    telling = _telling()
    # Most texts are English: a look for words of other languages in small letters is enough for them.
    if len(chunks) > SHORT and telling.foreign.isdisjoint(chunks):
        return None
    looked_at = chunks[:LOOKED_AT]
    if telling.foreign.isdisjoint(map(telling.word_in.__getitem__, looked_at)):
        return None
    counts: dict[str, int] = {}
    for word in set(map(telling.word_in.__getitem__, looked_at)):
        for name in telling.languages.get(word, ()):
            counts[name] = counts.get(name, 0) + 1
    best = max(counts, key=counts.__getitem__)
    if counts[best] <= counts.get(ENGLISH, 0):
        return None
    # One word alone may be a name.
    return languages()[best] if counts[best] > 1 or len(chunks) <= SHORT else None


# A question of so few words may have no more than one that tells.
SHORT = 12


@cache
def languages() -> Mapping[str, Language]:
    table = tomllib.loads(files("mycel.retrieval").joinpath("languages.toml").read_text("utf-8"))
    return {name: Language(name, entry) for name, entry in table.items()}


class _Telling(NamedTuple):
    """Which languages each telling word belongs to, and those words that do not belong to English."""

    languages: Mapping[str, tuple[str, ...]]
    foreign: frozenset[str]
    word_in: Mapping[str, str]


class _TellingWords(dict[str, str]):
    """The telling word in whatever stands between two spaces, empty for all others; remembered for every save."""

    def __init__(self, telling: Iterable[str]) -> None:
        super().__init__()
        self._telling = frozenset(telling)

    def __missing__(self, chunk: str) -> str:
        word = chunk.strip(_SIGNS).casefold()
        found = word if word in self._telling else ""
        if len(chunk) <= LONGEST_REMEMBERED:
            if len(self) >= CACHED_FORMS:
                self.clear()
            self[chunk] = found
        return found


@cache
def _telling() -> _Telling:
    found: dict[str, tuple[str, ...]] = {}
    for name, language in languages().items():
        for word in language.telling:
            found[word] = (*found.get(word, ()), name)
    return _Telling(found, frozenset(found) - languages()[ENGLISH].telling, _TellingWords(found))
