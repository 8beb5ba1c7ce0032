"""Questions in words: what to look up, and how much of a question a hit covers."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import compress, islice
from typing import Any

from mycel.domain.memory import Memory
from mycel.retrieval.analysis import Word, forms_of, spans, words, written_words
from mycel.retrieval.bm25 import rarity_of
from mycel.retrieval.languages import Language, language_of
from mycel.retrieval.terms import column_tokens

MAX_QUESTION_WORDS = 64
MAX_PHRASES = 8

# English words, as the analyser stems them, that change between a question and the note that answers it. Their
# frequency misleads: notes seldom say "when did", so in a question they would look rare and telling. Prepositions
# are not among them: they stay what they are, and frequency weighs them well.
FUNCTION_WORDS = frozenset(
    (
        *("a", "an", "ani", "the", "this", "that", "these", "those", "there"),
        *("i", "me", "my", "we", "us", "our", "you", "your", "he", "him", "his", "she", "her", "it"),
        *("they", "them", "their", "who", "whom", "whose", "what", "when", "where", "which", "whi", "how"),
        *("am", "is", "are", "was", "were", "be", "been", "do", "doe", "did", "has", "have", "had"),
        *("can", "could", "may", "might", "must", "shall", "should", "will", "would"),
    )
)

_QUOTED = re.compile('["“”„«»]([^"“”„«»]++)["“”„«»]')


@dataclass(frozen=True, slots=True)
class Question:
    """A question as the index sees it: its telling words, every distinct term of them, and the quoted phrases."""

    words: tuple[Word, ...]
    terms: tuple[str, ...]
    phrases: tuple[tuple[str, ...], ...] = ()
    text: str = ""
    # Recognised as written in another language than English.
    is_foreign: bool = False

    @property
    def written(self) -> Mapping[str, str]:
        """Each term as the question spells it; parts of identifiers and of CJK runs as they are."""
        return _written(self.text, self.terms)

    def named(self, held: Iterable[int]) -> frozenset[str]:
        """The terms that have a flag."""
        return frozenset(compress(self.terms, held))


@lru_cache(maxsize=16)
def _written(text: str, terms: tuple[str, ...]) -> Mapping[str, str]:
    """Remembered, because every hit of an answer asks for it."""
    spelt = {term: term for term in terms}
    is_foreign = language_of(text.split()) is not None
    for span in spans(text, among=frozenset(terms)):
        if len(span.terms) == 1 or is_foreign:
            spelt |= dict.fromkeys(span.terms, text[span.start : span.end])
    return spelt


def parse_question(text: str) -> Question:
    """Read any text as a question: nothing in it is query syntax, and quoted parts are phrases."""
    language = language_of(text.split())
    found = _question_words(text) if language is None else _foreign_words(text, language)
    distinct = tuple(dict.fromkeys(islice(found, MAX_QUESTION_WORDS)))
    chosen = tuple(word for word in distinct if word.tokens[0] not in FUNCTION_WORDS) or distinct
    wholes = dict.fromkeys(word.tokens[0] for word in chosen)
    parts = dict.fromkeys(part for word in chosen for part in word.parts if part not in FUNCTION_WORDS)
    return Question(chosen, tuple(wholes | parts), _phrases(text), text, is_foreign=language is not None)


def rarities_of(terms: Iterable[str], *, frequencies: Mapping[str, int], documents: int) -> dict[str, float]:
    """Terms by how much each tells, the rarest first; those that no text has left out."""
    known = sorted((term for term in terms if frequencies.get(term)), key=lambda term: frequencies[term])
    return {term: rarity_of(frequencies[term], documents) for term in known}


def holds_phrase(memory: Memory, phrase: Sequence[str]) -> bool:
    """Whether a text of the memory has these terms one after another."""
    return values_hold_phrase(vars(memory), phrase)


def values_hold_phrase(values: Mapping[str, Any], phrase: Sequence[str]) -> bool:
    """The same of the fields that are searched, by their names."""
    wanted = f" {' '.join(phrase)} "
    return any(wanted in f" {' '.join(tokens)} " for tokens in column_tokens(values))


def _question_words(text: str) -> Iterator[Word]:
    for word in words(text):
        if len(word.tokens) == 1:
            yield word
        else:
            # A run of CJK or an overlong word: its tokens are telling enough without the parts.
            yield from (Word((token,)) for token in word.tokens)


def _foreign_words(text: str, language: Language) -> Iterator[Word]:
    """Each word by its stem in this language, and in parts by what it is made of and as English would have it."""
    told = [(raw, word) for raw, word in written_words(text) if raw.casefold() not in language.function_words]
    for raw, word in told or written_words(text):
        forms = forms_of(raw, language)
        if forms and len(word.tokens) == 1:
            parts = dict.fromkeys((*word.tokens, *word.parts, *forms[1:]))
            yield Word(forms[:1], tuple(part for part in parts if part != forms[0]))
        else:
            yield from (Word((token,), word.parts if len(word.tokens) == 1 else ()) for token in word.tokens)


def _phrases(text: str) -> tuple[tuple[str, ...], ...]:
    quoted = (tuple(token for word in words(match[1]) for token in word.tokens) for match in _QUOTED.finditer(text))
    distinct = dict.fromkeys(phrase[:MAX_QUESTION_WORDS] for phrase in quoted if len(phrase) > 1)
    return tuple(islice(distinct, MAX_PHRASES))
