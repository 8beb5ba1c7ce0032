"""Questions in words: what to look up, which words are worth their cost, and how much of a question a hit covers."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, islice

from mycel.domain.indexed_words import Plan
from mycel.retrieval.analysis import Word, index_text, spans, words

MAX_QUESTION_WORDS = 64
MAX_PHRASES = 8

# Measured on FTS5 at 100,000 rows: ranking a row costs 0.7 µs, passing over a posting 0.05 µs. Together they keep
# a question within a few milliseconds at any size of store; small stores are searched for every word. The store
# names an anchor term and a ranking term twice each, so that both weigh the same: two postings per row.
ROW_BUDGET = 2_500
POSTING_BUDGET = 32_000

# Beyond this many times the rows it may rank, a question is too vague for a ranking to be worth its time.
VAGUE = 4

# Words of one question go together: they meet in more rows than if they were spread by chance.
COOCCURRENCE = 2.0

# Three common words together already name few enough rows.
MAX_GROUP_TERMS = 3

# An identifier counts as this much found when all of its parts are there but not the whole.
PART_SHARE = 0.5

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

    @property
    def written(self) -> Mapping[str, str]:
        """Each term as the question spells it; parts of identifiers and of CJK runs as they are."""
        return _written(self.text, self.terms)

    @property
    def vocabulary(self) -> frozenset[str]:
        """All whose document frequencies `choose_terms` and `coverage` ask for."""
        return frozenset(self.terms).union(*self.phrases)


@lru_cache(maxsize=16)
def _written(text: str, terms: tuple[str, ...]) -> Mapping[str, str]:
    """Remembered, because every hit of an answer asks for it."""
    spelt = {term: term for term in terms}
    for span in spans(text, among=frozenset(terms)):
        if len(span.terms) == 1:
            spelt |= dict.fromkeys(span.terms, text[span.start : span.end])
    return spelt


def parse_question(text: str) -> Question:
    """Read any text as a question: nothing in it is query syntax, and quoted parts are phrases."""
    distinct = tuple(dict.fromkeys(islice(_question_words(text), MAX_QUESTION_WORDS)))
    chosen = tuple(word for word in distinct if word.tokens[0] not in FUNCTION_WORDS) or distinct
    wholes = dict.fromkeys(word.tokens[0] for word in chosen)
    parts = dict.fromkeys(part for word in chosen for part in word.parts if part not in FUNCTION_WORDS)
    return Question(chosen, tuple(wholes | parts), _phrases(text), text)


def choose_terms(question: Question, *, frequencies: Mapping[str, int], documents: int, effort: float = 1.0) -> Plan:
    """Decide which words to look up so that the telling ones decide and the cost is bounded, growing with `effort`.

    Rare words find rows; common ones only rank them. Where every word is common, rows must hold the rarest two
    or three together. Words the store does not know are left out, unless it knows none.
    """
    known = sorted((term for term in question.terms if frequencies.get(term, 0)), key=lambda t: frequencies[t])
    if not known:
        return Plan(tuple((term,) for term in question.terms))
    row_budget, posting_budget = int(ROW_BUDGET * effort), int(POSTING_BUDGET * effort)
    found_by = _within(known, frequencies=frequencies, budget=row_budget)
    anchors = tuple((term,) for term in found_by)
    rows = float(_postings(found_by, frequencies=frequencies))
    if not anchors:
        found_by, rows = _rarest_together(known, frequencies=frequencies, documents=documents, row_budget=row_budget)
        anchors = (found_by,)
    left = posting_budget // 2 - _postings(found_by, frequencies=frequencies)
    phrases = _affordable(question.phrases, frequencies=frequencies, documents=documents, budget=posting_budget)
    return Plan(
        anchors=anchors,
        ranking=_within(known[len(found_by) :], frequencies=frequencies, budget=left),
        phrases=phrases,
        newest_first=rows > VAGUE * row_budget,
    )


def coverage(question: Question, matched_terms: Collection[str]) -> float:
    """The share of a question's words that a hit has: 0 to 1. Each counts the same."""
    covered = 0.0
    for word in question.words:
        if word.tokens[0] in matched_terms:
            covered += 1
        elif word.parts:
            covered += PART_SHARE * sum(part in matched_terms for part in word.parts) / len(word.parts)
    return covered / len(question.words) if question.words else 0.0


def holds_phrases(text: str, phrases: Sequence[tuple[str, ...]]) -> bool:
    """Whether a text has the words of every phrase next to each other."""
    stream = f" {index_text(text)} "
    return all(f" {' '.join(phrase)} " in stream for phrase in phrases)


def _question_words(text: str) -> Iterator[Word]:
    for word in words(text):
        if len(word.tokens) == 1:
            yield word
        else:
            # A run of CJK or an overlong word: its tokens are telling enough without the parts.
            yield from (Word((token,)) for token in word.tokens)


def _phrases(text: str) -> tuple[tuple[str, ...], ...]:
    quoted = (tuple(token for word in words(match[1]) for token in word.tokens) for match in _QUOTED.finditer(text))
    distinct = dict.fromkeys(phrase[:MAX_QUESTION_WORDS] for phrase in quoted if len(phrase) > 1)
    return tuple(islice(distinct, MAX_PHRASES))


def _postings(terms: Sequence[str], *, frequencies: Mapping[str, int]) -> int:
    return sum(frequencies.get(term, 0) for term in terms)


def _within(terms: Sequence[str], *, frequencies: Mapping[str, int], budget: int) -> tuple[str, ...]:
    """The leading terms whose postings fit the budget; the terms come rarest first."""
    spent = accumulate(frequencies[term] for term in terms)
    return tuple(term for term, postings in zip(terms, spent, strict=True) if postings <= budget)


def _rarest_together(
    terms: Sequence[str], *, frequencies: Mapping[str, int], documents: int, row_budget: int
) -> tuple[tuple[str, ...], float]:
    """The fewest of the rarest terms expected to share no more rows than the budget, and how many rows."""
    rows = float(frequencies[terms[0]])
    count = 1
    while rows > row_budget and count < min(MAX_GROUP_TERMS, len(terms)):
        rows *= min(1.0, COOCCURRENCE * frequencies[terms[count]] / max(documents, 1))
        count += 1
    return tuple(terms[:count]), rows


def _affordable(
    phrases: Sequence[tuple[str, ...]], *, frequencies: Mapping[str, int], documents: int, budget: int
) -> tuple[tuple[str, ...], ...]:
    """The phrases that can be found at all and fit the budget; a word nobody counted may be in every row."""
    chosen: list[tuple[str, ...]] = []
    for phrase in phrases:
        counts = [frequencies.get(term, documents) for term in phrase]
        if all(counts) and sum(counts) <= budget:
            budget -= sum(counts)
            chosen.append(phrase)
    return tuple(chosen)
